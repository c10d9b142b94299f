//! Tokens of cards that a page of the gateway's took from a buyer (`docs/contract.md, 12.12`): a shop
//! charges one and never sees the card.
//!
//! The card itself waits in memory, under the token's name, and goes to the bank once. What a token
//! says besides is what the payment keeps: brand, last digits and the keyed hash of the card. So a
//! repeat of a request is recognised as one when the card is long gone. It is hidden under a pad that
//! is the token's own, as nobody is to learn from two tokens that they are of one card; and the tag
//! makes it good for one account in one mode.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::values::card::Brand;

const PREFIX: &str = "card_";
/// Bytes of what is hidden: the card's keyed hash, its brand and its last four digits.
const HIDDEN: usize = 19;
/// Bytes of a token: its name, what is hidden, and the tag.
const BYTES: usize = 16 + HIDDEN + 16;

/// A keyed hash, under the key of cards.
pub type Mark<'a> = &'a dyn Fn(&[&[u8]]) -> [u8; 16];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardToken {
    pub name: [u8; 16],
    pub brand: Brand,
    /// The card's last four digits.
    pub last_four: u16,
    /// The keyed hash of number and expiry.
    pub mark: [u8; 16],
}

impl CardToken {
    /// The token as text, for this account in this mode.
    pub fn text(&self, mark: Mark<'_>, tenant_key: u64) -> String {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(&self.name);
        bytes.extend_from_slice(&self.mark);
        bytes.push(self.brand as u8);
        bytes.extend_from_slice(&self.last_four.to_be_bytes());
        hide(&mut bytes[16..], mark, &self.name);
        let tag = tag(mark, tenant_key, &bytes);
        bytes.extend_from_slice(&tag);
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The token in a text; `None` if it is none of this account in this mode.
    pub fn read(mark: Mark<'_>, tenant_key: u64, text: &str) -> Option<CardToken> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        let mut bytes: [u8; BYTES] = bytes.try_into().ok()?;
        let (sealed, sent) = bytes.split_at(16 + HIDDEN);
        // Hashes of both are compared, so the time that it takes says nothing.
        let right = mark(&[b"compared", &tag(mark, tenant_key, sealed)]);
        if right != mark(&[b"compared", sent]) {
            return None;
        }
        let name: [u8; 16] = *bytes.first_chunk()?;
        hide(&mut bytes[16..16 + HIDDEN], mark, &name);
        let card = *bytes[16..].first_chunk::<16>()?;
        let brand = Brand::ALL.into_iter().find(|brand| *brand as u8 == bytes[32])?;
        Some(CardToken { name, brand, last_four: u16::from_be_bytes([bytes[33], bytes[34]]), mark: card })
    }
}

fn hide(bytes: &mut [u8], mark: Mark<'_>, name: &[u8; 16]) {
    let pads = [mark(&[b"card token 1", name]), mark(&[b"card token 2", name])];
    for (byte, pad) in bytes.iter_mut().zip(pads.iter().flatten()) {
        *byte ^= pad;
    }
}

fn tag(mark: Mark<'_>, tenant_key: u64, sealed: &[u8]) -> [u8; 16] {
    mark(&[b"card token", &tenant_key.to_be_bytes(), sealed])
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    fn mark(parts: &[&[u8]]) -> [u8; 16] {
        let mut hash = Sha256::new();
        parts.iter().for_each(|part| {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        });
        *hash.finalize().first_chunk().expect("32 bytes")
    }

    #[test]
    fn a_token_is_read_by_its_account_alone_and_says_nothing_to_others() {
        let of = |name| CardToken { name: [name; 16], brand: Brand::Amex, last_four: 5, mark: [7; 16] };
        let text = of(1).text(&mark, 8);
        assert_eq!(CardToken::read(&mark, 8, &text), Some(of(1)));
        assert_eq!(CardToken::read(&mark, 9, &text), None, "the other mode, or another account");
        let other = of(2).text(&mark, 8);
        let hidden =
            |text: &str| URL_SAFE_NO_PAD.decode(&text[PREFIX.len()..]).expect("bytes")[16..35].to_vec();
        assert_ne!(hidden(&text), hidden(&other), "two tokens of one card have nothing in common");
    }

    #[test]
    fn a_changed_token_is_none() {
        let text =
            CardToken { name: [3; 16], brand: Brand::Visa, last_four: 1111, mark: [7; 16] }.text(&mark, 8);
        for at in PREFIX.len()..text.len() - 1 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            assert_eq!(CardToken::read(&mark, 8, &changed), None, "{changed}");
        }
        for none in ["", "card_", "card_AAAA", &text[PREFIX.len()..], &format!("{text}A")] {
            assert_eq!(CardToken::read(&mark, 8, none), None, "{none}");
        }
    }
}
