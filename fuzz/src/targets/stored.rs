//! The data that the domain stores: the first byte of an input says as what the rest is decoded.
//!
//! What decodes is worth storing: written again in the same version it is no longer than it was, it
//! decodes to the same value, and writing that once more gives the same bytes. Nothing makes the
//! decoder take more memory than it was given bytes for.

use crate::bytes::Bytes;
use domain::codec;
use domain::ledger::book::Book;
use domain::platform::PlatformBook;
use domain::record::Record;
use domain::resources::rates::buckets::Bucket;
use domain::resources::rates::samples::{Quotation, Series};

pub fn run(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let (kind, rest) = (bytes.byte(), bytes.rest());
    macro_rules! compared {
        ($stored:ty) => {
            if let Ok(value) = codec::decode::<$stored>(rest) {
                let once = codec::encode(&value);
                // A value of an earlier version is written in the newest, which may have more
                // fields.
                let is_newest = rest.first() == once.first();
                assert!(!is_newest || once.len() <= rest.len(), "it grows when it is written again");
                let again = codec::decode::<$stored>(&once).expect("what was written can be read");
                assert_eq!(codec::encode(&again), once, "it is written in two ways");
            }
        };
    }
    match kind % 6 {
        0 => compared!(Record),
        1 => compared!(Book),
        2 => compared!(PlatformBook),
        3 => compared!(Series),
        4 => compared!(Quotation),
        _ => compared!(Bucket),
    }
}
