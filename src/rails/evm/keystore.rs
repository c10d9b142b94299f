//! An encrypted key in a file: Web3 Secret Storage, version 3, as geth, Foundry and wallets write
//! it. Scrypt or PBKDF2 makes a key of the password, a Keccak sum proves the password, AES-128-CTR
//! hides the key.

use super::keccak;
use aes::Aes128;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use serde::Deserialize;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Half to decrypt, half to prove the password.
const DERIVED_BYTES: usize = 32;
const SCRYPT_BYTES_MAX: u64 = 1 << 30;

/// Nothing of the file or the password is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeystoreError {
    #[error("must be an encrypted key of Web3 Secret Storage, version 3")]
    Form,
    #[error("its scrypt parameters are beyond what is accepted")]
    Costly,
    #[error("is encrypted with another password")]
    Password,
}

#[derive(Deserialize)]
struct File {
    version: u8,
    #[serde(alias = "Crypto")]
    crypto: Crypto,
}

#[derive(Deserialize)]
struct Crypto {
    cipher: String,
    ciphertext: String,
    cipherparams: CipherParams,
    kdf: String,
    kdfparams: KdfParams,
    mac: String,
}

#[derive(Deserialize)]
struct CipherParams {
    iv: String,
}

#[derive(Deserialize)]
struct KdfParams {
    dklen: usize,
    salt: String,
    n: Option<u64>,
    r: Option<u32>,
    p: Option<u32>,
    c: Option<u32>,
    prf: Option<String>,
}

pub fn decrypt(text: &str, password: &str) -> Result<Zeroizing<[u8; 32]>, KeystoreError> {
    let file: File = serde_json::from_str(text).map_err(|_| KeystoreError::Form)?;
    let crypto = file.crypto;
    if file.version != 3 || crypto.cipher != "aes-128-ctr" || crypto.kdfparams.dklen != DERIVED_BYTES {
        return Err(KeystoreError::Form);
    }
    let derived = derived(&crypto, password.as_bytes())?;
    let (key, proof) = derived.split_at(DERIVED_BYTES / 2);
    let hidden: [u8; 32] = bytes(&crypto.ciphertext)?;
    let sum = keccak(&[proof, &hidden].concat());
    if !bool::from(sum.ct_eq(&bytes::<32>(&crypto.mac)?)) {
        return Err(KeystoreError::Password);
    }
    let iv: [u8; 16] = bytes(&crypto.cipherparams.iv)?;
    let mut cipher = Ctr128BE::<Aes128>::new_from_slices(key, &iv).map_err(|_| KeystoreError::Form)?;
    let mut plain = Zeroizing::new(hidden);
    cipher.apply_keystream(plain.as_mut_slice());
    Ok(plain)
}

fn derived(crypto: &Crypto, password: &[u8]) -> Result<Zeroizing<[u8; DERIVED_BYTES]>, KeystoreError> {
    let params = &crypto.kdfparams;
    let salt = hex::decode(&params.salt).map_err(|_| KeystoreError::Form)?;
    let mut derived = Zeroizing::new([0; DERIVED_BYTES]);
    match (crypto.kdf.as_str(), params) {
        ("scrypt", &KdfParams { n: Some(n), r: Some(r), p: Some(p), .. }) => {
            if !n.is_power_of_two() || n < 2 {
                return Err(KeystoreError::Form);
            }
            let bytes = n.saturating_mul(u64::from(r)).saturating_mul(128);
            if bytes > SCRYPT_BYTES_MAX || p > 16 {
                return Err(KeystoreError::Costly);
            }
            let log_n = u8::try_from(n.ilog2()).map_err(|_| KeystoreError::Form)?;
            let params = scrypt::Params::new(log_n, r, p).map_err(|_| KeystoreError::Form)?;
            scrypt::scrypt(password, &salt, &params, derived.as_mut_slice())
                .map_err(|_| KeystoreError::Form)?;
        }
        ("pbkdf2", KdfParams { c: Some(rounds), prf: Some(prf), .. })
            if prf == "hmac-sha256" && *rounds > 0 =>
        {
            pbkdf2::pbkdf2_hmac::<Sha256>(password, &salt, *rounds, derived.as_mut_slice());
        }
        _ => return Err(KeystoreError::Form),
    }
    Ok(derived)
}

fn bytes<const N: usize>(text: &str) -> Result<[u8; N], KeystoreError> {
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| KeystoreError::Form)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two examples of the specification of Web3 Secret Storage.
    const PBKDF2: &str = r#"{"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"6087dab2f9fdbbfaddc31a909735c1e6"},
        "ciphertext":"5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46","kdf":"pbkdf2",
        "kdfparams":{"c":262144,"dklen":32,"prf":"hmac-sha256",
        "salt":"ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"},
        "mac":"517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"},
        "id":"3198bc9c-6672-5ab3-d995-4942343ae5b6","version":3}"#;
    const SCRYPT: &str = r#"{"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"83dbcc02d8ccb40e466191a123791e0e"},
        "ciphertext":"d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c","kdf":"scrypt",
        "kdfparams":{"dklen":32,"n":262144,"p":8,"r":1,
        "salt":"ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19"},
        "mac":"2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097"},
        "id":"3198bc9c-6672-5ab3-d995-4942343ae5b6","version":3}"#;
    const KEY: &str = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";

    #[test]
    fn the_examples_of_the_specification() {
        for text in [PBKDF2, SCRYPT] {
            let key = decrypt(text, "testpassword").expect("the right password");
            assert_eq!(hex::encode(key.as_slice()), KEY);
        }
    }

    #[test]
    fn what_is_no_key_of_ours() {
        let refused = |text: &str, password: &str| decrypt(text, password).expect_err("refused");
        assert_eq!(refused(PBKDF2, "testpassworD"), KeystoreError::Password);
        for (text, by) in [
            ("version\":3", "version\":2"),
            ("aes-128-ctr", "aes-256-cbc"),
            ("hmac-sha256", "hmac-sha1"),
            ("\"dklen\":32", "\"dklen\":16"),
            ("\"iv\":\"60", "\"iv\":\"6"),
        ] {
            assert_eq!(refused(&PBKDF2.replace(text, by), "testpassword"), KeystoreError::Form, "{by}");
        }
        let n = |n: &str| SCRYPT.replace("262144", n);
        assert_eq!(refused(&n("262145"), "testpassword"), KeystoreError::Form);
        assert_eq!(refused(&n("1099511627776"), "testpassword"), KeystoreError::Costly);
        assert_eq!(refused("{}", ""), KeystoreError::Form);
    }
}
