//! The balance of a past instant (GET /v1/balance?at=), derived from a snapshot and records.

use crate::store::history::{self, Unreadable, record};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use actors::Machine;
use api::balance::movements::Position;
use domain::index::{self, LedgerKey, OTHER};
use domain::ledger::MovementKind;
use domain::ledger::balance::{Balance, balance};
use domain::machine::{AnyBook, Domain};
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use wal::{Reader, Seq};

pub fn balance_at(
    machine: &Domain,
    reader: &Reader,
    tenant: u64,
    at: Timestamp,
    budget: &ReadBudget,
) -> Result<Balance, Stopped> {
    let mut book = machine.empty(tenant);
    let mut since: Seq = 0;
    let begun_at = history::begun_at(reader, tenant)?.unwrap_or(0);
    let mut from = Timestamp::from_unix_ms(0);
    let taken = reader.snapshot_taken_by(tenant, begun_at, at.unix_ms()).map_err(Unreadable::from)?;
    if let Some(stored) = taken {
        // A book is decoded in one go.
        budget.rest();
        book = machine.restore(tenant, &stored.state).map_err(|error| Unreadable(error.to_string()))?;
        budget.rest();
        since = stored.seq;
        from = Timestamp::from_unix_ms(stored.time_ms);
    }
    let ledger = LedgerKey::Tenant(Currency::Ves);
    let kinds = MovementKind::ALL.into_iter().map(|kind| kind as u8).chain([OTHER]);
    let parts = kinds.map(|kind| index::movements(tenant, ledger, kind)).collect();
    let end = index::time_bytes(at.plus_ms(1));
    let moment = reader.index_moment();
    let from = Some(index::time_bytes(from).to_vec());
    let mut newest = MergeCursor::new(&moment, parts, Some(&end), from, Some(budget))?;
    let mut seqs = Vec::new();
    while let Some(suffix) = newest.take()? {
        budget.spend()?;
        seqs.push(Position::of_record(&suffix)?.seq);
    }
    for seq in seqs.into_iter().rev().filter(|seq| *seq > since) {
        budget.spend()?;
        let read = record(reader, seq)?;
        machine.settle(&mut book, read.time.unix_ms());
        machine.evolve(&mut book, &read.record, read.time.unix_ms());
    }
    machine.settle(&mut book, at.unix_ms());
    match &book {
        AnyBook::Tenant(book) => Ok(balance(book)),
        AnyBook::Platform(_) => Err(Unreadable("the platform has no balance".to_owned()).into()),
    }
}
