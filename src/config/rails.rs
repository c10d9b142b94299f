//! `[rails]`: how long banks are waited for, and what the simulated one does.

use super::evm::Evm;
use super::keys::Keys;
use super::live_rails::{R4, Wompi};
use super::{ConfigError, live_rails};

/// `[rails]`: banks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rails {
    /// A request waits so long for a bank, then answers 202.
    pub answer_seconds: u64,
    /// Between an order to the simulated bank and its answer.
    pub simulator_delay_ms: u64,
    /// What the simulated bank does wrong.
    pub simulator_fault: SimulatorFault,
    /// An order that no bank has answered for so long is put before an operator.
    pub unresolved_after_seconds: u32,
    /// The first look at an order, and the pause between looks in its first hour.
    pub poll_seconds: u64,
    /// Between two probes of a rail whose circuit is open.
    pub probe_seconds: u64,
    /// `[rails.r4]`.
    pub r4: Option<R4>,
    /// `[rails.wompi]`.
    pub wompi: Option<Wompi>,
    /// `[rails.evm.*]`.
    pub evm: Vec<Evm>,
}

/// What the simulated bank does wrong, for tests of what becomes of the money then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatorFault {
    /// Nothing.
    None,
    /// Whoever asks about an order that is not answered yet hears the opposite of that answer.
    Contradicts,
    /// What never arrived does not arrive when it is sent again either.
    Loses,
    /// Whatever digits of a transfer's reference are given, the same transfer is found.
    OneTransfer,
}

impl SimulatorFault {
    /// All of them, with their names.
    const ALL: [(&'static str, SimulatorFault); 4] = [
        ("none", SimulatorFault::None),
        ("contradicts", SimulatorFault::Contradicts),
        ("loses", SimulatorFault::Loses),
        ("one_transfer", SimulatorFault::OneTransfer),
    ];
}

impl Rails {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let poll_seconds = keys.integer("poll_seconds", 60, 1..=3_600);
        let rails = Rails {
            answer_seconds: keys.integer("answer_seconds", 10, 1..=30),
            simulator_delay_ms: keys.integer("simulator_delay_ms", 0, 0..=60_000),
            simulator_fault: keys.one_of("simulator_fault", SimulatorFault::None, &SimulatorFault::ALL),
            unresolved_after_seconds: keys.integer("unresolved_after_seconds", 7_200, 1..=604_800),
            poll_seconds,
            probe_seconds: keys.integer("probe_seconds", 5, 1..=300),
            r4: R4::read(keys.section("r4"), poll_seconds),
            wompi: Wompi::read(keys.section("wompi"), poll_seconds),
            evm: Evm::read(keys.section("evm")),
        };
        keys.done();
        rails
    }

    /// Reads the files of secrets. Only the server does: whoever else reads the configuration may
    /// not be allowed to.
    pub fn read_secrets(&mut self) -> Result<(), ConfigError> {
        live_rails::read_secrets(&mut self.r4, &mut self.wompi)?;
        self.evm.iter_mut().try_for_each(Evm::resolve)
    }
}
