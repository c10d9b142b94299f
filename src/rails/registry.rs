//! The registry: which rail serves which order in which mode, and what it answers when it is asked
//! how it does. Nothing else decides that.
//!
//! Test mode has one rail for every order. Live mode has those of the networks that USDT travels on
//! and no other yet: the rules refuse what would need one (`Domain::live_rails`), and an order that is
//! there all the same is served by nobody.

use crate::rails::evm::Evm;
use crate::rails::{Outcomes, Rail};
use domain::platform::is_live;
use domain::rail::Order;
use domain::resources::crypto::address::{Network, Networks};
use domain::values::money::Ves;
use std::sync::Arc;

/// A rail that is called, and how it answers.
#[derive(Clone)]
pub struct Registered {
    /// The rail.
    pub rail: Arc<dyn Rail>,
    /// What it answered.
    pub outcomes: Arc<Outcomes>,
}

impl Registered {
    fn new(rail: Arc<dyn Rail>) -> Registered {
        let outcomes = Arc::new(Outcomes::of(rail.name()));
        Registered { rail, outcomes }
    }
}

/// The rails of a server.
pub struct Registry {
    test: Registered,
    live: bool,
    networks: Vec<(Arc<Evm>, Registered)>,
}

impl Registry {
    /// With this rail for all of test mode.
    pub fn new(test: Arc<dyn Rail>) -> Registry {
        Registry { test: Registered::new(test), live: false, networks: Vec::new() }
    }

    /// The same, with these networks for the USDT of live mode.
    pub fn with_networks(self, networks: Vec<Arc<Evm>>) -> Registry {
        let registered = |evm: Arc<Evm>| (Arc::clone(&evm), Registered::new(evm));
        Registry { networks: networks.into_iter().map(registered).collect(), ..self }
    }

    /// The networks for the USDT of live mode.
    pub fn networks(&self) -> impl Iterator<Item = &Arc<Evm>> {
        self.networks.iter().map(|(evm, _)| evm)
    }

    /// A network for the USDT of live mode, if it is served.
    pub fn network(&self, network: Network) -> Option<&Arc<Evm>> {
        self.networks().find(|evm| evm.network() == network)
    }

    /// The same, as the rules know them.
    pub fn live_networks(&self) -> Networks {
        self.networks().fold(Networks::default(), |networks, evm| networks.with(evm.network()))
    }

    /// The same, with transfers to our phone in live mode, if there is a bank that tells of them.
    pub fn with_notices(self, live: bool) -> Registry {
        Registry { live, ..self }
    }

    /// Whether live mode has rails at all, by which its rules decide.
    pub fn has_live(&self) -> bool {
        self.live
    }

    /// Whether a tenant in a mode has rails.
    pub fn serves(&self, tenant: u64) -> bool {
        !is_live(tenant) || self.has_live()
    }

    /// The rail for an order of a tenant in a mode; `None` where no rail serves it.
    pub fn rail(&self, tenant: u64, order: &Order) -> Option<Registered> {
        match order {
            // The server's own market answers that.
            Order::PriceUsdt { .. } => None,
            Order::SendUsdt { network, .. } if is_live(tenant) => {
                self.networks.iter().find(|(evm, _)| evm.network() == *network).map(|(_, rail)| rail.clone())
            }
            _ => (!is_live(tenant)).then(|| self.test.clone()),
        }
    }

    /// The two amounts that a verification of a tenant in a mode is sent, by the rail that would
    /// send them. Zero where no rail does: such a verification is refused before it begins.
    pub fn micro_deposits(&self, tenant: u64) -> (Ves, Ves) {
        if self.serves(tenant) { self.test.rail.micro_deposits() } else { (Ves::ZERO, Ves::ZERO) }
    }

    /// The name of the rail that a mode's orders are at, for operators.
    pub fn name(&self) -> &'static str {
        self.test.rail.name()
    }

    /// How the rails answer, each by itself.
    pub fn outcomes(&self) -> impl Iterator<Item = &Outcomes> {
        std::iter::once(&self.test)
            .chain(self.networks.iter().map(|(_, rail)| rail))
            .map(|rail| &*rail.outcomes)
    }

    /// Sends that came to a rail for an operation that it had already: 0, unless this server is
    /// wrong.
    pub fn duplicate_calls(&self) -> u64 {
        self.test.rail.duplicate_calls()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rails::simulator::{MICRO_DEPOSITS, Simulator};
    use domain::platform::{Mode, tenant_key};
    use domain::values::money::Currency;

    #[test]
    fn test_mode_has_a_rail_and_live_mode_has_none() {
        let registry = Registry::new(Arc::new(Simulator::in_memory()));
        let (live, test) = (tenant_key(1, Mode::Live), tenant_key(1, Mode::Test));
        let order = Order::PriceUsdt { currency: Currency::Cop };
        assert!(registry.rail(test, &order).is_none(), "prices are no rail's");
        assert!(registry.serves(test) && !registry.serves(live) && !registry.has_live());
        assert_eq!(registry.micro_deposits(test), MICRO_DEPOSITS);
        assert_eq!(registry.micro_deposits(live), (Ves::ZERO, Ves::ZERO));
        assert_eq!((registry.name(), registry.duplicate_calls()), ("simulator", 0));
    }
}
