//! Addresses of wallets, checked so that a network can send to them. TRON: base58check with the
//! version byte 0x41. The three Ethereum-like networks: 20 bytes in hexadecimal, whose mixture of
//! cases, if there is one, is the checksum of EIP-55.

use crate::codec::stored;
use sha2::Sha256;
use sha3::{Digest, Keccak256};
use std::borrow::Cow;

stored! {
    /// The networks on which USDT are sent, in the order of the configuration.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Network {
        0 Trc20 "TRC20",
        1 Erc20 "ERC20",
        2 Bep20 "BEP20",
        3 Polygon "POLYGON",
    }
}

/// The first byte of a TRON address.
const TRON_VERSION: u8 = 0x41;
/// The length of an account, in bytes, on every network.
pub const ACCOUNT_BYTES: usize = 20;

impl Network {
    /// Checks that `text` is an address of this network; the error is a message for the caller.
    pub fn check(self, text: &str) -> Result<(), &'static str> {
        match self {
            Network::Trc20 => check_tron(text),
            Network::Erc20 | Network::Bep20 | Network::Polygon => check_evm(text),
        }
    }

    pub fn address(self, account: &[u8; ACCOUNT_BYTES]) -> String {
        match self {
            Network::Trc20 => {
                let versioned = [&[TRON_VERSION], account.as_slice()].concat();
                bs58::encode([versioned.as_slice(), &base58_checksum(&versioned)].concat()).into_string()
            }
            Network::Erc20 | Network::Bep20 | Network::Polygon => {
                format!("0x{}", checksummed(&hex::encode(account)))
            }
        }
    }

    /// The hash that the simulated network gives to the transfer of an operation; it follows from
    /// the operation's id alone.
    pub fn transaction(self, operation: &[u8; 16]) -> String {
        let hash = hex::encode(<[u8; 32]>::from(Sha256::digest(operation)));
        match self {
            Network::Trc20 => hash,
            Network::Erc20 | Network::Bep20 | Network::Polygon => format!("0x{hash}"),
        }
    }
}

/// The canonical text of an address, by which equal addresses are recognised: outside of TRON the
/// case of a letter is a checksum and nothing else.
pub fn canonical(address: &str) -> Cow<'_, str> {
    if address.starts_with("0x") { Cow::Owned(address.to_ascii_lowercase()) } else { Cow::Borrowed(address) }
}

fn check_tron(text: &str) -> Result<(), &'static str> {
    const EXPECTED: &str = "must be a TRON address: T and 33 characters of base58 with a right checksum";
    let shaped = text.len() == 34 && text.starts_with('T');
    let bytes = shaped.then(|| bs58::decode(text).into_vec().ok()).flatten();
    let sound = bytes.as_deref().and_then(<[u8]>::split_last_chunk).is_some_and(|(versioned, checksum)| {
        versioned.len() == 1 + ACCOUNT_BYTES
            && versioned[0] == TRON_VERSION
            && *checksum == base58_checksum(versioned)
    });
    if sound { Ok(()) } else { Err(EXPECTED) }
}

/// The checksum of Base58Check: the first four bytes of SHA-256 over SHA-256. Computed here, as the
/// `bs58` crate's feature for it brings a second version of `sha2`.
fn base58_checksum(versioned: &[u8]) -> [u8; 4] {
    let hash: [u8; 32] = Sha256::digest(Sha256::digest(versioned)).into();
    [hash[0], hash[1], hash[2], hash[3]]
}

fn check_evm(text: &str) -> Result<(), &'static str> {
    const EXPECTED: &str = "must be 0x and 40 hexadecimal digits";
    const CHECKSUM: &str = "has a wrong checksum (EIP-55); copy it anew, or write it in lower case";
    let digits = text.strip_prefix("0x").filter(|digits| {
        digits.len() == 2 * ACCOUNT_BYTES && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let digits = digits.ok_or(EXPECTED)?;
    let mixed = digits.bytes().any(|byte| byte.is_ascii_lowercase())
        && digits.bytes().any(|byte| byte.is_ascii_uppercase());
    if mixed && checksummed(&digits.to_ascii_lowercase()) != digits { Err(CHECKSUM) } else { Ok(()) }
}

/// The digits with their letters in the case that EIP-55 gives them: upper where the hash of the
/// lower-case digits has an 8 or more in the same place.
fn checksummed(lower: &str) -> String {
    let hash: [u8; 32] = Keccak256::digest(lower.as_bytes()).into();
    let nibble = |at: usize| if at.is_multiple_of(2) { hash[at / 2] >> 4 } else { hash[at / 2] & 0x0F };
    lower
        .chars()
        .enumerate()
        .map(|(at, digit)| if nibble(at) >= 8 { digit.to_ascii_uppercase() } else { digit })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::values::address::*;
    use proptest::prelude::*;

    const EVM: [Network; 3] = [Network::Erc20, Network::Bep20, Network::Polygon];

    #[test]
    fn the_examples_of_eip_55() {
        for address in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
            "0x52908400098527886E0F7030069857D2E4169EE7",
            "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
            "0xde709f2102306220921060314715629080e2fb77",
            "0x27b1fdb04752bbc536007a920d24acb045561c26",
        ] {
            for network in EVM {
                assert_eq!(network.check(address), Ok(()), "{address}");
                assert_eq!(network.check(&address.to_ascii_lowercase()), Ok(()), "{address}");
                assert_eq!(canonical(address), address.to_ascii_lowercase());
            }
            assert!(Network::Trc20.check(address).is_err());
        }
    }

    #[test]
    fn one_wrong_character_is_seen() {
        for address in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0",
            "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed00",
            "0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
            "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeg",
            " 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
            "",
        ] {
            assert!(Network::Erc20.check(address).is_err(), "{address}");
        }
        // The contract of USDT on TRON.
        assert_eq!(Network::Trc20.check("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"), Ok(()));
        for address in [
            "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T",
            "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6",
            "tR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
            "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj60",
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
            "",
        ] {
            assert!(Network::Trc20.check(address).is_err(), "{address}");
        }
    }

    proptest! {
        #[test]
        fn an_account_has_a_right_address_on_every_network(account in any::<[u8; ACCOUNT_BYTES]>()) {
            for (_, network) in Network::NAMES {
                prop_assert_eq!(network.check(&network.address(&account)), Ok(()));
            }
        }
    }
}
