//! Makes API keys and operators' tokens. The key itself is shown once to the one who asked for it; what
//! is kept is its SHA-256 and its first characters.

use crate::gateway::directory::hash_key;
use crate::gateway::operators::STEM;
use crate::gateway::server_keys::ServerKeys;
use api::problem::Problem;
use domain::platform::{ApiKey, Scopes};
use domain::values::ids::Id;
use domain::values::mode::Mode;
use domain::values::time::Timestamp;
use std::fmt;
use zeroize::Zeroize;

/// The number of digits: 0 to 9, A to Z and a to z.
const BASE: u16 = 62;
/// The digits, as characters.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Digits of a key: 62^27 is more than 2^160.
const DIGITS: usize = 27;
/// Characters of a key that are kept in plain text, to recognise it by.
const PREFIX_CHARACTERS: usize = 12;
/// Characters of a shorter key, which the configuration may fix, that are kept in plain text:
/// `pk_test_`.
const SHORT_PREFIX_CHARACTERS: usize = 8;

pub const OPERATOR: &str = STEM;

/// A key in plain text. It has no way into a log: neither `Debug` nor `Display` shows it.
pub struct Secret(String);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

pub const fn stem(mode: Mode) -> &'static str {
    match mode {
        Mode::Live => "pk_live_",
        Mode::Test => "pk_test_",
    }
}

impl Secret {
    /// The secret of a new key with this id. It can be made again for whoever sends the same
    /// Idempotency-Key, which is nowhere on the disk; without one it comes from the randomness of
    /// the operating system, and never again.
    pub fn new(
        keys: &ServerKeys,
        id: Id,
        stem: &'static str,
        idempotency_key: Option<&str>,
    ) -> Result<Secret, Problem> {
        if let Some(sent) = idempotency_key {
            return Ok(Secret::written(stem, keys.api_key(id, sent.as_bytes())));
        }
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| {
            Problem::internal_error(format!("the system gave no randomness for a key: {error}"))
        })?;
        Ok(Secret::written(stem, random))
    }

    /// The secret of a key that was made under this Idempotency-Key; `None` if it was not.
    pub fn again(keys: &ServerKeys, key: &ApiKey, idempotency_key: &str) -> Option<Secret> {
        Secret::with_hash(keys, key.id, stem(key.mode), idempotency_key, key.hash)
    }

    /// The secret that was made for this id under this Idempotency-Key, if it has this hash.
    pub fn with_hash(
        keys: &ServerKeys,
        id: Id,
        stem: &'static str,
        idempotency_key: &str,
        hash: [u8; 32],
    ) -> Option<Secret> {
        let secret = Secret::written(stem, keys.api_key(id, idempotency_key.as_bytes()));
        (secret.hash() == hash).then_some(secret)
    }

    /// The lowest digits of a number of 256 bits: each is as likely as any other, to one part in
    /// 2^95.
    fn written(stem: &'static str, mut number: [u8; 32]) -> Secret {
        let mut key = String::with_capacity(stem.len() + DIGITS);
        key.push_str(stem);
        for _ in 0..DIGITS {
            let mut rest = 0_u16;
            for byte in &mut number {
                let value = (rest << 8) | u16::from(*byte);
                // Less than 256, as the rest before was less than 62.
                *byte = (value / BASE) as u8;
                rest = value % BASE;
            }
            key.push(char::from(ALPHABET[usize::from(rest)]));
        }
        Secret(key)
    }

    pub fn fixed(key: &str) -> Secret {
        Secret(key.to_owned())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the key.
    pub fn hash(&self) -> [u8; 32] {
        hash_key(&self.0)
    }

    /// The record of the key under this id: its hash and prefix, never the key. The caller fills in
    /// whose key it is and when it was made.
    pub fn key(&self, id: Id, mode: Mode) -> ApiKey {
        ApiKey {
            id,
            tenant: 0,
            mode,
            hash: self.hash(),
            prefix: self.prefix(),
            scopes: Scopes::ALL,
            created_at: Timestamp::EPOCH,
            expires_at: None,
            revoked_at: None,
            retires_at: None,
            replaces: None,
        }
    }

    fn prefix(&self) -> Box<str> {
        // A short key shows fewer characters: the prefix must not be the key.
        let characters = if self.0.len() >= DIGITS { PREFIX_CHARACTERS } else { SHORT_PREFIX_CHARACTERS };
        self.0.chars().take(characters).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_are_long_distinct_and_of_their_mode() {
        let mut seen = HashSet::new();
        let mut letters = HashSet::new();
        for mode in Mode::ALL {
            for _ in 0..500 {
                let mut random = [0; 32];
                getrandom::fill(&mut random).expect("randomness");
                let secret = Secret::written(stem(mode), random);
                let digits = secret.reveal().strip_prefix(stem(mode)).expect("its stem").to_owned();
                assert!(
                    digits.len() == DIGITS && digits.bytes().all(|byte| ALPHABET.contains(&byte)),
                    "{digits}"
                );
                assert_eq!(*secret.prefix(), secret.reveal()[..12]);
                letters.extend(digits.bytes());
                assert!(seen.insert(digits));
            }
        }
        assert_eq!(letters.len(), ALPHABET.len(), "every digit occurs");
    }

    #[test]
    fn the_digits_are_those_of_the_number() {
        let digits = |number: u128| {
            let bytes = [[0; 16], number.to_be_bytes()].concat().try_into().expect("32 bytes");
            Secret::written(stem(Mode::Test), bytes).0.clone()
        };
        assert_eq!(digits(0), format!("pk_test_{}", "0".repeat(27)));
        assert_eq!(digits(62 * 62 * 62 + 61 * 62 + 10), format!("pk_test_Az01{}", "0".repeat(23)));
    }

    #[test]
    fn a_key_shows_itself_to_nobody() {
        let secret = Secret::fixed("pk_test_demo");
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(&*secret.prefix(), "pk_test_", "the prefix is not the key");
    }
}
