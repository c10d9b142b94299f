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
            [tokio::spawn(Worker::new(services, evm).run()), tokio::spawn(Search::new(services, evm).run())]
        };
        Wallets { tasks: services.rails.networks.iter().flat_map(start).collect() }
    }

    pub fn stop(self) {
        self.tasks.into_iter().for_each(|task| task.abort());
    }
}

/// A restored copy speaks to nobody, and what cannot be recorded is not begun.
async fn may_turn(services: &Services) -> bool {
    let may = services.site.outbound.is_open() && services.ready().is_ok();
    if may {
        services.site.outbound.until_it_leads().await;
    }
    may
}

/// What the worker and the search know of the node each: whether it may be asked, and what was said of it last.
#[derive(Default)]
struct Connection {
    is_right_chain: bool,
    complained: Option<String>,
}

impl Connection {
    async fn check_chain(&mut self, evm: &Evm) -> Result<(), TurnError> {
        if !self.is_right_chain {
            let chain_id = evm.node.chain_id().await?;
            if chain_id != evm.settings.chain_id {
                return Err(TurnError::Chain(chain_id));
            }
            self.is_right_chain = true;
        }
        Ok(())
    }

    fn note(&mut self, evm: &Evm, turned: Result<(), &TurnError>, what: &str) {
        let network = evm.settings.network.name();
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
    services: Arc<Services>,
    evm: Arc<Evm>,
    connection: Connection,
    open: OpenPayouts,
    waits: Option<Waits>,
    doubtful: BTreeSet<domain::values::ids::Id>,
}

impl Worker {
    fn new(services: &Arc<Services>, evm: &Arc<Evm>) -> Worker {
        Worker {
            services: Arc::clone(services),
            evm: Arc::clone(evm),
            connection: Connection::default(),
            open: OpenPayouts::of(evm.settings.network),
            waits: None,
            doubtful: BTreeSet::new(),
        }
    }

    async fn run(mut self) {
        loop {
            if may_turn(&self.services).await {
                let turned = self.turn().await;
                if let Err(error) = &turned {
                    let waits = if matches!(error, TurnError::Chain(_)) { Waits::Chain } else { Waits::Node };
                    self.evm.state().figures.waits = Some(waits);
                }
                self.connection.note(&self.evm, turned.as_ref().copied(), "served");
            }
            let pause = if self.open.is_empty() { IDLE } else { BUSY };
            tokio::time::sleep(REST).await;
            let _ = tokio::time::timeout(pause, self.evm.due()).await;
        }
    }

    async fn turn(&mut self) -> Result<(), TurnError> {
        self.connection.check_chain(&self.evm).await?;
        self.open.refresh(&self.services)?;
        let facts = self.facts().await?;
        self.follow_all(&facts).await?;
        self.follow_asked(&facts).await?;
        self.sign_next(&facts).await
    }
}
