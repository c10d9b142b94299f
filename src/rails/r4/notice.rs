//! Calls that R4 makes by itself (`docs/contract.md, 18.6, 21.3`): the question before a transfer
//! and the notice of it, read from their bytes.
//!
//! Every field is a text. Members that nobody knows are left alone. It must not know what becomes of
//! a notice.

use chrono::{DateTime, NaiveDateTime};
use domain::resources::notices::{NoticedDocument, Transfer};
use domain::values::bank::BankCode;
use domain::values::money::Ves;
use domain::values::phone::MobilePhone;
use domain::values::time::{Timestamp, Zone};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The code with which the network says that a transfer was made.
const APPROVED: &str = "00";
/// Digits of the largest amount, before the point.
const WHOLE_DIGITS_MAX: usize = 8;
/// Digits of the longest reference.
const REFERENCE_DIGITS_MAX: usize = 20;
/// Characters of the code that a network gives a transfer.
const CODE_CHARACTERS_MAX: usize = 8;
/// The forms of instants that name no place, and of those whose offset has no colon.
const LOCAL: [&str; 2] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"];
const OFFSET: [&str; 2] = ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z"];

/// The body is not what R4's documents say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The word of a notice about a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The transfer was made.
    Made(Transfer),
    /// The transfer was not made.
    NotMade,
}

