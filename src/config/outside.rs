//! `[rails]` and `[webhooks]`: what the server sends to banks and to tenants' endpoints.

use super::keys::Keys;
use super::values::path;
use crate::rails::simulator::Fault;
use std::path::PathBuf;

/// `[rails]`: banks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rails {
    /// A request waits so long for a bank, then answers 202.
    pub answer_seconds: u64,
    /// Between an order to the simulated bank and its answer.
    pub simulator_delay_ms: u64,
    /// What the simulated bank does wrong.
    pub simulator_fault: Fault,
    /// An order that no bank has answered for so long is put before an operator.
    pub unresolved_after_seconds: u32,
}

/// `[webhooks]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhooks {
    /// Delivers to loopback and private addresses too.
    pub allow_private_targets: bool,
    /// Certificates to trust beside those of the system, as PEM.
    pub extra_ca_file: Option<PathBuf>,
}

impl Rails {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let rails = Rails {
            answer_seconds: keys.integer("answer_seconds", 10, 1..=30),
            simulator_delay_ms: keys.integer("simulator_delay_ms", 0, 0..=60_000),
            simulator_fault: keys.one_of("simulator_fault", Fault::None, &Fault::ALL),
            unresolved_after_seconds: keys.integer("unresolved_after_seconds", 7_200, 1..=604_800),
        };
        keys.done();
        rails
    }
}

impl Webhooks {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let webhooks = Webhooks {
            allow_private_targets: keys.boolean("allow_private_targets", false),
            extra_ca_file: keys.optional("extra_ca_file", path),
        };
        keys.done();
        webhooks
    }
}
