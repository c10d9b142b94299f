//! What a tenant's call works with: the engine, the durable records, the prices in force, and what is held for it.
//! An endpoint has one [`TenantRequest`], with its Idempotency-Key and its work slot. And how what the engine replies
//! becomes the answer.

use crate::gateway::ask::{failure, timing};
use crate::gateway::idempotency::KeyUse;
use crate::gateway::keys::Secret;
use crate::gateway::limits::{Owner, WorkSlot};
use crate::gateway::names::{Held, random_id};
use crate::gateway::services::Services;
use crate::gateway::streams::{Turn, UntilRecord};
use crate::http::listen::Arrival;
use crate::http::respond::{Reply, RequestId, Trace};
use crate::http::router::Router;
use crate::store::read_budget::{ReadBudget, Stopped};
use actors::{CommandReply, Guard, Settled};
use api::answer::{Facts, Secrets, Show};
use api::checkout::sessions;
use api::endpoint::{Caller, Environment, Later, Official, Target};
use api::problem::Problem;
use api::refusals::problem;
use api::routes::{Modes, Needs};
use bytes::Bytes;
use domain::cause::Cause;
use domain::entities::Entity;
use domain::entities::mandate_approval::WaitingCall;
use domain::entities::webhook::Webhook;
use domain::index::Space;
use domain::kept::KeepRef;
use domain::machine::Domain;
use domain::machine::{Command, KeyedCommand};
use domain::platform::mandate::Mandate;
use domain::platform::settings::LiveStatus;
use domain::platform::{ApiKey, Scope};
use domain::rail::Service;
use domain::record::{self, Answer, Record};
use domain::refusal::{ApprovalRefusal, MandateRefusal, Refusal};
use domain::resources::mandate_approvals::{AskedBy, Consent};
use domain::values::ids::{Id, Mode, is_live};
use domain::values::money::{Currency, Rate, Usdt, Ves};
use domain::values::time::Timestamp;
use hyper::header::RETRY_AFTER;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

pub struct TenantEnvironment<'a> {
    pub services: &'a Services,
    pub tenant: u64,
    pub now: Timestamp,
}

impl Environment for TenantEnvironment<'_> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn bcv_rate(&self) -> Option<Rate> {
        Some(self.services.prices.bcv(Mode::of(self.tenant), self.now)?.price)
    }

    fn official(&self) -> Official {
        self.services.prices.official(Mode::of(self.tenant), self.now)
    }

    fn market_rate(&self, currency: Currency) -> Option<Rate> {
        self.services.prices.market.rate(currency, Mode::of(self.tenant), self.now)
    }

    fn network_fees(&self) -> &[Usdt; 4] {
        &self.services.prices.network_fees
    }

    fn confirmations(&self) -> &[Option<u64>; 4] {
        &self.services.prices.confirmations
    }

    fn serves(&self, service: Service) -> bool {
        self.services.rails.serves(self.tenant, service)
    }

    fn new_id(&self) -> Id {
        self.services.fresh_id(self.tenant)
    }

    fn random_id(&self) -> Id {
        random_id()
    }

    fn micro_deposits(&self) -> (Ves, Ves) {
        self.services.rails.micro_deposits(self.tenant)
    }

    fn base_url(&self) -> &str {
        &self.services.site.base_url
    }

    fn mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        self.services.keys.mark(parts)
    }

    fn card_mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        self.services.keys.card_mark(parts)
    }

    fn private_targets(&self) -> bool {
        self.services.webhooks.options.allow_private_targets
    }

    fn notice_wait_ms(&self) -> i64 {
        self.services.waits.notice_ms
    }
}

/// Secrets on the way out: of webhook endpoints, checkout sessions and API keys. Each derives from the server's secret,
/// so none is in a record; it joins an answer here, the repeated one too, and nowhere else.
pub struct TenantSecrets<'a> {
    pub services: &'a Services,
    pub tenant: u64,
    pub sent: Option<&'a str>,
}

