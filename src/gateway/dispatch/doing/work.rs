//! Does the work of a plan that takes more than one command, or a read that no list serves.

use super::{Doing, found};
use crate::gateway::answer::{Shows, reply};
use crate::gateway::ask;
use crate::gateway::batches;
use crate::gateway::dispatch::Performer;
use crate::gateway::finding;
use crate::gateway::idempotency;
use crate::gateway::receipts;
use crate::gateway::reservations::NameHeld;
use crate::gateway::statements;
use crate::gateway::tenant_settings;
use crate::gateway::test_reset;
use crate::gateway::usdt_addresses;
use crate::gateway::webhooks;
use crate::http::respond::Reply;
use crate::http::router::{Found, Lookup};
use crate::store::history::{self, Unreadable};
use crate::store::past_balance;
use actors::{Failure, Guard};
use api::balance;
use api::conversions;
use api::page::Page;
use api::plan::Work;
use api::problem::Problem;
use api::products::links;
use api::search::Sought;
use domain::commands::{Command, KeyedCommand};
use domain::index::{self, Space};
use domain::platform::PLATFORM;
use domain::record::Entity;
use domain::resources::crypto;
use domain::resources::crypto::deposits::NewDepositAddress;
use domain::resources::payouts::batch::NewBatch;
use domain::resources::products;
use domain::resources::products::NewLink;
use domain::resources::verification::Start;
use domain::resources::verification::limits::{KnownPhone, PHONE_STARTS_MAX};
use domain::resources::{merchants, own_account};
use domain::values::bank::BankCode;
use domain::values::ids::{EntityId, Id};
use domain::values::money::Ves;
use domain::values::phone::MobilePhone;
use domain::values::time::Timestamp;
use hyper::Method;
use std::sync::Arc;
use wal::{ReadError, Reader};

/// The phone at a bank whose verification is asked for.
fn phone_of(entity: &Entity, method: Option<Id>) -> Option<(BankCode, MobilePhone)> {
    match entity {
        Entity::Merchant(merchant) => merchant.method(method?).map(|method| (method.bank, method.phone)),
        Entity::OwnAccount(account) => Some((account.held.bank, account.held.phone)),
        _ => None,
    }
}

/// The instants of the newest starts of verifications whose names begin so, as many as count.
fn deposit_starts(reader: &Reader, owner: u64, prefix: &str) -> Result<Vec<Timestamp>, Problem> {
    let from = index::name(owner, Space::DepositStart, prefix);
    let to = [from.as_slice(), &[0xFF]].concat();
    let started = |entry: Result<(Vec<u8>, Vec<u8>), ReadError>| {
        let (name, _) = entry.map_err(Unreadable::from)?;
        let operation = name.get(from.len()..).and_then(|id| Id::parse(str::from_utf8(id).ok()?));
        let operation = operation.ok_or_else(|| ask::defect("the start of a verification without an id"))?;
        Ok(Timestamp::from_unix_ms(operation.unix_ms()))
    };
    reader.index_scan(&from, &to, true).take(PHONE_STARTS_MAX).map(started).collect()
}

/// The refusal of a search for a person by an account that found nobody too often.
fn too_many_misses(seconds: u32) -> Problem {
    let message = "30 searches for a document or a phone found nobody in 10 minutes, so nothing was searched \
                   for; ask again after Retry-After";
    Problem::too_many_attempts(message, seconds)
}

