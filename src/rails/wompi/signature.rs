//! What Wompi signs and asks to be signed (`docs/contract.md, 21.10`): SHA-256 over values put
//! together without a separator, with a secret at the end.

use crate::bank_text;
use crate::rails::secret::ApiSecret;
use domain::values::money::Cop;
use serde_json::Value;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const PROPERTIES_MAX: usize = 32;

pub fn integrity(
    reference: &str,
    amount_in_cents: i64,
    expiration_time: Option<&str>,
    secret: &ApiSecret,
) -> String {
    let mut hash = Sha256::new();
    hash.update(reference);
    hash.update(amount_in_cents.to_string());
    hash.update("COP");
    hash.update(expiration_time.unwrap_or_default());
    hash.update(secret.expose());
    hex::encode(hash.finalize())
}

pub fn cents(amount: Cop) -> Option<i64> {
    amount.minor().checked_mul(100).filter(|cents| *cents > 0)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mentioned {
    pub id: String,
    pub reference: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventError {
    Malformed,
    /// The checksum is wrong, is not there, or covers nothing.
    Forged,
}

/// One that bears the right checksum is a hint that the transaction has changed that it mentions.
pub fn event(body: &[u8], secret: &ApiSecret) -> Result<Option<Mentioned>, EventError> {
    let event = bank_text::json(body).ok_or(EventError::Malformed)?;
    if !event.is_object() {
        return Err(EventError::Malformed);
    }
    verify(&event, secret).ok_or(EventError::Forged)?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Ok(event.pointer("/data/transaction").and_then(|transaction| {
        Some(Mentioned {
            id: text(transaction.get("id")?)?,
            reference: transaction.get("reference").and_then(text),
        })
    }))
}

/// In constant time and without regard to case.
fn verify(event: &Value, secret: &ApiSecret) -> Option<()> {
    let signature = event.get("signature")?;
    let properties = signature.get("properties")?.as_array()?;
    if !(1..=PROPERTIES_MAX).contains(&properties.len()) {
        return None;
    }
    let data = event.get("data")?;
    let mut hash = Sha256::new();
    for path in properties {
        hash.update(written(path.as_str()?.split('.').try_fold(data, |value, name| value.get(name))?)?);
    }
    hash.update(written(event.get("timestamp")?)?);
    hash.update(secret.expose());
    let mut given = [0; 32];
    hex::decode_to_slice(signature.get("checksum")?.as_str()?, &mut given).ok()?;
    bool::from(hash.finalize()[..].ct_eq(&given)).then_some(())
}

fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of Wompi's documents, whose printed checksum is not the hash of its inputs.
    const SECRET: &str = "prod_events_OcHnIzeBl5socpwByQ4hA52Em3USQ93Z";
    /// `printf 1234-1610641025-49201APPROVED44900001530291411$SECRET | sha256sum`
    const CHECKSUM: &str = "5a18ec5e8fdb7df463e9f94774cba8f583ba21bd04a09ceff2ea68a4bc0aefbe";

    fn example(checksum: &str, status: &str, properties: &str) -> String {
        format!(
            r#"{{"event":"transaction.updated","data":{{"transaction":{{"id":"1234-1610641025-49201",
            "amount_in_cents":4490000,"reference":"MZQ3X2DE2SMX","status":"{status}"}}}},"environment":"prod",
            "signature":{{"properties":[{properties}],"checksum":"{checksum}"}},"timestamp":1530291411}}"#
        )
    }

    const THREE: &str = r#""transaction.id","transaction.status","transaction.amount_in_cents""#;

    fn read(body: &str) -> Result<Option<Mentioned>, EventError> {
        event(body.as_bytes(), &ApiSecret::new(SECRET))
    }

    /// `printf
    /// sk8-438k4-xmxm392-sn24900000COP2023-06-09T20:28:50.000Zprod_integrity_Z5mMke9x0k8gpErbDqwrJXMqsI6SFli6
    /// | sha256sum`
    #[test]
    fn sha256sum_signs_the_same() {
        let secret = ApiSecret::new("prod_integrity_Z5mMke9x0k8gpErbDqwrJXMqsI6SFli6");
        let reference = "sk8-438k4-xmxm392-sn2";
        assert_eq!(
            integrity(reference, 4_900_000, None, &secret),
            "01dc533207d3daf382f08c699d140bc610eaee88166ca24864c86baaec96f8ed"
        );
        assert_eq!(
            integrity(reference, 4_900_000, Some("2023-06-09T20:28:50.000Z"), &secret),
            "2cd6b4bf488be52e6a0b46e72e688d3b42356c909b3b412bd44e3c22ed4c68e6"
        );
    }

    #[test]
    fn the_example_in_either_case() {
        for checksum in [CHECKSUM.to_owned(), CHECKSUM.to_uppercase()] {
            let found = read(&example(&checksum, "APPROVED", THREE)).expect("it is right");
            let transaction = found.expect("a transaction");
            assert_eq!(transaction.id, "1234-1610641025-49201");
            assert_eq!(transaction.reference.as_deref(), Some("MZQ3X2DE2SMX"));
        }
    }

    #[test]
    fn forged_events() {
        let swapped = r#""transaction.status","transaction.id","transaction.amount_in_cents""#;
        for body in [
            example("3476DDA50F64CD7CBD160689640987FE9A33BF2F7A0F5A6C0E6A4F7F4C9D1B6A", "APPROVED", THREE),
            example(CHECKSUM, "DECLINED", THREE),
            example(CHECKSUM, "APPROVED", swapped),
            example(CHECKSUM, "APPROVED", ""),
            example(CHECKSUM, "APPROVED", r#""transaction.nothing""#),
            example(CHECKSUM, "APPROVED", r#""transaction""#),
            example(CHECKSUM, "APPROVED", "7"),
            example("", "APPROVED", THREE),
            example(&CHECKSUM[..62], "APPROVED", THREE),
            "{}".to_owned(),
            r#"{"signature":{"properties":[],"checksum":""},"data":{},"timestamp":1}"#.to_owned(),
        ] {
            assert_eq!(read(&body), Err(EventError::Forged), "{body}");
        }
        for body in ["", "[]", "null", "{", "\u{feff}[]"] {
            assert_eq!(read(body), Err(EventError::Malformed), "{body}");
        }
    }

    #[test]
    fn pesos_are_counted_in_cents() {
        for (pesos, counted) in [(20_000, Some(2_000_000)), (0, None), (-1, None), (i64::MAX, None)] {
            assert_eq!(cents(Cop::from_minor(pesos)), counted);
        }
    }

    proptest! {
        #[test]
        fn no_event_panics(body in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(event(&body, &ApiSecret::new(SECRET)).is_err());
        }

        #[test]
        fn any_other_checksum_is_forged(checksum in "[0-9a-fA-F]{64}") {
            prop_assume!(!checksum.eq_ignore_ascii_case(CHECKSUM));
            prop_assert_eq!(read(&example(&checksum, "APPROVED", THREE)), Err(EventError::Forged));
        }
    }
}
