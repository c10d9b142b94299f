//! The right of this server to speak to the outside: the one place that the outbox and the sender
//! of webhooks ask.
//!
//! A directory made by replay, restore or import is a restored copy: in live mode its banks and
//! webhooks are shut until an operator takes over. Test mode has nobody outside to mislead.
//!
//! The leader of several machines alone speaks to the outside, and makes sure before each call that
//! it still leads.

use domain::values::ids::is_live;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The confirmation that this machine leads; it never comes on one that does not.
pub type Leads = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

#[derive(Clone)]
pub struct Outbound {
    live: Arc<AtomicBool>,
    pub(crate) leads: Option<Leads>,
}

impl Outbound {
    pub fn open() -> Outbound {
        Outbound { live: Arc::new(AtomicBool::new(true)), leads: None }
    }

    pub fn shut() -> Outbound {
        Outbound { live: Arc::new(AtomicBool::new(false)), leads: None }
    }

    pub fn led_by(self, leads: Option<Leads>) -> Outbound {
        Outbound { leads, ..self }
    }

    /// For ever on a machine that does not lead: what waits here is another's to do.
    pub async fn until_it_leads(&self) {
        if let Some(leads) = &self.leads {
            leads().await;
        }
    }

    /// The restored copy becomes the active server; called when the record that says so is durable.
    pub fn take_over(&self) {
        self.live.store(true, Ordering::Release);
    }

    pub fn allows(&self, tenant_key: u64) -> bool {
        !is_live(tenant_key) || self.is_open()
    }

    pub fn is_open(&self) -> bool {
        self.live.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::values::ids::{Mode, tenant_key};

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
