//! Why the server does not start, in one line for the operator, with the key of the configuration or the path
//! in it. What is behind it stays its source.

use super::translate::OutOfRange;
use crate::config::ConfigError;
use crate::fetch::FetchError;
use crate::http::open_files::OpenFilesError;
use crate::http::router::BadRoute;
use crate::http::tls::CertificateError;
use crate::rails::simulator::BooksError;
use crate::rates::{FeedError, RateStoreError};
use crate::recovery::Failed;
use crate::store::history::Unreadable;
use crate::webhooks::WebhooksError;
use actors::Failure;
use api::problem::Problem;
use domain::platform::PLATFORM;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use wal::OpenError;

/// The reason why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    /// The configuration names nobody as operator, or in a way that is not taken.
    #[error(transparent)]
    Config(#[from] ConfigError),
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
    /// A live rail cannot be served with what is configured; the text begins with the key.
    #[error("{0}")]
    LiveRail(String),
    /// Too few files may be open.
    #[error(transparent)]
    OpenFiles(#[from] OpenFilesError),
    /// The system tells no signals.
    #[error("no signals: {0}")]
    Signals(io::Error),
    /// A listener has nothing to show.
    #[error("{key}: {source}")]
    Certificates {
        /// The key of the configuration.
        key: &'static str,
        /// What is wrong with the files.
        source: CertificateError,
    },
    /// A listener does not get its address.
    #[error("{key}: {address}: {source}")]
    Bind {
        /// The key of the configuration.
        key: &'static str,
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// A thread does not start.
    #[error("{what} did not start: {source}")]
    Thread {
        /// What the thread is for.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The data directory cannot be made.
    #[error("storage.path: {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something in the data directory is not right.
    #[error(transparent)]
    Recovery(#[from] Failed),
    /// The log does not open.
    #[error(transparent)]
    Log(#[from] OpenError),
    /// The books of the simulated bank do not open.
    #[error("{}: {source}", path.display())]
    Simulator {
        /// Their directory.
        path: PathBuf,
        /// What is wrong.
        source: BooksError,
    },
    /// The history of rates does not open.
    #[error("{}: {source}", path.display())]
    Rates {
        /// Its directory.
        path: PathBuf,
        /// What is wrong.
        source: RateStoreError,
    },
    /// The books cannot be recovered from the log.
    #[error("{}: {source}{}", path.display(), aside(source))]
    Engine {
        /// The data directory.
        path: PathBuf,
        /// What is wrong.
        source: actors::StartError,
    },
    /// Webhooks cannot be delivered.
    #[error(transparent)]
    Webhooks(#[from] WebhooksError),
    /// The endpoints of webhooks are not in the index as they should be.
    #[error("the webhook endpoints could not be read: {0}")]
    Endpoints(Unreadable),
    /// The engine did not answer what is asked of it at the start.
    #[error("{what} could not be read: {}", problem.private_message().unwrap_or_else(|| problem.message.to_string()))]
    Unanswered {
        /// What was asked for.
        what: &'static str,
        /// The answer.
        #[source]
        problem: Box<Problem>,
    },
    /// An operator's takeover is not in the log, so that nothing of it happened.
    #[error("the takeover could not be written down: {0:?}")]
    TakeOver(Failure),
    /// A page cannot be made.
    #[error("the page at /: {0}")]
    Page(askama::Error),
    /// The route tables contradict themselves.
    #[error(transparent)]
    Routes(#[from] BadRoute),
}

/// A feed as it is configured, and why it is none.
#[derive(Debug, thiserror::Error)]
#[error("{pair} {name}: {why}")]
pub struct FeedSpecError {
    /// Its pair.
    pub pair: String,
    /// The name of its source.
    pub name: String,
    /// The rule that it breaks.
    pub why: &'static str,
}

/// What an operator can do when one book of a tenant is the only one that is not right.
fn aside(error: &actors::StartError) -> String {
    match error {
        actors::StartError::Book { tenant, .. } if *tenant != PLATFORM => {
            format!("; the other accounts can be served without it: pasarela serve --set-aside {tenant}")
        }
        _ => String::new(),
    }
}
