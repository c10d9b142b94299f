//! Finding things among all tenants: the search, and the lists over both modes of every tenant with
//! the filters of their tenants' twins (`docs/contract.md, 20.4`).
//!
//! Entries that the index has by tenant key are asked for each tenant: a search and a page cost
//! some seeks more with every tenant, and none more with history. They run where no request waits
//! behind them.

use super::call::{Call, CallResult, Done};
use super::people::note_read;
use crate::gateway::services::Services;
use crate::gateway::{finding as requests, webhooks};
use crate::requests::Found;
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::store::stored::Stored;
use api::fields::{Got, Invalid, Sound};
use api::kind::Kind;
use api::lists::{GotStatus, List, Tenants};
use api::openapi::kinds;
use api::operators::masked;
use api::page::{ListOf, Page, list_json, page_json};
use api::problem::Problem;
use api::query::Query;
use api::records::{self, Records, RecordsNow, Unread};
use api::search::{Hit, Sought, Subject, Why, by_id, by_name, by_trait, item, newest};
use api::writer::Object;
use api::{chargebacks, conversions, cop_payments, payments, payouts};
use domain::index;
use domain::platform::audit::AuditEntry;
use domain::platform::operators::Role;
use domain::platform::{Mode, PLATFORM, Tenant, is_live, tenant_key};
use domain::record::Entity;
use domain::values::ids::{EntityId, Id};
use domain::values::time::Timestamp;
use domain::view::{self, View};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most tenants with one text that a search looks at.
const TENANTS_MAX: usize = 200;

/// A search for the entities of a tenant key that have a name.
type Named = fn(&dyn Records, &str) -> Result<Vec<EntityId>, records::Stopped>;
/// The JSON of an entity of a list.
type Show = fn(&Entity) -> Option<Vec<u8>>;

/// `tenantId` and `mode`, as they are read.
pub(super) struct GotWhose {
    tenant: Got<Option<uuid::Uuid>>,
    mode: Got<Option<Mode>>,
}

/// The tenants and modes that a list is of.
pub(super) struct Whose {
    tenant: Option<Id>,
    mode: Option<Mode>,
}

/// A mode of a query.
pub(super) fn mode<'a>() -> impl Kind<'a, Mode> {
    kinds::named_one(Mode::ALL, Mode::name)
}

impl GotWhose {
    pub(super) fn read(query: &mut Query<'_>) -> GotWhose {
        GotWhose::read_by(query, mode())
    }

    /// Reads them with a mode of this kind.
    pub(super) fn read_by<'a>(query: &mut Query<'a>, mode: impl Kind<'a, Mode>) -> GotWhose {
        GotWhose { tenant: query.optional("tenantId", kinds::uuid()), mode: query.optional("mode", mode) }
    }

    pub(super) fn get(self, sound: &Sound) -> Whose {
        Whose { tenant: self.tenant.get(sound).map(Id::from), mode: self.mode.get(sound) }
    }
}

impl Whose {
    /// The tenant keys.
    pub(super) fn keys(&self, services: &Services) -> Vec<u64> {
        let directory = &services.callers.directory;
        let tenants = match self.tenant {
            Some(id) => directory.tenant(id).into_iter().collect(),
            None => directory.tenants(),
        };
        let modes =
            [Mode::Live, Mode::Test].into_iter().filter(|each| self.mode.is_none_or(|mode| mode == *each));
        let of = |tenant: &Arc<Tenant>| {
            modes.clone().map(|mode| tenant_key(tenant.number, mode)).collect::<Vec<_>>()
        };
        tenants.iter().flat_map(of).collect()
    }
}

/// A list over tenants that is asked for: its filters, whose it is, and which page.
type ListQuery<F> = Result<(F, Whose, Page), Invalid>;

