//! USDT on Ethereum-like networks in live mode: a worker per network, which alone speaks for its hot
//! wallet (`docs/contract.md, 18.4`; `docs/usdt.md`).
//!
//! The payouts that are owed are read from the log at every turn, so a restart needs nothing but
//! the log: payouts on their way are followed to their end, and the others get the next nonces in
//! the order in which they were accepted. A transaction is broadcast only after the record that has
//! its bytes is durable. What follows from a node's words is said by the rules in
//! `domain::resources::crypto::transfers`; nothing here decides about money.

mod chain;
mod deposits;
mod head;
mod open;
mod payouts;

use crate::gateway::services::Services;
use crate::rails::evm::rpc::RpcError;
use crate::rails::evm::{Evm, Waits};
use crate::store::history::Unreadable;
use deposits::Search;
use open::OpenPayouts;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

const BUSY: Duration = Duration::from_secs(2);
const IDLE: Duration = Duration::from_secs(5);
const REST: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
enum TurnError {
    #[error(transparent)]
    Node(#[from] RpcError),
    #[error("what is stored cannot be read: {0}")]
    Store(#[from] Unreadable),
    #[error("the node is on chain {0}, and not on the one that is configured")]
    Chain(u64),
    #[error("the node's newest block {block} is not believed: {why}")]
    Head { block: u64, why: String },
    #[error("the node says that the wallet has {count} transactions, and {settled} in final blocks")]
    Count { count: u64, settled: u64 },
    #[error("the node does not show block {0} where it has to be")]
    Unshown(u64),
}

pub struct Wallets {
    tasks: Vec<JoinHandle<()>>,
}

impl Wallets {
    pub fn start(services: &Arc<Services>) -> Wallets {
        let start = |evm| {
            let [one, other] = [(); 2].map(|()| Connection::new(services, evm));
            [tokio::spawn(Worker::new(one).run()), tokio::spawn(Search::new(other).run())]
        };
        Wallets { tasks: services.rails.networks().iter().flat_map(start).collect() }
    }

    pub fn stop(self) {
        self.tasks.into_iter().for_each(|task| task.abort());
    }
}

/// What the worker and the search have of a network: whether it may be asked, and what was said of it last.
struct Connection {
    services: Arc<Services>,
    evm: Arc<Evm>,
    is_right_chain: bool,
    complained: Option<String>,
}

impl Connection {
    fn new(services: &Arc<Services>, evm: &Arc<Evm>) -> Connection {
        let (services, evm) = (Arc::clone(services), Arc::clone(evm));
        Connection { services, evm, is_right_chain: false, complained: None }
    }

    /// A restored copy speaks to nobody, and what cannot be recorded is not begun.
    async fn may_turn(&self) -> bool {
        let may = self.services.site.outbound.is_open() && self.services.ready().is_ok();
        if may {
            self.services.site.outbound.until_it_leads().await;
        }
        may
    }

    async fn check_chain(&mut self) -> Result<(), TurnError> {
        if !self.is_right_chain {
            let chain_id = self.evm.node.chain_id().await?;
            if chain_id != self.evm.settings.chain_id {
                return Err(TurnError::Chain(chain_id));
            }
            self.is_right_chain = true;
        }
        Ok(())
    }

    fn note(&mut self, turned: Result<(), &TurnError>, what: &str) {
        let network = self.evm.network().name();
        match turned {
            Ok(()) if self.complained.take().is_some() => {
                tracing::info!(network, "the network is {what} again")
            }
            Ok(()) => {}
            Err(error) => {
                self.is_right_chain = false;
                let words = error.to_string();
                if self.complained.as_ref() != Some(&words) {
                    tracing::error!(network, error = words, "the network cannot be {what} now");
                    self.complained = Some(words);
                }
            }
        }
    }
}

struct Worker {
    connection: Connection,
    open: OpenPayouts,
    waits: Option<Waits>,
    doubtful: BTreeSet<domain::values::ids::Id>,
}

impl Worker {
    fn new(connection: Connection) -> Worker {
        let open = OpenPayouts::of(connection.evm.network());
        Worker { connection, open, waits: None, doubtful: BTreeSet::new() }
    }

    async fn run(mut self) {
        loop {
            if self.connection.may_turn().await {
                let turned = self.turn().await;
                if let Err(error) = &turned {
                    let waits = if matches!(error, TurnError::Chain(_)) { Waits::Chain } else { Waits::Node };
                    self.connection.evm.note(|figures| figures.waits = Some(waits));
                }
                self.connection.note(turned.as_ref().copied(), "served");
            }
            let pause = if self.open.is_empty() { IDLE } else { BUSY };
            tokio::time::sleep(REST).await;
            let _ = tokio::time::timeout(pause, self.connection.evm.due()).await;
        }
    }

    async fn turn(&mut self) -> Result<(), TurnError> {
        self.connection.check_chain().await?;
        self.open.refresh(&self.connection.services)?;
        let facts = self.facts().await?;
        self.follow_all(&facts).await?;
        self.follow_asked(&facts).await?;
        self.sign_next(&facts).await
    }
}
