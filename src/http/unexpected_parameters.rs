//! What is bad about a write beside its body, its Idempotency-Key and parameters that do not belong
//! there, is reported together with what is bad in the body (`docs/contract.md, 1.2`).

use api::problem::{BadField, Problem};
use api::query;
use hyper::header::{HeaderMap, HeaderName};
use std::ops::RangeInclusive;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENCY_KEY_CHARACTERS: RangeInclusive<usize> = 1..=255;

pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, BadField> {
    let mut sent = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(first) = sent.next() else { return Ok(None) };
    let key = first
        .to_str()
        .ok()
        .filter(|key| IDEMPOTENCY_KEY_CHARACTERS.contains(&key.chars().count()) && sent.next().is_none());
    key.map(Some).ok_or_else(|| BadField::new("Idempotency-Key", "must have 1 to 255 characters of ASCII"))
}

/// What is meant for the body must not be overlooked in the query.
pub fn unexpected_parameters(query: Option<&str>) -> Vec<BadField> {
    if query.is_none() {
        return Vec::new();
    }
    query::read(query, |query| query.finish())
        .err()
        .map_or_else(Vec::new, |invalid| Problem::from(invalid).fields)
}

/// One problem names all bad fields, outside of the body and inside it.
pub fn without_unexpected<T>(read: Result<T, Problem>, mut unexpected: Vec<BadField>) -> Result<T, Problem> {
    match read {
        read if unexpected.is_empty() => read,
        Err(problem) if problem.code == "invalid_json" => Err(problem),
        Err(problem) => {
            unexpected.extend(problem.fields);
            Err(Problem::invalid_data(unexpected))
        }
        Ok(_) => Err(Problem::invalid_data(unexpected)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn fields(problem: Problem) -> Vec<String> {
        problem.fields.into_iter().map(|bad| bad.field).collect()
    }

    #[test]
    fn idempotency_keys_have_1_to_255_characters() {
        let read = |sent: &[&str]| {
            let mut headers = HeaderMap::new();
            for sent in sent {
                headers.append(IDEMPOTENCY_KEY, HeaderValue::from_str(sent).expect("a header"));
            }
            idempotency_key(&headers).map(|key| key.map(str::to_owned))
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["k"]), Ok(Some("k".to_owned())));
        assert!(read(&[""]).is_err() && read(&[&"k".repeat(256)]).is_err() && read(&["a", "b"]).is_err());
    }

    #[test]
    fn what_is_bad_inside_and_outside_of_the_body_is_named_together() {
        let unexpected = || unexpected_parameters(Some("amount=5&x"));
        let plan = || Ok(200);
        assert!(without_unexpected(plan(), unexpected_parameters(None)).is_ok());
        assert_eq!(fields(without_unexpected(plan(), unexpected()).expect_err("refused")), ["amount", "x"]);
        let inside: Result<u16, _> = Err(Problem::invalid_field("monto", "is required"));
        assert_eq!(
            fields(without_unexpected(inside, unexpected()).expect_err("refused")),
            ["amount", "x", "monto"]
        );
        let no_json =
            without_unexpected::<u16>(Err(Problem::invalid_json("no")), unexpected()).expect_err("refused");
        assert_eq!(no_json.code, "invalid_json");
    }
}
