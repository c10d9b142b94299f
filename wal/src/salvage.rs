//! The place of the damage in a log that does not open, and what can be read before it: RocksDB
//! names a file, an operator needs the first record that cannot be read. Nothing is changed on
//! disk, and no log is served from what is read here.

use crate::record::{self, Tip};
use crate::replay;
use crate::rocks::{self, RocksStore};
use crate::store::{Family, Scan, Store, StoreError, Way};
use crate::{Damage, OpenError, Reader, Seq};
use std::path::Path;
use std::sync::Arc;

/// Adds the first bad sequence, if stored data is at fault.
pub(crate) fn named(dir: &Path, error: OpenError) -> OpenError {
    let OpenError::Store(StoreError::Corrupt(why)) = &error else { return error };
    let damage = match RocksStore::open_damaged(dir) {
        Ok(store) => first_bad(&store, &format!("{why}{}", store.held_by(why))),
        Err(_) => Damage::new(
            1,
            format!("the list of RocksDB's files cannot be read, which a salvage makes anew: {why}"),
        ),
    };
    damage.into()
}

pub struct Salvage {
    /// Only records before the damage, each checked.
    pub reader: Reader,
    /// `None` if there is none before the wanted end.
    pub damage: Option<Damage>,
    pub acknowledged: Seq,
}

/// Reads and checks records and chain to the first bad one, or to `until`. Index and snapshots are
/// not looked at: they follow from the records. Where RocksDB's list of its files is damaged, another is made in
/// `scratch`, which must not be there and may be removed with the reader.
pub fn salvage(
    dir: &Path,
    scratch: &Path,
    until: Option<Seq>,
    progress: &mut dyn FnMut(Seq, Seq),
) -> Result<Salvage, OpenError> {
    let is_there = |ending| rocks::files_called(dir, ending).is_ok_and(|files| !files.is_empty());
    let opened = match dir.join("CURRENT").exists() {
        true => RocksStore::open_damaged(dir),
        false if is_there("sst") || is_there("log") => {
            Err(StoreError::Corrupt("the file CURRENT is gone".to_owned()).into())
        }
        false => return Err(OpenError::NotFound { path: dir.to_owned() }),
    };
    let store = match opened {
        Err(OpenError::Store(StoreError::Corrupt(why) | StoreError::Failed(why))) => {
            tracing::warn!(
                why,
                "RocksDB's list of files cannot be used: another is made of the files that are there"
            );
            RocksStore::open_listed_anew(dir, scratch)?
        }
        opened => opened?,
    };
    let acknowledged = end(&store);
    let to = until.unwrap_or(acknowledged).min(acknowledged);
    let (tip, damage) = read_up_to(&store, to, progress);
    Ok(Salvage { reader: Reader::up_to(Arc::new(store), tip), damage, acknowledged })
}

/// The last record before the first bad one, and what is wrong with that.
fn read_up_to(store: &dyn Store, to: Seq, progress: &mut dyn FnMut(Seq, Seq)) -> (Tip, Option<Damage>) {
    let mut tip = Tip::default();
    for record in replay::records(store.cursor(Scan::all(Family::Log).by(Way::Walk)), 1, to) {
        match record {
            Ok(record) => tip = Tip { seq: record.seq, hash: record.hash },
            Err(error) => return (tip, Some(error.at(tip.seq + 1))),
        }
        if tip.seq.is_multiple_of(4096) {
            progress(tip.seq, to);
        }
    }
    (tip, None)
}

fn first_bad(store: &dyn Store, why: &str) -> Damage {
    let end = end(store);
    match read_up_to(store, end, &mut |_, _| ()).1 {
        Some(damage) => Damage::new(damage.seq, format!("{}: {why}", damage.detail)),
        // An entry of the index, a snapshot or the tip was last written with the last record.
        None => Damage::new(
            end,
            format!(
                "every record can be read up to {end}, the last, but not all that is stored beside them: {why}"
            ),
        ),
    }
}

fn end(store: &dyn Store) -> Seq {
    let tip = |key, value: Result<Option<Vec<u8>>, _>| Tip::unseal(key, &value.ok().flatten()?).ok();
    let witness = tip(record::WITNESS_KEY, store.witnessed());
    let tip = tip(record::TIP_KEY, store.get(Family::Meta, record::TIP_KEY));
    let mut cursor = store.cursor(Scan::all(Family::Log));
    cursor.last();
    let chunk = cursor.item().and_then(|(key, _)| key.try_into().ok()).map(Seq::from_be_bytes);
    let tips = [witness, tip].into_iter().flatten().map(|tip| tip.seq);
    tips.chain(chunk).max().unwrap_or(0)
}
