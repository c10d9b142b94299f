//! Formats of R4's fields, and the check of a body against a call's row
//! (docs/contract.md, 18.3, 21.3, 21.6).
//!
//! Promises: what passes is exactly what the bank's document has; an unknown field is named, not
//! ignored.

use super::calls::Call;
use crate::amount;
use chrono::NaiveDate;
use serde_json::{Map, Value};

/// The format of a field.
#[derive(Clone, Copy)]
pub enum Format {
    /// Three capital letters.
    Currency,
    /// A day, yyyy-mm-dd.
    Day,
    /// A mobile phone in its local form, 04 and nine digits.
    Phone,
    /// A letter and eight digits. A company's number has nine.
    Document,
    /// Four digits.
    Bank,
    /// An amount with two decimals.
    Amount,
    /// Letters and digits, single spaces, at most 30.
    Concept,
    /// An address of the internet.
    Ip,
    /// Four to eight digits.
    Otp,
    /// Letters and single spaces, at most 20.
    Name,
    /// Twenty digits.
    Account,
    /// A reference of at most twelve digits.
    Reference,
    /// A UUID of 36 characters.
    OperationId,
}

impl Format {
    fn fits(self, text: &str) -> bool {
        match self {
            Format::Currency => text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase()),
            Format::Day => text.len() == 10 && text.parse::<NaiveDate>().is_ok(),
            Format::Phone => digits(text, 11, 11) && text.starts_with("04"),
            Format::Document => {
                text.get(..1).is_some_and(|letter| "VEJPG".contains(letter)) && digits(&text[1..], 8, 9)
            }
            Format::Bank => digits(text, 4, 4),
            Format::Amount => amount::cents(text).is_some(),
            Format::Concept => words(text, 30, |c| c.is_ascii_alphanumeric()),
            Format::Ip => text.parse::<std::net::IpAddr>().is_ok(),
            Format::Otp => digits(text, 4, 8),
            Format::Name => words(text, 20, |c| c.is_ascii_alphabetic()),
            Format::Account => digits(text, 20, 20),
            Format::Reference => digits(text, 1, 12),
            Format::OperationId => text.len() == 36 && uuid::Uuid::try_parse(text).is_ok(),
        }
    }

    fn description(self) -> &'static str {
        match self {
            Format::Currency => "three capital letters",
            Format::Day => "a day as yyyy-mm-dd",
            Format::Phone => "11 digits that begin with 04",
            Format::Document => "V, E, J, P or G and 8 digits (9 of a company)",
            Format::Bank => "4 digits",
            Format::Amount => "more than nothing, at most 8 integer digits, a dot, exactly 2 decimals",
            Format::Concept => "1 to 30 letters without accents, digits, single spaces",
            Format::Ip => "an IP address",
            Format::Otp => "4 to 8 digits",
            Format::Name => "1 to 20 letters without accents, single spaces",
            Format::Account => "20 digits",
            Format::Reference => "1 to 12 digits",
            Format::OperationId => "a UUID of 36 characters",
        }
    }
}

fn digits(text: &str, min: usize, max: usize) -> bool {
    (min..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Words of such letters with one space between them and none around them.
fn words(text: &str, max: usize, is_letter: impl Fn(char) -> bool) -> bool {
    text.len() <= max && text.split(' ').all(|word| !word.is_empty() && word.chars().all(&is_letter))
}

/// The members of a body that all are text, as R4 wants them.
///
/// # Errors
/// What is wrong with which field.
pub fn texts(body: &Value) -> Result<Map<String, Value>, String> {
    let members = body.as_object().ok_or("the body is no object")?;
    match members.iter().find(|(_, value)| !value.is_string()) {
        Some((name, _)) => Err(format!("{name} is no text")),
        None => Ok(members.clone()),
    }
}

/// A field of a body that was checked; empty if it is left out.
pub fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether the fields are those of the call.
///
/// # Errors
/// What is wrong with which field.
pub fn check(call: &Call, fields: &Map<String, Value>) -> Result<(), String> {
    let is_known = |name: &String| call.fields.iter().any(|(known, _, _)| known == name);
    if let Some(name) = fields.keys().find(|name| !is_known(name)) {
        return Err(format!("{} has no field {name}", call.name));
    }
    for (name, format, required) in call.fields {
        match fields.get(*name).and_then(Value::as_str) {
            None if *required => return Err(format!("{name} is missing")),
            Some(value) if !format.fits(value) => {
                return Err(format!("{name} has to be {}", format.description()));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_take_what_the_document_has_and_nothing_else() {
        let cases: [(Format, &[&str], &[&str]); 8] = [
            (
                Format::Document,
                &["V12345678", "J000029709"],
                &["12345678", "V1234567", "v12345678", "X12345678", "ñ1"],
            ),
            (Format::Phone, &["04141234567"], &["584141234567", "02121234567", "0414123456"]),
            (Format::Bank, &["0134"], &["134", "00134"]),
            (
                Format::Concept,
                &["Pago 12", "a"],
                &["", " a", "a  b", "café", "a-b", "0123456789012345678901234567890"],
            ),
            (Format::Name, &["Ana Perez"], &["Ana1", "Ana Perez ", "ABCDEFGHIJKLMNOPQRSTU"]),
            (Format::Otp, &["1234", "12345678"], &["123", "123456789", "12a4"]),
            (Format::Day, &["2026-02-28"], &["2026-02-29", "28/02/2026", "2026-2-28"]),
            (
                Format::OperationId,
                &["3f2504e0-4f89-41d3-9a0c-0305e82c3301"],
                &["3f2504e04f8941d39a0c0305e82c3301"],
            ),
        ];
        for (format, good, bad) in cases {
            assert!(good.iter().all(|text| format.fits(text)), "{good:?}");
            let fit = bad.iter().find(|text| format.fits(text));
            assert!(fit.is_none(), "{fit:?}");
        }
    }
}
