//! Daily work over a year of books: searches and filtered lists, a year's statement, and the reconciliation
//! of a month's lines with a bank's statement. The books are filled over HTTP, as callers fill them: half
//! are payments that a notice verified, half are payouts, spread over the days of a year by the test clock.

mod asking;
mod filling;
mod statement;

use crate::cleanup::{self, Scratch};
use crate::live::bank::{Bank, Manner};
use crate::prepare::{self, Extent, Tenant};
use crate::report::{Line, Report};
use crate::restart::bytes_in;
use crate::server::{Server, Setting};
use crate::table::{Table, grouped, mebibytes, milliseconds, seconds};
use crate::{Outcome, Place, machine, progress};
use asking::{Case, Timed};
use clap::Args;
use filling::Filled;
use pasarela::recovery::directory::LOG_DIRECTORY;
use statement::Reconciled;
use std::time::Duration;

/// The time until a server must be ready on an empty directory.
const READY: Duration = Duration::from_secs(30);
/// Days that the books are spread over.
const DAYS: u64 = 365;
/// Records of a payment and a payout: of each one when it is asked for, and one when the bank has answered.
const RECORDS_OF_A_PAIR: u64 = 4;

/// Searches, statements and a reconciliation over a year of books
#[derive(Args, Clone, Debug)]
pub struct Daily {
    #[command(flatten)]
    pub(super) place: Place,
    /// Records in the log; 10,000,000 is a large account's year
    #[arg(long, default_value_t = 200_000)]
    pub(super) records: u64,
    /// Requests of each kind that are timed, one after the other
    #[arg(long, default_value_t = 1_000)]
    pub(super) requests: u32,
    /// Lines of the bank's statement, each of a live payout that is made before
    #[arg(long, default_value_t = 20_000)]
    pub(super) lines: u32,
}

impl Daily {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        let filling = (self.records + 4 * u64::from(self.lines)) / 3_000;
        Duration::from_secs(30 + filling + u64::from(self.requests) / 20)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.records < RECORDS_OF_A_PAIR * DAYS || self.requests == 0 || self.lines == 0 {
            return Err(format!("at least {} records, and one of the others", RECORDS_OF_A_PAIR * DAYS));
        }
        cleanup::watch(self.takes() * 5 + Duration::from_secs(120));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let machine = machine::describe(&self.place.made()?);
        let scratch = Scratch::new(&self.place.made()?, "daily")?;
        let bank = Bank::open(Manner::At(Duration::ZERO))?;
        let setting = Setting { r4: Some(bank.address), ..Setting::default() };
        let server = Server::gateway_in(scratch.path(), READY, &setting)?;
        let one = |extent| -> Outcome<Tenant> {
            let made = prepare::tenants(&server, 1, extent)?;
            made.into_iter().next().ok_or_else(|| "there is no tenant".to_owned())
        };
        let (test, live) = (one(Extent::Payable)?, one(Extent::Live)?);
        progress(&format!("filling {} records", grouped(self.records)));
        let filled = filling::fill(&server, &test, self.records / RECORDS_OF_A_PAIR / DAYS)?;
        let bytes = bytes_in(&scratch.path().join("data").join(LOG_DIRECTORY));
        let mut timed = Vec::new();
        for case in Case::all(&filled) {
            let case = asking::time(&server, &test, case, self.requests)?;
            progress(&format!("{}: p50 {} ms", case.name, milliseconds(case.p50_us)));
            timed.push(case);
        }
        let reconciled = statement::reconcile(&server, &live, self.lines)?;
        drop(bank);
        let tables = vec![self.searches(&machine, &filled, bytes, &timed), self.reconciliation(&reconciled)];
        let lines = timed.iter().map(|timed| Line {
            what: format!("{}, over {} records", timed.name, grouped(self.records)),
            figure: format!("p99 {} ms", milliseconds(timed.p99_us)),
            baseline: String::new(),
            ratio: String::new(),
        });
        Ok(Report { tables, lines: lines.collect(), ..Report::default() })
    }

    fn searches(&self, machine: &str, filled: &Filled, bytes: u64, timed: &[Timed]) -> Table {
        let columns = ["request", "p50 ms", "p99 ms", "slowest ms", "bytes"];
        let mut table = Table::new("Daily work: finding and statements", &columns);
        table.remark(machine);
        table.remark(format!(
            "{} payments and payouts of one account over {DAYS} days, filled over HTTP in {} s; {} MiB on disk. {} requests of each, one after the other over one connection, each for another object.",
            grouped(filled.objects()),
            seconds(filled.took),
            mebibytes(bytes),
            grouped(self.requests.into())
        ));
        for timed in timed {
            table.row([
                timed.name.to_owned(),
                milliseconds(timed.p50_us),
                milliseconds(timed.p99_us),
                milliseconds(timed.max_us),
                grouped(timed.bytes),
            ]);
        }
        table
    }

    fn reconciliation(&self, reconciled: &Reconciled) -> Table {
        let mut table = Table::new("Daily work: a month's reconciliation", &["what", "figure"]);
        table.remark(
            "A bank's statement of a month as CSV, each line of another live payout; from the upload to the result.",
        );
        for (what, figure) in [
            ("lines", grouped(self.lines.into())),
            ("matched", grouped(reconciled.matched)),
            ("bytes of the file", grouped(reconciled.bytes as u64)),
            ("until the upload was answered", format!("{} s", seconds(reconciled.accepted))),
            ("until it was done", format!("{} s", seconds(reconciled.done))),
        ] {
            table.row([what.to_owned(), figure]);
        }
        table
    }
}
