//! The reason why the server does not start, in one line for the operator, with the key of the
//! configuration or the path in it. The error behind it is its source.

use super::damage::ADVICE;
use super::live_rail_error::LiveRailError;
use super::translate::OutOfRange;
use crate::cluster::ClusterError;
use crate::config::ConfigError;
use crate::fetch::FetchError;
use crate::gateway::beside::NotFound;
use crate::http::open_files::OpenFilesError;
use crate::http::router::BadRoute;
use crate::http::tls::CertificateError;
use crate::rails::simulator::BooksError;
use crate::rates::{FeedError, RateStoreError};
use crate::reconciliation::shelf::ShelfError;
use crate::recovery::{Failed, Fault};
use crate::requests::RequestsError;
use crate::store::history::Unreadable;
use crate::webhooks::WebhooksError;
use actors::Failure;
use api::problem::Problem;
use domain::platform::PLATFORM;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use wal::{OpenError, StoreError};

/// The reason why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    /// The configuration names no operator, or in a way that is not accepted.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The machine is not one of its cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The client for other nodes cannot be made.
    #[error("server.tls: the certificates for other nodes: {0}")]
    Peers(reqwest::Error),
    /// A value of the configuration is too large for what it is used for.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The configuration names a policy of fees that it does not have.
    #[error("tenant_defaults.withdraw_fee_policy: there is no such policy")]
    NoPolicy,
    /// A feed of rates is not one.
    #[error("rates.feeds: {0}")]
    Feed(#[from] FeedSpecError),
    /// A feed of rates cannot be asked.
    #[error("rates.feeds: {0}")]
    Feeds(#[from] FeedError),
    /// The feed of banks cannot be asked.
    #[error("banks.feed_url: {0}")]
    BankFeed(FetchError),
    /// Too few files may be open.
    #[error(transparent)]
    OpenFiles(#[from] OpenFilesError),
    /// The system tells no signals.
    #[error("no signals: {0}")]
    Signals(io::Error),
    /// A listener has no usable certificate.
    #[error("{key}: {source}")]
    Certificates {
        /// The key of the configuration.
        key: &'static str,
        /// The reason why the files are refused.
        source: CertificateError,
    },
    /// A listener does not get its address.
    #[error("{key}: {address}: {source}")]
    Bind {
        /// The key of the configuration.
        key: &'static str,
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// A thread does not start.
    #[error("{what} did not start: {source}")]
    Thread {
        /// The purpose of the thread.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The data directory cannot be made.
    #[error("storage.path: {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The data directory is damaged, or not one of ours.
    #[error(transparent)]
    Recovery(#[from] Failed),
    /// The log does not open.
    #[error(transparent)]
    Log(#[from] OpenError),
    /// The books of the simulated bank do not open.
    #[error("{}: {source}", path.display())]
    Simulator {
        /// The directory of the books.
        path: PathBuf,
        /// The reason of the failure.
        source: BooksError,
    },
    /// The log of requests does not open.
    #[error(transparent)]
    Requests(RequestsError),
    /// The reconciliations do not open.
    #[error(transparent)]
    Reconciliations(#[from] ShelfError),
    /// The rates that other machines learned cannot be read.
    #[error("what other machines learned of rates: {0}")]
    Learned(#[from] NotFound),
    /// The history of rates does not open.
    #[error("{}: {source}", path.display())]
    Rates {
        /// The directory of the store.
        path: PathBuf,
        /// The reason of the failure.
        source: RateStoreError,
    },
    /// The books cannot be recovered from the log.
    #[error("{}: {source}{}", path.display(), aside(source))]
    Engine {
        /// The data directory.
        path: PathBuf,
        /// The reason of the failure.
        source: actors::StartError,
    },
    /// The last run met damage, and it is still there.
    #[error("{}: the last run met damage, and it is still there: {source}", path.display())]
    StillDamaged {
        /// The file that the last run left.
        path: PathBuf,
        /// The first thing that could not be read.
        source: StoreError,
    },
    /// Webhooks cannot be delivered.
    #[error(transparent)]
    Webhooks(#[from] WebhooksError),
    /// The endpoints of webhooks cannot be read from the index.
    #[error("the webhook endpoints could not be read: {0}")]
    Endpoints(Unreadable),
    /// The engine did not answer a question of the start.
    #[error("{what} could not be read: \
        {}", problem.private_message().unwrap_or_else(|| problem.message.to_string()))]
    Unanswered {
        /// The data that was asked for.
        what: &'static str,
        /// The answer.
        #[source]
        problem: Box<Problem>,
    },
    /// An operator's takeover is not in the log, so that nothing of it happened.
    #[error("the takeover could not be written down: {0:?}")]
    TakeOver(Failure),
    /// A live rail is not configured as it must be.
    #[error(transparent)]
    LiveRail(#[from] LiveRailError),
    /// A page cannot be made.
    #[error("the page at /: {0}")]
    Page(askama::Error),
    /// The route tables contradict themselves.
    #[error(transparent)]
    Routes(#[from] BadRoute),
}

impl StartupError {
    /// Whether stored data is not what was written.
    pub fn is_damage(&self) -> bool {
        match self {
            StartupError::StillDamaged { .. } => true,
            StartupError::Recovery(failed) => failed.is_damage(),
            StartupError::Log(error) => is_damaged(error),
            StartupError::Engine { source, .. } => match source {
                actors::StartError::Log(error) => is_damaged(error),
                actors::StartError::Recovery(_) => true,
                actors::StartError::Book { .. } => false,
            },
            StartupError::Rates { source: RateStoreError::Damaged(_), .. } => true,
            StartupError::Simulator { source, .. } => source.is_damage,
            StartupError::Requests(RequestsError::Disk(error)) => wal::is_damage(error),
            _ => false,
        }
    }

    /// What to do next about damage.
    pub fn advice(&self) -> &'static str {
        match self {
            StartupError::Rates { .. } => {
                "move this directory away, and only the history of prices is gone, or bring it from a backup"
            }
            StartupError::Simulator { .. } => {
                "move this directory away, and only the simulated bank forgets what it did for test mode, or bring it \
                 from a backup"
            }
            StartupError::Requests(_) => "move this directory away, and only the log of requests is gone",
            // The fault says it.
            StartupError::Recovery(Failed::Refused {
                fault: Fault::MarkKey { .. } | Fault::CardKey { .. },
                ..
            }) => "start nothing on this directory before that (docs/operating.md, Incidents)",
            _ => ADVICE,
        }
    }

    /// Whether an operator has to write the configuration in another way.
    pub const fn is_of_the_configuration(&self) -> bool {
        matches!(
            self,
            StartupError::Config(_)
                | StartupError::OutOfRange(_)
                | StartupError::NoPolicy
                | StartupError::Feed(_)
                | StartupError::LiveRail(LiveRailError::Setting(_))
        )
    }
}

fn is_damaged(error: &OpenError) -> bool {
    matches!(error, OpenError::Damage(_) | OpenError::Store(StoreError::Corrupt(_)))
}

/// A feed as it is configured, and why it is none.
#[derive(Debug, thiserror::Error)]
#[error("{pair} {name}: {why}")]
pub struct FeedSpecError {
    /// The feed's pair.
    pub pair: String,
    /// The name of its source.
    pub name: String,
    /// The rule that it breaks.
    pub why: &'static str,
}

/// The advice to an operator when the book of one tenant is the only one that is not right.
fn aside(error: &actors::StartError) -> String {
    match error {
        actors::StartError::Book { tenant, .. } if *tenant != PLATFORM => {
            format!("; the other accounts can be served without it: pasarela serve --set-aside {tenant}")
        }
        _ => String::new(),
    }
}
