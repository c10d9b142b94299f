//! Repeats of an operators' call under its Idempotency-Key (`docs/contract.md, 1.13`). API keys and tokens are
//! in no record: a repeat makes them again, from the server's secret and the key that is sent with it.

use super::call::{CallResult, Done, token_salt};
use crate::gateway::answer::Shows;
use crate::gateway::idempotency::KeptAnswer;
use crate::gateway::key_secrets::{OPERATOR, Secret};
use crate::gateway::services::Services;
use crate::gateway::tenant_settings::push_tenant_settings;
use crate::http::respond::Trace;
use api::answer::Secrets;
use api::operators::approvals;
use domain::platform::operators::OperatorAccount;
use domain::platform::{ApiKey, PlatformChange};
use domain::record::Entity;

/// What a repeat of a call makes again, for the Idempotency-Key that it was made with.
struct MadeAgain<'a> {
    services: &'a Services,
    path: &'a str,
    sent: &'a str,
}

impl Secrets for MadeAgain<'_> {
    fn key(&self, key: &ApiKey) -> Option<String> {
        Secret::again(&self.services.keys, key, self.sent).map(|secret| secret.reveal().to_owned())
    }

    fn token(&self, operator: &OperatorAccount) -> Option<String> {
        let salt = token_salt(self.path, self.sent);
        let keys = &self.services.keys;
        let token = Secret::with_hash(keys, operator.id, OPERATOR, &salt, operator.token_hash)?;
        Some(token.reveal().to_owned())
    }
}

/// The kept answer, with the secrets that are in no record, once what it speaks of is in force.
pub async fn replayed(services: &Services, shows: Shows, sent: &str, answer: KeptAnswer) -> CallResult {
    let record = &answer.record;
    // The first answer may have been that the settings are not in force yet.
    if let Some(PlatformChange::Tenant(tenant) | PlatformChange::Opened { tenant, .. }) =
        record.platform.as_deref()
    {
        let _turn = services.callers.turns.of(tenant.number).await;
        push_tenant_settings(services, tenant.number).await?;
    }
    let written = record.entities.first().map(|written| &*written.state);
    let show = match written {
        // Whatever the call was, it waits for a second person.
        Some(Entity::Approval(_)) => Some(approvals::asked as _),
        _ => shows.show,
    };
    let secrets = MadeAgain { services, path: &answer.kept.of.path, sent };
    let (status, body) = answer.show(show, shows.about, &secrets)?;
    Ok(Done {
        status,
        trace: Trace { seq: Some(answer.seq), timing: None },
        replayed: true,
        ..Done::ok(body)
    })
}
