//! Finding things among all tenants: the search, and the lists over both modes of every tenant with
//! the filters of their tenants' twins (`docs/contract.md, 20.4`).
//!
//! Entries that the index has by tenant key are asked for each tenant: a search and a page cost
//! some seeks more with every tenant, and none more with history. They run where no request waits
//! behind them.

use super::call::{Call, CallResult, Done, Handler, Whose, owned, owned_schema, page_of, run, tenant_of};
use super::people::{find, note_look, note_read};
use crate::gateway::services::Services;
use crate::gateway::{finding as requests, webhooks};
use crate::requests::Found;
use crate::store::history::{self, EntityReader, Stored};
use crate::store::read_budget::{ReadBudget, Stopped};
use api::cop_payments::payouts::{operator_schema, show_to_operator};
use api::endpoint::{chapter, endpoints};
use api::fields::{Got, Invalid, Kind, read};
use api::lists::{List, Tenants};
use api::openapi::kinds;
use api::openapi::operation::{Fills, Operation};
use api::operators::masked;
use api::page::{ListOf, Page, list_json};
use api::problem::Problem;
use api::query::Query;
use api::records::{Records, Unread};
use api::search::sought::Sought;
use api::search::{Hit, Subject, Why, by_id, by_name, by_trait, item, newest};
use api::{chargebacks, conversions, cop_payments, payments, payouts};
use domain::entities::Entity;
use domain::index;
use domain::platform::audit::AuditEntry;
use domain::platform::operators::Role;
use domain::values::ids::{EntityId, Id, Mode, PLATFORM, tenant_key};
use domain::values::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const TAG: &str = "Finding things";
const TENANTS_MAX: usize = 200;

type Named = fn(&dyn Records, &str) -> Result<Vec<EntityId>, Stopped>;
type Show = fn(&Entity) -> Option<Vec<u8>>;

pub(super) fn mode<'a>() -> impl Kind<'a, Mode> {
    kinds::named_one(Mode::ALL, Mode::name)
}

chapter! { TAG, "One text leads to everything that it names, among all tenants in both modes; and \
    the lists of tenants, over all of them.", {
        with api::search::found();
        "PaymentChargeback" = payments::show::chargeback_schema();
        "OwnedPayment" = owned_schema(payments::payment());
        "OwnedPaymentPage" = page("OwnedPayment");
        "OwnedPayout" = owned_schema(payouts::payout());
        "OwnedPayoutPage" = page("OwnedPayout");
        "OwnedConversion" = owned_schema(conversions::schema());
        "OwnedConversionPage" = page("OwnedConversion");
        "OwnedCopPayout" = owned_schema(cop_payments::payouts::schema());
        "OwnedCopPayoutPage" = page("OwnedCopPayout");
        "SeenCopPayout" = owned_schema(operator_schema());
        "OwnedChargeback" = owned_schema(chargebacks::schema());
        "OwnedChargebackPage" = page("OwnedChargeback");
        "OwnedDelivery" = owned_schema(api::webhooks::delivery_schema());
        "OwnedDeliveryPage" = page("OwnedDelivery");
    }
    READ_COP_PAYOUT = run!(read_cop_payout), "Read a payout in pesos" => {
        command "cop-payout get", "Show a payout in pesos; to treasury also to whom it goes", "";
        about "Treasury, who pays it, sees to whom, and each look is in the audit; others see `destination` \
            instead: the end of the account.";
        answers 200, "SeenCopPayout", "The payout";
        refuses 503, &["storage_unavailable"];
    };
    DELIVERIES = run!(deliveries), "List the webhook deliveries of all tenants" => {
        command "delivery list", "List webhook deliveries, newest first", "--mode live";
        with |listed| of_all(listed, |_| Got::of(()), "OwnedDeliveryPage");
    };
    SEARCH = run!(search), "Search among all tenants" => {
        command "search", "Search all tenants by an id, reference, document, phone or name", "order-81";
        operand "TEXT", Fills::Option("q"), "An id, a reference, a document, a phone, a tenant's name";
        with api::search::searches;
        about "By an id of anything, a reference of a tenant's or of a bank, a transaction's hash, the id of a \
            request, the beginning of a tenant's name, a document or a phone of a payer or seller. A document \
            or a phone takes the role `support`, and is in the audit, masked.";
        refuses 503, &["storage_unavailable"];
    };
}

