//! The reason why the server does not start, in one line for the operator, with the key of the
//! configuration or the path in it. The error behind it is its source.

use super::damage::ADVICE;
use super::live_rails::BadSetting;
use crate::cluster::ClusterError;
use crate::config::ConfigError;
use crate::http::open_files::OpenFilesError;
use crate::rails::http::NoClient;
use crate::rails::simulator::BooksError;
use crate::rates::RateStoreError;
use crate::reconciliation::shelf::ShelfError;
use crate::recovery::Failed;
use crate::requests::RequestsError;
use crate::webhooks::WebhooksError;
use api::problem::Problem;
use domain::values::ids::PLATFORM;
use std::error::Error;
use std::path::PathBuf;
use wal::{OpenError, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error("{what}: {source}")]
    Of { what: String, source: Box<dyn Error + Send + Sync> },
    #[error("tenant_defaults.withdraw_fee_policy: there is no such policy")]
    NoPolicy,
    #[error(transparent)]
    OpenFiles(#[from] OpenFilesError),
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
    #[error("{}: {source}", path.display())]
    Rates { path: PathBuf, source: RateStoreError },
    #[error("{}: {source}{}", path.display(), aside(source))]
    Engine { path: PathBuf, source: actors::StartError },
    #[error("{}: the last run met damage, and it is still there: {source}", path.display())]
    StillDamaged { path: PathBuf, source: StoreError },
    #[error(transparent)]
    Webhooks(#[from] WebhooksError),
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
}

impl StartupError {
    /// Of a part of the start, or of a key of the configuration.
    pub fn of<E: Into<Box<dyn Error + Send + Sync>>>(
        what: impl Into<String>,
    ) -> impl FnOnce(E) -> StartupError {
        let what = what.into();
        move |error| StartupError::Of { what, source: error.into() }
    }

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
