//! A transaction that calls a contract, of the kind with two fees (EIP-1559). The same fields and
//! key always make the same bytes.

use super::keys::{Signed, WalletKey};
use super::{Account, Hash, keccak};
use alloy_rlp::{Encodable, Header};

const KIND: u8 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    pub chain_id: u64,
    pub nonce: u64,
    pub tip_per_gas: u64,
    pub fee_per_gas: u64,
    pub gas: u64,
    pub to: Account,
    pub data: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedTransaction {
    pub hash: Hash,
    pub raw: Vec<u8>,
}

impl Transaction {
    pub fn sign(&self, key: &WalletKey) -> SignedTransaction {
        let signature = key.sign(&keccak(&self.encode(None)));
        let raw = self.encode(Some(&signature));
        SignedTransaction { hash: keccak(&raw), raw }
    }

    fn encode(&self, signature: Option<&Signed>) -> Vec<u8> {
        let mut fields = Vec::with_capacity(192);
        for number in [self.chain_id, self.nonce, self.tip_per_gas, self.fee_per_gas, self.gas] {
            number.encode(&mut fields);
        }
        self.to.as_slice().encode(&mut fields);
        0_u64.encode(&mut fields);
        self.data.as_slice().encode(&mut fields);
        Header { list: true, payload_length: 0 }.encode(&mut fields);
        if let Some(Signed { is_odd, r, s }) = signature {
            u64::from(*is_odd).encode(&mut fields);
            number(r).encode(&mut fields);
            number(s).encode(&mut fields);
        }
        let mut bytes = vec![KIND];
        Header { list: true, payload_length: fields.len() }.encode(&mut bytes);
        bytes.extend_from_slice(&fields);
        bytes
    }
}

/// Without zeros in front.
fn number(bytes: &Hash) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}

#[cfg(test)]
mod tests {
    use super::super::{erc20, read_hex};
    use super::*;

    fn key() -> WalletKey {
        let bytes = read_hex("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
        WalletKey::new(&bytes.expect("a key")).expect("a key")
    }

    fn transfer(nonce: u64) -> Transaction {
        Transaction {
            chain_id: 31_337,
            nonce,
            tip_per_gas: 1_000_000_000,
            fee_per_gas: 30_000_000_000,
            gas: 150_000,
            to: [0x22; 20],
            data: erc20::transfer(&[0x11; 20], 25_000_000),
        }
    }

    #[test]
    fn the_bytes_are_those_of_another_signer() {
        for (nonce, raw, hash) in GOLDENS {
            let signed = transfer(nonce).sign(&key());
            assert_eq!(hex::encode(&signed.raw), raw);
            assert_eq!(hex::encode(signed.hash), hash);
        }
    }

    #[test]
    fn numbers_have_no_zeros_in_front() {
        assert_eq!((number(&[0; 32]).len(), number(&[1; 32]).len()), (0, 32));
        let mut small = [0; 32];
        small[31] = 1;
        assert_eq!(number(&small), [1]);
    }

    const GOLDENS: [(u64, &str, &str); 2] = [
        (
            0,
            "02f8b3827a6980843b9aca008506fc23ac00830249f094222222222222222222222222222222222222222280b8\
             44a9059cbb00000000000000000000000011111111111111111111111111111111111111110000000000000000\
             0000000000000000000000000000000000000000017d7840c080a0d58c6e3ad71d7e4e20ed98c3893713c50fdb\
             b1bf5f926a7418dea4c9ab7fe5bda021ed6a310f675a1d0120a86d2173600c74c408db6d718ba7bc5211301654\
             40dc",
            "0db318b01d528b2a700df3024c79da9d5cbbbe1af3d665b9592eb2a35f1f8d2c",
        ),
        (
            4294967296,
            "02f8b8827a69850100000000843b9aca008506fc23ac00830249f0942222222222222222222222222222222222\
             22222280b844a9059cbb0000000000000000000000001111111111111111111111111111111111111111000000\
             00000000000000000000000000000000000000000000000000017d7840c001a0c11f00bc0fcbac371f371a9b07\
             40a5cf9834c66ab77aeaa85f24cbd007727a8ba0065afc6c4518346eee84a7dafceeccd0ffdade3420af423f7b\
             8b88c5c568b7e0",
            "30daff33c6fa878071eb0a9f56439ab6e877a603f9be9c1f9726027c9f29c9f8",
        ),
    ];
}