/// Reads the query of a list over tenants, whose filters `read` asks for and `get` gives.
fn asked<G, F>(
    mut query: Query<'_>,
    list: ListOf<'_>,
    read: impl FnOnce(&mut Query<'_>) -> G,
    get: impl FnOnce(G, &Sound) -> F,
) -> ListQuery<F> {
    let (filters, whose) = (read(&mut query), GotWhose::read(&mut query));
    let page = query.page(list);
    let sound = query.finish()?;
    Ok((get(filters, &sound), whose.get(&sound), page.get(&sound)))
}

/// Reads which payments are asked for.
pub(super) fn asked_payments(query: Query<'_>, list: ListOf<'_>) -> ListQuery<payments::list::Filters> {
    asked(query, list, payments::list::GotFilters::read, payments::list::GotFilters::get)
}

/// GET /admin/payments
pub async fn payments(call: Call) -> CallResult {
    let (filters, whose, page) = call.listed("all payments", asked_payments)?;
    let name = filters.external_ref.clone().map(|name| (name, payments::list::named as Named));
    across(&call, whose, filters.list(), name, page, payments::show_entity).await
}

/// Reads which payouts are asked for.
pub(super) fn asked_payouts(query: Query<'_>, list: ListOf<'_>) -> ListQuery<payouts::list::Filters> {
    asked(query, list, payouts::list::GotFilters::read, payouts::list::GotFilters::get)
}

/// GET /admin/payouts
pub async fn payouts(call: Call) -> CallResult {
    let (filters, whose, page) = call.listed("all payouts", asked_payouts)?;
    let name = filters.external_ref.clone().map(|name| (name, payouts::list::named as Named));
    across(&call, whose, filters.list(), name, page, payouts::list::show_entity).await
}

/// Reads which conversions are asked for.
pub(super) fn asked_conversions(query: Query<'_>, list: ListOf<'_>) -> ListQuery<List> {
    asked(query, list, conversions::GotFilters::read, conversions::GotFilters::get)
}

/// GET /admin/conversions
pub async fn conversions(call: Call) -> CallResult {
    let (list, whose, page) = call.listed("all conversions", asked_conversions)?;
    across(&call, whose, list, None, page, conversions::show_entity).await
}

/// Reads which payouts in pesos are asked for.
pub(super) fn asked_cop_payouts(query: Query<'_>, list: ListOf<'_>) -> ListQuery<List> {
    asked(query, list, cop_payments::payouts::by_status, GotStatus::get)
}

/// GET /admin/cop-payouts
pub async fn cop_payouts(call: Call) -> CallResult {
    let (list, whose, page) = call.listed("all payouts in pesos", asked_cop_payouts)?;
    across(&call, whose, list, None, page, show_cop_payout).await
}

/// A payout in pesos with its holder masked, whom its tenant knows.
fn show_cop_payout(entity: &Entity) -> Option<Vec<u8>> {
    let shown = cop_payments::payouts::show_entity(entity)?;
    Some(masked(&String::from_utf8_lossy(&shown)).into_bytes())
}

/// Reads which chargebacks are asked for.
pub(super) fn asked_chargebacks(query: Query<'_>, list: ListOf<'_>) -> ListQuery<List> {
    asked(query, list, chargebacks::by_status, GotStatus::get)
}

/// GET /admin/chargebacks
pub async fn chargebacks(call: Call) -> CallResult {
    let (list, whose, page) = call.listed("all chargebacks", asked_chargebacks)?;
    across(&call, whose, list, None, page, chargebacks::show_entity).await
}

/// A page of a list over tenant keys; by a name, of what has it.
async fn across(
    call: &Call,
    whose: Whose,
    list: List,
    name: Option<(String, Named)>,
    page: Page,
    show: Show,
) -> CallResult {
    let keys = whose.keys(&call.services);
    let read = move |services: &Services, budget: &ReadBudget| match &name {
        None => walked(services, budget, &keys, &list, &page, show),
        Some((name, named)) => by_one_name(services, budget, &keys, (&list, name, *named), &page, show),
    };
    let services = &call.services;
    Ok(Done::ok(services.read_pool.read_long(services, PLATFORM, read).await?))
}

fn walked(
    services: &Services,
    budget: &ReadBudget,
    keys: &[u64],
    list: &List,
    page: &Page,
    show: Show,
) -> Result<Vec<u8>, Stopped> {
    let reader = services.engine.reader();
    let tenants = Tenants {
        keys,
        entity: &|tenant, id| Ok(history::entity(reader, tenant, id)?),
        wanted: &|_| Ok(true),
        show: &|tenant, entity| show(entity).map(|shown| owned(services, tenant, shown)),
    };
    list.page_across(&Stored::of(reader, PLATFORM).within(budget), &tenants, page).map_err(stopped)
}

/// The entities with a name, newest first: a few per tenant.
fn by_one_name(
    services: &Services,
    budget: &ReadBudget,
    keys: &[u64],
    (list, name, named): (&List, &str, Named),
    page: &Page,
    show: Show,
) -> Result<Vec<u8>, Stopped> {
    let reader = services.engine.reader();
    let mut found = BTreeMap::new();
    for tenant in keys {
        budget.spend()?;
        for id in named(&Stored::of(reader, *tenant), name)? {
            if let Some(entity) = history::entity(reader, *tenant, id)?.filter(|entity| list.has(entity)) {
                found.insert(id.id, (*tenant, entity));
            }
        }
    }
    let after = page.after.as_deref().and_then(|bytes| bytes.try_into().ok()).map(Id::from_bytes);
    let mut rest = found.into_iter().rev().filter(|(id, _)| after.is_none_or(|after| *id < after));
    let shown: Vec<_> = rest.by_ref().take(page.limit).collect();
    let more = rest.next().is_some();
    let next = shown.last().filter(|_| more).map(|(last, _)| page.next(last.as_bytes()));
    let items =
        shown.iter().filter_map(|(_, (tenant, entity))| Some(owned(services, *tenant, show(entity)?)));
    Ok(page_json(items.collect::<Vec<_>>(), next.as_deref()))
}

/// An item with its tenant and mode.
pub(super) fn owned(services: &Services, tenant: u64, item: Vec<u8>) -> Vec<u8> {
    let mode = if is_live(tenant) { Mode::Live } else { Mode::Test };
    Object::reopened(item)
        .maybe_plain("tenantId", tenant_id(services, tenant))
        .plain("mode", mode.name())
        .end()
}

fn tenant_id(services: &Services, tenant: u64) -> Option<Id> {
    let number = u32::try_from(tenant / 2).ok()?;
    services.callers.directory.tenant_numbered(number).map(|tenant| tenant.id)
}

/// A list has no problems of its own.
fn stopped(unread: Unread) -> Stopped {
    match unread {
        Unread::Stopped(stopped) => stopped.into(),
        Unread::Problem(problem) => Stopped::Unreadable(history::Unreadable(problem.message.to_string())),
    }
}

/// Reads which deliveries are asked for.
pub(super) fn asked_deliveries(query: Query<'_>, list: ListOf<'_>) -> ListQuery<()> {
    asked(query, list, |_| (), |(), _| ())
}

/// GET /admin/webhooks/deliveries
pub async fn deliveries(call: Call) -> CallResult {
    let ((), whose, page) = call.listed("all deliveries", asked_deliveries)?;
    let after = webhooks::last_delivery(&page)?;
    let keys: BTreeSet<u64> = whose.keys(&call.services).into_iter().collect();
    let read = move |services: &Services, budget: &ReadBudget| {
        let mut shown = BTreeMap::new();
        for (tenant, webhook) in endpoints(services)?.into_iter().filter(|(tenant, _)| keys.contains(tenant))
        {
            budget.spend()?;
            let of_one =
                webhooks::newest_deliveries(services, tenant, webhook, page.limit + 1, after, budget)?;
            shown.extend(of_one.into_iter().map(|(id, item)| (id, owned(services, tenant, item))));
        }
        let more = shown.len() > page.limit;
        let items: Vec<(Id, Vec<u8>)> = shown.into_iter().rev().take(page.limit).collect();
        let next = items.last().filter(|_| more).map(|(last, _)| page.next(last.as_bytes()));
        Ok(page_json(items.into_iter().map(|(_, item)| item), next.as_deref()))
    };
    let services = &call.services;
    Ok(Done::ok(services.read_pool.read_long(services, PLATFORM, read).await?))
}

/// The webhook endpoints of all tenants.
fn endpoints(services: &Services) -> Result<Vec<(u64, Id)>, Stopped> {
    let prefix = index::webhooks();
    let end = [prefix.as_slice(), &[0xFF; 24]].concat();
    let mut found = Vec::new();
    for entry in services.engine.reader().index_scan(&prefix, &end, false) {
        let (key, _) = entry?;
        let named = key[prefix.len()..].split_first_chunk::<8>();
        let named = named.and_then(|(tenant, id)| Some((*tenant, Id::from_bytes(id.try_into().ok()?))));
        let (tenant, id) =
            named.ok_or_else(|| history::Unreadable("a webhook endpoint of no tenant".to_owned()))?;
        found.push((u64::from_be_bytes(tenant), id));
    }
    Ok(found)
}

/// GET /admin/search
pub async fn search(call: Call) -> CallResult {
    let sought = may_find(&call, call.asked(Sought::read)?).await?;
    let services = &call.services;
    let requests = services.files.requests.find_all(&sought.text, services.now()).await;
    let requests = requests.map_err(Problem::internal_error)?;
    let hits = services
        .read_pool
        .read_long(services, PLATFORM, move |services, budget| found(services, &sought, &requests, budget));
    let hits = newest(hits.await?);
    let mut clocks: BTreeMap<u64, Timestamp> = BTreeMap::new();
    for hit in &hits {
        let is_session =
            matches!(&hit.subject, Subject::Entity(entity) if matches!(**entity, Entity::Session(_)));
        if is_session && !clocks.contains_key(&hit.tenant) {
            // Only a session's status follows from its tenant's clock. A book that is halted has none.
            if let Ok(View::Clock(now)) = services.engine.view(hit.tenant, view::Query::Clock).await {
                clocks.insert(hit.tenant, now);
            }
        }
    }
    let mut items = Vec::with_capacity(hits.len());
    for hit in &hits {
        let now = clocks.get(&hit.tenant).copied().unwrap_or_else(|| services.now());
        let stored = Stored::of(services.engine.reader(), hit.tenant).at(now);
        let tenant = match &hit.subject {
            Subject::Tenant(tenant) => Some(tenant.id),
            _ => tenant_id(services, hit.tenant),
        };
        items.push(item(&stored, stored.now(), tenant, hit).map_err(Stopped::from)?);
    }
    Ok(Done::ok(list_json(items)))
}

/// What an operator's search may look for: documents and phones from the role `support` on, and the audit
/// knows which. What may be a reference as well is looked for as that by the others.
async fn may_find(call: &Call, sought: Sought) -> Result<Sought, Problem> {
    let Some(masked) = sought.masked() else { return Ok(sought) };
    match call.operator.must_be(Role::Support) {
        Ok(()) => {
            let entry = AuditEntry { target: Some(masked.to_owned()), ..*call.entry("search.person", None) };
            note_read(call, Box::new(entry)).await?;
            Ok(sought)
        }
        Err(missing) if sought.is_person() => Err(missing),
        Err(_) => Ok(sought.without_people()),
    }
}

/// The hits of a text among all tenants; `named` are the requests with it as their id.
fn found(
    services: &Services,
    sought: &Sought,
    named: &[Found],
    budget: &ReadBudget,
) -> Result<Vec<Hit>, Stopped> {
    let reader = services.engine.reader();
    let directory = &services.callers.directory;
    let (mut hits, tenants) = (Vec::new(), directory.tenants());
    let wanted = sought.text.to_lowercase();
    for tenant in &tenants {
        let is_it = tenant.id.to_string() == wanted;
        if is_it || sought.begins(&tenant.name) {
            let why = if is_it { Why::Id } else { Why::Name };
            let tenant_key = tenant_key(tenant.number, Mode::Live);
            hits.push(Hit { tenant: tenant_key, subject: Subject::Tenant(Arc::clone(tenant)), why });
        }
        for mode in [Mode::Live, Mode::Test] {
            budget.spend()?;
            let stored = Stored::of(reader, tenant_key(tenant.number, mode)).within(budget);
            by_id(&stored, sought, &mut hits).map_err(stopped)?;
            by_name(&stored, sought, &mut hits).map_err(stopped)?;
        }
    }
    for (by, text, prefix) in sought.prefixes(services.keys.person_marks()) {
        let mut before = [prefix.as_slice(), &[0xFF; 24]].concat();
        // From one tenant that has it to the next.
        for _ in 0..TENANTS_MAX {
            let last = reader.index_scan(&prefix, &before, true).next().transpose()?;
            let Some(tenant) = last.and_then(|(key, _)| index::finder(&key[prefix.len()..])) else { break };
            let stored = Stored::of(reader, tenant).within(budget);
            by_trait(&stored, by, &text, &prefix, &mut hits).map_err(stopped)?;
            before = index::found_within(&prefix, tenant);
        }
    }
    for request in named {
        hits.extend(requests::made_by(services, Some(request))?);
    }
    Ok(hits)
}
