//! The bytes of records and snapshots: bincode, behind this one module, so that another encoding
//! can take its place (RUSTSEC-2025-0141: it is no longer maintained).
//!
//! A version byte comes first; golden files of every version stay readable for ever
//! (`tests/golden/`).

use bincode::config::{Configuration, standard};
use bincode::error::DecodeError;
use bincode::{Decode, Encode, decode_from_slice};

/// The version that is written.
pub const VERSION: u8 = 1;

const CONFIG: Configuration = standard();

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// `value` as bytes.
pub fn encode<T: Encode>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    bytes.push(VERSION);
    match bincode::encode_into_std_write(value, &mut bytes, CONFIG) {
        Ok(_) => bytes,
        // Writing to memory does not fail, and no type here refuses to be encoded.
        Err(error) => unreachable!("a value could not be encoded: {error}"),
    }
}

/// The value that `bytes` hold, all of them.
pub fn decode<T: Decode<()>>(bytes: &[u8]) -> Result<T, String> {
    let (version, rest) = bytes.split_first().ok_or("no bytes at all")?;
    if *version != VERSION {
        return Err(format!(
            "version {version} of the encoding is not known here; this program writes {VERSION}"
        ));
    }
    let (value, read) = within_bounds(rest).map_err(|error| error.to_string())?;
    if read == rest.len() { Ok(value) } else { Err(format!("{} bytes too many", rest.len() - read)) }
}

/// Memory for a list is taken by the length that stands before it: of damaged bytes that may be
/// anything, and to run out of memory ends the process. So a value may take 256 times its bytes, which
/// is beyond what any type here can (an element of a list has a byte at least). What is larger than
/// every record is a state, under the checksums of its pieces.
fn within_bounds<T: Decode<()>>(bytes: &[u8]) -> Result<(T, usize), DecodeError> {
    if bytes.len() <= 64 * KIB {
        decode_from_slice(bytes, CONFIG.with_limit::<{ 16 * MIB }>())
    } else if bytes.len() <= MIB {
        decode_from_slice(bytes, CONFIG.with_limit::<{ 256 * MIB }>())
    } else if bytes.len() <= 16 * MIB {
        decode_from_slice(bytes, CONFIG.with_limit::<{ 4 * GIB }>())
    } else {
        decode_from_slice(bytes, CONFIG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of a list as it stands in the bytes: a mark, then eight bytes.
    fn list_of(length: u64) -> Vec<u8> {
        [&[VERSION, 253][..], &length.to_le_bytes(), b"x"].concat()
    }

    #[test]
    fn a_length_that_nothing_can_have_is_refused() {
        for length in [1 << 25, 1 << 40, 1 << 62, u64::MAX] {
            let bytes = list_of(length);
            assert!(decode::<String>(&bytes).is_err(), "{length} bytes of text");
            assert!(decode::<Vec<u64>>(&bytes).is_err(), "{length} numbers");
        }
    }

    #[test]
    fn values_of_every_size_come_back() {
        for size in [0, 1, 60 * KIB, 70 * KIB, 2 * MIB, 17 * MIB] {
            let text = "x".repeat(size);
            assert_eq!(decode::<String>(&encode(&text)), Ok(text), "{size}");
        }
        // The most that bytes grow by: empty texts, of a byte each.
        let texts = vec![String::new(); 60 * KIB];
        assert_eq!(decode::<Vec<String>>(&encode(&texts)), Ok(texts));
    }
}
