//! The reasons why a live rail that is configured cannot be served.

use crate::rails::evm::keystore::KeystoreError;
use crate::rails::http::NoClient;

#[derive(Debug, thiserror::Error)]
pub enum LiveRailError {
    #[error(transparent)]
    Setting(#[from] BadSetting),
    #[error(transparent)]
    Client(#[from] NoClient),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {fault}")]
pub struct BadSetting {
    pub key: String,
    /// The reason why it cannot be used, which holds nothing of its value.
    pub fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("{0}")]
    Rule(&'static str),
    #[error(transparent)]
    Keystore(KeystoreError),
}

impl BadSetting {
    pub fn rule(key: impl Into<String>, rule: &'static str) -> BadSetting {
        BadSetting { key: key.into(), fault: Fault::Rule(rule) }
    }
}
