//! A network as the registry has it: it hears of orders and questions, and says nothing at once.
//!
//! The orders that are owed stand in the log, and the worker of the network reads them there; so an
//! order that came here twice, or never, is sent once all the same. It must not know what a payout
//! is.

use super::Account;
use super::config::Settings;
use super::node::Node;
use crate::rails::http::NoClient;
use domain::platform::Mark;
use domain::resources::crypto::address::Network;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use tokio::sync::Notify;
use uuid::Uuid;

/// A network that is served.
pub struct Evm {
    pub settings: Settings,
    pub node: Node,
    /// The figures of its wallet when it was looked at last.
    figures: Mutex<Figures>,
    /// Operations that were asked about, with whose they are, since they were taken last.
    asked: Mutex<BTreeSet<(u64, Uuid)>>,
    due: Notify,
    /// The newest block that the node has shown again as it was.
    known: Mutex<Option<Mark>>,
    /// Addresses of deposits, with the tenant key that each is of.
    watched: Mutex<BTreeMap<Account, u64>>,
}

/// The reasons why payouts of a network wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// The wallet has not enough USDT.
    Usdt,
    /// The wallet has not enough to pay for gas.
    Gas,
    /// Gas costs more than may be paid.
    Fee,
    /// The node does not answer, or not in a way that can be read.
    Node,
    /// The node is on another chain.
    Chain,
}

impl Waits {
    /// All of them.
    pub const ALL: [Waits; 5] = [Waits::Usdt, Waits::Gas, Waits::Fee, Waits::Node, Waits::Chain];

    /// The name under which metrics and operators see it.
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

/// The figures of a network when it was looked at last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// The number of the newest block.
    pub head: Option<u64>,
    /// The instant at which that block was made, in seconds since 1970.
    pub head_at: Option<u64>,
    /// The coins that gas is paid from, in wei.
    pub gas: Option<u128>,
    /// The wallet's USDT, in the token's units.
    pub usdt: Option<u128>,
    /// The wallet's transactions in blocks.
    pub nonce: Option<u64>,
    /// Payouts without a transaction.
    pub waiting: usize,
    /// Payouts whose transaction is not final.
    pub in_flight: usize,
    /// Payouts of which what the node says does not fit together.
    pub doubtful: usize,
    /// The reason why those without a transaction wait, if they do.
    pub waits: Option<Waits>,
    /// The last block that was searched for deposits.
    pub scanned: Option<u64>,
    /// Transactions that replaced a stuck one, since the start.
    pub replaced: u64,
    /// Deposits that were credited, since the start.
    pub deposits: u64,
    /// Deposits of which less than a cent, or all of less than one, was not credited.
    pub rests: u64,
    /// Entries of the token's log that cannot be read, since the start: an operator has to look.
    pub set_aside: u64,
    /// How often the chain did not have a block any more up to which it was searched, since the start.
    pub gone_back: u64,
}

impl Evm {
    /// A network that nobody has looked at yet.
    pub fn new(settings: Settings) -> Result<Evm, NoClient> {
        let node = Node::new(settings.endpoint.clone())?;
        let (figures, asked, due) = (Mutex::default(), Mutex::default(), Notify::new());
        Ok(Evm { settings, node, figures, asked, due, known: Mutex::default(), watched: Mutex::default() })
    }

    pub const fn network(&self) -> Network {
        self.settings.network
    }

    /// The name of its rail, for the operators.
    pub const fn name(&self) -> &'static str {
        name(self.network())
    }

    /// There is an order of a tenant, or a question about one: the log is looked at.
    pub fn hear(&self, tenant_key: u64, operation: Uuid, is_question: bool) {
        if is_question {
            self.lock(&self.asked).insert((tenant_key, operation));
        }
        self.due.notify_one();
    }

    /// The figures of the last look.
    pub fn figures(&self) -> Figures {
        self.lock(&self.figures).clone()
    }

    /// Notes how it stands.
    pub fn note(&self, change: impl FnOnce(&mut Figures)) {
        change(&mut self.lock(&self.figures));
    }

    /// The newest block that is known to be in the chain.
    pub fn known(&self) -> Option<Mark> {
        *self.lock(&self.known)
    }

    /// Keeps the newest block that is known to be in the chain.
    pub fn know(&self, mark: Mark) {
        *self.lock(&self.known) = Some(mark);
    }

    /// The operations that were asked about since this was called last: the tenant key and the
    /// operation.
    pub fn take_asked(&self) -> BTreeSet<(u64, Uuid)> {
        std::mem::take(&mut *self.lock(&self.asked))
    }

    /// Waits until there is something new to do.
    pub async fn due(&self) {
        self.due.notified().await;
    }

    /// Looks for transfers to an address of a tenant from here on.
    pub fn watch(&self, account: Account, tenant_key: u64) {
        self.lock(&self.watched).insert(account, tenant_key);
    }

    /// The addresses that are looked for, with the tenant key that each is of.
    pub fn watched(&self) -> BTreeMap<Account, u64> {
        self.lock(&self.watched).clone()
    }

    /// The tenant key that an address is of.
    pub fn watched_for(&self, account: &Account) -> Option<u64> {
        self.lock(&self.watched).get(account).copied()
    }

    fn lock<'a, T>(&self, held: &'a Mutex<T>) -> std::sync::MutexGuard<'a, T> {
        held.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The name of a network's rail, for the operators.
pub const fn name(network: Network) -> &'static str {
    match network {
        Network::Trc20 => "evm_trc20",
        Network::Erc20 => "evm_erc20",
        Network::Bep20 => "evm_bep20",
        Network::Polygon => "evm_polygon",
    }
}