impl Performer {
    /// Does a piece of work and answers with what came of it.
    pub(super) async fn carry_out_work(
        &self,
        work: Work,
        is_crowd: bool,
        mut doing: Doing<'_>,
    ) -> Result<Reply, Problem> {
        let (services, tenant) = (&self.services, doing.caller.tenant_key);
        match work {
            Work::Charge { new, token } => self.charge(*new, token, doing).await,
            Work::StartVerification { entity, method, amounts } => {
                self.start_verification((entity, method), amounts, doing).await
            }
            Work::OpenAddress { name, new } => self.open_address(name, *new, doing).await,
            Work::Advance(advance_ms) => self.advance(advance_ms, doing).await,
            Work::BeginAnew => self.begin_anew(doing).await,
            Work::BalanceAt(at) => self.balance_at(at, doing).await,
            Work::Statement(ask) => {
                let lines = statements::lines(services, tenant, ask).await?;
                Ok(Reply::json(200, api::statements::show(ask.currency, &lines)))
            }
            Work::Receipt { id, lang, form } => receipts::read(services, doing.caller, id, lang, form),
            Work::Batch(batch) => self.pay_batch(batch, doing).await,
            Work::ReadBatch(id) => {
                let batch = self.read(tenant, is_crowd, move |services, budget| {
                    batches::read(services, tenant, id, budget)
                });
                found(batch.await?)
            }
            Work::AddLink { product, given, fresh, link } => {
                self.add_link(product, given, fresh, *link, doing).await
            }
            Work::SetAutoConvert(percent) => self.set_auto_convert(percent, &doing).await,
            Work::Deliveries(id, page) => self.deliveries(id, page, tenant, is_crowd).await,
            Work::Search(sought) => self.search(sought, is_crowd, &doing).await,
            Work::Request(id) => Ok(Reply::json(200, finding::request(services, tenant, &id).await?)),
            Work::Resend(id) => {
                let services = Arc::clone(services);
                let (keep, _slot, held) = doing.keep();
                let resending = tokio::spawn(webhooks::resend(services, tenant, id, keep, held));
                resending.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))
            }
            Work::TestNotification => {
                // A test takes as long as the slowest endpoint, so the work slot is given back
                // first.
                doing.slot = None;
                let services = Arc::clone(services);
                let (keep, _, held) = doing.keep();
                let testing = tokio::spawn(webhooks::test(services, tenant, keep, held));
                testing.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))
            }
            Work::RotateOwnKey { overlap, peer } => self.rotate_own_key(overlap, peer, doing).await,
            Work::AskLive { peer } => self.ask_live(peer, doing).await,
            Work::Kept { key, path } => self.kept_answer(key, path, tenant, is_crowd).await,
        }
    }

    /// The start of a verification by micro-deposits. Starts of one phone, by whomever, are made one after
    /// the other, so that each knows of those before.
    async fn start_verification(
        &self,
        (entity, method): (EntityId, Option<Id>),
        amounts: (Ves, Ves),
        mut doing: Doing<'_>,
    ) -> Result<Reply, Problem> {
        let (tenant, shows, request_id) = (doing.caller.tenant_key, doing.shows, doing.request_id);
        let engine = &self.services.engine;
        doing.slot = None;
        let known = history::entity(engine.reader(), tenant, entity)?.ok_or_else(Problem::not_found)?;
        let (bank, phone) = phone_of(&known, method).ok_or_else(Problem::not_found)?;
        let (owner, prefix) = (Space::DepositStart.owner(tenant), KnownPhone::prefix(bank, phone));
        let held = self.services.names.reservations.hold_name(owner, Space::DepositStart, &prefix).await;
        let starts = deposit_starts(engine.reader(), owner, &prefix)?;
        let start = Box::new(Start { amounts, phone: KnownPhone { bank, phone, starts } });
        let ask = match method {
            Some(method) => merchants::Command::StartVerification { method, start }.into(),
            None => own_account::Command::StartVerification(start).into(),
        };
        let (command, _, until_answer) = doing.command(ask);
        let until_record: Guard = Box::new(held);
        let outcome =
            engine.ask_entity(tenant, entity, false, command, Some(until_record), until_answer).await;
        reply(&self.services, tenant, shows, outcome, request_id)
    }

    /// The deposit address of a customer in live mode: the one that is there, or the next that
    /// derives from the network's seed.
    async fn open_address(
        &self,
        name: String,
        new: NewDepositAddress,
        mut doing: Doing<'_>,
    ) -> Result<Reply, Problem> {
        let (tenant, shows, request_id) = (doing.caller.tenant_key, doing.shows, doing.request_id);
        let services = &self.services;
        // One after the other for the next address: nobody waits for that in a slot.
        doing.slot = None;
        let held_name = services.names.reservations.hold_name(tenant, Space::DepositAddress, &name).await;
        let known = history::named(services.engine.reader(), tenant, Space::DepositAddress, &name)?;
        let (new, held_address) = match known {
            Some(_) => (new, None),
            None => usdt_addresses::derived_in_live(services, tenant, new).await?,
        };
        let id = EntityId::deposit_address(known.unwrap_or(new.id));
        let ask = crypto::deposits::Command::Open(Box::new(new)).into();
        let (command, _, held) = doing.command(ask);
        let until_record: Guard = Box::new((held_name, held_address));
        let outcome =
            services.engine.ask_entity(tenant, id, known.is_none(), command, Some(until_record), held);
        reply(services, tenant, shows, outcome.await, request_id)
    }

    /// Moves the test clock, with everything that is due on the way.
    async fn advance(&self, advance_ms: i64, mut doing: Doing<'_>) -> Result<Reply, Problem> {
        let (tenant, shows, request_id) = (doing.caller.tenant_key, doing.shows, doing.request_id);
        // An advance takes as long as the deadlines on the way, so the work slot is given back first.
        doing.slot = None;
        let (keep, _, held) = doing.keep();
        let engine = self.services.engine.clone();
        let advancing = tokio::spawn(async move {
            let _held = held;
            loop {
                let command = KeyedCommand::from(Command::MoveClock).keeping(keep.clone());
                match engine.advance(tenant, advance_ms, command, None).await {
                    // It is the clock of after that moves.
                    Err(Failure::Reset) => {}
                    outcome => return outcome,
                }
            }
        });
        let outcome = advancing.await.map_err(Problem::internal_error)?;
        reply(&self.services, tenant, shows, outcome, request_id)
    }

    /// Has the data of test mode begin anew, in a task that goes on when the caller goes away.
    async fn begin_anew(&self, mut doing: Doing<'_>) -> Result<Reply, Problem> {
        let (tenant, shows, request_id) = (doing.caller.tenant_key, doing.shows, doing.request_id);
        doing.slot = None;
        let services = Arc::clone(&self.services);
        let (keep, _, held) = doing.keep();
        let beginning =
            tokio::spawn(async move { test_reset::begin_anew(&services, tenant, keep, held).await });
        let outcome = beginning.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))?;
        reply(&self.services, tenant, shows, outcome, request_id)
    }

    /// The balance at an instant, derived from the log.
    async fn balance_at(&self, at: Timestamp, mut doing: Doing<'_>) -> Result<Reply, Problem> {
        let tenant = doing.caller.tenant_key;
        doing.slot = None;
        if at > self.clock(tenant).await? {
            return Err(Problem::invalid_field("at", "must not be in the future"));
        }
        let reader = self.services.engine.reader();
        if let Some(begun) = history::begun_at(reader, tenant)?
            && at < history::record(reader, begun)?.time
        {
            return Err(Problem::not_found());
        }
        let then = self.services.read_pool.read_long(&self.services, tenant, move |services, budget| {
            let engine = &services.engine;
            past_balance::balance_at(engine.machine(), engine.reader(), tenant, at, budget)
        });
        Ok(Reply::json(200, balance::show(&then.await?, doing.caller.livemode())))
    }

    /// Asks for the payouts of a batch, in a task that goes on when the caller goes away.
    async fn pay_batch(&self, batch: Box<NewBatch>, doing: Doing<'_>) -> Result<Reply, Problem> {
        let (services, request_id) = (Arc::clone(&self.services), doing.request_id.clone());
        let tenant = doing.caller.tenant_key;
        let (keep, slot, held) = doing.keep();
        let paying =
            tokio::spawn(batches::carry_out(services, tenant, batch, keep, (slot, held), request_id));
        paying.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))
    }

    /// Adds a payment link to a product, under the first slug that is free.
    async fn add_link(
        &self,
        product: EntityId,
        given: Option<String>,
        fresh: Vec<Id>,
        link: NewLink,
        doing: Doing<'_>,
    ) -> Result<Reply, Problem> {
        let (tenant, shows, request_id) = (doing.caller.tenant_key, doing.shows, doing.request_id);
        let engine = &self.services.engine;
        let found = history::entity(engine.reader(), tenant, product)?.ok_or_else(Problem::not_found)?;
        let (slug, held_slug) = self.free_slug(links::slugs(&found, given, &fresh)).await?.unzip();
        let ask = products::Command::AddLink(Box::new(NewLink { slug, ..link })).into();
        let (command, slot, held) = doing.command(ask);
        let until_record: Guard = Box::new((held_slug, slot));
        let outcome = engine.ask_entity(tenant, product, false, command, Some(until_record), held).await;
        reply(&self.services, tenant, shows, outcome, request_id)
    }

    /// The first of these slugs that no link has, reserved.
    async fn free_slug(
        &self,
        slugs: impl IntoIterator<Item = String>,
    ) -> Result<Option<(String, NameHeld)>, Problem> {
        for slug in slugs {
            let held = self.services.names.reservations.hold_name(PLATFORM, Space::Slug, &slug).await;
            if history::on_slug(self.services.engine.reader(), &slug)?.is_none() {
                return Ok(Some((slug, held)));
            }
        }
        Ok(None)
    }

    /// Sets the percentage of peso payments that is converted by itself.
    async fn set_auto_convert(&self, percent: u8, doing: &Doing<'_>) -> Result<Reply, Problem> {
        let (services, number) = (Arc::clone(&self.services), doing.caller.tenant.number);
        // A task of its own: a caller who goes away must not leave settings that were not taken to
        // the books.
        let changing = tokio::spawn(async move {
            tenant_settings::change_settings(&services, number, |settings| {
                settings.conversions.auto_cop_percent = percent
            })
            .await
        });
        let (tenant, trace) = changing.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))?;
        Ok(Reply::json(200, conversions::show_settings(&tenant.tenant_settings.settings)).trace(trace))
    }

    /// A page of an endpoint's deliveries.
    async fn deliveries(&self, id: Id, page: Page, tenant: u64, is_crowd: bool) -> Result<Reply, Problem> {
        let after = webhooks::last_delivery(&page)?;
        let deliveries = self.read(tenant, is_crowd, move |services, budget| {
            webhooks::deliveries(services, tenant, id, &page, after, budget)
        });
        found(deliveries.await?)
    }

    /// The hits of a text in everything of the tenant's.
    async fn search(&self, sought: Sought, is_crowd: bool, doing: &Doing<'_>) -> Result<Reply, Problem> {
        let tenant = doing.caller.tenant_key;
        let (now, whose) = (self.clock(tenant).await?, (tenant, doing.caller.tenant.id));
        let (sought, wait) = self.looks_for_people(tenant, sought)?;
        let request = self.services.files.requests.find(tenant, &sought.text, self.services.now()).await;
        let request = request.map_err(Problem::internal_error)?;
        let may_be_person = sought.may_be_person();
        let found = self.read(tenant, is_crowd, move |services, budget| {
            finding::search(services, whose, now, (&sought, request.as_ref()), budget)
        });
        let found = found.await?;
        match wait {
            // What else the text may be was not found either.
            Some(seconds) if found.is_empty => return Err(too_many_misses(seconds)),
            None if may_be_person && found.has_person => self.services.misses.succeeded(tenant),
            _ => {}
        }
        Ok(Reply::json(200, found.body))
    }

    /// What a search of a tenant's may look for. After too many misses a document or a phone is not looked
    /// for, and what may be a reference as well is looked for as that, with the seconds to wait.
    fn looks_for_people(&self, tenant: u64, sought: Sought) -> Result<(Sought, Option<u32>), Problem> {
        if !sought.may_be_person() {
            return Ok((sought, None));
        }
        match self.services.misses.begin(tenant) {
            Ok(()) => Ok((sought, None)),
            Err(seconds) if sought.is_person() => Err(too_many_misses(seconds)),
            Err(seconds) => Ok((sought.without_people(), Some(seconds))),
        }
    }

    /// The answer that an Idempotency-Key keeps, or that its request is under way.
    async fn kept_answer(
        &self,
        key: String,
        path: Option<String>,
        tenant: u64,
        is_crowd: bool,
    ) -> Result<Reply, Problem> {
        let now = self.clock(tenant).await?;
        if let Some(body) = idempotency::under_way(&self.services, tenant, &key, path.as_deref(), now) {
            return Ok(Reply::json(200, body));
        }
        let done = self.read(tenant, is_crowd, move |services, budget| {
            idempotency::done(services, tenant, &key, path.as_deref(), now, budget)
        });
        let done = done.await?.ok_or_else(Problem::not_found)?;
        let shows = match self.shows.lookup(&Method::POST, &done.kept.of.path) {
            Lookup::Found(Found { value: show, parameters, .. }) => {
                Shows::of(*show, parameters.iter().map(|(_, text)| text))
            }
            Lookup::NotFound | Lookup::WrongMethod { .. } => Shows::default(),
        };
        Ok(Reply::json(200, idempotency::show_done(&done, shows.show, shows.about)?))
    }
}
