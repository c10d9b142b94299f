//! ERC-20 as bytes: `transfer`, `balanceOf`, and the log `Transfer`.

use super::{Account, Hash};

/// `transfer(address,uint256)`
const TRANSFER: [u8; 4] = [0xa9, 0x05, 0x9c, 0xbb];
/// `balanceOf(address)`
const BALANCE_OF: [u8; 4] = [0x70, 0xa0, 0x82, 0x31];
/// `Transfer(address,address,uint256)`
pub const TRANSFERRED: Hash = [
    0xdd, 0xf2, 0x52, 0xad, 0x1b, 0xe2, 0xc8, 0x9b, 0x69, 0xc2, 0xb0, 0x68, 0xfc, 0x37, 0x8d, 0xaa, 0x95,
    0x2b, 0xa7, 0xf1, 0x63, 0xc4, 0xa1, 0x16, 0x28, 0xf5, 0x5a, 0x4d, 0xf5, 0x23, 0xb3, 0xef,
];

pub fn transfer(to: &Account, units: u128) -> Vec<u8> {
    [TRANSFER.as_slice(), &topic(to), &[0; 16], &units.to_be_bytes()].concat()
}

pub fn balance_of(account: &Account) -> Vec<u8> {
    [BALANCE_OF.as_slice(), &topic(account)].concat()
}

pub fn topic(account: &Account) -> Hash {
    let mut word = [0; 32];
    word[12..].copy_from_slice(account);
    word
}

pub fn units(word: &Hash) -> Option<u128> {
    let (high, low) = word.split_at(16);
    let low: [u8; 16] = low.try_into().ok()?;
    high.iter().all(|byte| *byte == 0).then(|| u128::from_be_bytes(low))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub from: Account,
    pub to: Account,
    pub units: u128,
}

impl Transfer {
    pub fn read(topics: &[Hash], data: &[u8]) -> Option<Transfer> {
        let [TRANSFERRED, from, to] = topics else { return None };
        let units = units(data.try_into().ok()?)?;
        Some(Transfer { from: account(from)?, to: account(to)?, units })
    }
}

fn account(topic: &Hash) -> Option<Account> {
    let (zeros, account) = topic.split_at(12);
    zeros.iter().all(|byte| *byte == 0).then(|| account.try_into().ok())?
}

#[cfg(test)]
mod tests {
    use super::super::keccak;
    use super::*;

    #[test]
    fn selectors_and_topics_are_those_of_their_signatures() {
        assert_eq!(TRANSFER, keccak(b"transfer(address,uint256)")[..4]);
        assert_eq!(BALANCE_OF, keccak(b"balanceOf(address)")[..4]);
        assert_eq!(TRANSFERRED, keccak(b"Transfer(address,address,uint256)"));
    }

    #[test]
    fn the_data_of_a_transfer() {
        let data = transfer(&[0x11; 20], 25_000_000);
        assert_eq!(
            hex::encode(data),
            "a9059cbb0000000000000000000000001111111111111111111111111111111111111111\
             00000000000000000000000000000000000000000000000000000000017d7840"
        );
        assert_eq!(
            hex::encode(balance_of(&[0x11; 20])),
            "70a082310000000000000000000000001111111111111111111111111111111111111111"
        );
    }

    #[test]
    fn a_log_is_read_or_is_none() {
        let (from, to) = (topic(&[1; 20]), topic(&[2; 20]));
        let mut data = [0; 32];
        data[31] = 7;
        let read = Transfer { from: [1; 20], to: [2; 20], units: 7 };
        assert_eq!(Transfer::read(&[TRANSFERRED, from, to], &data), Some(read));
        let mut large = data;
        large[0] = 1;
        let mut foreign = to;
        foreign[0] = 1;
        for (topics, data) in [
            (vec![[0; 32], from, to], data.to_vec()),
            (vec![TRANSFERRED, from], data.to_vec()),
            (vec![TRANSFERRED, from, to, to], data.to_vec()),
            (vec![TRANSFERRED, from, foreign], data.to_vec()),
            (vec![TRANSFERRED, from, to], data[1..].to_vec()),
            (vec![TRANSFERRED, from, to], large.to_vec()),
        ] {
            assert_eq!(Transfer::read(&topics, &data), None);
        }
    }
}
