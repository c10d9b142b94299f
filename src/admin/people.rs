//! Payments and sellers one at a time, with the people in them masked or, for support, unmasked; each
//! look at those is in the audit (`docs/contract.md, 20.1, 20.3`). And what support may do of a tenant's:
//! cancel a payment, send an event again.

use super::call::{Call, CallResult, Done, Handler, Whose, owned, owned_schema, run};
use crate::gateway::services::Services;
use crate::gateway::{ask, webhooks};
use crate::store::read_budget::ReadBudget;
use crate::store::{history, story};
use crate::webhooks::backlog;
use api::answer::{Facts, Rendered};
use api::endpoint::chapter;
use api::fields::Kind as _;
use api::fields::read;
use api::merchants;
use api::openapi::operation::Operation;
use api::openapi::{kinds, schema};
use api::operators::{masked, unmasked_payment};
use api::payments::show_entity;
use api::problem::Problem;
use api::query::Query;
use api::writer::Object;
use domain::entities::Entity;
use domain::entities::means::Method;
use domain::entities::payment::Status;
use domain::platform::audit::AuditEntry;
use domain::platform::operators::Role;
use domain::resources::cop_payments::codes::WrongCodes;
use domain::resources::tenants::PlatformAsk;
use domain::resources::{cop_payments, payments};
use domain::values::colombia::Channel;
use domain::values::ids::{EntityId, Id, PLATFORM};
use std::sync::Arc;

pub type Found = (u64, Arc<Entity>);

pub(super) async fn find(call: &Call, ids: Vec<EntityId>) -> Result<Found, Problem> {
    among_all(&call.services, ids).await?.ok_or_else(Problem::not_found)
}

/// What there is under one of these ids, of whatever tenant.
pub async fn among_all(services: &Arc<Services>, ids: Vec<EntityId>) -> Result<Option<Found>, Problem> {
    let read = move |services: &Services, budget: &ReadBudget| {
        for key in Whose::default().keys(services) {
            budget.spend()?;
            for id in &ids {
                if let Some(found) = history::entity(services.engine.reader(), key, *id)? {
                    return Ok(Some((key, found)));
                }
            }
        }
        Ok(None)
    };
    services.read_pool.read(services, PLATFORM, read).await
}

async fn find_payment(call: &Call) -> Result<Found, Problem> {
    let id = call.id()?;
    find(call, vec![EntityId::payment(id), EntityId::cop_payment(id)]).await
}

fn reads_unmasked(call: &Call) -> Result<bool, Problem> {
    call.asked(|query| asked(query, || call.operator.must_be(Role::Support)))
}

/// Reads whether personal data are asked for unmasked, if whoever calls may see them.
fn asked(mut query: Query<'_>, must_see: impl FnOnce() -> Result<(), Problem>) -> Result<bool, Problem> {
    let unmask = kinds::boolean().about("People unmasked; takes the role `support`, and is in the audit.");
    Ok(read!(query { optional unmask = "unmask", unmask; } check {
        if unmask.peek_some() == Some(&true) {
            must_see()?;
        }
    } => unmask.unwrap_or(false)))
}

pub(super) async fn note_look(call: &Call, action: &str, tenant_key: u64) -> Result<(), Problem> {
    let entry = AuditEntry { tenant: call.tenant_of(tenant_key), ..call.entry(action) };
    note_read(call, entry).await
}

/// Writes down what a read uncovers, before it is shown: it needs what a write needs.
pub(super) async fn note_read(call: &Call, entry: AuditEntry) -> Result<(), Problem> {
    call.services.admit(None, true)?;
    ask::platform(&call.services, PlatformAsk::Acted, None, Some(Box::new(entry))).await.map(drop)
}

fn looks(operation: Operation) -> Operation {
    let asked = operation.query(|query| asked(query, || Ok(())));
    asked.refuses(503, &["storage_unavailable"])
}

chapter! { "People", "Payments and sellers one at a time, across accounts, with the people in them masked \
    unless they are asked for unmasked.", {
        "AnyPayment" = owned_schema(api::payments::payment())
            .optional("wrongCodes", integer().at_least("0").or_null().about("Of a payment in pesos by SMS \
                code: the wrong codes that were typed, or null where its first records are too old to be \
                looked at."))
            .about("A payment in bolívares, pesos or USDT, with `tenantId` and `mode`.");
        "PayoutMethod" = merchants::method_schema();
        "Payment" = api::payments::payment();
        "CopPayment" = api::cop_payments::payment();
        "SeenPayoutMethod" = merchants::method_schema().instead("phone", text());
        "AnyMerchant" = owned_schema(merchants::merchant())
            .instead("identification", text())
            .instead("contactEmail", text())
            .instead("contactPhone", text())
            .instead("payoutMethods", list(named("SeenPayoutMethod")))
            .about("A seller, with `tenantId` and `mode`; masked unless it is asked for unmasked.");
        "CanceledPayment" = any_of([named("Payment"), named("CopPayment")])
            .about("The payment, as its account reads it.");
        "AnyDeliveries" = object()
            .member("eventId", uuid())
            .member("deliveries", list(api::webhooks::delivery_schema()))
            .about("As the account's own call answers.");
    }
    READ_PAYMENT = run!(read_payment), "Read a payment of any account" => {
        command "payment get", "Show a payment of any tenant", "";
        with looks;
        answers 200, "AnyPayment", "As its account reads it, with `tenantId` and `mode`; of one by SMS code \
            also `wrongCodes`";
    };
    READ_MERCHANT = run!(read_merchant), "Read a seller of any account" => {
        command "merchant get", "Show a seller of any tenant", "";
        with looks;
        answers 200, "AnyMerchant", "As its account reads it, with `tenantId` and `mode`";
    };
    CANCEL_PAYMENT = run!(cancel_payment), "Cancel a payment that waits for its payer" => {
        command "payment cancel", "Cancel a payment that waits for its payer", "";
        about "An intent by C2P, or a payment in pesos.";
        answers_with 200, schema::named("CanceledPayment"), "The payment";
        answers_with 202, schema::named("CanceledPayment"), "The processor is asked";
        refuses 409, &["payment_not_pending", "charge_in_progress", "session_paid"];
        refuses 503, &["clock_stepped"];
    } shows show_canceled;
    RESEND_EVENT = run!(resend_event), "Send an event again" => {
        command "event resend", "Send an event to its endpoints again", "";
        about "To every endpoint that is enabled and lists it now.";
        answers 202, "AnyDeliveries", "The deliveries that wait";
    };
}