impl Secrets for TenantSecrets<'_> {
    fn webhook(&self, webhook: &Webhook) -> Option<String> {
        let Services { keys, callers, .. } = self.services;
        let first_key = callers.directory.first_key(self.tenant);
        // The secret that the call itself would make is not to be had before it is made.
        let of = if self.services.is_rehearsal() { random_id() } else { webhook.id };
        Some(keys.webhook_secret(first_key, of, webhook.secret_version).expose().to_owned())
    }

    fn session(&self, id: Id) -> Option<[u8; 16]> {
        Some(sessions::secret(&|parts| self.services.keys.mark(parts), id))
    }

    fn key(&self, key: &ApiKey) -> Option<String> {
        Secret::again(&self.services.keys, key, self.sent?).map(|secret| secret.reveal().to_owned())
    }
}

/// The longest that the answer to a batch waits for the banks (`docs/contract.md, 7.9`), and any other for what follows
/// of its command by itself; what is settled later is seen when it is read again.
pub const PATIENCE: Duration = Duration::from_secs(5);

pub type Kept = Router<Option<Show>>;

pub struct TenantRequest<'a> {
    pub services: &'a Arc<Services>,
    pub kept: &'a Arc<Kept>,
    pub call: &'a Call,
    pub caller: &'a Caller,
    pub request_id: &'a RequestId,
    /// The request as it came; none for the further pages of a list.
    pub arrival: Option<&'a Arrival>,
    /// Until the command is sent, as it may have to wait.
    pub body: Bytes,
    pub used: Option<KeyUse>,
    pub shows: Shows,
    /// The work slot, held until the first record is durable or, of a read, until the answer.
    pub slot: Option<WorkSlot>,
    /// The names that are held until the first record is durable.
    pub names: Vec<Held>,
    /// That of a line of a stream.
    pub turn: Option<Turn>,
    /// Of a call that waited for an approval and has it.
    pub consent: Option<Consent>,
}

/// A call, as far as it is looked at again before its command is sent.
#[derive(Clone)]
pub struct Call {
    pub caller: Caller,
    pub needs: Needs,
    pub operation: &'static str,
    pub request_id: RequestId,
}

/// Whether the scopes of a key reach what a row asks.
pub fn is_in_scopes(needs: &Needs, caller: &Caller) -> bool {
    let scopes = &caller.key.scopes;
    scopes.allow(needs.scope) || needs.reads && scopes.allow(Scope::Read) || needs.is_for_any_key
}

/// Whether a caller may make the call of a row: live mode, test mode, scope, payees, in this order.
pub fn check(needs: &Needs, caller: &Caller) -> Result<(), Problem> {
    let of_tenant = &caller.tenant.tenant_settings;
    // Reads are refused too: whoever reads here what went on elsewhere acts on what is over.
    if of_tenant.moved_to.is_some() {
        return Err(Problem::tenant_moved());
    }
    if of_tenant.moving_to.is_some() {
        return Err(Problem::tenant_moving());
    }
    // Who waits for live mode may ask for it, and replace the key that it will be used with.
    if caller.livemode() && of_tenant.live_status != LiveStatus::Active && !needs.is_for_pages {
        return Err(Problem::live_mode_not_activated());
    }
    if caller.livemode() && needs.modes == Modes::TestOnly {
        return Err(Problem::test_mode_only());
    }
    if !is_in_scopes(needs, caller) {
        return Err(Problem::scope_missing(needs.scope.name()));
    }
    if needs.leads_money
        && let Some(mandate) = caller.key.details.mandate.as_deref()
        && !mandate.payees.is_empty()
    {
        return Err(problem(&MandateRefusal::Payee.into()));
    }
    Ok(())
}

impl Call {
    /// The mandate of its key as it is now: whoever waited for a name, a card or a bank may have a key that ended
    /// meanwhile, or that may do less.
    pub fn mandate_now(
        &self,
        services: &Services,
        consent: Option<&Consent>,
    ) -> Result<Option<Arc<Mandate>>, Problem> {
        let directory = &services.callers.directory;
        if directory.is_current(&self.caller, || services.now()) {
            return Ok(self.caller.key.details.mandate.clone());
        }
        let caller = directory.recognise(&self.caller.key.hash, services.now());
        let caller = caller.ok_or_else(|| match consent {
            Some(Consent::Given(_)) => problem(&ApprovalRefusal::Expired.into()),
            Some(Consent::Ask(_)) | None => Problem::unauthorized("the key ended while its call waited"),
        })?;
        check(&self.needs, &caller)?;
        Ok(caller.key.details.mandate.clone())
    }

