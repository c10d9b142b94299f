//! Names of fields, and which of them are signed (`docs/contract.md, 21.3`); nothing of what an answer means.

use super::config::PathFamily;
use super::formats::{cedula, concepto, monto, nombre};
use crate::bank_text;
use crate::rails::live::{BankWord, NotSent, RailId, folded, visible};
use domain::bank_names::of_id;
use domain::values::money::Ves;
use domain::values::time::Date;
use domain::values::token::Token;
use domain::values::venezuela::{AccountNumber, BankCode, IdentityDocument, MobilePhone};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

/// The clearing house's calls may not leave the concept out.
const CONCEPT_OF_NONE: &str = "Pago";

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

#[derive(Clone, Copy)]
pub struct Party {
    pub bank: BankCode,
    pub phone: MobilePhone,
    pub document: IdentityDocument,
}

impl Request {
    pub fn bcv(currency: &str, date: Date) -> Request {
        Request::new(Operation::Bcv).with("Moneda", currency.to_owned()).with("Fechavalor", date.to_string())
    }

    pub fn c2p(payer: Party, amount: Ves, key: &Token) -> Result<Request, NotSent> {
        Ok(Request::to_phone(Operation::C2p, payer, amount)?.with("Otp", key.reveal().to_owned()))
    }

    pub fn annulment(
        bank: BankCode,
        document: IdentityDocument,
        reference: &str,
    ) -> Result<Request, NotSent> {
        let reference = visible(reference).ok_or(NotSent::Unfit("the charge has no reference"))?;
        Ok(Request::new(Operation::AnulacionC2p)
            .with("Cedula", cedula(document))
            .with("Banco", bank.to_string())
            .with("Referencia", reference.to_owned()))
    }

    pub fn change(payee: Party, amount: Ves, concept: &str) -> Result<Request, NotSent> {
        let request = Request::to_phone(Operation::Vuelto, payee, amount)?;
        let concept = concepto(concept);
        Ok(if concept.is_empty() { request } else { request.with("Concepto", concept) })
    }

    pub fn otp(payer: Party, amount: Ves) -> Result<Request, NotSent> {
        Request::of_payer(Operation::GenerarOtp, payer, amount)
    }

    pub fn debit(
        payer: Party,
        name: &str,
        amount: Ves,
        otp: &Token,
        concept: &str,
    ) -> Result<Request, NotSent> {
        Ok(Request::of_payer(Operation::DebitoInmediato, payer, amount)?
            .with("Nombre", some_name(name)?)
            .with("OTP", otp.reveal().to_owned())
            .with("Concepto", some_concept(concept)))
    }

    fn of_payer(operation: Operation, payer: Party, amount: Ves) -> Result<Request, NotSent> {
        Ok(Request::new(operation)
            .with("Banco", payer.bank.to_string())
            .with("Monto", written(amount)?)
            .with("Telefono", payer.phone.clear().to_string())
            .with("Cedula", cedula(payer.document)))
    }

    pub fn credit(payee: Party, amount: Ves, concept: &str) -> Result<Request, NotSent> {
        Ok(Request::new(Operation::CreditoInmediato)
            .with("Banco", payee.bank.to_string())
            .with("Cedula", cedula(payee.document))
            .with("Telefono", payee.phone.clear().to_string())
            .with("Monto", written(amount)?)
            .with("Concepto", some_concept(concept)))
    }

    pub fn credit_account(
        account: AccountNumber,
        document: IdentityDocument,
        amount: Ves,
        concept: &str,
    ) -> Result<Request, NotSent> {
        Ok(Request::new(Operation::CiCuentas)
            .with("Cedula", cedula(document))
            .with("Cuenta", account.clear().to_string())
            .with("Monto", written(amount)?)
            .with("Concepto", some_concept(concept)))
    }

    pub fn look(id: &RailId) -> Request {
        Request::new(Operation::ConsultarOperaciones).with("Id", id.as_str().to_owned())
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

    fn new(operation: Operation) -> Request {
        Request { operation, fields: Vec::with_capacity(8) }
    }

    fn to_phone(operation: Operation, party: Party, amount: Ves) -> Result<Request, NotSent> {
        Ok(Request::new(operation)
            .with("TelefonoDestino", party.phone.clear().to_string())
            .with("Cedula", cedula(party.document))
            .with("Banco", party.bank.to_string())
            .with("Monto", written(amount)?))
    }

    fn with(mut self, name: &'static str, value: String) -> Request {
        self.fields.push((name, Zeroizing::new(value)));
        self
    }
}

/// Without another copy of the text.
fn write_text(body: &mut Vec<u8>, text: &str) {
    if serde_json::to_writer(body, text).is_err() {
        unreachable!("a text is JSON, and memory takes it");
    }
}

fn written(amount: Ves) -> Result<String, NotSent> {
    monto(amount).ok_or(NotSent::Unfit("the amount has more than 8 digits before the point"))
}

fn some_concept(concept: &str) -> String {
    let concept = concepto(concept);
    if concept.is_empty() { CONCEPT_OF_NONE.to_owned() } else { concept }
}

fn some_name(name: &str) -> Result<String, NotSent> {
    Some(nombre(name)).filter(|name| !name.is_empty()).ok_or(NotSent::Unfit("the name has no letters"))
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

    pub fn word(&self) -> BankWord {
        BankWord::new(&self.code, &self.message)
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
