//! The checks before a log is used: one that ends before its tip, its witness or a snapshot is
//! refused and the first missing sequence named; a refusal changes nothing. The records between are
//! checked by replay and by `verify`.

use crate::batch::Batch;
use crate::record::{self, Tip};
use crate::store::{Family, Scan, Store, Way, checked_item, leave_back};
use crate::{Damage, OpenError, ReadError, Record, Seq, snapshot};

/// The end of what is durable, and where replay starts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct End {
    pub tip: Tip,
    pub floor: Seq,
}

/// `None` if the store is new and empty.
pub(crate) fn check(store: &dyn Store) -> Result<Option<End>, OpenError> {
    let witness = match store.witnessed()? {
        Some(note) => Some(Tip::unseal(record::WITNESS_KEY, &note)?),
        None => None,
    };
    let Some(format) = store.get(Family::Meta, record::FORMAT_KEY)? else {
        for family in Family::ALL {
            let mut cursor = store.cursor(Scan::all(family));
            cursor.first();
            if checked_item(&*cursor)?.is_some() {
                let name = Family::NAMES[family as usize];
                let why = format!("there is data in the family {name}, but no format entry");
                return Err(Damage::new(0, why).into());
            }
        }
        return match witness {
            Some(witness) if witness.seq > 0 => Err(ends_before(0, witness.seq, "was acknowledged").into()),
            _ => Ok(None),
        };
    };
    record::check_format(&format)?;
    let tip = match store.get(Family::Meta, record::TIP_KEY)? {
        Some(value) => Tip::unseal(record::TIP_KEY, &value)?,
        None => return Err(Damage::new(0, "the tip entry is missing").into()),
    };
    let floor = match store.get(Family::Meta, record::FLOOR_KEY)? {
        Some(value) => record::decode_floor(&value)?,
        None => return Err(Damage::new(0, "the floor entry is missing").into()),
    };
    check_end(last_record(store, tip.seq)?, tip)?;
    if let Some(witness) = witness {
        if witness.seq > tip.seq {
            return Err(ends_before(tip.seq, witness.seq, "was acknowledged").into());
        }
        if witness.seq == tip.seq && witness.hash != tip.hash {
            return Err(Damage::new(
                tip.seq,
                format!("record {} is not the one that was acknowledged", tip.seq),
            )
            .into());
        }
    }
    if floor > tip.seq {
        return Err(ends_before(tip.seq, floor, "is the floor of replay").into());
    }
    if let Some((tenant, seq)) = highest_snapshot(store)?
        && seq > tip.seq
    {
        return Err(ends_before(tip.seq, seq, &format!("is in the snapshot of tenant {tenant}")).into());
    }
    Ok(Some(End { tip, floor }))
}

pub(crate) fn create(store: &dyn Store) -> Result<End, OpenError> {
    let mut batch = Batch::new();
    batch.put(Family::Meta, record::FORMAT_KEY, &record::format_bytes());
    batch.put(Family::Meta, record::FLOOR_KEY, &record::floor_bytes(0));
    batch.put(Family::Meta, record::TIP_KEY, &Tip::default().sealed(record::TIP_KEY));
    store.write(&batch)?;
    Ok(End::default())
}

fn ends_before(last: Seq, named: Seq, why: &str) -> Damage {
    let missing = Damage::missing(last + 1, named);
    Damage::new(missing.seq, format!("the log ends at {last}, but {named} {why}: {}", missing.detail))
}

fn check_end(last: Option<Tip>, tip: Tip) -> Result<(), Damage> {
    let last = last.unwrap_or_default();
    if last.seq < tip.seq {
        let missing = Damage::missing(last.seq + 1, tip.seq);
        return Err(Damage::new(
            missing.seq,
            format!("the log ends at {}, but the tip says {}: {}", last.seq, tip.seq, missing.detail),
        ));
    }
    if last.seq > tip.seq {
        return Err(Damage::new(
            tip.seq + 1,
            format!("the tip says {}, but the log goes on to {}", tip.seq, last.seq),
        ));
    }
    if last.hash != tip.hash {
        return Err(Damage::new(tip.seq, format!("record {} is not the one that the tip names", tip.seq)));
    }
    Ok(())
}

/// The last chunk is checked whole, with its chain; `named` is the record that should be the last.
fn last_record(store: &dyn Store, named: Seq) -> Result<Option<Tip>, Damage> {
    let mut cursor = store.cursor(Scan::all(Family::Log));
    cursor.first();
    match checked_item(&*cursor).map_err(|error| ReadError::from(error).at(1))? {
        None => return Ok(None),
        Some((key, _)) => {
            let first = record::decode_key(key)?;
            if first != 1 {
                return Err(Damage::missing(1, first.saturating_sub(1).max(1)));
            }
        }
    }
    cursor.last();
    let Some((key, chunk)) = checked_item(&*cursor).map_err(|error| ReadError::from(error).at(named))? else {
        return Ok(None);
    };
    let (mut seq, mut rest, mut last): (_, _, Option<Tip>) = (record::decode_key(key)?, chunk, None);
    while !rest.is_empty() {
        let (record, next) = Record::split_off(rest, seq, last.map(|last| last.hash))?;
        last = Some(Tip { seq, hash: record.hash });
        (rest, seq) = (next, seq + 1);
    }
    Ok(last)
}

fn highest_snapshot(store: &dyn Store) -> Result<Option<(u64, Seq)>, ReadError> {
    let mut highest: Option<(u64, Seq)> = None;
    let mut cursor = store.cursor(Scan::all(Family::Snapshots).by(Way::Leap));
    cursor.last();
    while let Some((key, _)) = checked_item(&*cursor)? {
        let (tenant, seq) = snapshot::decode_key(key)?;
        if highest.is_none_or(|(_, highest)| seq > highest) {
            highest = Some((tenant, seq));
        }
        leave_back(&mut *cursor, &tenant.to_be_bytes());
    }
    Ok(highest)
}
