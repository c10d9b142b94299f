//! A network as the registry has it: it hears of orders and questions, and says nothing at once.
//! The orders that are owed stand in the log, and the worker of the network reads them there; so an
//! order that came here twice, or never, is sent once all the same.

use super::Account;
use super::config::Settings;
use super::node::Node;
use crate::rails::http::NoClient;
use domain::platform::Mark;
use domain::values::address::Network;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use uuid::Uuid;

pub struct Evm {
    pub settings: Settings,
    pub node: Node,
    state: Mutex<State>,
    due: Notify,
}

#[derive(Default)]
pub struct State {
    pub figures: Figures,
    pub asked: BTreeSet<(u64, Uuid)>,
    pub known: Option<Mark>,
    /// The addresses of deposits, each with its tenant.
    pub watched: BTreeMap<Account, u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    Usdt,
    Gas,
    Fee,
    Node,
    Chain,
}

impl Waits {
    pub const ALL: [Waits; 5] = [Waits::Usdt, Waits::Gas, Waits::Fee, Waits::Node, Waits::Chain];

    pub const fn name(self) -> &'static str {
        match self {
            Waits::Usdt => "usdt",
            Waits::Gas => "gas",
            Waits::Fee => "fee",
            Waits::Node => "node",
            Waits::Chain => "chain",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub head: Option<u64>,
    /// Seconds since 1970.
    pub head_at: Option<u64>,
    /// What gas is paid from, in wei.
    pub gas: Option<u128>,
    pub usdt: Option<u128>,
    pub nonce: Option<u64>,
    pub waiting: usize,
    pub in_flight: usize,
    pub doubtful: usize,
    pub waits: Option<Waits>,
    pub scanned: Option<u64>,
    pub replaced: u64,
    pub deposits: u64,
    /// Deposits of which less than a cent, or all of less than one, was not credited.
    pub rests: u64,
    /// Entries of the token's log that cannot be read: an operator has to look.
    pub set_aside: u64,
    /// How often the chain did not have a block any more up to which it was searched.
    pub gone_back: u64,
}

impl Evm {
    pub fn new(settings: Settings) -> Result<Evm, NoClient> {
        let node = Node::new(settings.endpoint.clone())?;
        Ok(Evm { settings, node, state: Mutex::default(), due: Notify::new() })
    }

    pub const fn name(&self) -> &'static str {
        name(self.settings.network)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is an order, or a question about one: the log is looked at.
    pub fn hear(&self, tenant_key: u64, operation: Uuid, is_question: bool) {
        if is_question {
            self.state().asked.insert((tenant_key, operation));
        }
        self.due.notify_one();
    }

    pub async fn due(&self) {
        self.due.notified().await;
    }
}

pub const fn name(network: Network) -> &'static str {
    match network {
        Network::Trc20 => "evm_trc20",
        Network::Erc20 => "evm_erc20",
        Network::Bep20 => "evm_bep20",
        Network::Polygon => "evm_polygon",
    }
}
