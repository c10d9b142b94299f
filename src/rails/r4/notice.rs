//! Calls that R4 makes by itself (`docs/contract.md, 18.6, 21.3`): the question before a transfer
//! and the notice of it. Every field is a text, or a number where a bank has it so; members that
//! nobody knows are left alone. What becomes of a notice is decided elsewhere.

use crate::bank_text;
use chrono::{DateTime, NaiveDateTime};
use domain::entities::notice::{NoticedDocument, Transfer};
use domain::resources::payments::charge::TRANSFER_DAYS_MAX;
use domain::values::money::Ves;
use domain::values::time::{Timestamp, Zone};
use domain::values::venezuela::{BankCode, MobilePhone};
use serde_json::{Map, Value};

const APPROVED: &str = "00";
const WHOLE_DIGITS_MAX: usize = 8;
const REFERENCE_DIGITS_MAX: usize = 20;
/// No source shows the payer's document in a notice; where it is, it is compared.
const PAYER: [&str; 3] = ["IdCliente", "Cedula", "CedulaEmisor"];
const PHONE_DIGITS: usize = 11;
/// Days by which a transfer may lie ahead of its notice; none older than the bound behind pays for anything.
const DAYS_AHEAD_MAX: i32 = 1;
const DAYS_BEHIND_MAX: i32 = TRANSFER_DAYS_MAX;
const CODE_CHARACTERS_MAX: usize = 8;
/// Instants that name no place, and those whose offset has no colon.
const LOCAL: [&str; 4] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"];
const OFFSET: [&str; 2] = ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z"];

/// The body is not what R4's documents say, because of this member; nothing of people is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Made(Made),
    NotMade,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub transfer: Transfer,
    pub to: Option<MobilePhone>,
}

