//! The newest snapshots of some books, derived again beside a running server's work, where `verify`
//! reads everything. A snapshot is the book that decided, as it was in memory: it is right if its
//! totals are the sums of its parts, and if it equals the snapshot before it plus the records in
//! between, hold by hold.

use super::Failed;
use super::books::{Books, balances, restored};
use std::collections::HashMap;
use wal::{Damage, Reader, Seq, StoredSnapshot};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rechecked {
    /// Those whose totals are the sums of their parts.
    pub books: u64,
    /// Those that were derived again from the snapshot before.
    pub derived: u64,
    pub records: u64,
    /// With the record at which the breach shows.
    pub breaches: Vec<(u64, Damage)>,
}

/// A wrong book does not keep the others from being checked. If the snapshot before is more than
/// `records_max` records back, only the totals are checked. `pace` is called after each record and
/// each book that was decoded, and ends the work by returning false. A log that cannot be read is
/// an error.
pub fn recheck(
    reader: &Reader,
    tenants: &[u64],
    records_max: u64,
    pace: &mut dyn FnMut() -> bool,
) -> Result<Rechecked, Failed> {
    let (mut done, mut books) = (Rechecked::default(), Books::default());
    // With the sequence after which the book is derived.
    let mut newest: HashMap<u64, (Seq, StoredSnapshot)> = HashMap::new();
    for tenant in tenants {
        let Some(stored) = reader.snapshot(*tenant, None)? else { continue };
        if !pace() {
            return Ok(done);
        }
        // The decoded book is dropped here, so that a large one is not in memory beside the one
        // before it.
        let added_up = restored(&books.machine, &stored)
            .and_then(|saved| balances(&saved).map_err(|breach| damage(&stored, &breach)));
        if let Err(breach) = added_up {
            done.breaches.push((*tenant, breach));
            continue;
        }
        done.books += 1;
        if !pace() {
            return Ok(done);
        }
        let before = stored.seq.checked_sub(1).map(|seq| reader.snapshot(*tenant, Some(seq)));
        let before = before.transpose()?.flatten();
        let from = before.as_ref().map_or(0, |before| before.seq);
        if stored.seq - from > records_max {
            continue;
        }
        if let Some(before) = before {
            match restored(&books.machine, &before) {
                Ok(book) => drop(books.books.insert(*tenant, book)),
                Err(breach) => {
                    done.breaches.push((*tenant, breach));
                    continue;
                }
            }
        }
        newest.insert(*tenant, (from, stored));
        if !pace() {
            return Ok(done);
        }
    }
    for (after, to) in joined(newest.values().map(|(from, stored)| (*from, stored.seq)).collect()) {
        for record in reader.records(after + 1, Some(to)) {
            let record = record?;
            let is_between =
                |(from, stored): &(Seq, StoredSnapshot)| record.seq > *from && record.seq <= stored.seq;
            if newest.get(&record.tenant).is_some_and(is_between) {
                match books.apply(&record) {
                    Ok(_) => done.records += 1,
                    Err(breach) => {
                        newest.remove(&record.tenant);
                        done.breaches.push((record.tenant, breach));
                    }
                }
            }
            if !pace() {
                return Ok(done);
            }
        }
    }
    for (tenant, (_, stored)) in newest {
        let derived = books.at(tenant, stored.time_ms);
        match restored(&books.machine, &stored) {
            Ok(saved) if saved == derived => done.derived += 1,
            Ok(_) => done.breaches.push((tenant, damage(&stored, "it is not what the records lead to"))),
            Err(breach) => done.breaches.push((tenant, breach)),
        }
        if !pace() {
            break;
        }
    }
    Ok(done)
}

/// Ranges (after, to] that meet are joined: nothing is read twice, nor anything between two of
/// them. A tenant that was quiet for long does not cause the history of busy ones to be read.
fn joined(mut ranges: Vec<(Seq, Seq)>) -> Vec<(Seq, Seq)> {
    ranges.sort_unstable();
    let mut joined: Vec<(Seq, Seq)> = Vec::new();
    for (after, to) in ranges {
        match joined.last_mut() {
            Some((_, end)) if after <= *end => *end = to.max(*end),
            _ => joined.push((after, to)),
        }
    }
    joined
}

fn damage(stored: &StoredSnapshot, why: &str) -> Damage {
    Damage {
        seq: stored.seq,
        detail: format!(
            "the book of tenant key {} as it was in memory after record {}: {why}",
            stored.tenant, stored.seq
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn ranges_that_meet_become_one_and_nothing_between_is_read() {
        assert_eq!(joined(vec![(90, 95), (0, 3), (94, 99), (3, 4), (91, 92)]), [(0, 4), (90, 99)]);
        assert_eq!(joined(Vec::new()), []);
    }
}
