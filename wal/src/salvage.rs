//! The place of the damage in a log that does not open. RocksDB refuses as a whole and names a
//! file; an operator needs the first record that cannot be read, to know what is lost at most.
//!
//! Promises: nothing is changed on disk, and no log is served from what is read here; the database
//! is opened once more, for reading and past the damage, only to find the place.

use crate::batch::Family;
use crate::meta::{self, Tip};
use crate::replay::Records;
use crate::rocks::RocksStore;
use crate::store::{Scan, Store, StoreError, Way};
use crate::{Damage, OpenError, Seq};
use std::path::Path;

/// The failure with the first bad sequence added, if stored data is at fault.
pub(crate) fn named(dir: &Path, error: OpenError) -> OpenError {
    let OpenError::Store(StoreError::Corrupt(why)) = &error else { return error };
    let damage = match RocksStore::open_damaged(dir) {
        Ok(store) => first_bad(&store, why),
        Err(_) => {
            Damage::new(1, format!("where the damage begins cannot be told, as nothing can be read: {why}"))
        }
    };
    damage.into()
}

fn first_bad(store: &dyn Store, why: &str) -> Damage {
    let end = end(store);
    let mut last = 0;
    for record in Records::new(store.cursor(Scan::all(Family::Log).by(Way::Walk)), 1, end) {
        match record {
            Ok(record) => last = record.seq,
            Err(error) => {
                let damage = error.at(last + 1);
                return Damage::new(damage.seq, format!("{}: {why}", damage.detail));
            }
        }
    }
    // An entry of the index, a snapshot or the tip was last written with the last record.
    Damage::new(
        end,
        format!(
            "every record can be read up to {end}, the last, but not all that is stored beside them: {why}"
        ),
    )
}

/// The last record that should be there, according to witness, tip and log.
fn end(store: &dyn Store) -> Seq {
    let witness = store.witnessed().ok().flatten().and_then(|note| Tip::decode_witness(&note).ok());
    let tip =
        store.get(Family::Meta, meta::TIP_KEY).ok().flatten().and_then(|value| Tip::decode(&value).ok());
    let mut cursor = store.cursor(Scan::all(Family::Log));
    cursor.last();
    let chunk = cursor.item().and_then(|(key, _)| key.try_into().ok()).map(Seq::from_be_bytes);
    [witness.map(|witness| witness.seq), tip.map(|tip| tip.seq), chunk]
        .into_iter()
        .flatten()
        .max()
        .unwrap_or(0)
}
