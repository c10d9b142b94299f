//! Names of fields, and which of them are signed (`docs/contract.md, 21.3`); nothing of what an answer means.

use super::config::PathFamily;
use super::formats::{cedula, concepto, monto, nombre};
use crate::bank_text;
use crate::rails::live::{NotSent, RailId, folded, visible};
use domain::bank_names::of_id;
use domain::rail::Order;
use domain::values::money::Ves;
use domain::values::time::Date;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

/// The clearing house's calls may not leave the concept out.
const CONCEPT_OF_NONE: &str = "Pago";
const CONCEPT_OF_PROOF: &str = "Verificacion";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Bcv,
    C2p,
    AnulacionC2p,
    Vuelto,
    GenerarOtp,
    DebitoInmediato,
    CreditoInmediato,
    CiCuentas,
    ConsultarOperaciones,
}

impl Operation {
    pub const ALL: [Operation; 9] = [
        Operation::Bcv,
        Operation::C2p,
        Operation::AnulacionC2p,
        Operation::Vuelto,
        Operation::GenerarOtp,
        Operation::DebitoInmediato,
        Operation::CreditoInmediato,
        Operation::CiCuentas,
        Operation::ConsultarOperaciones,
    ];

    /// Its path in each family, the fields that are signed, in this order, and the codes by which it was done. Only
    /// a call's own word counts: `202` says that a message was taken, and of a question `00` may say that it was
    /// understood.
    const fn row(self) -> ([&'static str; 2], &'static [&'static str], &'static [&'static str]) {
        match self {
            Operation::Bcv => (["MBbcv", "R4bcv"], &["Fechavalor", "Moneda"], &["00"]),
            Operation::C2p => (["MBc2p", "R4c2p"], &["TelefonoDestino", "Monto", "Banco", "Cedula"], &["00"]),
            Operation::AnulacionC2p => (["MBanulacionC2P", "R4anulacionC2P"], &["Banco"], &["00"]),
            Operation::Vuelto => {
                (["MBvuelto", "R4vuelto"], &["TelefonoDestino", "Monto", "Banco", "Cedula"], &["00", "ACCP"])
            }
            Operation::GenerarOtp => (["GenerarOtp"; 2], &["Banco", "Monto", "Telefono", "Cedula"], &["202"]),
            Operation::DebitoInmediato => {
                (["DebitoInmediato"; 2], &["Banco", "Cedula", "Telefono", "Monto", "OTP"], &["ACCP"])
            }
            Operation::CreditoInmediato => {
                (["CreditoInmediato"; 2], &["Banco", "Cedula", "Telefono", "Monto"], &["00", "ACCP"])
            }
            Operation::CiCuentas => (["CICuentas"; 2], &["Cedula", "Cuenta", "Monto"], &["ACCP"]),
            Operation::ConsultarOperaciones => (["ConsultarOperaciones"; 2], &["Id"], &["ACCP"]),
        }
    }

    /// Of an order, in the body's order.
    const fn fields(self) -> &'static [&'static str] {
        match self {
            Operation::C2p => &["TelefonoDestino", "Cedula", "Banco", "Monto", "Otp"],
            Operation::AnulacionC2p => &["Cedula", "Banco", "Referencia"],
            Operation::Vuelto => &["TelefonoDestino", "Cedula", "Banco", "Monto", "Concepto"],
            Operation::GenerarOtp => &["Banco", "Monto", "Telefono", "Cedula"],
            Operation::DebitoInmediato => {
                &["Banco", "Monto", "Telefono", "Cedula", "Nombre", "OTP", "Concepto"]
            }
            Operation::CreditoInmediato => &["Banco", "Cedula", "Telefono", "Monto", "Concepto"],
            Operation::CiCuentas => &["Cedula", "Cuenta", "Monto", "Concepto"],
            Operation::Bcv | Operation::ConsultarOperaciones => &[],
        }
    }

    pub const fn path(self, family: PathFamily) -> &'static str {
        self.row().0[family as usize]
    }

    pub fn is_done(self, code: &str) -> bool {
        self.row().2.contains(&code)
    }
}

pub struct Request {
    pub operation: Operation,
    fields: Vec<(&'static str, Zeroizing<String>)>,
}

impl Request {
    pub fn bcv(currency: &str, date: Date) -> Request {
        let fields = [("Moneda", currency.to_owned()), ("Fechavalor", date.to_string())];
        let fields = fields.map(|(name, value)| (name, Zeroizing::new(value))).into();
        Request { operation: Operation::Bcv, fields }
    }

    pub fn look(id: &RailId) -> Request {
        let fields = vec![("Id", Zeroizing::new(id.as_str().to_owned()))];
        Request { operation: Operation::ConsultarOperaciones, fields }
    }

