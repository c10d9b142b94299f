//! The book of one tenant key derived from all of its records, whatever its snapshots say: a halted
//! book is resumed with it. It is checked on the way as `verify` does, record by record and hold by
//! hold; snapshots that differ from what the records lead to are named. The whole log is read once.

use super::Failed;
use super::books::{Books, balances, each_record, restored};
use actors::{LONG_AGO_MS, Machine};
use domain::machine::AnyBook;
use wal::{Damage, Reader, Seq};

pub struct Rederived {
    pub book: AnyBook,
    /// That of the last record, or of a later snapshot.
    pub settled_ms: i64,
    pub records: u64,
    /// Snapshots that differ from what the records lead to.
    pub wrong: Vec<Seq>,
}

pub fn rederive(reader: &Reader, tenant: u64, last: Seq) -> Result<Rederived, Failed> {
    let mut books = Books::default();
    let (mut records, mut settled_ms, mut wrong) = (0, LONG_AGO_MS, Vec::new());
    let mut next = reader.snapshot_from(tenant, 0)?;
    each_record(reader, 1, last, |stored| {
        if stored.tenant != tenant {
            return Ok(());
        }
        while let Some(snapshot) = next.take_if(|next| next.seq < stored.seq) {
            compare(&books, &snapshot, &mut settled_ms, &mut wrong);
            next = reader.snapshot_from(tenant, snapshot.seq + 1)?;
        }
        books.apply(&stored)?;
        records += 1;
        Ok(())
    })?;
    while let Some(snapshot) = next {
        compare(&books, &snapshot, &mut settled_ms, &mut wrong);
        next = reader.snapshot_from(tenant, snapshot.seq + 1)?;
    }
    settled_ms = settled_ms.max(books.machine.now_ms(&books.at(tenant, LONG_AGO_MS), LONG_AGO_MS));
    let book = books.at(tenant, settled_ms);
    balances(&book).map_err(|breach| Damage { seq: last, detail: format!("book {tenant}: {breach}") })?;
    Ok(Rederived { book, settled_ms, records, wrong })
}

fn compare(books: &Books, snapshot: &wal::StoredSnapshot, settled_ms: &mut i64, wrong: &mut Vec<Seq>) {
    let derived = books.at(snapshot.tenant, snapshot.time_ms);
    if restored(&books.machine, snapshot).is_ok_and(|saved| saved == derived) {
        *settled_ms = snapshot.time_ms.max(*settled_ms);
    } else {
        wrong.push(snapshot.seq);
    }
}
