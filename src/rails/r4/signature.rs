//! The value of `Authorization` (`docs/contract.md, 21.3`): the HMAC-SHA256 of some of the call's
//! values, put together without a separator, under the commerce token.

use super::config::{Settings, SignatureCase};
use super::wire::{Operation, Request};
use crate::rails::secret::ApiSecret;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

pub fn of(request: &Request, settings: &Settings) -> String {
    let space = if request.operation == Operation::C2p && settings.c2p_leading_space { " " } else { "" };
    let message = Zeroizing::new(format!("{space}{}", *request.signed()));
    sign(&settings.commerce_token, &message, settings.signature_case)
}

pub fn sign(key: &ApiSecret, message: &str, case: SignatureCase) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.expose().as_bytes()) else {
        unreachable!("HMAC takes keys of every length")
    };
    mac.update(message.as_bytes());
    let bytes = mac.finalize().into_bytes();
    match case {
        SignatureCase::Lower => hex::encode(bytes),
        SignatureCase::Upper => hex::encode_upper(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf 04141234567123.450134V12345678 | openssl dgst -sha256 -hmac commerce-token-1`
    #[test]
    fn openssl_signs_the_same() {
        let key = ApiSecret::new("commerce-token-1");
        let message = "04141234567123.450134V12345678";
        let lower = sign(&key, message, SignatureCase::Lower);
        assert_eq!(lower, "c8ab1528357cb5e771687853cd6bf0b5a0a10808f667a00a903ffb3680f54040");
        assert_eq!(sign(&key, message, SignatureCase::Upper), lower.to_uppercase());
    }
}