impl Made {
    /// Whether it is one to us, of a day that a payment may still name, or else why not: a transfer to another
    /// phone is another's money, and one of next year is nobody's.
    pub fn foreign(&self, commerce_phone: Option<MobilePhone>, now: Timestamp) -> Option<Foreign> {
        let day = |at: Timestamp| at.date_in(Zone::Caracas);
        let (today, paid_on) = (day(now), day(self.transfer.paid_at));
        let is_timely =
            today.plus_days(-DAYS_BEHIND_MAX) <= paid_on && paid_on <= today.plus_days(DAYS_AHEAD_MAX);
        if commerce_phone.is_some() && commerce_phone != self.to {
            return Some(Foreign::Phone);
        }
        (!is_timely).then_some(Foreign::Day)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub document: u32,
    pub commerce_phone: Option<MobilePhone>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    Phone,
    Day,
}

fn members(body: &[u8]) -> Result<Map<String, Value>, Malformed> {
    match bank_text::json(body) {
        Some(Value::Object(members)) => Ok(members),
        _ => Err(Malformed("the whole body")),
    }
}

/// A number, where the documents have a text of so many digits, lacks the zeros that it began with.
fn read_as<T>(
    body: &Map<String, Value>,
    name: &'static str,
    digits: usize,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, Malformed> {
    let text = match body.get(name) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => format!("{:0>digits$}", number.to_string()),
        _ => return Err(Malformed(name)),
    };
    read(&text).ok_or(Malformed(name))
}

/// One that is a number may have the country's 58 before it.
fn phone(text: &str) -> Option<MobilePhone> {
    MobilePhone::parse(text).ok()
}

pub fn notice(body: &[u8]) -> Result<Said, Malformed> {
    let body = &members(body)?;
    let digits = |max: usize| move |text: &str| is_digits(text, max).then(|| text.to_owned());
    let is_code = |code: &&str| (1..=CODE_CHARACTERS_MAX).contains(&code.len());
    read_as(body, "IdComercio", 1, digits(12))?;
    // Our phone may be none that mobiles have.
    let commerce_phone = read_as(body, "TelefonoComercio", PHONE_DIGITS, |text| {
        digits(12)(text.strip_prefix('+').unwrap_or(text))
    })?;
    let transfer = Transfer {
        reference: read_as(body, "Referencia", 1, digits(REFERENCE_DIGITS_MAX))?,
        bank: read_as(body, "BancoEmisor", 3, bank)?,
        phone: read_as(body, "TelefonoEmisor", PHONE_DIGITS, phone)?,
        amount: read_as(body, "Monto", 1, amount)?,
        paid_at: read_as(body, "FechaHora", 1, instant)?,
        document: PAYER.iter().find_map(|name| document(body.get(*name)?)),
    };
    let code = read_as(body, "CodigoRed", 2, |code| Some(code).filter(is_code).map(str::to_owned))?;
    Ok(match code == APPROVED {
        true => Said::Made(Made { transfer, to: phone(&commerce_phone) }),
        false => Said::NotMade,
    })
}

pub fn question(body: &[u8]) -> Result<Question, Malformed> {
    let body = &members(body)?;
    let payer = body.get("IdCliente").and_then(document).ok_or(Malformed("IdCliente"))?;
    let commerce_phone = read_as(body, "TelefonoComercio", PHONE_DIGITS, phone).ok();
    Ok(Question { document: payer.number, commerce_phone })
}

fn is_digits(text: &str, length_max: usize) -> bool {
    (1..=length_max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The letter may be missing; none where it cannot be read.
fn document(value: &Value) -> Option<NoticedDocument> {
    let text = match value {
        Value::String(text) => text.trim().to_ascii_uppercase(),
        Value::Number(number) => number.as_u64()?.to_string(),
        _ => return None,
    };
    let number = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let letter = match &text[..text.len() - number.len()] {
        "" => None,
        letter if letter.len() == 1 => letter.bytes().next(),
        _ => return None,
    };
    let number: String = number.chars().filter(|character| !"-. ".contains(*character)).collect();
    is_digits(&number, 9)
        .then(|| number.parse().ok())
        .flatten()
        .map(|number| NoticedDocument { letter, number })
}

/// Three digits, as notices name it, or four.
fn bank(text: &str) -> Option<BankCode> {
    let is_code = matches!(text.len(), 3 | 4) && is_digits(text, 4);
    is_code.then(|| text.parse().ok()).flatten().and_then(|number| BankCode::from_number(number).ok())
}

/// Above nothing, with a point and at most two decimals.
fn amount(text: &str) -> Option<Ves> {
    let (whole, cents) = text.split_once('.').unwrap_or((text, "0"));
    if !is_digits(whole, WHOLE_DIGITS_MAX) || !is_digits(cents, 2) {
        return None;
    }
    let minor = format!("{whole}{cents:0<2}").parse().ok()?;
    Some(Ves::from_minor(minor)).filter(|amount| *amount > Ves::ZERO)
}

/// One that names no place is of Caracas.
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
    use domain::values::time::DAY_MS;
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
            Ok(Said::Made(made)) => made.transfer,
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
        let Ok(Said::Made(whole)) = read(&with("TelefonoComercio", json!("+584241112233"))) else {
            panic!("one")
        };
        assert_eq!(whole.to, MobilePhone::parse("04241112233").ok());
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
            ("2026-11-22 23:59:59", "2026-11-23T03:59:59.000Z"),
            ("2026-11-22 23:59", "2026-11-23T03:59:00.000Z"),
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
    fn numbers_are_read_as_the_texts_that_they_stand_for() {
        let numbers = r#"{"IdComercio": 12345678, "TelefonoComercio": 4241112233, "TelefonoEmisor": 4141234567,
            "BancoEmisor": 134, "Monto": 1234.50, "FechaHora": "2026-11-23T15:00:00.000Z",
            "Referencia": 123456, "CodigoRed": 00}"#;
        let Ok(Said::Made(read)) = notice(numbers.as_bytes()) else { panic!("a notice") };
        let texts = made(&sample());
        assert_eq!(read.to.map(|phone| phone.clear().to_string()).as_deref(), Some("04241112233"));
        assert_eq!(read.transfer, Transfer { reference: "123456".to_owned(), ..texts });
        for (field, value) in [
            ("CodigoRed", json!(0)),
            ("Monto", json!(1_234.5)),
            ("BancoEmisor", json!(134)),
            ("TelefonoEmisor", json!(584_141_234_567_u64)),
        ] {
            assert_eq!(made(&with(field, value.clone())), made(&sample()), "{field} {value}");
        }
        assert_eq!(made(&with("Monto", json!(7))).amount.minor(), 700);
        for (field, value) in [("Monto", json!(-1)), ("Referencia", json!(1.5)), ("TelefonoEmisor", json!(7))]
        {
            assert_eq!(read_error(field, value.clone()), Err(Malformed(field)), "{field} {value}");
        }
    }

    fn read_error(field: &str, value: Value) -> Result<Said, Malformed> {
        read(&with(field, value))
    }

    #[test]
    fn a_concept_in_latin_1_or_with_a_line_end_is_no_reason_to_send_the_money_back() {
        let text = sample().to_string().replace("pago", "caf\u{1}");
        let bytes: Vec<u8> =
            text.bytes().flat_map(|byte| if byte == 1 { b"\xE9\n".to_vec() } else { vec![byte] }).collect();
        assert!(matches!(notice(&bytes), Ok(Said::Made(_))));
    }

    #[test]
    fn a_transfer_is_ours_by_its_phone_and_its_day() {
        let Ok(Said::Made(made)) = read(&sample()) else { panic!("a notice") };
        let (ours, other) = (MobilePhone::parse("04241112233").ok(), MobilePhone::parse("04241112234").ok());
        let paid_at = made.transfer.paid_at;
        for (phone, now, foreign) in [
            (ours, paid_at, None),
            (None, paid_at, None),
            (other, paid_at, Some(Foreign::Phone)),
            (ours, paid_at.minus_ms(DAY_MS), None),
            (ours, paid_at.minus_ms(2 * DAY_MS), Some(Foreign::Day)),
            (ours, paid_at.plus_ms(30 * DAY_MS), None),
            (ours, paid_at.plus_ms(31 * DAY_MS), Some(Foreign::Day)),
        ] {
            assert_eq!(made.foreign(phone, now), foreign, "{phone:?} {now:?}");
        }
        let Ok(Said::Made(elsewhere)) = read(&with("TelefonoComercio", json!("02121234567"))) else {
            panic!("one")
        };
        assert_eq!(elsewhere.foreign(ours, paid_at), Some(Foreign::Phone));
        assert_eq!(elsewhere.foreign(None, paid_at), None);
    }

    #[test]
    fn malformed_notices() {
        let required = sample().as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        for field in required.iter().filter(|field| *field != "Concepto") {
            let mut body = sample();
            body.as_object_mut().expect("an object").remove(field);
            let named =
                |outcome: Result<Said, Malformed>| outcome.err().map(|Malformed(name)| name.to_owned());
            let expected = Some(field.clone());
            assert_eq!(named(read(&body)), expected, "without {field}");
            assert_eq!(named(read(&with(field, json!("")))), expected, "empty {field}");
            assert_eq!(named(read(&with(field, json!([])))), expected, "{field} is a list");
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
            assert_eq!(read(&with(field, json!(value))), Err(Malformed(field)), "{field} {value}");
        }
        for body in ["", "[]", "null", "{", "7"] {
            assert_eq!(notice(body.as_bytes()), Err(Malformed("the whole body")), "{body}");
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
        assert_eq!(
            read(json!({"IdCliente": 12_345_678, "TelefonoComercio": 4_241_112_233_u64})),
            asked(12_345_678, phone)
        );
        for dashed in ["V-12345678", "v 12.345.678", "12.345.678"] {
            assert_eq!(read(json!({"IdCliente": dashed})), asked(12_345_678, None), "{dashed}");
        }
        for body in
            [json!({}), json!({"IdCliente": 7.5}), json!({"IdCliente": "VV7"}), json!({"IdCliente": "V"})]
        {
            assert_eq!(read(body.clone()), Err(Malformed("IdCliente")), "{body}");
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
