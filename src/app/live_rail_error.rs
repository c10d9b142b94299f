//! The reasons why a live rail that is configured cannot be served.

use crate::rails::evm::keystore::KeystoreError;
use crate::rails::http::NoClient;

/// A failure to set up a live rail.
#[derive(Debug, thiserror::Error)]
pub enum LiveRailError {
    /// A setting cannot be used.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The rail's client cannot be made.
    #[error(transparent)]
    Client(#[from] NoClient),
}

/// A setting of a live rail that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {fault}")]
pub struct BadSetting {
    /// The key in the configuration.
    pub key: String,
    /// The reason why it cannot be used, which holds nothing of its value.
    pub fault: Fault,
}

/// The reason why a setting cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A rule that the value breaks.
    #[error("{0}")]
    Rule(&'static str),
    /// The file of a wallet's key.
    #[error(transparent)]
    Keystore(KeystoreError),
}

impl BadSetting {
    /// A value that breaks a rule.
    pub fn rule(key: impl Into<String>, rule: &'static str) -> BadSetting {
        BadSetting { key: key.into(), fault: Fault::Rule(rule) }
    }
}
