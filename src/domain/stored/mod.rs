//! The stored format: what records, snapshots and rates are as bytes, apart from what the rules
//! work with.
//!
//! A file per resource. Rules do not belong here, nor does anything that decides when to write.
//! `docs/formats.md` draws the format, and says how a field, a variant or a kind of entity is added.

pub(crate) mod approvals;
pub(crate) mod banks;
pub(crate) mod beside;
pub(crate) mod book;
pub(crate) mod chargebacks;
pub(crate) mod checkout;
pub(crate) mod conversions;
pub(crate) mod cop_payments;
pub(crate) mod cop_payouts;
pub(crate) mod crypto;
pub(crate) mod days;
pub(crate) mod events;
pub(crate) mod kept;
pub(crate) mod layout;
pub(crate) mod ledger;
pub(crate) mod merchants;
pub(crate) mod notices;
pub(crate) mod operators;
pub(crate) mod otp;
pub(crate) mod own_account;
mod parts;
pub(crate) mod payments;
pub(crate) mod payouts;
pub(crate) mod platform;
pub(crate) mod products;
pub(crate) mod rates;
pub(crate) mod record;
pub(crate) mod refusals;
pub(crate) mod settings;
pub(crate) mod trace;
pub(crate) mod values;
pub(crate) mod verification;
pub(crate) mod webhooks;

#[cfg(test)]
#[path = "../../../tests/golden/stored.rs"]
pub(crate) mod goldens;
#[cfg(test)]
pub(crate) mod samples;

pub use payouts::AskedPayout;

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

/// The versions of the format that are read, oldest first. Those before 5 were never in a release.
pub const READABLE: [u8; 1] = [5];

/// The newest version of the format that this program writes, and reads.
pub fn newest_version() -> u8 {
    READABLE[READABLE.len() - 1]
}

macro_rules! stored {
    ($($working:ty: $layout:ty;)+) => {$(
        impl Stored for $working {
            const VERSIONS: &[u8] = &READABLE;

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
    Record: record::Record;
    Book: book::Book;
    PlatformBook: platform::PlatformBook;
    Series: rates::Series;
    Quotation: rates::Quotation;
    Bucket: rates::Bucket;
    Pin: rates::Pin;
    // A day that is over, in the index.
    ClosedDay: days::ClosedDay;
    // An entity's indexed state before a record and after it: in a temporary file of a check.
    (Option<IndexedState>, Option<IndexedState>):
        (Option<record::IndexedState>, Option<record::IndexedState>);
}