    /// How it stands to approval, if its mandate may want one.
    pub fn consent(
        &self,
        services: &Services,
        mandate: &Mandate,
        (path, body): (&str, &Bytes),
    ) -> Option<Consent> {
        mandate.approval_above.as_ref()?;
        let call = WaitingCall {
            operation: self.operation.into(),
            path: path.into(),
            body: body.to_vec(),
            request_id: self.request_id.as_str().into(),
        };
        let id = services.fresh_id(self.caller.tenant_key);
        Some(Consent::Ask(Box::new(AskedBy { id, key: self.caller.key.id, call })))
    }
}

impl TenantRequest<'_> {
    /// The answer to be kept and its key, the guard until the first record, and the guard until the
    /// request is answered.
    pub fn keep(&mut self) -> (Option<KeepRef>, Option<Guard>, Option<Guard>) {
        let (names, slot) = (mem::take(&mut self.names), self.slot.take());
        let until_record: Option<Guard> =
            if names.is_empty() && slot.is_none() { None } else { Some(Box::new((names, slot))) };
        match self.used.take() {
            Some(KeyUse { keep, held, .. }) => (Some(keep), until_record, Some(Box::new(held))),
            None => (None, until_record, None),
        }
    }

    /// Whether the call may still be done, and within which mandate.
    pub fn mandate_now(&self) -> Result<Option<Arc<Mandate>>, Problem> {
        self.call.mandate_now(self.services, self.consent.as_ref())
    }

    /// The guard until the first record, which also tells the stream of a line that it is there.
    pub fn telling(&self, until_record: Option<Guard>) -> Option<Guard> {
        match self.turn.clone() {
            Some(turn) => Some(Box::new((until_record, UntilRecord(turn)))),
            None => until_record,
        }
    }

    pub async fn send(
        &mut self,
        target: Target,
        command: Command,
        also: Option<Guard>,
    ) -> Result<CommandReply<Domain>, Problem> {
        let mandate = self.call.mandate_now(self.services, self.consent.as_ref())?;
        let body = mem::take(&mut self.body);
        let consent = match (self.consent.take(), &mandate, self.arrival) {
            (None, Some(mandate), Some(arrival)) => {
                self.call.consent(self.services, mandate, (arrival.head.uri.path(), &body))
            }
            (given, ..) => given,
        };
        let (keep, until_record, key) = self.keep();
        let until_record = self.telling(until_record);
        let command = KeyedCommand { command, keep, audit: None, mandate, consent };
        let until_answer = match (key, also) {
            (Some(key), Some(also)) => Some(Box::new((key, also)) as Guard),
            (key, also) => key.or(also),
        };
        let (tenant, engine) = (self.caller.tenant_key, &self.services.engine);
        Ok(match target {
            Target::Book => {
                let asked = engine.ask_book(tenant, command, Some(Box::new((until_record, until_answer))));
                self.hand_over();
                asked.await
            }
            Target::Entity(id) => {
                let mut outcome =
                    engine.ask_entity(tenant, id, false, command, until_record, until_answer).await;
                if let Ok(settled) = &mut outcome
                    && let Some(mut performed) = settled.performed.take()
                {
                    // A caller who completes a payment sees the conversion that follows by itself. A timeout is no
                    // failure: the effect is durable, and goes on by itself.
                    let _ = Box::pin(tokio::time::timeout(PATIENCE, performed.wait())).await;
                }
                outcome
            }
            Target::New(id) => {
                let asked = engine.ask_entity(tenant, id, true, command, until_record, until_answer);
                self.hand_over();
                asked.await
            }
        })
    }

    /// The command stands in the book's mailbox: it was sent at once, as nobody else sends anything to what is new.
    fn hand_over(&self) {
        if let Some(turn) = &self.turn {
            turn.hand_over();
        }
    }

    /// Reserves a name, after waiting for the request that has it, without a work slot: a bank may be asked under the
    /// name, and repeats would keep the tenant's other requests from working. It takes none again, since who waits for
    /// a slot under a name stands in the way of those who wait for the name in a slot. So a tenant may have more
    /// requests at work than slots, one for each name; what these may take is bounded by its share of the engine
    /// (`actors/src/admission.rs`), which each asks before it decides anything.
    pub async fn wait_to_hold(&mut self, owner: u64, space: Space, name: &str) {
        self.slot = None;
        self.names.push(self.services.names.reservations.hold_name(owner, space, name).await);
    }

    pub fn answer(&self, outcome: CommandReply<Domain>) -> Result<Reply, Problem> {
        reply(self.services, self.caller.tenant_key, self.shows, outcome, self.request_id)
    }

    /// Reads what may be long, instead of the work in the slot that the request has. Beside others, those of a
    /// tenant that asks for many at once are all read where no request waits behind them.
    pub async fn read_any<T: Send + 'static>(
        &mut self,
        read: impl Fn(&Services, &ReadBudget) -> Result<T, Stopped> + Send + 'static,
    ) -> Result<T, Problem> {
        self.slot = None;
        let (services, tenant) = (self.services, self.caller.tenant_key);
        let share = services.shares.of(Owner::Tenant(tenant));
        self.slot = services.shares.page(&share).await?;
        if self.slot.as_ref().is_some_and(|slot| slot.has_waited) {
            services.read_pool.read_long(services, tenant, read).await
        } else {
            services.read_pool.read(services, tenant, read).await
        }
    }
}

