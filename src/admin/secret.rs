//! Makes API keys. The key itself is shown once to the one who asked for it; what is kept is its SHA-256 and its first characters.

use crate::api::problem::Problem;
use crate::config::Secret;
use crate::domain::ids::Id;
use crate::domain::platform::{ApiKey, Mode, Scopes};
use crate::domain::time::Timestamp;
use crate::server::directory::hash_key;
use crate::server::services::random_seed;

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

/// What every key of a mode begins with.
pub const fn stem(mode: Mode) -> &'static str {
    match mode {
        Mode::Live => "pk_live_",
        Mode::Test => "pk_test_",
    }
}

/// A new key, from the randomness of the operating system.
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
    Ok(Secret::new(key))
}

/// What is kept of a key. Whose it is and when it was made is filled in by who writes it.
pub fn kept_of(secret: &Secret, mode: Mode, now: Timestamp) -> ApiKey {
    ApiKey {
        id: Id::derived(now.unix_ms(), random_seed(), 0),
        tenant: 0,
        mode,
        hash: hash_key(secret.expose()),
        prefix: prefix(secret.expose()),
        scopes: Scopes::ALL,
        created_at: now,
        expires_at: None,
        revoked_at: None,
    }
}

/// The first characters; of a short key fewer, for the prefix must not be the key.
fn prefix(key: &str) -> String {
    let characters = if key.len() >= DIGITS { PREFIX_CHARACTERS } else { SHORT_PREFIX_CHARACTERS };
    key.chars().take(characters).collect()
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
                let secret = generate(mode).expect("randomness");
                let digits = secret.expose().strip_prefix(stem(mode)).expect("its stem").to_owned();
                assert!(digits.len() == DIGITS && digits.bytes().all(|byte| ALPHABET.contains(&byte)), "{digits}");
                assert_eq!(prefix(secret.expose()), secret.expose()[..12]);
                letters.extend(digits.bytes());
                assert!(seen.insert(digits));
            }
        }
        assert_eq!(letters.len(), ALPHABET.len(), "every digit occurs");
    }

    #[test]
    fn what_is_kept_is_not_the_key() {
        let now = Timestamp::from_unix_ms(1_795_226_000_000);
        for secret in [Secret::new("pk_test_demo"), generate(Mode::Test).expect("randomness")] {
            let key = kept_of(&secret, Mode::Test, now);
            assert!(key.prefix.starts_with("pk_test_") && key.prefix != secret.expose());
            assert!(!format!("{key:?}").contains(secret.expose()));
        }
    }
}
