//! Secrets on the way out: those of webhook endpoints, of checkout sessions and of API keys. Each derives
//! from the server's secret, so none is in a record; it joins an answer here, the repeated one too, and
//! nowhere else.

use crate::gateway::keys::Secret;
use crate::gateway::services::Services;
use api::answer::Secrets;
use api::checkout::sessions;
use domain::entities::webhook::Webhook;
use domain::platform::ApiKey;
use domain::values::ids::Id;

pub struct TenantSecrets<'a> {
    pub services: &'a Services,
    pub tenant: u64,
    /// The Idempotency-Key that was sent, from which an API key is made again.
    pub sent: Option<&'a str>,
}

impl Secrets for TenantSecrets<'_> {
    fn webhook(&self, webhook: &Webhook) -> Option<String> {
        let Services { keys, callers, .. } = self.services;
        let first_key = callers.directory.first_key(self.tenant);
        Some(keys.webhook_secret(first_key, webhook.id, webhook.secret_version).expose().to_owned())
    }

    fn session(&self, id: Id) -> Option<[u8; 16]> {
        Some(sessions::secret(&|parts| self.services.keys.mark(parts), id))
    }

    fn key(&self, key: &ApiKey) -> Option<String> {
        Secret::again(&self.services.keys, key, self.sent?).map(|secret| secret.reveal().to_owned())
    }
}
