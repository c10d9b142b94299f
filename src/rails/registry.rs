//! Which rail serves which order in which mode, and how it does; the rules ask it through
//! [`Rails`]. Test mode has one rail for every order. Live mode has a lane per rail that is
//! configured, and the networks that USDT travels on, whose workers read what is owed in the log;
//! an order that none of them serves is refused by the rules (`rail_not_configured`).

use crate::outbound::Outbound;
use crate::rails::evm::Evm;
use crate::rails::lane::{Lane, LaneFigures};
use crate::rails::live::LiveRail;
use crate::rails::r4::client::micro_deposit_amounts;
use crate::rails::{Outcomes, Rail};
use domain::rail::{Availability, BankCall, Order, Rails, Service, Terms};
use domain::trace::{POLL_MS, Polling};
use domain::values::address::Network;
use domain::values::ids::is_live;
use domain::values::money::{Currency, Ves};
use domain::values::venezuela::BankCode;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const TELLS_OF_TRANSFERS: &str = "r4";

#[derive(Clone, Debug)]
pub struct Pace {
    pub otp_banks: Vec<BankCode>,
    /// To the first question about an order, and between questions in its first hour.
    pub poll_ms: i64,
    pub probe: Duration,
    pub calls_max: usize,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { otp_banks: Vec::new(), poll_ms: POLL_MS, probe: Duration::from_secs(5), calls_max: 256 }
    }
}

pub struct Registry {
    pub test: Arc<dyn Rail>,
    pub test_outcomes: Arc<Outcomes>,
    pub live: Vec<Arc<Lane>>,
    pub networks: Vec<Arc<Evm>>,
    notices: bool,
    pub outbound: Outbound,
    pace: Pace,
    /// The orders of a call that is only rehearsed.
    rehearsed: Mutex<Vec<Ordered>>,
}

/// An order as far as anybody may be shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    pub rail: &'static str,
    pub kind: &'static str,
    pub minor: i64,
    pub currency: Currency,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let live = self.live.iter().map(|lane| lane.profile.name);
        f.debug_list().entries(std::iter::once(self.name()).chain(live)).finish()
    }
}

impl Registry {
    pub fn new(test: Arc<dyn Rail>) -> Registry {
        Registry {
            test_outcomes: Arc::new(Outcomes::of(test.name())),
            test,
            live: Vec::new(),
            networks: Vec::new(),
            notices: false,
            outbound: Outbound::open(),
            pace: Pace::default(),
            rehearsed: Mutex::default(),
        }
    }

    /// The same rails for a call that is only rehearsed: those of live mode are not to be called.
    pub fn rehearsing(&self) -> Registry {
        Registry {
            live: self.live.clone(),
            networks: self.networks.clone(),
            notices: self.notices,
            outbound: self.outbound.clone(),
            pace: self.pace.clone(),
            ..Registry::new(self.test.rehearsing())
        }
    }

    /// Notes an order of money to a bank or a network in a rehearsal. What only asks or tells a bank something orders
    /// none.
    pub fn note(&self, tenant: u64, order: &Order) {
        let (Some(service), Some(operation), Some((minor, currency))) =
            (order.service(), order.operation(), order.amount())
        else {
            return;
        };
        let ordered =
            Ordered { rail: self.name_for(tenant, service), kind: operation.name(), minor, currency };
        self.rehearsed().push(ordered);
    }

    pub fn rehearsed(&self) -> MutexGuard<'_, Vec<Ordered>> {
        self.rehearsed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn with_live(self, rails: Vec<Arc<dyn LiveRail>>, pace: Pace, outbound: &Outbound) -> Registry {
        let lane = |rail| Arc::new(Lane::new(rail, outbound.clone(), pace.probe, pace.calls_max));
        Registry { live: rails.into_iter().map(lane).collect(), outbound: outbound.clone(), pace, ..self }
    }

    pub fn network(&self, network: Network) -> Option<&Arc<Evm>> {
        self.networks.iter().find(|evm| evm.settings.network == network)
    }

    fn network_for(&self, service: Service) -> Option<&Arc<Evm>> {
        match service {
            Service::Usdt(network) => self.network(network),
            _ => None,
        }
    }

    pub fn with(self, networks: Vec<Arc<Evm>>, notices: bool) -> Registry {
        Registry { networks, notices, ..self }
    }

    pub fn lane(&self, order: &Order) -> Option<&Arc<Lane>> {
        self.serving(order.service()?)
    }

    pub fn serving(&self, service: Service) -> Option<&Arc<Lane>> {
        self.live.iter().find(|lane| lane.profile.services.contains(&service))
    }

    pub fn serves(&self, tenant: u64, service: Service) -> bool {
        !is_live(tenant) || self.serves_live(service)
    }

    pub fn serves_live(&self, service: Service) -> bool {
        self.hears(service) || self.serving(service).is_some() || self.network_for(service).is_some()
    }

