//! The cases over HTTP on a slower disk: every sync of the gateway and of the plain file takes a
//! millisecond more (`benches/load/slow_sync.c`, preloaded into both), as on a network volume.

use crate::cleanup;
use crate::contest::{Contest, Whom};
use crate::prepared::Kind;
use crate::report::Report;
use crate::server::Setting;
use crate::{Outcome, Place, machine};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Payouts and conversions over HTTP on a disk whose syncs take longer
#[derive(Args, Clone, Debug)]
pub struct SlowDisk {
    #[command(flatten)]
    pub(super) place: Place,
    /// The library that makes syncs slower (benches/load/slow_sync.c)
    #[arg(long)]
    pub(super) slow_sync: PathBuf,
    /// Microseconds that a sync takes longer
    #[arg(long, default_value_t = 1_000)]
    pub(super) slower_us: u64,
    /// Connections
    #[arg(long, value_delimiter = ',', default_values_t = [64, 256])]
    pub(super) connections: Vec<usize>,
    /// Seconds per case and round
    #[arg(long, default_value_t = 2)]
    pub(super) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 2)]
    pub(super) rounds: usize,
}

impl SlowDisk {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        self.contest(&PathBuf::new(), Setting::default()).takes()
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.connections.contains(&0) || self.rounds == 0 || self.seconds == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(self.takes() * 3 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let place = self.place.made()?;
        let library = self.slow_sync.canonicalize();
        let library = library.map_err(|error| format!("{}: {error}", self.slow_sync.display()))?;
        let setting = Setting { slow_sync: Some((library, self.slower_us)), ..Setting::default() };
        let contested = self.contest(&place, setting).run()?;
        let mut table =
            contested.table(&format!("The same on a disk whose syncs take {} µs longer", self.slower_us));
        table.remark(format!(
            "fdatasync and fsync of the gateway and of the plain file sleep that much longer after the real call; {} rounds of {} s with all cases interleaved, medians.",
            self.rounds, self.seconds
        ));
        table.remark(machine::describe(&place));
        Ok(Report { tables: vec![table], ..Report::default() })
    }

    fn contest<'a>(&self, place: &'a std::path::Path, setting: Setting) -> Contest<'a> {
        let whoms = [Whom::DoNothing, Whom::PlainFile, Whom::Payouts(1), Whom::Prepared(Kind::Conversions)];
        let cases =
            self.connections.iter().flat_map(|connections| whoms.map(|whom| (whom, *connections))).collect();
        Contest { place, setting, cases, seconds: self.seconds, rounds: self.rounds, threads: 2 }
    }
}
