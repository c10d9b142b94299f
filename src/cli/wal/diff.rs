//! `pasarela wal diff`: which balances changed between two sequences, by how much, and which
//! records did it.

use super::super::{Failure, Settings};
use super::shown::{self, RecordPlace};
use crate::recovery::Failed;
use crate::recovery::books::{Books, each_record};
use api::writer::Object;
use clap::Args;
use domain::ledger::{Account, Ledger};
use domain::machine::AnyBook;
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Show which balances changed between two sequences, by how much, and which records changed them
///
/// The records after the first sequence up to the second, then each balance that is another one:
/// what it was, what it is, and the difference. What is held may also change by time passing.
///
/// Example: pasarela wal diff 1000 1100
#[derive(Args, Debug)]
pub struct Diff {
    #[command(flatten)]
    settings: Settings,
    /// The first sequence: the state after its record counts; 0 is the state before all records
    #[arg(value_name = "SEQ")]
    from: u64,
    /// The second sequence: the state after its record counts
    #[arg(value_name = "SEQ")]
    to: u64,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// In minor units.
type Balances = BTreeMap<(u64, Ledger, Currency), (i64, i64)>;

impl Diff {
    pub fn run(self) -> Result<(), Failure> {
        let (_, reader) = super::open(&self.settings)?;
        let (from, to) = (self.from, self.to);
        if from > to {
            return Err(Failure::Other(format!("{from} comes after {to}: name the earlier sequence first")));
        }
        if to > reader.last_seq() {
            return Err(Failure::Other(format!(
                "the log ends at sequence {}, before {to}",
                reader.last_seq()
            )));
        }
        let mut touched = BTreeSet::new();
        each_record(&reader, from + 1, to, |stored| {
            touched.insert(stored.tenant);
            Ok(())
        })?;
        let tenants: Vec<u64> = touched.into_iter().collect();
        let mut books = Books::after(&reader, &tenants, from)?;
        let before = balances(&books);
        let mut out = io::BufWriter::new(io::stdout().lock());
        let (mut records, mut open, mut newest) = (BTreeMap::<u64, u64>::new(), true, Timestamp::EPOCH);
        each_record(&reader, from + 1, to, |stored| {
            let record = books.apply(&stored)?;
            newest = Timestamp::from_unix_ms(stored.time_ms);
            if record.postings.is_empty() && record.holds.is_empty() {
                return Ok(());
            }
            *records.entry(stored.tenant).or_default() += 1;
            let money = shown::postings(&record.postings);
            let place = RecordPlace::from(&stored);
            let line = if self.json {
                shown::json(place, &record, &money)
            } else {
                shown::line(place, &record, &money).into_bytes()
            };
            open = open && super::print(&mut out, &line).map_err(|_| Failed::Stdout)?;
            Ok(())
        })?;
        let after = balances(&books);
        let mut changed = 0;
        for (account, is) in &after {
            let was = before.get(account).copied().unwrap_or_default();
            if was == *is {
                continue;
            }
            changed += 1;
            let line = self.balance(to, newest, *account, was, *is);
            open = open && super::print(&mut out, &line)?;
        }
        eprintln!("{changed} balances changed by {} records", records.values().sum::<u64>());
        super::end(out)
    }

    fn balance(
        &self,
        seq: u64,
        time: Timestamp,
        account: (u64, Ledger, Currency),
        was: (i64, i64),
        is: (i64, i64),
    ) -> Vec<u8> {
        let (tenant, ledger, currency) = account;
        let amount = |minor| shown::amount(minor, currency);
        let parts = [("net", was.0, is.0), ("held", was.1, is.1)]
            .map(|(name, was, is)| (name, amount(was), amount(is), amount(is - was)));
        if self.json {
            let mut line = Object::new()
                .number("seq", seq)
                .plain("time", time)
                .plain("type", "balance")
                .text("entity", shown::owner(ledger))
                .number("tenant", tenant / 2)
                .plain("mode", shown::mode(tenant))
                .plain("currency", currency.code());
            for (name, was, is, by) in parts {
                line = line.json(
                    name,
                    &Object::new().plain("before", was).plain("after", is).plain("change", by).end(),
                );
            }
            return line.end();
        }
        let shown = parts
            .iter()
            .filter(|(_, was, is, _)| was != is)
            .map(|(name, was, is, by)| format!("{name} {was} -> {is} ({by})"));
        let shown: Vec<String> = shown.collect();
        format!(
            "balance  {:>6} {:<8}  {} {}  {}",
            tenant / 2,
            shown::mode(tenant),
            shown::owner(ledger),
            currency.code(),
            shown.join("  ")
        )
        .into_bytes()
    }
}

fn balances(books: &Books) -> Balances {
    let mut all = Balances::new();
    for (tenant, book) in books.iter() {
        let AnyBook::Tenant(book) = book else { continue };
        let of = |account: &Account| (account.net, account.held);
        all.extend(
            book.accounts
                .iter()
                .map(|(currency, account)| ((tenant, Ledger::Tenant, *currency), of(account))),
        );
        for (id, seller) in &book.sellers {
            all.extend(
                seller
                    .accounts
                    .iter()
                    .map(|(currency, account)| ((tenant, Ledger::Seller(*id), *currency), of(account))),
            );
        }
        all.extend(
            book.counter.iter().map(|((ledger, currency), net)| ((tenant, *ledger, *currency), (*net, 0))),
        );
    }
    all
}