fn asked<F>(
    mut query: Query<'_>,
    list: ListOf<'_>,
    filters: impl FnOnce(&mut Query<'_>) -> Got<F>,
) -> Result<(F, Whose, Page), Invalid> {
    Ok(read!(query {
        got filters = filters(&mut query);
        optional tenant = "tenantId", kinds::id();
        optional mode = "mode", mode();
        got page = query.page(list);
    } => (filters, Whose { tenant, mode }, page)))
}

fn of_all<F>(
    operation: Operation,
    filters: impl FnOnce(&mut Query<'_>) -> Got<F>,
    page: &'static str,
) -> Operation {
    operation
        .about("Newest first whichever the tenant; both modes unless `mode` is given. What is personal is masked.")
        .list(|query, list| asked(query, list, filters))
        .answers(200, page, "Newest first")
}

/// The lists of tenants, over all of them: what they list, their command and its example, the name of a page, and
/// the filters, the list and the items of their tenants' twins.
macro_rules! lists {
    ($($name:ident = $function:ident, $what:literal, $command:literal, $example:literal, $page:literal,
        $filters:path, $list:expr, $show:expr;)*) => {
        $(
            endpoints! { TAG;
                $name = run!($function), concat!("List the ", $what, " of all tenants") => {
                    command $command, concat!("List ", $what, ", newest first"), $example;
                    with |listed| of_all(listed, $filters, $page);
                };
            }

            async fn $function(call: Call) -> CallResult {
                let kind = concat!("all ", $what);
                let (filters, whose, page) = call.listed(kind, |query, list| asked(query, list, $filters))?;
                across(&call, whose, $list(filters), page, $show).await
            }
        )*
    };
}

lists! {
    PAYMENTS = payments, "payments", "payment list", "--status PENDING", "OwnedPaymentPage",
        payments::list::filters, of_payments, payments::show_entity;
    PAYOUTS = payouts, "payouts", "payout list", "--status pending", "OwnedPayoutPage",
        payouts::list::filters, of_payouts, payouts::list::show_entity;
    CONVERSIONS = conversions, "conversions", "conversion list", "--status PENDING", "OwnedConversionPage",
        conversions::filters, unnamed, conversions::show_entity;
    COP_PAYOUTS = cop_payouts, "payouts in pesos", "cop-payout list", "--status pending", "OwnedCopPayoutPage",
        cop_payments::payouts::by_status, unnamed, show_cop_payout;
    CHARGEBACKS = chargebacks, "chargebacks", "chargeback list", "--status open", "OwnedChargebackPage",
        chargebacks::by_status, unnamed, chargebacks::show_entity;
}

fn of_payments(filters: payments::list::Filters) -> (List, Option<(String, Named)>) {
    let name = filters.external_ref.clone();
    (filters.list(), name.map(|name| (name, payments::list::named as Named)))
}

fn of_payouts(filters: payouts::list::Filters) -> (List, Option<(String, Named)>) {
    let name = filters.external_ref.clone();
    (filters.list(), name.map(|name| (name, payouts::list::named as Named)))
}

fn unnamed(list: List) -> (List, Option<(String, Named)>) {
    (list, None)
}

fn show_cop_payout(entity: &Entity) -> Option<Vec<u8>> {
    let shown = cop_payments::payouts::show_entity(entity)?;
    Some(masked(&String::from_utf8_lossy(&shown)).into_bytes())
}

/// Whoever pays it sees to whom, and that is in the audit.
async fn read_cop_payout(call: Call) -> CallResult {
    let id = call.id()?;
    let (tenant_key, payout) = find(&call, vec![EntityId::cop_payout(id)]).await?;
    let Entity::CopPayout(payout) = &*payout else { return Err(Problem::not_found()) };
    let in_clear = call.operator.must_be(Role::Treasury).is_ok();
    if in_clear {
        note_look(&call, "cop-payout.unmask", tenant_key).await?;
    }
    Ok(Done::ok(owned(&call.services.callers, tenant_key, show_to_operator(payout, in_clear))))
}

async fn across(
    call: &Call,
    whose: Whose,
    (list, name): (List, Option<(String, Named)>),
    page: Page,
    show: Show,
) -> CallResult {
    let keys = whose.keys(&call.services);
    let read = move |services: &Services, budget: &ReadBudget| {
        let reader = services.engine.reader();
        let shown = |tenant: u64, of: &Entity| show(of).map(|item| owned(&services.callers, tenant, item));
        let Some((name, named)) = &name else {
            let newest = EntityReader::of(reader);
            let entity = &|tenant, id| Ok(newest.entity(tenant, id)?);
            let tenants = Tenants { keys: &keys, entity, wanted: &|_| Ok(true), show: &shown };
            let stored = Stored::of(reader, PLATFORM).within(budget);
            return list.page_across(&stored, &tenants, &page).map_err(stopped);
        };
        let mut found = BTreeMap::new();
        for tenant in &keys {
            budget.spend()?;
            for id in named(&Stored::of(reader, *tenant), name)? {
                if let Some(entity) = history::entity(reader, *tenant, id)?.filter(|of| list.has(of)) {
                    found.insert(id.id, (*tenant, entity));
                }
            }
        }
        let after = page.after.as_deref().and_then(|bytes| bytes.try_into().ok()).map(Id::from_bytes);
        let rest = found.into_iter().rev().filter(|(id, _)| after.is_none_or(|after| *id < after));
        let item = |(_, (tenant, entity)): &(Id, (u64, Arc<Entity>))| shown(*tenant, entity);
        Ok(page_of(&page, rest, |(last, _)| last.as_bytes().to_vec(), item))
    };
    Ok(Done::ok(call.read_long(read).await?))
}

fn stopped(unread: Unread) -> Stopped {
    match unread {
        Unread::Stopped(stopped) => stopped,
        Unread::Problem(problem) => Stopped::Unreadable(problem.message.to_string()),
    }
}

async fn deliveries(call: Call) -> CallResult {
    let ((), whose, page) =
        call.listed("all deliveries", |query, list| asked(query, list, |_| Got::of(())))?;
    let after = page.position()?.map(Id::from_bytes);
    let keys: BTreeSet<u64> = whose.keys(&call.services).into_iter().collect();
    let read = move |services: &Services, budget: &ReadBudget| {
        let mut shown = BTreeMap::new();
        for (tenant, webhook) in
            endpoints(services, budget, usize::MAX)?.into_iter().filter(|(tenant, _)| keys.contains(tenant))
        {
            budget.spend()?;
            let of_one =
                webhooks::newest_deliveries(services, tenant, webhook, page.limit + 1, after, budget)?;
            shown.extend(of_one.into_iter().map(|(id, item)| (id, owned(&services.callers, tenant, item))));
        }
        let newest = shown.into_iter().rev();
        Ok(page_of(&page, newest, |(last, _)| last.as_bytes().to_vec(), |(_, item)| Some(item.clone())))
    };
    Ok(Done::ok(call.read_long(read).await?))
}

/// At most so many, of all tenants that are here.
pub fn endpoints(services: &Services, budget: &ReadBudget, most: usize) -> Result<Vec<(u64, Id)>, Stopped> {
    let prefix = index::webhooks();
    let end = [prefix.as_slice(), &[0xFF; 24]].concat();
    let mut found = Vec::new();
    for entry in services.engine.reader().index_scan(&prefix, &end, false) {
        if found.len() == most {
            break;
        }
        budget.spend()?;
        let (key, _) = entry.map_err(history::Unreadable::from)?;
        let named = key[prefix.len()..].split_first_chunk::<8>();
        let named = named.and_then(|(tenant, id)| Some((*tenant, Id::from_bytes(id.try_into().ok()?))));
        let (tenant, id) =
            named.ok_or_else(|| history::Unreadable("a webhook endpoint of no tenant".to_owned()))?;
        let tenant = u64::from_be_bytes(tenant);
        if !services.callers.is_elsewhere(tenant) {
            found.push((tenant, id));
        }
    }
    Ok(found)
}

async fn search(call: Call) -> CallResult {
    let sought = may_find(&call, call.asked(Sought::read)?).await?;
    let services = &call.services;
    let requests = services.files.requests.find_all(&sought.text, services.now()).await;
    let requests = requests.map_err(Problem::internal_error)?;
    let hits = call.read_long(move |services, budget| found(services, &sought, &requests, budget));
    let hits = newest(hits.await?);
    let mut clocks: BTreeMap<u64, Timestamp> = BTreeMap::new();
    for hit in &hits {
        let is_session =
            matches!(&hit.subject, Subject::Entity(entity) if matches!(**entity, Entity::Session(_)));
        if is_session && !clocks.contains_key(&hit.tenant) {
            // Only a session's status follows from its tenant's clock. A book that is halted has none.
            if let Ok(now) = services.clock(hit.tenant).await {
                clocks.insert(hit.tenant, now);
            }
        }
    }
    let mut items = Vec::with_capacity(hits.len());
    for hit in &hits {
        let now = clocks.get(&hit.tenant).copied().unwrap_or_else(|| services.now());
        let stored = Stored::of(services.engine.reader(), hit.tenant);
        let tenant = match &hit.subject {
            Subject::Tenant(tenant) => Some(tenant.id),
            _ => tenant_of(&services.callers, hit.tenant),
        };
        items.push(item(&stored, now, tenant, hit)?);
    }
    Ok(Done::ok(list_json(items)))
}

/// What an operator's search may look for: documents and phones from the role `support` on, and the audit
/// knows which. What may be a reference as well is looked for as that by the others.
async fn may_find(call: &Call, sought: Sought) -> Result<Sought, Problem> {
    let Some(masked) = sought.masked() else { return Ok(sought) };
    match call.operator.must_be(Role::Support) {
        Ok(()) => {
            let target = Some(masked.to_owned());
            note_read(call, AuditEntry { target, tenant: None, ..call.entry("search.person") }).await?;
            Ok(sought)
        }
        Err(missing) if sought.is_person() => Err(missing),
        Err(_) => Ok(sought.without_people()),
    }
}

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
            if services.callers.is_elsewhere(tenant_key(tenant.number, mode)) {
                continue;
            }
            let stored = Stored::of(reader, tenant_key(tenant.number, mode)).within(budget);
            by_id(&stored, sought, &mut hits).map_err(stopped)?;
            by_name(&stored, sought, &mut hits).map_err(stopped)?;
        }
    }
    for (by, text, prefix) in sought.prefixes(&services.keys.person_marks) {
        let mut before = [prefix.as_slice(), &[0xFF; 24]].concat();
        for _ in 0..TENANTS_MAX {
            let last = reader.index_scan(&prefix, &before, true).next().transpose();
            let last = last.map_err(history::Unreadable::from)?;
            let Some(tenant) = last.and_then(|(key, _)| index::finder(&key[prefix.len()..])) else { break };
            if !services.callers.is_elsewhere(tenant) {
                let stored = Stored::of(reader, tenant).within(budget);
                by_trait(&stored, by, &text, &prefix, &mut hits).map_err(stopped)?;
            }
            before = index::found_within(&prefix, tenant);
        }
    }
    for request in named {
        hits.extend(requests::made_by(services, Some(request))?);
    }
    Ok(hits)
}
