//! Makes API keys. The key itself is shown once to the one who asked for it; what is kept is its SHA-256 and its first characters.

use crate::api::problem::Problem;
use crate::domain::platform::{ApiKey, Mode, Scopes};
use crate::domain::time::Timestamp;
use crate::server::directory::hash_key;
use crate::server::services::fresh_id;
use std::fmt;

/// The digits of a key.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Random digits of a key: 62^27 is more than 2^160.
const DIGITS: usize = 27;
/// Bytes from here on are thrown away, so that every digit is equally likely: the largest multiple of 62 that a byte holds.
const FAIR_BYTES: u8 = 248;
/// Characters of a key that are kept in clear, to recognise it by.
const PREFIX_CHARACTERS: usize = 12;
/// Characters of a shorter key, which the configuration may fix, that are kept in clear: `pk_test_`.
const SHORT_PREFIX_CHARACTERS: usize = 8;

/// A key in clear. It has no way into a log: neither `Debug` nor `Display` shows it.
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// What every key of a mode begins with.
pub const fn stem(mode: Mode) -> &'static str {
    match mode {
        Mode::Live => "pk_live_",
        Mode::Test => "pk_test_",
    }
}

impl Secret {
    /// A new one, from the randomness of the operating system.
    pub fn generate(mode: Mode) -> Result<Secret, Problem> {
        let mut key = String::with_capacity(stem(mode).len() + DIGITS);
        key.push_str(stem(mode));
        let mut random = [0_u8; 2 * DIGITS];
        let mut digits = 0;
        while digits < DIGITS {
            getrandom::fill(&mut random).map_err(|error| {
                tracing::error!(%error, "the system gave no randomness for a key");
                Problem::internal_error()
            })?;
            for byte in random.into_iter().filter(|byte| *byte < FAIR_BYTES).take(DIGITS - digits) {
                key.push(char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
                digits += 1;
            }
        }
        Ok(Secret(key))
    }

    /// One that the configuration fixes.
    pub fn fixed(key: &str) -> Secret {
        Secret(key.to_owned())
    }

    /// The key, to be shown to the one who asked for it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it. Whose it is and when it was made is filled in by who writes it.
    pub fn key(&self, mode: Mode) -> ApiKey {
        let id = fresh_id();
        ApiKey {
            id,
            tenant: 0,
            mode,
            hash: hash_key(&self.0),
            prefix: self.prefix(),
            scopes: Scopes::ALL,
            created_at: Timestamp::EPOCH,
            expires_at: None,
            revoked_at: None,
            retires_at: None,
        }
    }

    fn prefix(&self) -> String {
        // Of a short one less is shown: the prefix must not be the key.
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
                let secret = Secret::generate(mode).expect("randomness");
                let digits = secret.reveal().strip_prefix(stem(mode)).expect("its stem").to_owned();
                assert!(digits.len() == DIGITS && digits.bytes().all(|byte| ALPHABET.contains(&byte)), "{digits}");
                assert_eq!(secret.prefix(), secret.reveal()[..12]);
                letters.extend(digits.bytes());
                assert!(seen.insert(digits));
            }
        }
        assert_eq!(letters.len(), ALPHABET.len(), "every digit occurs");
    }

    #[test]
    fn a_key_shows_itself_to_nobody() {
        let secret = Secret::fixed("pk_test_demo");
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(secret.prefix(), "pk_test_", "the prefix is not the key");
    }
}
