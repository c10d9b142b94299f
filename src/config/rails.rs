//! `[rails]`: how long banks are waited for, and what the simulated one does.

use super::keys::Keys;

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
        let rails = Rails {
            answer_seconds: keys.integer("answer_seconds", 10, 1..=30),
            simulator_delay_ms: keys.integer("simulator_delay_ms", 0, 0..=60_000),
            simulator_fault: keys.one_of("simulator_fault", SimulatorFault::None, &SimulatorFault::ALL),
            unresolved_after_seconds: keys.integer("unresolved_after_seconds", 7_200, 1..=604_800),
        };
        keys.done();
        rails
    }
}
