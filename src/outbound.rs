//! Whether this server may speak to the outside: the one place that the outbox and the sender of
//! webhooks ask.
//!
//! A directory made by replay, restore or import is a restored copy: in live mode its banks and
//! webhooks are shut until an operator takes over. Test mode has nobody outside to mislead.

use domain::platform::is_live;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The switch. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Outbound {
    live: Arc<AtomicBool>,
}

impl Outbound {
    /// The switch of the active server.
    pub fn open() -> Outbound {
        Outbound { live: Arc::new(AtomicBool::new(true)) }
    }

    /// The switch of a restored copy.
    pub fn shut() -> Outbound {
        Outbound { live: Arc::new(AtomicBool::new(false)) }
    }

    /// The restored copy becomes the active server; called when the record that says so is durable.
    pub fn take_over(&self) {
        self.live.store(true, Ordering::Release);
    }

    /// Whether anything may be sent for this tenant key.
    pub fn allows(&self, tenant_key: u64) -> bool {
        !is_live(tenant_key) || self.is_open()
    }

    /// Whether live mode may speak to the outside.
    pub fn is_open(&self) -> bool {
        self.live.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::platform::{Mode, tenant_key};

    #[test]
    fn a_restored_copy_is_shut_in_live_mode_until_it_takes_over() {
        let outbound = Outbound::shut();
        let sender = outbound.clone();
        assert!(!sender.allows(tenant_key(1, Mode::Live)) && sender.allows(tenant_key(1, Mode::Test)));
        outbound.take_over();
        assert!(sender.allows(tenant_key(1, Mode::Live)));
        assert!(Outbound::open().allows(tenant_key(7, Mode::Live)));
    }
}
