//! What is posted, and what of the answers says something (`docs/contract.md, 21.10`); nothing of
//! what a state means.

use super::acceptance::Acceptance;
use super::config::Settings;
use super::signature::{cents, integrity};
use crate::bank_text;
use crate::rails::live::{NotSent, RailId, visible};
use crate::rails::secret::ApiSecret;
use domain::values::colombia::{Buyer, Channel};
use domain::values::money::Cop;
use serde_json::{Value, json};
use uuid::Uuid;
use zeroize::Zeroizing;

const URL_CHARACTERS_MAX: usize = 2_048;
const QR_BYTES_MAX: usize = 48 * 1024;

pub struct Collect<'a> {
    /// Ours, sent as reference.
    pub operation: Uuid,
    pub channel: Channel,
    pub amount: Cop,
    pub buyer: Option<&'a Buyer>,
}

impl Collect<'_> {
    pub fn body(&self, settings: &Settings, acceptance: &Acceptance) -> Result<Zeroizing<Vec<u8>>, NotSent> {
        let reference = self.operation.to_string();
        let amount = cents(self.amount).ok_or(NotSent::Unfit("the amount does not fit"))?;
        let email =
            self.buyer.and_then(|buyer| buyer.email.as_deref()).or(settings.customer_email.as_deref());
        let email = email.ok_or(NotSent::Unfit("there is no e-mail address"))?;
        let body = json!({
            "acceptance_token": acceptance.terms.expose(),
            "accept_personal_auth": acceptance.personal_data.expose(),
            "amount_in_cents": amount,
            "currency": "COP",
            "signature": integrity(&reference, amount, None, &settings.integrity_secret),
            "customer_email": email,
            "reference": reference,
            "payment_method": self.method(settings)?,
        });
        Ok(Zeroizing::new(body.to_string().into_bytes()))
    }

    fn method(&self, settings: &Settings) -> Result<Value, NotSent> {
        let buyer = self.buyer;
        match self.channel {
            Channel::Push => {
                let phone =
                    buyer.and_then(|buyer| buyer.phone).ok_or(NotSent::Unfit("the buyer has no phone"))?;
                Ok(json!({"type": "NEQUI", "phone_number": phone.clear().to_string()}))
            }
            Channel::Sms => {
                let kind = buyer.and_then(|buyer| buyer.document_type);
                let number = buyer.and_then(|buyer| buyer.document_number.as_ref());
                let (Some(kind), Some(number)) = (kind, number) else {
                    return Err(NotSent::Unfit("the buyer has no document"));
                };
                Ok(json!({
                    "type": "DAVIPLATA",
                    "user_legal_id_type": kind.name(),
                    "user_legal_id": number.clear(),
                    "payment_description": self.description(),
                }))
            }
            Channel::Qr => {
                let mut method = json!({"type": "BANCOLOMBIA_QR", "payment_description": self.description()});
                // The sandbox wants to be told how a QR code ends.
                if settings.public_key.expose().starts_with("pub_test_") {
                    method["sandbox_status"] = json!("APPROVED");
                }
                Ok(method)
            }
        }
    }

    /// At most 30 characters, with the end of the reference.
    fn description(&self) -> String {
        format!("Pago {:012x}", self.operation.as_u128() & 0xFFFF_FFFF_FFFF)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    pub id: RailId,
    pub status: String,
    pub status_message: String,
    pub reference: String,
    pub amount_in_cents: Option<i64>,
    pub currency: String,
    /// Picture or address, once it is there.
    pub qr_image: Option<String>,
    pub codes: Option<CodeServices>,
}

/// Where Daviplata's codes are sent and typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeServices {
    pub token: ApiSecret,
    pub send: String,
    pub validate: String,
}

impl Transaction {
    pub fn read(body: &[u8]) -> Option<Transaction> {
        let tree = bank_text::json(body)?;
        Transaction::of(tree.get("data")?)
    }

    /// `None` where a transaction can't be read, because an empty list means that there is none.
    pub fn read_list(body: &[u8]) -> Option<Vec<Transaction>> {
        let tree = bank_text::json(body)?;
        tree.get("data")?.as_array()?.iter().map(Transaction::of).collect()
    }

    fn of(data: &Value) -> Option<Transaction> {
        let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = match data.get("id")? {
            Value::String(id) => RailId::parse(id)?,
            Value::Number(id) => RailId::parse(&id.to_string())?,
            _ => return None,
        };
        if !is_plain(&id) {
            return None;
        }
        let extra = data.pointer("/payment_method/extra");
        Some(Transaction {
            id,
            status: visible(data.get("status")?.as_str()?)?.to_owned(),
            status_message: text("status_message"),
            reference: text("reference"),
            amount_in_cents: data.get("amount_in_cents").and_then(Value::as_i64),
            currency: text("currency"),
            qr_image: extra.and_then(|extra| {
                short(extra.get("qr_image")?, QR_BYTES_MAX).filter(|picture| is_address(picture))
            }),
            codes: extra.and_then(CodeServices::of),
        })
    }
}

impl CodeServices {
    fn of(extra: &Value) -> Option<CodeServices> {
        let services = extra.get("url_services")?;
        let text = |name: &str| short(services.get(name)?, URL_CHARACTERS_MAX);
        Some(CodeServices {
            token: ApiSecret::new(short(services.get("token")?, 8 * 1024)?),
            send: text("code_otp_send")?,
            validate: text("code_otp_validate")?,
        })
    }
}

/// Whether the id may stand in a path as it is.
pub fn is_plain(id: &RailId) -> bool {
    id.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// In the place of the one that was used: at the top or in `data`.
pub fn next_token(body: &[u8]) -> Option<Zeroizing<String>> {
    let tree = bank_text::json(body)?;
    let token = ["/authorization/access_token", "/data/authorization/access_token"]
        .into_iter()
        .find_map(|path| tree.pointer(path))?;
    short(token, 8 * 1024).map(Zeroizing::new)
}

/// Empty where the 422 says nothing that can be read.
pub fn invalid_fields(body: &[u8]) -> Vec<String> {
    let tree = bank_text::json(body).unwrap_or_default();
    match tree.pointer("/error/messages") {
        Some(Value::Object(messages)) => messages.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

pub fn error_words(body: &[u8]) -> (String, String) {
    let tree = bank_text::json(body).unwrap_or_default();
    let kind = tree.pointer("/error/type").and_then(Value::as_str).unwrap_or_default();
    let text = match tree.pointer("/error/messages").or(tree.pointer("/error/reason")) {
        Some(Value::String(text)) => text.clone(),
        Some(messages) => messages.to_string(),
        None => String::new(),
    };
    (kind.to_owned(), text)
}

/// Whether a text may be put into a page as an address: it ends no attribute and no tag there.
fn is_address(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'<>`\\".contains(&byte))
}

fn short(value: &Value, bytes_max: usize) -> Option<String> {
    value.as_str().filter(|text| (1..=bytes_max).contains(&text.len())).map(str::to_owned)
}
