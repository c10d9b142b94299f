//! `[rails]`: how long banks are waited for, and what the simulated one does.

use super::evm::Evm;
use super::keys::Keys;
use super::live_rails::{R4, wompi};
use crate::rails::simulator::Fault;
use crate::rails::wompi;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rails {
    pub answer_seconds: u64,
    pub simulator_delay_ms: u64,
    pub simulator_fault: Fault,
    pub unresolved_after_seconds: u32,
    pub poll_seconds: u64,
    pub probe_seconds: u64,
    pub calls_max: usize,
    pub r4: Option<R4>,
    pub wompi: Option<wompi::Settings>,
    pub evm: Vec<Evm>,
}

impl Rails {
    pub(super) fn read(mut keys: Keys<'_>, has_bank_feed: bool) -> Self {
        let poll_seconds = keys.integer("poll_seconds", 60, 1..=3_600);
        let rails = Rails {
            answer_seconds: keys.integer("answer_seconds", 10, 1..=30),
            simulator_delay_ms: keys.integer("simulator_delay_ms", 0, 0..=60_000),
            simulator_fault: keys.one_of("simulator_fault", Fault::None, &Fault::ALL),
            unresolved_after_seconds: keys.integer("unresolved_after_seconds", 7_200, 1..=604_800),
            poll_seconds,
            probe_seconds: keys.integer("probe_seconds", 5, 1..=300),
            calls_max: keys.integer("calls_max", 256, 1..=4_096),
            r4: R4::read(keys.section("r4"), poll_seconds, has_bank_feed),
            wompi: wompi(keys.section("wompi"), poll_seconds),
            evm: Evm::read(keys.section("evm")),
        };
        keys.done();
        rails
    }
}
