//! A client of R4, from docs/contract.md, 21.3.

use crate::program::{Reply, Sandbox, request};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

/// The token of a sandbox that was given none, as it prints it.
pub const TOKEN: &str = "sandbox-r4-commerce-token-0123456789";

/// The fields that the signature of each call covers, in order.
fn signed(call: &str) -> &'static [&'static str] {
    match call {
        "MBbcv" | "R4bcv" => &["Fechavalor", "Moneda"],
        "MBc2p" | "R4c2p" | "MBvuelto" | "R4vuelto" => &["TelefonoDestino", "Monto", "Banco", "Cedula"],
        "MBanulacionC2P" | "R4anulacionC2P" => &["Banco"],
        "GenerarOtp" => &["Banco", "Monto", "Telefono", "Cedula"],
        "DebitoInmediato" => &["Banco", "Cedula", "Telefono", "Monto", "OTP"],
        "CreditoInmediato" => &["Banco", "Cedula", "Telefono", "Monto"],
        "CICuentas" => &["Cedula", "Cuenta", "Monto"],
        "ConsultarOperaciones" => &["Id"],
        other => panic!("{other} is no call"),
    }
}

pub fn hmac(token: &str, message: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).expect("a key");
    mac.update(message.as_bytes());
    hex::encode(mac.finalize().into_bytes())
}

/// The message that a call signs.
pub fn message(call: &str, fields: &Value) -> String {
    signed(call).iter().map(|name| fields[*name].as_str().unwrap_or_default()).collect()
}

/// A signed request.
pub fn signed_request(call: &str, fields: &Value) -> Vec<u8> {
    let signature = hmac(TOKEN, &message(call, fields));
    let headers = [("content-type", "application/json"), ("commerce", TOKEN), ("authorization", &signature)];
    request("POST", &format!("/{call}"), &headers, &fields.to_string())
}

/// A signed call.
pub fn call(sandbox: &Sandbox, call: &str, fields: &Value) -> Reply {
    crate::program::reply(sandbox.exchange(&signed_request(call, fields)))
}

/// A call under headers of the test.
pub fn call_with(sandbox: &Sandbox, call: &str, fields: &Value, commerce: &str, signature: &str) -> Reply {
    let headers =
        [("content-type", "application/json"), ("commerce", commerce), ("authorization", signature)];
    sandbox.call("POST", &format!("/{call}"), &headers, &fields.to_string())
}

pub fn c2p(amount: &str, otp: &str) -> Value {
    json!({
        "TelefonoDestino": "04141234567", "Cedula": "V12345678", "Banco": "0134", "Monto": amount, "Otp": otp,
        "Concepto": "Pedido 17",
    })
}

pub fn change(amount: &str) -> Value {
    json!({"TelefonoDestino": "04141234567", "Cedula": "V12345678", "Banco": "0134", "Monto": amount})
}

pub fn debit(amount: &str, otp: &str) -> Value {
    json!({
        "Banco": "0134", "Monto": amount, "Telefono": "04141234567", "Cedula": "V12345678",
        "Nombre": "Ana Perez", "OTP": otp, "Concepto": "Pedido 17",
    })
}

pub fn credit(amount: &str) -> Value {
    json!({
        "Banco": "0134", "Cedula": "V12345678", "Telefono": "04141234567",
        "Monto": amount, "Concepto": "Pago",
    })
}

/// A credit to an account whose check digits are right.
pub fn to_account(amount: &str) -> Value {
    json!({"Cedula": "J000029709", "Cuenta": "01340001630000000001", "Monto": amount, "Concepto": "Pago"})
}

pub fn otp_request() -> Value {
    json!({"Banco": "0102", "Monto": "10.00", "Telefono": "04141234567", "Cedula": "V12345678"})
}

pub fn annulment(reference: &str) -> Value {
    json!({"Cedula": "V12345678", "Banco": "0134", "Referencia": reference})
}
