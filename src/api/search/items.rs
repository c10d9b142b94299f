//! The hits of a search, and how they are shown: the kind, the state and the amount of anything.

use crate::checkout::sessions;
use crate::records::{Records, Stopped};
use crate::writer::Object;
use domain::entities::Entity;
use domain::entities::deposit_address::Deposit;
use domain::entities::means::Means;
use domain::entities::payment::Payment;
use domain::entities::session::Session;
use domain::events::EventKind;
use domain::index::Trait;
use domain::platform::Tenant;
use domain::values::ids::{Id, is_live};
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use std::fmt::Display;
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
    pub fn kind(&self) -> &'static str {
        match self {
            Subject::Entity(entity) => match &**entity {
                Entity::Payment(_) | Entity::CopPayment(_) => "payment",
                Entity::Payout(_) => "payout",
                Entity::CopPayout(_) => "cop_payout",
                Entity::CryptoPayout(_) => "crypto_payout",
                Entity::Batch(_) => "batch",
                Entity::Conversion(_) => "conversion",
                Entity::Chargeback(_) => "chargeback",
                Entity::Merchant(_) => "merchant",
                Entity::Session(_) => "checkout_session",
                Entity::Product(_) => "product",
                Entity::Otp(_) => "otp",
                Entity::OwnAccount(_) => "payout_account",
                Entity::DepositAddress(_) => "deposit_address",
                Entity::Webhook(_) => "webhook",
                // Entities of the platform: no tenant's request makes them.
                _ => "other",
            },
            Subject::Link(..) => "payment_link",
            Subject::Event { .. } => "event",
            Subject::Deposit(_) => "crypto_deposit",
            Subject::Tenant(_) => "tenant",
        }
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

/// An item of a search. Of a session the status follows from its attempts, at the instant `now` of
/// its tenant.
pub fn item(
    records: &dyn Records,
    now: Timestamp,
    tenant_id: Option<Id>,
    hit: &Hit,
) -> Result<Vec<u8>, Stopped> {
    let subject = &hit.subject;
    let mode = if is_live(hit.tenant) { "live" } else { "test" };
    let mode = (!matches!(subject, Subject::Tenant(_))).then_some(mode);
    let out = Object::with_capacity(384)
        .plain("kind", subject.kind())
        .plain("id", subject.id())
        .maybe_plain("tenantId", tenant_id)
        .maybe_plain("mode", mode)
        .maybe_plain("status", status(records, now, subject)?);
    let (amount, currency) = amount(subject).unzip();
    Ok(out
        .maybe_plain("amount", amount)
        .maybe_plain("currency", currency)
        .plain("createdAt", subject.made_at())
        .plain("why", hit.why.name())
        .end())
}

fn status(records: &dyn Records, now: Timestamp, subject: &Subject) -> Result<Option<&'static str>, Stopped> {
    Ok(match subject {
        Subject::Entity(entity) => match &**entity {
            Entity::Payment(payment) => Some(payment.status.name()),
            Entity::CopPayment(payment) => Some(payment.status.name()),
            Entity::Payout(payout) => Some(payout.status.name()),
            Entity::CopPayout(payout) => Some(payout.status.name()),
            Entity::CryptoPayout(payout) => Some(payout.status.name()),
            Entity::Conversion(conversion) => conversion.accepted().map(|accepted| accepted.status().name()),
            Entity::Chargeback(chargeback) => Some(chargeback.status.name()),
            Entity::Merchant(merchant) => Some(merchant.status().name()),
            Entity::Session(session) => Some(standing(records, now, session)?),
            _ => None,
        },
        Subject::Link(product, id) => link(product, *id).map(|link| link.status.name()),
        Subject::Tenant(tenant) => Some(tenant.tenant_settings.live_status.name()),
        // A deposit is complete from its beginning: there is none before it is credited.
        Subject::Deposit(_) => Some("completed"),
        Subject::Event { .. } => None,
    })
}

fn standing(records: &dyn Records, now: Timestamp, session: &Session) -> Result<&'static str, Stopped> {
    Ok(sessions::attempts(records, session.id)?.standing(session, now).name())
}

fn amount(subject: &Subject) -> Option<(String, &'static str)> {
    let of = |amount: &dyn Display, currency: &'static str| Some((amount.to_string(), currency));
    match subject {
        Subject::Entity(entity) => match &**entity {
            Entity::Payment(payment) => of_payment(payment),
            Entity::CopPayment(payment) => of(&payment.amount, "COP"),
            Entity::Payout(payout) => of(&payout.amount, "VES"),
            Entity::CopPayout(payout) => of(&payout.amount, "COP"),
            Entity::CryptoPayout(payout) => of(&payout.amount, "USDT"),
            Entity::Conversion(conversion) => conversion.accepted().map(|accepted| {
                let currency: Currency = conversion.source.currency();
                (crate::value::shown_amount(currency, accepted.price.source_minor), currency.code())
            }),
            Entity::Chargeback(chargeback) => of(&chargeback.amount, "VES"),
            Entity::Session(session) => of(&session.amount, "USD"),
            Entity::Product(product) => of(&product.price, "USD"),
            _ => None,
        },
        Subject::Deposit(found) => of(&found.deposit.amount, "USDT"),
        Subject::Link(..) | Subject::Event { .. } | Subject::Tenant(_) => None,
    }
}

fn of_payment(payment: &Payment) -> Option<(String, &'static str)> {
    match &payment.means {
        Means::Usdt { amount, .. } => Some((amount.to_string(), "USDT")),
        Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Transfer { .. } => {
            Some((payment.ves.to_string(), "VES"))
        }
    }
}

pub const KINDS: [&str; 18] = [
    "payment",
    "payout",
    "cop_payout",
    "crypto_payout",
    "crypto_deposit",
    "batch",
    "conversion",
    "chargeback",
    "merchant",
    "checkout_session",
    "product",
    "payment_link",
    "event",
    "webhook",
    "deposit_address",
    "payout_account",
    "otp",
    "tenant",
];
