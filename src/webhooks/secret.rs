//! Signing secrets, and the headers that they sign (`docs/contract.md, 13.4`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::entities::webhook::Signature;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroize;

const PREFIX: &str = "whsec_";

#[derive(Clone)]
pub struct Secret {
    key: [u8; 32],
    text: String,
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.key.zeroize();
        self.text.zeroize();
    }
}

impl Secret {
    pub fn new(key: [u8; 32]) -> Secret {
        Secret { key, text: format!("{PREFIX}{}", STANDARD.encode(key)) }
    }

    pub fn expose(&self) -> &str {
        &self.text
    }

    pub fn sign_body(&self, body: &[u8]) -> String {
        hex::encode(hmac(self.text.as_bytes(), &[body]))
    }

    pub fn sign_at(&self, unix_seconds: &str, body: &[u8]) -> String {
        hex::encode(hmac(self.text.as_bytes(), &[unix_seconds.as_bytes(), b".", body]))
    }

    /// As Standard Webhooks does, with the bytes that the secret is the text of.
    pub fn sign_message(&self, id: &str, unix_seconds: &str, body: &[u8]) -> String {
        format!(
            "v1,{}",
            STANDARD.encode(hmac(&self.key, &[id.as_bytes(), b".", unix_seconds.as_bytes(), b".", body]))
        )
    }
}

#[derive(Clone)]
pub struct Signing {
    pub newest: Secret,
    /// They still sign; newest first.
    pub older: Vec<Secret>,
    pub form: Signature,
}

impl Signing {
    /// In the form that endpoints have if they say nothing.
    pub fn plain(newest: Secret) -> Signing {
        Signing { newest, older: Vec::new(), form: Signature::Hex }
    }

    fn secrets(&self) -> impl Iterator<Item = &Secret> {
        std::iter::once(&self.newest).chain(&self.older)
    }

    pub fn sign(&self, unix_seconds: &str, body: &[u8]) -> String {
        match self.form {
            Signature::Hex => self.newest.sign_body(body),
            Signature::Timestamped => self.secrets().fold(format!("t={unix_seconds}"), |signed, secret| {
                format!("{signed},v1={}", secret.sign_at(unix_seconds, body))
            }),
        }
    }

    pub fn sign_standard(&self, id: &str, unix_seconds: &str, body: &[u8]) -> String {
        let signed: Vec<String> =
            self.secrets().map(|secret| secret.sign_message(id, unix_seconds, body)).collect();
        signed.join(" ")
    }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        unreachable!("HMAC takes keys of any length")
    };
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_another_implementation() {
        // The expected values were made with Python's hmac and with the package standardwebhooks
        // 1.1.0.
        let secret = Secret::new(*b"0123456789abcdef0123456789abcdef");
        let body = br#"{"event":"payment.completed","data":{"livemode":false},"timestamp":"2026-11-21T02:13:00.000Z"}"#;
        assert_eq!(secret.expose(), "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
        assert_eq!(
            secret.sign_body(body),
            "92b6e32ebb0975e52f5af1d4ab1db4c1909088b55a879dbc480990a2d7126f89"
        );
        assert_eq!(
            secret.sign_message("019a0000-0000-7000-8000-000000000001", "1795226000", body),
            "v1,M0oPs/woyXFWsJDJCEznxXFSgNFDbuUHb3iRjao5thQ="
        );
    }

    #[test]
    fn every_secret_that_still_signs_signs_but_hex_is_the_newest_alone() {
        let secret = |byte| Secret::new([byte; 32]);
        let signing = Signing { newest: secret(3), older: vec![secret(2), secret(1)], form: Signature::Hex };
        assert_eq!(signing.sign("7", b"{}"), secret(3).sign_body(b"{}"));
        let timestamped = Signing { form: Signature::Timestamped, ..signing };
        let signed = [3, 2, 1].map(|byte| secret(byte).sign_body(b"7.{}"));
        assert_eq!(
            timestamped.sign("7", b"{}"),
            format!("t=7,v1={},v1={},v1={}", signed[0], signed[1], signed[2])
        );
        let standard = [3, 2, 1].map(|byte| secret(byte).sign_message("id", "7", b"{}")).join(" ");
        assert_eq!(timestamped.sign_standard("id", "7", b"{}"), standard);
    }
}