/// The question whether a transfer would be welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The number of the payer's document.
    pub document: u32,
    /// The phone that it would go to.
    pub commerce_phone: Option<MobilePhone>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct NoticeBody {
    id_comercio: String,
    telefono_comercio: String,
    telefono_emisor: String,
    #[serde(rename = "Concepto")]
    _concepto: Option<IgnoredAny>,
    banco_emisor: String,
    monto: String,
    fecha_hora: String,
    referencia: String,
    codigo_red: String,
    /// The payer's document. No source shows it in a notice; where it is, it is compared.
    #[serde(alias = "Cedula", alias = "CedulaEmisor")]
    id_cliente: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct QuestionBody {
    id_cliente: String,
    telefono_comercio: Option<String>,
}

/// Reads a notice.
pub fn notice(body: &[u8]) -> Result<Said, Malformed> {
    let body: NoticeBody = serde_json::from_slice(body).map_err(|_| Malformed)?;
    let fits = is_digits(&body.id_comercio, 12)
        && is_digits(&body.telefono_comercio, 12)
        && is_digits(&body.referencia, REFERENCE_DIGITS_MAX)
        && (1..=CODE_CHARACTERS_MAX).contains(&body.codigo_red.len());
    let transfer = Transfer {
        bank: bank(&body.banco_emisor).ok_or(Malformed)?,
        phone: MobilePhone::parse(&body.telefono_emisor).map_err(|_| Malformed)?,
        amount: amount(&body.monto).ok_or(Malformed)?,
        paid_at: instant(&body.fecha_hora).ok_or(Malformed)?,
        document: body.id_cliente.as_ref().and_then(document),
        reference: body.referencia,
    };
    match (fits, body.codigo_red == APPROVED) {
        (false, _) => Err(Malformed),
        (true, true) => Ok(Said::Made(transfer)),
        (true, false) => Ok(Said::NotMade),
    }
}

/// Reads the question before a transfer.
pub fn question(body: &[u8]) -> Result<Question, Malformed> {
    let body: QuestionBody = serde_json::from_slice(body).map_err(|_| Malformed)?;
    let number = body.id_cliente.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    if body.id_cliente.len() - number.len() > 1 || !is_digits(number, 9) {
        return Err(Malformed);
    }
    let commerce_phone = body.telefono_comercio.and_then(|phone| MobilePhone::parse(&phone).ok());
    Ok(Question { document: number.parse().map_err(|_| Malformed)?, commerce_phone })
}

fn is_digits(text: &str, length_max: usize) -> bool {
    (1..=length_max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The payer's document, of which the letter may be missing; none where it cannot be read.
fn document(value: &Value) -> Option<NoticedDocument> {
    let text = match value {
        Value::String(text) => text.trim().to_ascii_uppercase(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let number = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let letter = match &text[..text.len() - number.len()] {
        "" => None,
        letter if letter.len() == 1 => letter.bytes().next(),
        _ => return None,
    };
    let number = number.trim_start_matches('-');
    is_digits(number, 9)
        .then(|| number.parse().ok())
        .flatten()
        .map(|number| NoticedDocument { letter, number })
}

/// A bank with three digits, as notices name it, or with four.
fn bank(text: &str) -> Option<BankCode> {
    let is_code = matches!(text.len(), 3 | 4) && is_digits(text, 4);
    is_code.then(|| text.parse().ok()).flatten().and_then(|number| BankCode::from_number(number).ok())
}

/// An amount above nothing, with a point and at most two decimals.
fn amount(text: &str) -> Option<Ves> {
    let (whole, cents) = text.split_once('.').unwrap_or((text, "0"));
    if !is_digits(whole, WHOLE_DIGITS_MAX) || !is_digits(cents, 2) {
        return None;
    }
    let minor = format!("{whole}{cents:0<2}").parse().ok()?;
    Some(Ves::from_minor(minor)).filter(|amount| *amount > Ves::ZERO)
}

/// An instant; one that names no place is of Caracas.
fn instant(text: &str) -> Option<Timestamp> {
    if let Ok(instant) = Timestamp::parse(text) {
        return Some(instant);
    }
    let with_offset = OFFSET.iter().find_map(|format| DateTime::parse_from_str(text, format).ok());
    let ms = with_offset.map(|instant| instant.timestamp_millis()).or_else(|| {
        let local = LOCAL.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())?;
        Some(local.and_utc().timestamp_millis() - Zone::Caracas.offset_ms())
    })?;
    Some(Timestamp::from_unix_ms(ms)).filter(|instant| instant.unix_ms() == ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn sample() -> Value {
        json!({
            "IdComercio": "12345678", "TelefonoComercio": "04241112233", "TelefonoEmisor": "04141234567",
            "Concepto": "pago", "BancoEmisor": "134", "Monto": "1234.50",
            "FechaHora": "2026-11-23T15:00:00.000Z", "Referencia": "00123456", "CodigoRed": "00",
        })
    }

    fn read(body: &Value) -> Result<Said, Malformed> {
        notice(body.to_string().as_bytes())
    }

    fn with(field: &str, value: Value) -> Value {
        let mut body = sample();
        body[field] = value;
        body
    }

    fn made(body: &Value) -> Transfer {
        match read(body) {
            Ok(Said::Made(transfer)) => transfer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_notice_of_the_documents() {
        let transfer = made(&sample());
        assert_eq!((transfer.reference.as_str(), transfer.bank.number()), ("00123456", 134));
        assert_eq!(transfer.amount, Ves::from_minor(123_450));
        assert_eq!(transfer.phone.clear().to_string(), "04141234567");
        assert_eq!(transfer.paid_at.to_string(), "2026-11-23T15:00:00.000Z");
        let mut bare = with("Unknown", json!(7));
        bare.as_object_mut().expect("an object").remove("Concepto");
        assert_eq!(made(&bare), transfer);
        assert_eq!(made(&with("BancoEmisor", json!("0134"))), transfer);
        assert_eq!(read(&with("CodigoRed", json!("51"))), Ok(Said::NotMade));
    }

    #[test]
    fn instants_with_an_offset_and_without() {
        for (text, instant) in [
            ("2026-11-23T03:59:59Z", "2026-11-23T03:59:59.000Z"),
            ("2026-11-22T23:59:59.999-04:00", "2026-11-23T03:59:59.999Z"),
            ("2026-11-22T23:59:59-0400", "2026-11-23T03:59:59.000Z"),
            ("2026-11-22T23:59:59", "2026-11-23T03:59:59.000Z"),
            ("2026-11-23T00:00:00.000", "2026-11-23T04:00:00.000Z"),
            ("2026-11-23T00:00", "2026-11-23T04:00:00.000Z"),
            ("2026-11-23T00:00Z", "2026-11-23T00:00:00.000Z"),
        ] {
            assert_eq!(made(&with("FechaHora", json!(text))).paid_at.to_string(), instant, "{text}");
        }
    }

    #[test]
    fn amounts() {
        for (text, minor) in [("1", 100), ("1.5", 150), ("0.01", 1), ("99999999.99", 9_999_999_999)] {
            assert_eq!(made(&with("Monto", json!(text))).amount.minor(), minor, "{text}");
        }
    }

    #[test]
    fn malformed_notices() {
        let required = sample().as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        for field in required.iter().filter(|field| *field != "Concepto") {
            let mut body = sample();
            body.as_object_mut().expect("an object").remove(field);
            assert_eq!(read(&body), Err(Malformed), "without {field}");
            assert_eq!(read(&with(field, json!(""))), Err(Malformed), "empty {field}");
            assert_eq!(read(&with(field, json!(12))), Err(Malformed), "{field} is a number");
        }
        for (field, value) in [
            ("Monto", "0.00"),
            ("Monto", "-1.00"),
            ("Monto", "1.234"),
            ("Monto", "1,50"),
            ("Monto", "1e3"),
            ("Monto", "123456789.00"),
            ("Monto", ".50"),
            ("Monto", "1."),
            ("BancoEmisor", "13"),
            ("BancoEmisor", "000"),
            ("BancoEmisor", "00134"),
            ("TelefonoEmisor", "02121234567"),
            ("Referencia", "12a"),
            ("Referencia", "123456789012345678901"),
            ("FechaHora", "ayer"),
            ("FechaHora", "2026-13-01T00:00:00Z"),
            ("FechaHora", "2026-11-23"),
            ("FechaHora", "2026-11-23T25:00:00"),
        ] {
            assert_eq!(read(&with(field, json!(value))), Err(Malformed), "{field} {value}");
        }
        for body in ["", "[]", "null", "{", "7"] {
            assert_eq!(notice(body.as_bytes()), Err(Malformed), "{body}");
        }
    }

    #[test]
    fn questions() {
        let read = |body: Value| question(body.to_string().as_bytes());
        let phone = MobilePhone::parse("04241112233").ok();
        let asked = |document, commerce_phone| Ok(Question { document, commerce_phone });
        assert_eq!(read(json!({"IdCliente": "12345678"})), asked(12_345_678, None));
        assert_eq!(
            read(json!({"IdCliente": "V02345678", "Monto": "1.00", "TelefonoComercio": "04241112233"})),
            asked(2_345_678, phone)
        );
        for body in
            [json!({}), json!({"IdCliente": 7}), json!({"IdCliente": "VV7"}), json!({"IdCliente": "V"})]
        {
            assert_eq!(read(body.clone()), Err(Malformed), "{body}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(body in prop::collection::vec(any::<u8>(), 0..200), text in any::<String>()) {
            let _ = (notice(&body), question(&body));
            for field in ["Monto", "FechaHora", "Referencia", "BancoEmisor"] {
                let _ = read(&with(field, json!(text.clone())));
            }
        }
    }
}
