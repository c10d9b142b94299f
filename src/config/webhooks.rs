//! `[webhooks]`: where messages to tenants' endpoints may go, and whose certificates are trusted there.

use super::keys::Keys;
use super::values::path;
use std::path::PathBuf;

/// `[webhooks]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhooks {
    /// Delivers to loopback and private addresses too.
    pub allow_private_targets: bool,
    /// Certificates to trust beside those of the system, as PEM.
    pub extra_ca_file: Option<PathBuf>,
}

impl Webhooks {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let webhooks = Webhooks {
            allow_private_targets: keys.boolean("allow_private_targets", false),
            extra_ca_file: keys.optional("extra_ca_file", path),
        };
        keys.done();
        webhooks
    }
}
