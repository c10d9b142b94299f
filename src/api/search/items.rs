//! The hits of a search, and how they are shown: the kind, the state and the amount of anything.

use crate::checkout::sessions;
use crate::endpoint::shown;
use crate::entity::{Amount, name_of, of, standing};
use crate::openapi::{schema, values};
use crate::records::{Records, Stopped};
use domain::entities::Entity;
use domain::entities::deposit_address::Deposit;
use domain::events::EventKind;
use domain::index::Trait;
use domain::platform::Tenant;
use domain::values::ids::{Id, Kind, is_live};
use domain::values::time::Timestamp;
use std::borrow::Cow;
use std::sync::Arc;

domain::named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Why {
        Id "id",
        ExternalRef "externalRef",
        /// The reference of a session, a conversion or a payment in pesos.
        Reference "reference",
        BankReference "bankReference",
        RequestId "requestId",
        /// The hash of its transaction.
        TxHash "txHash",
        Document "document",
        Phone "phone",
        Name "name",
    }
}

impl Why {
    /// The reason for what the index knows by a text.
    pub const fn of(by: Trait) -> Why {
        match by {
            Trait::BankReference => Why::BankReference,
            Trait::Reference => Why::Reference,
            Trait::TxHash => Why::TxHash,
            Trait::Document => Why::Document,
            Trait::Phone => Why::Phone,
            Trait::PartId => Why::Id,
        }
    }
}

pub enum Subject {
    Entity(Arc<Entity>),
    Link(Arc<Entity>, Id),
    Event { id: Id, kind: EventKind, at: Timestamp },
    Deposit(Box<FoundDeposit>),
    Tenant(Arc<Tenant>),
}

pub struct FoundDeposit {
    pub deposit: Deposit,
    pub at: Timestamp,
}

pub struct Hit {
    pub tenant: u64,
    pub subject: Subject,
    pub why: Why,
}

impl Hit {
    pub fn of_entity(tenant: u64, entity: Arc<Entity>, why: Why) -> Hit {
        Hit { tenant, subject: Subject::Entity(entity), why }
    }
}

impl Subject {
    pub fn kind(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Subject::Entity(entity) => return name_of(entity.id().kind),
            Subject::Link(..) => "payment_link",
            Subject::Event { .. } => "event",
            Subject::Deposit(_) => "crypto_deposit",
            Subject::Tenant(_) => "tenant",
        })
    }

    pub fn id(&self) -> Id {
        match self {
            Subject::Entity(entity) => entity.id().id,
            Subject::Link(_, id) | Subject::Event { id, .. } => *id,
            Subject::Deposit(found) => found.deposit.id,
            Subject::Tenant(tenant) => tenant.id,
        }
    }

    pub fn made_at(&self) -> Timestamp {
        match self {
            Subject::Entity(entity) => entity.created_at(),
            Subject::Link(product, id) => {
                link(product, *id).map_or_else(|| product.created_at(), |link| link.created_at)
            }
            Subject::Event { at, .. } => *at,
            Subject::Deposit(found) => found.at,
            Subject::Tenant(tenant) => tenant.created_at,
        }
    }
}

fn link(product: &Entity, id: Id) -> Option<&domain::entities::product::Link> {
    match product {
        Entity::Product(product) => product.link(id),
        _ => None,
    }
}

/// The kinds of hits in the order of the description, in which new ones come last.
fn kinds() -> Vec<Cow<'static, str>> {
    let described = "payment payout cop_payout crypto_payout crypto_deposit batch conversion chargeback merchant \
         checkout_session product payment_link event webhook deposit_address payout_account otp tenant";
    let mut kinds: Vec<_> = described.split(' ').map(Cow::Borrowed).collect();
    for kind in Kind::ALL.map(name_of) {
        if kind != "other" && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// An item of a search. Of a session the status follows from its attempts, at the instant `now` of
/// its tenant.
pub fn item(
    records: &dyn Records,
    now: Timestamp,
    tenant_id: Option<Id>,
    hit: &Hit,
) -> Result<Vec<u8>, Stopped> {
    let (status, amount) = match &hit.subject {
        Subject::Entity(entity) => match &**entity {
            Entity::Session(session) => {
                let status = sessions::attempts(records, session.id)?.standing(session, now).name();
                (Some(status), standing(entity).1)
            }
            entity => standing(entity),
        },
        Subject::Link(product, id) => (link(product, *id).map(|link| link.status.name()), None),
        Subject::Event { .. } => (None, None),
        // A deposit is complete from its beginning: there is none before it is credited.
        Subject::Deposit(found) => (Some("completed"), of(found.deposit.amount, "USDT")),
        Subject::Tenant(tenant) => (Some(tenant.tenant_settings.live_status.name()), None),
    };
    Ok(show(hit, tenant_id, status, amount))
}

shown! {
    fn show(hit: &Hit, tenant: Option<Id>, status: Option<&str>, amount: Option<Amount>), schema, 384 {
        plain "kind" = hit.subject.kind(), schema::one_of(kinds().iter().map(|kind| &**kind));
        plain "id" = hit.subject.id(), values::uuid();
        maybe plain "tenantId" = tenant, values::uuid();
        maybe plain "mode" = mode(hit), schema::one_of(["live", "test"]).about("Null of a tenant.");
        maybe plain "status" = status, schema::text().about("As the thing's own endpoint shows it.");
        maybe plain "amount" = amount.as_ref().map(|(amount, _)| amount),
            schema::text().pattern(r"^(0|[1-9][0-9]*)(\.[0-9]+)?$").example("\"100.00\"");
        maybe plain "currency" = amount.as_ref().map(|(_, currency)| currency), schema::one_of(["VES", "COP", "USDT", "USD"]);
        plain "createdAt" = hit.subject.made_at(), values::instant();
        plain "why" = hit.why.name(), schema::one_of(Why::ALL.map(Why::name)).about("What of it the text is.");
    }
}

fn mode(hit: &Hit) -> Option<&'static str> {
    let mode = if is_live(hit.tenant) { "live" } else { "test" };
    (!matches!(hit.subject, Subject::Tenant(_))).then_some(mode)
}
