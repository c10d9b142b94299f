//! The reason why the server does not start, in one line for the operator, with the key of the
//! configuration or the path in it. The error behind it is its source.

use super::damage::ADVICE;
use super::live_rails::BadSetting;
use crate::cluster::ClusterError;
use crate::config::ConfigError;
use crate::fetch::FetchError;
use crate::gateway::beside::NotFound;
use crate::http::open_files::OpenFilesError;
use crate::http::tls::CertificateError;
use crate::rails::http::NoClient;
use crate::rails::simulator::BooksError;
use crate::rates::{FeedError, RateStoreError};
use crate::reconciliation::shelf::ShelfError;
use crate::recovery::Failed;
use crate::requests::RequestsError;
use crate::store::history::Unreadable;
use crate::webhooks::WebhooksError;
use api::problem::Problem;
use domain::values::ids::PLATFORM;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use wal::{OpenError, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error("server.tls: the certificates for other nodes: {0}")]
    Peers(reqwest::Error),
    #[error("tenant_defaults.withdraw_fee_policy: there is no such policy")]
    NoPolicy,
    #[error("rates.feeds: {0}")]
    Feeds(#[from] FeedError),
    #[error("banks.feed_url: {0}")]
    BankFeed(FetchError),
    #[error(transparent)]
    OpenFiles(#[from] OpenFilesError),
    #[error("no signals: {0}")]
    Signals(io::Error),
    #[error("{key}: {source}")]
    Certificates { key: &'static str, source: CertificateError },
    #[error("{key}: {address}: {source}")]
    Bind { key: &'static str, address: SocketAddr, source: io::Error },
    #[error("{what} did not start: {source}")]
    Thread { what: &'static str, source: io::Error },
    #[error("storage.path: {}: {source}", path.display())]
    Directory { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Recovery(#[from] Failed),
    #[error(transparent)]
    Log(#[from] OpenError),
    #[error("{}: {source}", path.display())]
    Simulator { path: PathBuf, source: BooksError },
    #[error(transparent)]
    Requests(RequestsError),
    #[error(transparent)]
    Reconciliations(#[from] ShelfError),
    #[error("what other machines learned of rates: {0}")]
    Learned(#[from] NotFound),
    #[error("{}: {source}", path.display())]
    Rates { path: PathBuf, source: RateStoreError },
    #[error("{}: {source}{}", path.display(), aside(source))]
    Engine { path: PathBuf, source: actors::StartError },
    #[error("{}: the last run met damage, and it is still there: {source}", path.display())]
    StillDamaged { path: PathBuf, source: StoreError },
    #[error(transparent)]
    Webhooks(#[from] WebhooksError),
    #[error("the webhook endpoints could not be read: {0}")]
    Endpoints(Unreadable),
    #[error("{what} could not be read: {}", problem.private_message().unwrap_or_else(|| problem.message.to_string()))]
    Unanswered {
        what: &'static str,
        #[source]
        problem: Box<Problem>,
    },
    #[error(transparent)]
    Setting(#[from] BadSetting),
    #[error(transparent)]
    Client(#[from] NoClient),
    #[error("the page at /: {0}")]
    Page(askama::Error),
}

impl StartupError {
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
            StartupError::Recovery(Failed::Key { .. }) => {
                "start nothing on this directory before that (docs/operating.md, Incidents)"
            }
            _ => ADVICE,
        }
    }

    pub const fn is_of_the_configuration(&self) -> bool {
        matches!(self, StartupError::Config(_) | StartupError::NoPolicy | StartupError::Setting(_))
    }
}

fn is_damaged(error: &OpenError) -> bool {
    matches!(error, OpenError::Damage(_) | OpenError::Store(StoreError::Corrupt(_)))
}

fn aside(error: &actors::StartError) -> String {
    match error {
        actors::StartError::Book { tenant, .. } if *tenant != PLATFORM => {
            format!("; the other accounts can be served without it: pasarela serve --set-aside {tenant}")
        }
        _ => String::new(),
    }
}
