//! The bytes of what is stored: a version, then what its layout (`src/domain/stored/`) says. Numbers and
//! texts are written by bincode, behind this one module, so that another encoding can take its place
//! (RUSTSEC-2025-0141: it is no longer maintained).

use crate::record::Record;
use crate::stored::{AskedPayout, Stored};
use bincode::config::{Configuration, standard};
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode, decode_from_slice_with_context};

const CONFIG: Configuration = standard();

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// The reason why bytes are no value of a type.
#[derive(Debug, thiserror::Error)]
pub enum Undecodable {
    /// There is no version in front.
    #[error("no bytes at all")]
    Empty,
    /// The bytes are of a version that this release does not read.
    #[error(
        "version {version} of the stored format is not known to pasarela {here}, which reads {}; the release that \
         wrote it can read it, and every later one (docs/formats.md)",
        joined(known),
        here = env!("CARGO_PKG_VERSION")
    )]
    UnknownVersion {
        /// The version in front of the bytes.
        version: u8,
        known: &'static [u8],
    },
    /// The bytes do not follow the layout.
    #[error(transparent)]
    Layout(#[from] DecodeError),
    #[error("{by} bytes too many")]
    TooLong {
        /// The number of bytes that follow.
        by: usize,
    },
}

fn joined(versions: &[u8]) -> String {
    versions.iter().map(u8::to_string).collect::<Vec<_>>().join(" and ")
}

/// `value` as bytes of its newest version.
pub fn encode<T: Stored>(value: &T) -> Vec<u8> {
    let newest = T::VERSIONS.last().copied().unwrap_or_default();
    bytes(newest, &Written(value))
}

/// Bytes that are the same for the same payout, however it was written. A batch keeps a keyed hash
/// of them.
pub fn encode_asked(payout: &AskedPayout<'_>) -> Vec<u8> {
    bytes(1, payout)
}

fn bytes(version: u8, value: &impl Encode) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    bytes.push(version);
    match bincode::encode_into_std_write(value, &mut bytes, CONFIG) {
        Ok(_) => bytes,
        // Writing to memory does not fail, and no layout refuses a value.
        Err(error) => unreachable!("a value could not be encoded: {error}"),
    }
}

/// Whether the bytes of a record are of a version that this program reads.
pub fn is_known(record: &[u8]) -> bool {
    record.first().is_some_and(|version| Record::VERSIONS.contains(version))
}

/// The value that `bytes` hold, all of them.
pub fn decode<T: Stored>(bytes: &[u8]) -> Result<T, Undecodable> {
    let (version, rest) = bytes.split_first().ok_or(Undecodable::Empty)?;
    if !T::VERSIONS.contains(version) {
        return Err(Undecodable::UnknownVersion { version: *version, known: T::VERSIONS });
    }
    let (Read(value), read) = within_bounds::<Read<T>>(rest, *version)?;
    if read == rest.len() { Ok(value) } else { Err(Undecodable::TooLong { by: rest.len() - read }) }
}

/// A value to be encoded by its layout.
struct Written<'a, T>(&'a T);

impl<T: Stored> Encode for Written<'_, T> {
    fn encode<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        self.0.write(to)
    }
}

/// A value decoded from bytes of the version that is the decoder's context.
struct Read<T>(T);

impl<T: Stored> Decode<u8> for Read<T> {
    fn decode<D: Decoder<Context = u8>>(from: &mut D) -> Result<Read<T>, DecodeError> {
        T::read(from).map(Read)
    }
}

/// Decodes within a memory limit. Memory for a list is taken by the length written before it, which
/// in damaged bytes may be anything, and running out of memory ends the process. So a value may
/// take 256 times its bytes, more than any type here can (an element of a list has a byte at
/// least). Bytes larger than any record are a book's state, which the checksums of its pieces
/// protect.
fn within_bounds<T: Decode<u8>>(bytes: &[u8], version: u8) -> Result<(T, usize), DecodeError> {
    if bytes.len() <= 64 * KIB {
        decode_from_slice_with_context(bytes, CONFIG.with_limit::<{ 16 * MIB }>(), version)
    } else if bytes.len() <= MIB {
        decode_from_slice_with_context(bytes, CONFIG.with_limit::<{ 256 * MIB }>(), version)
    } else if bytes.len() <= 16 * MIB {
        decode_from_slice_with_context(bytes, CONFIG.with_limit::<{ 4 * GIB }>(), version)
    } else {
        decode_from_slice_with_context(bytes, CONFIG, version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::layout::{CurrentLayout, Layout};

    macro_rules! stored {
        ($($part:ty)+) => {$(
            impl Stored for $part {
                const VERSIONS: &[u8] = &[7];

                fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<$part, DecodeError> {
                    <$part as Layout>::read(from)
                }

                fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
                    <$part as CurrentLayout>::write(self, to)
                }
            }
        )+};
    }

    stored! { String Vec<u64> Vec<String> }

    /// The length of a list as it stands in the bytes: a mark, then eight bytes.
    fn list_of(length: u64) -> Vec<u8> {
        [&[7, 253][..], &length.to_le_bytes(), b"x"].concat()
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
            assert_eq!(decode::<String>(&encode(&text)).ok(), Some(text), "{size}");
        }
        // The most that bytes grow by: empty texts, of a byte each.
        let texts = vec![String::new(); 60 * KIB];
        assert_eq!(decode::<Vec<String>>(&encode(&texts)).ok(), Some(texts));
    }
}
