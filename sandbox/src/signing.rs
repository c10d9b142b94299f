//! Keyed hashes and comparisons of secrets.
//!
//! Promises: a comparison takes as long for a wrong value as for a right one of the same length.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The HMAC-SHA256 of a message in lower-case hex.
pub fn hmac_hex(key: &str, message: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("a key of any length");
    mac.update(message.as_bytes());
    hex::encode(mac.finalize().into_bytes())
}

/// The SHA-256 of a text in lower-case hex.
pub fn sha256_hex(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// Whether two texts are the same.
pub fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// Whether two texts of hex are the same in either case.
pub fn same_hex(one: &str, other: &str) -> bool {
    same(&one.to_ascii_lowercase(), &other.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second test case of RFC 4231.
    #[test]
    fn hmac_is_that_of_the_rfc() {
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hmac_hex("Jefe", "what do ya want for nothing?"), expected);
    }

    #[test]
    fn hex_is_compared_without_regard_to_case() {
        assert!(same_hex("00aBcD", "00ABCd"));
        assert!(!same_hex("00abcd", "00abce"));
        assert!(!same("00abcd", "00ABCD"));
    }
}
