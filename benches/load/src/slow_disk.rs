//! The cases over HTTP on a slower disk: every sync of the gateway, of the plain file and of
//! PostgreSQL takes a millisecond more (`benches/peers/slow_sync.c`, preloaded into all of them),
//! as on a network volume.

use crate::cleanup::{self, Scratch};
use crate::contest::{Contest, Whom};
use crate::peers::{Built, Way};
use crate::prepared::Kind;
use crate::report::{Bar, Report};
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
    /// Where the peers and the library were built (benches/peers/build)
    #[arg(long)]
    pub(super) peers: PathBuf,
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
        let built = Built::at(&self.peers).ok();
        self.contest(&PathBuf::new(), built.as_ref(), Setting::default()).takes()
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
        let built = Built::at(&self.peers)?;
        let scratch = Scratch::new(&place, "slow")?;
        let setting = Setting {
            slow_sync: Some(built.slow_sync(scratch.path(), self.slower_us)?),
            ..Setting::default()
        };
        let contested = self.contest(&place, Some(&built), setting).run()?;
        let mut table =
            contested.table(&format!("The same on a disk whose syncs take {} µs longer", self.slower_us));
        table.remark(format!(
            "fdatasync and fsync of the gateway, of the plain file and of PostgreSQL sleep that much longer after the real call; {} rounds of {} s with all cases interleaved, medians.",
            self.rounds, self.seconds
        ));
        table.remark(machine::describe(&place));
        let mut bars = Vec::new();
        for connections in &self.connections {
            let (ours, theirs) = (
                contested.rate(Whom::Prepared(Kind::Conversions), *connections),
                contested.rate(Whom::Peer(Way::Batched, 1), *connections),
            );
            if theirs > 0 {
                bars.push(Bar::ratio(&format!("conversions on one balance, of batched PostgreSQL, slow disk, {connections} connections"), ours, theirs, 100));
            }
        }
        Ok(Report {
            tables: [table].into_iter().chain(contested.settings).collect(),
            bars,
            ..Report::default()
        })
    }

    fn contest<'a>(
        &self,
        place: &'a std::path::Path,
        peers: Option<&'a Built>,
        setting: Setting,
    ) -> Contest<'a> {
        let whoms = [
            Whom::DoNothing,
            Whom::PlainFile,
            Whom::Payouts(1),
            Whom::Prepared(Kind::Conversions),
            Whom::Peer(Way::Plain, 1),
            Whom::Peer(Way::Batched, 1),
        ];
        let cases =
            self.connections.iter().flat_map(|connections| whoms.map(|whom| (whom, *connections))).collect();
        Contest {
            place,
            setting,
            cases,
            seconds: self.seconds,
            rounds: self.rounds,
            threads: 2,
            peers,
            trial: Duration::from_millis(600),
        }
    }
}
