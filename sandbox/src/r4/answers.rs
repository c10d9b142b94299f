//! R4's answers: codes, their texts, the members of each call's answer
//! (`docs/contract.md, 21.3, 21.4, 21.5`).

use super::books::{Order, Outcome};
use crate::http::Answer;
use serde_json::{Value, json};

/// The reference of what a contradiction claims to have been done.
const CLAIMED_REFERENCE: &str = "99999999";

/// The choices that every answer of R4 depends on.
#[derive(Clone, Copy)]
pub struct Answers {
    /// The member with the id of an operation: samples disagree.
    pub id_key: &'static str,
    /// The status of HTTP under which codes that are no success are answered.
    pub refusal_status: u16,
}

impl Answers {
    /// A code and a text, under the status of a refusal.
    pub fn refusal(self, code: &str, text: &str) -> Answer {
        Answer::new(self.refusal_status, json!({"code": code, "message": text}))
    }

    /// The answer to an order that was just placed, as its outcome has it.
    pub fn order(self, order: &Order, simf: bool) -> Answer {
        let code = match order.outcome {
            Outcome::Pending => "AC00",
            _ => &order.code,
        };
        let mut body = json!({"code": code, "message": meaning(code)});
        if order.outcome == Outcome::Done {
            body["reference"] = json!(order.reference);
        }
        if simf {
            body[self.id_key] = json!(order.id);
        }
        let status = if order.outcome == Outcome::Done { 200 } else { self.refusal_status };
        Answer::new(status, body)
    }

    /// The answer to a question about an order.
    pub fn asked(self, order: Option<&Order>) -> Answer {
        let code = order.map_or("SMF001", |order| &order.code);
        let is_done = order.is_some_and(|order| order.outcome == Outcome::Done);
        let reference =
            order.and_then(|order| order.reference.as_deref()).filter(|_| is_done).unwrap_or_default();
        let body =
            json!({"code": code, "reference": reference, "success": is_done, "message": meaning(code)});
        Answer::new(if is_done { 200 } else { self.refusal_status }, body)
    }

    /// The contrary of an answer.
    pub fn contrary(self, operation: &str, answer: &Answer) -> Answer {
        let (done, refused) = match operation {
            "GenerarOtp" => ("202", "56"),
            "MBbcv" => ("00", "12"),
            "DebitoInmediato" | "CreditoInmediato" | "CICuentas" | "ConsultarOperaciones" => ("ACCP", "AM04"),
            _ => ("00", "51"),
        };
        let said = answer.body["code"].as_str().unwrap_or_default();
        if ["AC00", "SMF001", "05", "68", "87", ""].contains(&said) || operation == "MBbcv" {
            return answer.clone();
        }
        let claims_done = said != done;
        let mut body = answer.body.clone();
        body["code"] = json!(if claims_done { done } else { refused });
        body["message"] = json!(meaning(if claims_done { done } else { refused }));
        if let Some(success) = body.get_mut("success") {
            *success = json!(claims_done);
        }
        if operation != "GenerarOtp" {
            match (claims_done, operation == "ConsultarOperaciones") {
                (true, _) => body["reference"] = json!(CLAIMED_REFERENCE),
                (false, true) => body["reference"] = json!(""),
                (false, false) => drop(body.as_object_mut().map(|members| members.shift_remove("reference"))),
            }
        }
        Answer::new(if claims_done { 200 } else { self.refusal_status }, body)
    }
}

/// The answer to a caller who is not known, or whose call has a bad form: the status is that of a
/// public mock.
pub fn rejection(status: u16, code: &str, text: &str) -> Answer {
    Answer::new(status, json!({"code": code, "message": text}))
}

/// The answer to a request for a key by SMS.
pub fn key_sent() -> Answer {
    Answer::new(200, json!({"code": "202", "message": meaning("202"), "success": true}))
}

/// The bank's rate.
pub fn rate(day: &str, rate: Value) -> Answer {
    Answer::new(200, json!({"code": "00", "fechavalor": day, "tipocambio": rate}))
}

/// The text of a code.
pub fn meaning(code: &str) -> &'static str {
    match code {
        "00" => "TRANSACCION EXITOSA",
        "ACCP" => "Operacion aceptada",
        "AC00" => "Operacion en espera de respuesta del receptor",
        "202" => "Se ha recibido el mensaje de forma satisfactoria",
        "05" => "Tiempo de respuesta excedido",
        "12" => "Transaccion invalida",
        "15" => "Llave erronea",
        "41" => "Servicio no activo o negada por el banco",
        "51" | "AM04" => "Fondos insuficientes",
        "56" => "Celular no coincide",
        "87" => "Time out",
        "92" => "Banco receptor no afiliado",
        "AB01" => "Tiempo de espera agotado",
        "AC01" => "Numero de cuenta incorrecto",
        "BE01" => "Datos del cliente no corresponden a la cuenta",
        "RC08" => "Codigo del banco no existe en el sistema de compensacion",
        "TKCM" => "Codigo unico de operacion de debito incorrecto",
        "SMF001" => "Operacion no encontrada",
        _ => "Negada",
    }
}
