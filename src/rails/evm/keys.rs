//! The hot wallet's key, which signs payouts, and the seed from which the addresses of deposits
//! derive (BIP-39, BIP-32). A tenant is an account of BIP-44, `m/44'/60'/tenant'/0/index`: the same
//! seed shows the same addresses in every wallet, and the platform's books say which customer each
//! is of. No key has Debug output; memory is zeroed where the libraries do so.

use super::{Account, Hash, keccak};
use bip32::{ChildNumber, XPrv};
use k256::ecdsa::{RecoveryId, Signature, SigningKey, VerifyingKey};
use zeroize::Zeroizing;

const SEED_BYTES: std::ops::RangeInclusive<usize> = 16..=64;

pub struct WalletKey {
    key: SigningKey,
    pub account: Account,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed {
    pub is_odd: bool,
    pub r: Hash,
    pub s: Hash,
}

impl WalletKey {
    pub fn new(bytes: &[u8; 32]) -> Option<WalletKey> {
        let key = SigningKey::from_slice(bytes).ok()?;
        let account = account(key.verifying_key());
        Some(WalletKey { key, account })
    }

    /// The same hash always has the same signature (RFC 6979).
    pub fn sign(&self, hash: &Hash) -> Signed {
        let (signature, recovery): (Signature, RecoveryId) = self.key.sign_prehash_recoverable(hash);
        let (r, s) = signature.split_bytes();
        Signed { is_odd: recovery.is_y_odd(), r: r.into(), s: s.into() }
    }
}

pub struct DepositKeys {
    /// `m/44'/60'`.
    coin: XPrv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such address derives from the seed")]
pub struct Underivable;

impl DepositKeys {
    /// The words of BIP-39, or the seed of BIP-32 itself in hexadecimal.
    pub fn read(text: &str) -> Option<DepositKeys> {
        let seed = seed(text.trim())?;
        let purpose = child(&XPrv::new(&*seed).ok()?, 44, true).ok()?;
        Some(DepositKeys { coin: child(&purpose, 60, true).ok()? })
    }

    pub fn of_tenant(&self, number: u32) -> Result<TenantKeys, Underivable> {
        Ok(TenantKeys { external: child(&child(&self.coin, number, true)?, 0, false)? })
    }
}

/// The addresses of one tenant, `m/44'/60'/tenant'/0`.
pub struct TenantKeys {
    external: XPrv,
}

impl TenantKeys {
    pub fn account(&self, index: u32) -> Result<Account, Underivable> {
        Ok(account(child(&self.external, index, false)?.private_key().verifying_key()))
    }
}

fn child(key: &XPrv, number: u32, is_hardened: bool) -> Result<XPrv, Underivable> {
    let number = ChildNumber::new(number, is_hardened).map_err(|_| Underivable)?;
    key.derive_child(number).map_err(|_| Underivable)
}

fn seed(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    if let Ok(bytes) = hex::decode(text.strip_prefix("0x").unwrap_or(text)) {
        let bytes = Zeroizing::new(bytes);
        return SEED_BYTES.contains(&bytes.len()).then_some(bytes);
    }
    let words = Zeroizing::new(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
    let mnemonic = bip39::Mnemonic::parse_in_normalized(bip39::Language::English, &words).ok()?;
    Some(Zeroizing::new(mnemonic.to_seed_normalized("").to_vec()))
}

fn account(key: &VerifyingKey) -> Account {
    let point = key.to_sec1_point(false);
    let hash = keccak(&point.as_bytes()[1..]);
    let mut account = [0; 20];
    account.copy_from_slice(&hash[12..]);
    account
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::values::address::Network;

    const WORDS: &str = "test test test test test test test test test test test junk";

    #[test]
    fn the_accounts_of_the_words_that_developers_use() {
        let keys = DepositKeys::read(&format!("  {WORDS}\n")).expect("words");
        let tenant = keys.of_tenant(0).expect("a tenant");
        for (index, address) in [
            (0, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"),
            (1, "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
            (19, "0x8626f6940E2eb28930eFb4CeF49B2d1F2C9C1199"),
        ] {
            let account = tenant.account(index).expect("an account");
            assert_eq!(Network::Polygon.address(&account), address);
        }
        let other = keys.of_tenant(1).expect("a tenant").account(0).expect("an account");
        assert_ne!(other, tenant.account(0).expect("an account"));
    }

    #[test]
    fn a_seed_in_hexadecimal_is_the_same_seed() {
        let mnemonic = bip39::Mnemonic::parse(WORDS).expect("words");
        let by_hex = DepositKeys::read(&hex::encode(mnemonic.to_seed_normalized(""))).expect("a seed");
        let by_words = DepositKeys::read(WORDS).expect("words");
        let of = |keys: &DepositKeys| keys.of_tenant(7).expect("a tenant").account(3);
        assert_eq!(of(&by_hex), of(&by_words));
        for text in ["", "test test test", "00", &"zebra ".repeat(12), &"ab".repeat(65)] {
            assert!(DepositKeys::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_wallet_of_the_first_account_and_nothing_of_its_key() {
        let bytes: [u8; 32] =
            super::super::read_hex("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
                .expect("a key");
        let wallet = WalletKey::new(&bytes).expect("a key");
        assert_eq!(Network::Erc20.address(&wallet.account), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
        assert!(WalletKey::new(&[0; 32]).is_none() && WalletKey::new(&[0xFF; 32]).is_none());
        let hash = keccak(b"twice the same");
        assert_eq!(wallet.sign(&hash), wallet.sign(&hash));
    }
}
