//! `[rails]`: how long banks are waited for, and what the simulated one does.

use super::evm::Evm;
use super::keys::Keys;
use super::live_rails::{R4, Wompi};
use super::{ConfigError, live_rails};

const SIMULATOR_FAULTS: [(&str, &str); 4] =
    [("none", "none"), ("contradicts", "contradicts"), ("loses", "loses"), ("one_transfer", "one_transfer")];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rails {
    /// A request waits so long for a bank, before it answers 202.
    pub answer_seconds: u64,
    /// Between an order to the simulated bank and its answer.
    pub simulator_delay_ms: u64,
    /// One of [`SIMULATOR_FAULTS`], for tests of what becomes of the money then.
    pub simulator_fault: &'static str,
    /// An order without an answer is put before an operator after this.
    pub unresolved_after_seconds: u32,
    /// To the first question about an order, and between questions in its first hour.
    pub poll_seconds: u64,
    /// Between two probes of a rail whose circuit is open.
    pub probe_seconds: u64,
    /// To one rail at once.
    pub calls_max: usize,
    pub r4: Option<R4>,
    pub wompi: Option<Wompi>,
    pub evm: Vec<Evm>,
}

impl Rails {
    /// Whether the catalogue of banks may have more than the program's own.
    pub(super) fn read(mut keys: Keys<'_>, has_bank_feed: bool) -> Self {
        let poll_seconds = keys.integer("poll_seconds", 60, 1..=3_600);
        let rails = Rails {
            answer_seconds: keys.integer("answer_seconds", 10, 1..=30),
            simulator_delay_ms: keys.integer("simulator_delay_ms", 0, 0..=60_000),
            simulator_fault: keys.one_of("simulator_fault", "none", &SIMULATOR_FAULTS),
            unresolved_after_seconds: keys.integer("unresolved_after_seconds", 7_200, 1..=604_800),
            poll_seconds,
            probe_seconds: keys.integer("probe_seconds", 5, 1..=300),
            calls_max: keys.integer("calls_max", 256, 1..=4_096),
            r4: R4::read(keys.section("r4"), poll_seconds, has_bank_feed),
            wompi: Wompi::read(keys.section("wompi"), poll_seconds),
            evm: Evm::read(keys.section("evm")),
        };
        keys.done();
        rails
    }

    /// Only the server reads secrets: whoever else reads the configuration may not be allowed to.
    pub fn read_secrets(&mut self) -> Result<(), ConfigError> {
        live_rails::read_secrets(&mut self.r4, &mut self.wompi)?;
        self.evm.iter_mut().try_for_each(Evm::resolve)
    }
}