    /// What the bank would not take is refused here, before a call.
    pub fn of(operation: Operation, order: &Order, amount: Ves) -> Result<Request, NotSent> {
        let (document, phone) = match order {
            Order::ChargeC2p { debtor, phone, .. }
            | Order::RequestOtp { debtor, phone, .. }
            | Order::Debit { debtor, phone, .. } => (Some(*debtor), Some(*phone)),
            Order::Credit { identity, phone, .. } | Order::MicroDeposit { identity, phone, .. } => {
                (*identity, Some(*phone))
            }
            Order::ReverseC2p { debtor: document, .. } | Order::CreditAccount { identity: document, .. } => {
                (Some(*document), None)
            }
            _ => (None, None),
        };
        let concept = match order {
            Order::Debit { concept, .. }
            | Order::Credit { concept, .. }
            | Order::CreditAccount { concept, .. } => concepto(concept),
            _ => CONCEPT_OF_PROOF.to_owned(),
        };
        let absent = NotSent::Unfit("R4 has no call for it");
        let mut fields = Vec::with_capacity(8);
        for name in operation.fields() {
            let value = match (*name, order) {
                ("Banco", _) => order.bank_call().bank.ok_or(absent)?.to_string(),
                ("Cedula", _) => cedula(document.ok_or(NotSent::Unfit("the owner of the phone is unknown"))?),
                ("Telefono" | "TelefonoDestino", _) => phone.ok_or(absent)?.clear().to_string(),
                ("Monto", _) => monto(amount)
                    .ok_or(NotSent::Unfit("the amount has more than 8 digits before the point"))?,
                ("Concepto", _) if !concept.is_empty() => concept.clone(),
                ("Concepto", _) if operation == Operation::Vuelto => continue,
                ("Concepto", _) => CONCEPT_OF_NONE.to_owned(),
                ("Nombre", Order::Debit { name, .. }) => Some(nombre(name))
                    .filter(|name| !name.is_empty())
                    .ok_or(NotSent::Unfit("the name has no letters"))?,
                ("Otp", Order::ChargeC2p { token: Some(key), .. })
                | ("OTP", Order::Debit { otp: Some(key), .. }) => key.reveal().to_owned(),
                ("Cuenta", Order::CreditAccount { account, .. }) => account.clear().to_string(),
                ("Referencia", Order::ReverseC2p { reference, .. }) => {
                    visible(reference).ok_or(NotSent::Unfit("the charge has no reference"))?.to_owned()
                }
                _ => return Err(absent),
            };
            fields.push((*name, Zeroizing::new(value)));
        }
        Ok(Request { operation, fields })
    }

    pub fn signed(&self) -> Zeroizing<String> {
        let value = |name: &&str| self.fields.iter().find(|(field, _)| field == name);
        let values = self.operation.row().1.iter().filter_map(value);
        Zeroizing::new(values.map(|(_, value)| value.as_str()).collect())
    }

    pub fn body(&self) -> Zeroizing<Vec<u8>> {
        let mut body = Zeroizing::new(Vec::with_capacity(512));
        body.push(b'{');
        for (at, (name, value)) in self.fields.iter().enumerate() {
            if at > 0 {
                body.push(b',');
            }
            write_text(&mut body, name);
            body.push(b':');
            write_text(&mut body, value);
        }
        body.push(b'}');
        body
    }
}

/// Without another copy of the text.
fn write_text(body: &mut Vec<u8>, text: &str) {
    if serde_json::to_writer(body, text).is_err() {
        unreachable!("a text is JSON, and memory takes it");
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub code: String,
    pub message: String,
    pub reference: Option<String>,
    /// If it is 1 to 64 visible characters, and not two that differ.
    pub id: Option<RailId>,
    pub value_date: Option<String>,
    /// As it was written.
    pub rate: Option<String>,
}

impl Reply {
    /// `None` where the answer is no object of JSON with a code, or has two of them.
    pub fn read(body: &[u8]) -> Option<Reply> {
        let Value::Object(members) = bank_text::json(body)? else { return None };
        let text = |name: &str| text_of(&members, name);
        let code = match members.get("code")? {
            // Codes have two characters at least; a number lacks the zero that one begins with.
            Value::Number(number) => format!("{:0>2}", number.to_string()),
            _ => text("code")?,
        };
        let code = code.trim_matches(|end: char| end.is_whitespace() || end.is_control()).to_owned();
        if code.is_empty() {
            return None;
        }
        Some(Reply {
            code,
            message: text("message").unwrap_or_default(),
            reference: text("reference").as_deref().and_then(folded),
            id: one_id(["id", "Id"].map(|name| RailId::parse(&text(name)?))),
            value_date: text("fechavalor"),
            rate: text("tipocambio"),
        })
    }
}

/// The one of both that is there; of two that differ nobody can tell which it is.
fn one_id(both: [Option<RailId>; 2]) -> Option<RailId> {
    match both {
        [Some(one), Some(other)] => (of_id(&one) == of_id(&other)).then_some(one),
        [one, other] => one.or(other),
    }
}

fn text_of(members: &Map<String, Value>, name: &str) -> Option<String> {
    match members.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
