//! The three meta entries and the witness: their meaning and their bytes. The layout is drawn in
//! the header of the crate.

use crate::batch::{Batch, Family};
use crate::record::Hash;
use crate::{Damage, Seq};

pub(crate) const FORMAT_KEY: &[u8] = b"format";
pub(crate) const TIP_KEY: &[u8] = b"tip";
pub(crate) const FLOOR_KEY: &[u8] = b"floor";
/// The key that the checksum of a witness covers before its bytes.
const WITNESS_KEY: &[u8] = b"witness";

const FORMAT_MAGIC: &[u8; 8] = b"pasarela";
const FORMAT_VERSION: u32 = 1;

/// Sequence 0 and zeroes when the log is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tip {
    pub seq: Seq,
    pub hash: Hash,
}

fn seal(key: &[u8], mut value: Vec<u8>) -> Vec<u8> {
    let crc = crc32c::crc32c_append(crc32c::crc32c(key), &value);
    value.extend_from_slice(&crc.to_le_bytes());
    value
}

fn unseal<'v, const N: usize>(key: &[u8], value: &'v [u8]) -> Option<&'v [u8; N]> {
    let (body, crc) = value.split_last_chunk::<4>()?;
    let expected = crc32c::crc32c_append(crc32c::crc32c(key), body).to_le_bytes();
    if *crc == expected { body.try_into().ok() } else { None }
}

pub(crate) fn format_bytes() -> Vec<u8> {
    seal(FORMAT_KEY, [&FORMAT_MAGIC[..], &FORMAT_VERSION.to_le_bytes()].concat())
}

pub(crate) fn check_format(value: &[u8]) -> Result<(), Damage> {
    let Some(body) = unseal::<12>(FORMAT_KEY, value) else {
        return Err(Damage::new(0, "the format entry has a wrong checksum or length"));
    };
    let version = u32::from_le_bytes([body[8], body[9], body[10], body[11]]);
    if &body[..8] != FORMAT_MAGIC || version != FORMAT_VERSION {
        return Err(Damage::new(
            0,
            format!("the store is written in format {version}, this program knows {FORMAT_VERSION}"),
        ));
    }
    Ok(())
}

impl Tip {
    fn body(self) -> Vec<u8> {
        [&self.seq.to_le_bytes()[..], &self.hash].concat()
    }

    fn from_body(body: &[u8; 24]) -> Tip {
        let (seq, hash) = body.split_at(8);
        Tip {
            seq: Seq::from_le_bytes(seq.try_into().expect("eight bytes")),
            hash: hash.try_into().expect("sixteen bytes"),
        }
    }

    pub(crate) fn put_into(self, batch: &mut Batch) {
        batch.put(Family::Meta, TIP_KEY, &seal(TIP_KEY, self.body()));
    }

    pub(crate) fn decode(value: &[u8]) -> Result<Tip, Damage> {
        unseal(TIP_KEY, value)
            .map(Tip::from_body)
            .ok_or_else(|| Damage::new(0, "the tip entry has a wrong checksum or length"))
    }

    pub(crate) fn witness_bytes(self) -> Vec<u8> {
        seal(WITNESS_KEY, self.body())
    }

    pub(crate) fn decode_witness(value: &[u8]) -> Result<Tip, Damage> {
        unseal(WITNESS_KEY, value)
            .map(Tip::from_body)
            .ok_or_else(|| Damage::new(0, "the witness has a wrong checksum or length"))
    }
}

pub(crate) fn floor_bytes(floor: Seq) -> Vec<u8> {
    seal(FLOOR_KEY, floor.to_le_bytes().to_vec())
}

pub(crate) fn decode_floor(value: &[u8]) -> Result<Seq, Damage> {
    match unseal::<8>(FLOOR_KEY, value) {
        Some(body) => Ok(Seq::from_le_bytes(*body)),
        None => Err(Damage::new(0, "the floor entry has a wrong checksum or length")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_do_not_pass_for_each_other() {
        let tip = Tip { seq: 57, hash: [3; 16] };
        let mut batch = Batch::new();
        tip.put_into(&mut batch);
        let value = batch.ops().next().unwrap().value.unwrap().to_vec();
        assert_eq!(Tip::decode(&value).unwrap(), tip);
        assert!(Tip::decode_witness(&value).is_err(), "the key is under the checksum");
        assert_eq!(Tip::decode_witness(&tip.witness_bytes()).unwrap(), tip);
        assert_eq!(decode_floor(&floor_bytes(9)).unwrap(), 9);
        check_format(&format_bytes()).unwrap();
        for at in 0..value.len() {
            let mut value = value.clone();
            value[at] ^= 1;
            assert!(Tip::decode(&value).is_err());
        }
    }
}
