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
use std::sync::Mutex;
use tokio::sync::Notify;
use uuid::Uuid;

pub struct Evm {
    pub settings: Settings,
    pub node: Node,
    figures: Mutex<Figures>,
    asked: Mutex<BTreeSet<(u64, Uuid)>>,
    due: Notify,
    known: Mutex<Option<Mark>>,
    watched: Mutex<BTreeMap<Account, u64>>,
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
        let (figures, asked, due) = (Mutex::default(), Mutex::default(), Notify::new());
        Ok(Evm { settings, node, figures, asked, due, known: Mutex::default(), watched: Mutex::default() })
    }

    pub const fn network(&self) -> Network {
        self.settings.network
    }

    pub const fn name(&self) -> &'static str {
        name(self.network())
    }

    /// There is an order, or a question about one: the log is looked at.
    pub fn hear(&self, tenant_key: u64, operation: Uuid, is_question: bool) {
        if is_question {
            self.lock(&self.asked).insert((tenant_key, operation));
        }
        self.due.notify_one();
    }

    pub fn figures(&self) -> Figures {
        self.lock(&self.figures).clone()
    }

    pub fn note(&self, change: impl FnOnce(&mut Figures)) {
        change(&mut self.lock(&self.figures));
    }

    pub fn known(&self) -> Option<Mark> {
        *self.lock(&self.known)
    }

    pub fn know(&self, mark: Mark) {
        *self.lock(&self.known) = Some(mark);
    }

    pub fn take_asked(&self) -> BTreeSet<(u64, Uuid)> {
        std::mem::take(&mut *self.lock(&self.asked))
    }

    pub async fn due(&self) {
        self.due.notified().await;
    }

    pub fn watch(&self, account: Account, tenant_key: u64) {
        self.lock(&self.watched).insert(account, tenant_key);
    }

    pub fn watched(&self) -> BTreeMap<Account, u64> {
        self.lock(&self.watched).clone()
    }

    pub fn watched_for(&self, account: &Account) -> Option<u64> {
        self.lock(&self.watched).get(account).copied()
    }

    fn lock<'a, T>(&self, held: &'a Mutex<T>) -> std::sync::MutexGuard<'a, T> {
        held.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
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
