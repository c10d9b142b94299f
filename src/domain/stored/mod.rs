//! The stored format: what records, snapshots and rates are as bytes, apart from what the rules
//! work with.
//!
//! A folder per version holds the layouts that are new in it, a file per resource; for the rest,
//! the version before still stands. What is in a folder of a released version never changes. Rules
//! do not belong here, nor does anything that decides when to write. `docs/formats.md` draws the
//! format, and says how a field, a variant or a kind of entity is added.

pub(crate) mod layout;
mod parts;
pub(crate) mod v1;
mod v2;
mod v3;
mod v4;
mod versions;

#[cfg(test)]
#[path = "../../../tests/golden/stored.rs"]
pub(crate) mod goldens;
#[cfg(test)]
pub(crate) mod samples;

pub use v1::payouts::AskedPayout;

use crate::ledger::book::Book;
use crate::ledger::days::ClosedDay;
use crate::platform::PlatformBook;
use crate::record::{IndexedState, Record};
use crate::resources::rates::buckets::Bucket;
use crate::resources::rates::pins::Pin;
use crate::resources::rates::samples::{Quotation, Series};
use crate::stored::layout::{CurrentLayout, Layout};
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};

/// A value with a version of its own in front of its bytes.
pub trait Stored: Sized {
    /// The versions that can be read, oldest first. The last one is written.
    const VERSIONS: &[u8];

    /// The value whose bytes come next. The version that they are of is the decoder's context.
    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self, DecodeError>;

    /// Adds the bytes of the value in the newest version.
    fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError>;
}

/// The newest version of the format that this program writes, and reads.
pub fn newest_version() -> u8 {
    Record::VERSIONS.last().copied().unwrap_or_default()
}

/// Types with their versions and their layout. A version is the number of the newest layout in it.
macro_rules! stored {
    ($($working:ty: [$($version:literal),+] $layout:ty;)+) => {$(
        impl Stored for $working {
            const VERSIONS: &[u8] = &[$($version),+];

            fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<$working, DecodeError> {
                <$layout as Layout>::read(from)
            }

            fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
                <$layout as CurrentLayout>::write(self, to)
            }
        }
    )+};
}

stored! {
    Record: [1, 2, 3, 4] versions::Record;
    Book: [1, 4] versions::Book;
    PlatformBook: [1, 4] versions::PlatformBook;
    Series: [1] v1::rates::Series;
    Quotation: [1] v1::rates::Quotation;
    Bucket: [1] v1::rates::Bucket;
    Pin: [4] v4::rates::Pin;
    // A day that is over, in the index.
    ClosedDay: [4] v4::days::ClosedDay;
    // An entity's indexed state before a record and after it: in a temporary file of a check.
    (Option<IndexedState>, Option<IndexedState>): [1]
        (Option<v1::record::IndexedState>, Option<v1::record::IndexedState>);
}