    /// Without a call: the bank tells of it.
    fn hears(&self, service: Service) -> bool {
        self.notices && service == Service::PagoMovil
    }

    /// A bank sends its customers their C2P key at our word, in live mode.
    pub fn sends_code(&self, bank: BankCode) -> bool {
        self.pace.otp_banks.contains(&bank)
    }

    pub fn usdt_networks(&self, tenant: u64) -> Vec<Network> {
        Network::ALL.into_iter().filter(|network| self.serves(tenant, Service::Usdt(*network))).collect()
    }

    pub fn serves_live_usdt(&self) -> bool {
        Network::ALL.into_iter().any(|network| self.serves_live(Service::Usdt(network)))
    }

    /// Zero where no rail would send them: such a verification is refused before it begins.
    pub fn micro_deposits(&self, tenant: u64) -> (Ves, Ves) {
        if !is_live(tenant) {
            return self.test.micro_deposits();
        }
        match self.serving(Service::MicroDeposits) {
            Some(_) => micro_deposit_amounts().unwrap_or((Ves::ZERO, Ves::ZERO)),
            None => (Ves::ZERO, Ves::ZERO),
        }
    }

    pub fn name(&self) -> &'static str {
        self.test.name()
    }

    /// Those that are not configured too, as an order may have been at them.
    pub fn names(&self) -> Vec<&'static str> {
        let networks = Network::ALL.into_iter().map(crate::rails::evm::name);
        let all: BTreeSet<&'static str> = networks.chain([self.name(), "r4", "wompi"]).collect();
        all.into_iter().collect()
    }

    pub fn name_for(&self, tenant: u64, service: Service) -> &'static str {
        if !is_live(tenant) {
            return self.name();
        }
        if self.hears(service) {
            return TELLS_OF_TRANSFERS;
        }
        let network = self.network_for(service).map(|evm| evm.name());
        let lane = || self.serving(service).map(|lane| lane.profile.name);
        network.or_else(lane).unwrap_or_default()
    }

    pub fn outcomes(&self) -> impl Iterator<Item = &Outcomes> {
        std::iter::once(&*self.test_outcomes).chain(self.live.iter().map(|lane| &*lane.outcomes))
    }

    pub fn figures(&self) -> Vec<LaneFigures> {
        let figures = |lane: &Arc<Lane>| {
            let mut figures = lane.figures();
            if self.notices && figures.name == TELLS_OF_TRANSFERS {
                figures.serves.push(Service::PagoMovil);
            }
            figures
        };
        self.live.iter().map(figures).collect()
    }
}

impl Registry {
    fn availability(&self, service: Service, call: Option<BankCall>) -> Availability {
        if self.hears(service) {
            return match self.outbound.is_open() {
                true => Availability::Served,
                false => Availability::Unavailable { retry_after_seconds: 1 },
            };
        }
        // The payouts that are owed over a network wait for as long as they have to.
        if self.network_for(service).is_some() {
            return Availability::Served;
        }
        match self.serving(service).map(|lane| lane.retry_after_seconds(call)) {
            None => Availability::NotConfigured,
            Some(None) => Availability::Served,
            Some(Some(retry_after_seconds)) => Availability::Unavailable { retry_after_seconds },
        }
    }
}

impl Rails for Registry {
    fn terms(&self, livemode: bool, service: Service, call: Option<BankCall>) -> Terms {
        if !livemode {
            return Terms { availability: Availability::Served, amount_max: None };
        }
        let amount_max = self.serving(service).and_then(|lane| lane.profile.amount_max);
        Terms { availability: self.availability(service, call), amount_max }
    }

    fn polling(&self, livemode: bool) -> Polling {
        if livemode { Polling::Live(self.pace.poll_ms) } else { Polling::Test }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rails::simulator::{MICRO_DEPOSITS, Simulator};
    use domain::values::ids::{Mode, tenant_key};

    #[test]
    fn test_mode_has_a_rail_and_live_mode_has_none() {
        let registry = Registry::new(Arc::new(Simulator::in_memory()));
        let (live, test) = (tenant_key(1, Mode::Live), tenant_key(1, Mode::Test));
        let order = Order::PriceUsdt { currency: Currency::Cop };
        assert!(registry.lane(&order).is_none(), "prices are no rail's");
        assert!(registry.serves(test, Service::C2p) && !registry.serves(live, Service::C2p));
        assert_eq!(registry.terms(true, Service::C2p, None).availability, Availability::NotConfigured);
        assert_eq!(registry.terms(false, Service::C2p, None).availability, Availability::Served);
        assert_eq!(registry.micro_deposits(test), MICRO_DEPOSITS);
        assert_eq!(registry.micro_deposits(live), (Ves::ZERO, Ves::ZERO));
        assert_eq!((registry.name(), registry.test.duplicate_calls()), ("simulator", 0));
    }
}