async fn read_payment(call: Call) -> CallResult {
    let is_unmasked = reads_unmasked(&call)?;
    let (tenant_key, payment) = find_payment(&call).await?;
    let shown = show_entity(&payment).ok_or_else(Problem::not_found)?;
    let shown = match &*payment {
        Entity::Payment(payment) if is_unmasked => unmasked_payment(shown, payment),
        Entity::CopPayment(payment) if payment.channel == Channel::Sms => {
            let wrong_codes = wrong_codes(&call, tenant_key, payment.id).await?;
            Object::reopened(shown).maybe_number("wrongCodes", wrong_codes).end()
        }
        _ => shown,
    };
    if is_unmasked {
        note_look(&call, "payment.unmask", tenant_key).await?;
    }
    Ok(Done::ok(owned(&call.services.callers, tenant_key, shown)))
}

/// The number of wrong SMS codes that were typed for a payment in pesos; none if its first records are
/// too old to be looked at.
async fn wrong_codes(call: &Call, tenant_key: u64, id: Id) -> Result<Option<usize>, Problem> {
    let entity = EntityId::cop_payment(id);
    let read = move |services: &Services, budget: &ReadBudget| {
        story::read(services.engine.reader(), tenant_key, entity, budget)
    };
    let story = call.read(read).await?;
    let mut codes = WrongCodes::default();
    let wrong = story.moments.iter().filter(|moment| {
        let state = moment.record.entity(entity).map(|state| &**state);
        matches!(state, Some(Entity::CopPayment(payment)) if codes.next(moment.record.cause, payment).is_some())
    });
    let wrong = wrong.count();
    Ok(story.is_whole.then_some(wrong))
}

async fn read_merchant(call: Call) -> CallResult {
    let is_unmasked = reads_unmasked(&call)?;
    let id = call.id()?;
    let (tenant_key, merchant) = find(&call, vec![EntityId::merchant(id)]).await?;
    let Entity::Merchant(merchant) = &*merchant else { return Err(Problem::not_found()) };
    let clear = merchants::show(merchant);
    let shown = if is_unmasked {
        note_look(&call, "merchant.unmask", tenant_key).await?;
        clear
    } else {
        masked(&String::from_utf8_lossy(&clear)).into_bytes()
    };
    Ok(Done::ok(owned(&call.services.callers, tenant_key, shown)))
}

async fn cancel_payment(call: Call) -> CallResult {
    call.body.nothing()?;
    let (tenant_key, payment) = find_payment(&call).await?;
    let not_pending = || {
        Problem::conflict(
            "payment_not_pending",
            "only a C2P intent or a payment in pesos that waits for its payer can be canceled, so nothing \
             was changed; read this payment for its status",
        )
    };
    let id = payment.id();
    match &*payment {
        Entity::Payment(payment) if payment.method() == Method::C2p && payment.status == Status::Pending => {
            let command = payments::Command::CancelIntent.into();
            call.decide(tenant_key, id, command, id.id).await
        }
        Entity::CopPayment(_) => {
            // The processor has a say: the entry goes into the record of its word.
            let by = call.sign_about(call.tenant_of(tenant_key), Some(id.id.to_string()));
            let command = cop_payments::Command::Cancel(by).into();
            call.decide(tenant_key, id, command, id.id).await
        }
        _ => Err(not_pending()),
    }
}

pub fn show_canceled(facts: &Facts<'_>) -> Option<Rendered> {
    match facts.entity? {
        Entity::CopPayment(_) => api::cop_payments::settled(facts),
        _ => api::payments::settled(facts),
    }
}

async fn resend_event(call: Call) -> CallResult {
    call.body.nothing()?;
    let id = call.id()?;
    let tenant_key = tenant_of_event(&call.services, id).await?.ok_or_else(Problem::not_found)?;
    let (body, seq) = webhooks::resend_to_all(&call.services, tenant_key, id, None).await?;
    call.signature.amend(|entry| entry.tenant = call.tenant_of(tenant_key));
    let mut done = Done { status: 202, ..Done::ok(body) };
    done.trace.seq = seq;
    Ok(done)
}

/// The tenant key whose event this is: an event's id carries its number, not its tenant.
pub(super) async fn tenant_of_event(services: &Arc<Services>, id: Id) -> Result<Option<u64>, Problem> {
    let read = move |services: &Services, budget: &ReadBudget| {
        for key in Whose::default().keys(services) {
            budget.spend()?;
            let happened = backlog::numbered(services.engine.reader(), key, id.number())?;
            if happened.is_some_and(|happened| happened.event().id == id) {
                return Ok(Some(key));
            }
        }
        Ok(None)
    };
    services.read_pool.read(services, PLATFORM, read).await
}