/// How an operation answers: the function that shows what was decided, and the last id in the path.
#[derive(Clone, Copy, Default)]
pub struct Shows {
    pub show: Option<Show>,
    pub about: Option<Id>,
}

impl Shows {
    pub fn of(show: Option<Show>, parameters: &[(&'static str, String)]) -> Shows {
        Shows { show, about: parameters.iter().rev().find_map(|(_, text)| Id::parse(text)) }
    }

    pub fn by(show: Show) -> Shows {
        Shows { show: Some(show), about: None }
    }
}

pub fn reply(
    services: &Services,
    tenant: u64,
    shows: Shows,
    outcome: CommandReply<Domain>,
    request_id: &RequestId,
) -> Result<Reply, Problem> {
    let settled: Box<Settled<Domain>> = outcome.map_err(failure)?;
    if settled.record.is_none() && settled.refusal == Some(Refusal::NotFound) {
        // Nothing is kept of it, and what was not found is named where the request is known.
        return Err(Problem::not_found());
    }
    let record = settled.record.as_deref();
    let is_approved = record.is_some_and(Record::approves);
    let written = match record {
        Some(Record { entities, .. }) if let [written, ..] = &entities[..] => Some(&*written.state),
        _ => None,
    };
    // What is approved of what was known already is in no record.
    let written = match written {
        Some(Entity::MandateApproval(_)) if is_approved => None,
        written => written,
    };
    // Another command may have changed it since, such as the word of an event: that is how it stands.
    let now = settled.entity.as_deref();
    let entity = match (written, now) {
        (Some(written), Some(now)) if written.id() == now.id() => Some(now),
        (written, now) => written.or(now),
    };
    // What an operator said meanwhile is in the record of it, for the request that waits.
    let said = match record {
        Some(Record { kept: Some(record::Kept { of, answer: Answer::Refused(refusal) }), .. })
            if of.request_id == request_id.as_str() =>
        {
            Some(refusal)
        }
        _ => None,
    };
    let refusal = settled.refusal.as_ref().or(said);
    let facts = Facts {
        livemode: is_live(tenant),
        record: match record {
            Some(record) if record.cause != Cause::AnswerKept => Some(record),
            _ => None,
        },
        time: Timestamp::from_unix_ms(settled.time_ms),
        entity,
        refusal,
        request_id: request_id.as_str(),
        related: &[],
        about: shows.about,
        secrets: &TenantSecrets { services, tenant, sent: None },
    };
    let facts = if is_approved { facts.of_call() } else { facts };
    let (status, body) = facts.shown_by(shows.show)?;
    let reply =
        Reply::json(status, body).trace(Trace { seq: settled.seq, timing: Some(timing(settled.timing)) });
    Ok(match refusal.and_then(|refusal| problem(refusal).retry_after) {
        Some(seconds) => reply.header(RETRY_AFTER, seconds.get().into()),
        None => reply,
    })
}

/// Does something in a task that goes on when the caller goes away.
pub fn in_a_task<'a, T: Send + 'static>(
    doing: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Later<'a, T> {
    Box::pin(
        async move { tokio::spawn(doing).await.unwrap_or_else(|ended| Err(Problem::internal_error(ended))) },
    )
}
