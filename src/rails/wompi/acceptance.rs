//! The tokens by which a transaction says that the buyer knows Wompi's terms: fetched once, and
//! again when Wompi no longer takes them (`docs/contract.md, 18.4`).

use crate::bank_text;
use crate::rails::secret::ApiSecret;

const TOKEN_BYTES_MAX: usize = 8 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub terms: ApiSecret,
    pub personal_data: ApiSecret,
}

impl Acceptance {
    pub fn read(body: &[u8]) -> Option<Acceptance> {
        let tree = bank_text::json(body)?;
        let token = |name: &str| {
            let token = tree.get("data")?.get(name)?.get("acceptance_token")?.as_str()?;
            (1..=TOKEN_BYTES_MAX).contains(&token.len()).then(|| ApiSecret::new(token))
        };
        Some(Acceptance {
            terms: token("presigned_acceptance")?,
            personal_data: token("presigned_personal_data_auth")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tokens_are_needed() {
        let both = r#"{"data":{"presigned_acceptance":{"acceptance_token":"a"},
            "presigned_personal_data_auth":{"acceptance_token":"b"}}}"#;
        let read = Acceptance::read(both.as_bytes()).expect("tokens");
        assert_eq!((read.terms.expose(), read.personal_data.expose()), ("a", "b"));
        for body in ["", "{}", r#"{"data":{"presigned_acceptance":{"acceptance_token":"a"}}}"#] {
            assert_eq!(Acceptance::read(body.as_bytes()), None, "{body}");
        }
        for empty in [r#""a""#, r#""b""#] {
            assert_eq!(Acceptance::read(both.replace(empty, "\"\"").as_bytes()), None);
        }
    }
}
