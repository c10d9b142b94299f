//! Reads everything and trusts nothing. An operator runs it on a copy, or beside a running server.

use crate::reader::{Reader, Snapshots};
use crate::{Damage, Hash, ReadError, Seq};

const PROGRESS_RECORDS: u64 = 65_536;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub records: u64,
    pub bytes: u64,
    pub snapshots: u64,
    /// Covers all records before it.
    pub head_hash: Hash,
}

pub(crate) fn verify(reader: &Reader, progress: &mut dyn FnMut(Seq, Seq)) -> Result<Verified, Damage> {
    let tip = reader.tip();
    let mut verified = Verified::default();
    for record in reader.records(1, Some(tip.seq)) {
        let record = record.map_err(|error| error.at(verified.records + 1))?;
        verified.records += 1;
        verified.bytes += record.bytes as u64;
        verified.head_hash = record.hash;
        if verified.records.is_multiple_of(PROGRESS_RECORDS) {
            progress(verified.records, tip.seq);
        }
    }
    if verified.head_hash != tip.hash {
        return Err(Damage::new(tip.seq, format!("record {} is not the one that the tip names", tip.seq)));
    }
    for snapshot in Snapshots::every(&*reader.store) {
        match snapshot {
            // A snapshot that was written meanwhile, beside a running server, cannot be judged by
            // an earlier tip.
            Ok(_) => verified.snapshots += 1,
            Err(ReadError::Damage(damage)) => return Err(damage),
            Err(error) => {
                return Err(Damage::new(tip.seq, format!("a snapshot cannot be read: {error}")));
            }
        }
    }
    progress(verified.records, tip.seq);
    Ok(verified)
}
