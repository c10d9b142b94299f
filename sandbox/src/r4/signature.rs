//! The headers of R4's calls: the commerce token and the signature over fields
//! (docs/contract.md, 21.3).
//!
//! Promises: neither token nor signature is in what is said of them. Where sources disagree both
//! variants are taken, unless an option asks for one.

use super::calls::Call;
use super::fields::text;
use crate::http::Request;
use crate::signing::{hmac_hex, same, same_hex};
use clap::ValueEnum;
use serde_json::{Map, Value};

/// The case of hex that is taken.
#[derive(Clone, Copy, ValueEnum)]
pub enum HexCase {
    /// Both cases.
    Any,
    /// Lower case alone.
    Lower,
    /// Upper case alone.
    Upper,
}

/// The rule for a space at the start of the signed message of C2P.
#[derive(Clone, Copy, ValueEnum)]
pub enum LeadingSpace {
    /// A space is accepted, and may be missing.
    Any,
    /// A space must be there.
    Yes,
    /// A space must not be there.
    No,
}

/// The reason why a caller is not authenticated.
#[derive(Debug, PartialEq, Eq)]
pub struct Stranger {
    /// R4's code.
    pub code: &'static str,
    /// The reason, in words.
    pub text: String,
}

fn stranger(code: &'static str, text: impl Into<String>) -> Stranger {
    Stranger { code, text: text.into() }
}

/// The check of callers' signatures.
pub struct Signatures {
    /// The value of `Commerce`, and the key.
    pub token: String,
    /// The case that is taken.
    pub case: HexCase,
    /// The space that is taken.
    pub leading_space: LeadingSpace,
}

impl Signatures {
    /// Whether the caller has the token.
    ///
    /// # Errors
    /// Which header is missing or wrong.
    pub fn check_commerce(&self, request: &Request) -> Result<(), Stranger> {
        if request.header("authorization").is_none() {
            return Err(stranger("08", "the header Authorization is missing"));
        }
        let commerce =
            request.header("commerce").ok_or_else(|| stranger("15", "the header Commerce is missing"))?;
        match same(commerce, &self.token) {
            true => Ok(()),
            false => Err(stranger("08", "the header Commerce is not the commerce token")),
        }
    }

    /// Whether `Authorization` is the signature of the call's fields.
    ///
    /// # Errors
    /// What it should have been made of.
    pub fn check(&self, call: &Call, given: &str, fields: &Map<String, Value>) -> Result<(), Stranger> {
        let message: String = call.signed.iter().map(|name| text(fields, name)).collect();
        let is_c2p = call.name == "MBc2p";
        let plain = self.is_of(given, &message);
        let spaced = is_c2p && self.is_of(given, &format!(" {message}"));
        let is_right = match self.leading_space {
            LeadingSpace::Any => plain || spaced,
            LeadingSpace::Yes if is_c2p => spaced,
            _ => plain,
        };
        let case_fits = match self.case {
            HexCase::Any => true,
            HexCase::Lower => !given.bytes().any(|byte| byte.is_ascii_uppercase()),
            HexCase::Upper => !given.bytes().any(|byte| byte.is_ascii_lowercase()),
        };
        let order = call.signed.join("+");
        let all: String = fields.values().filter_map(Value::as_str).collect();
        match (is_right, case_fits) {
            (true, true) => Ok(()),
            (true, false) => Err(stranger("08", "Authorization is right but for the case of its hex")),
            (false, _) if plain || spaced => {
                Err(stranger("08", "Authorization is right but for the space before the message"))
            }
            (false, _) if self.is_of(given, &all) => {
                Err(stranger("08", format!("Authorization signs every field; R4 signs {order}")))
            }
            (false, _) => Err(stranger(
                "08",
                format!("Authorization is not the HMAC-SHA256 in hex of {order} under the commerce token"),
            )),
        }
    }

    fn is_of(&self, given: &str, message: &str) -> bool {
        same_hex(given, &hmac_hex(&self.token, message))
    }
}
