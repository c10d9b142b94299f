//! Searching: one text, and everything that it names, whatever its kind (`docs/contract.md, 20.4`).
//!
//! A text is tried as an id, as a name of the tenant's, and as what the index knows of banks'
//! references, transactions and people. Each trial is a seek, so a search costs the same whatever
//! the length of the history; what an entry leads to is compared with the text before it is shown.

pub mod description;
mod items;
mod traits;

pub use items::{FoundDeposit, Hit, Subject, Why, item};

use crate::fields::Invalid;
use crate::kind::Kind as _;
use crate::openapi::kinds;
use crate::openapi::operation::summary;
use crate::payments::list;
use crate::plan::{Call, Plan, Work};
use crate::problem::Problem;
use crate::products::links;
use crate::query::Query;
use crate::records::{Records, Unread};
use crate::routes::{Endpoint, endpoint};
use domain::index::{self, Found, PersonMarks, Space, Trait};
use domain::record::Entity;
use domain::values::buyer::{ColombianPhone, DocumentNumber};
use domain::values::identity::IdentityDocument;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::phone::MobilePhone;
use std::ops::{ControlFlow, RangeInclusive};

/// The most hits of a search.
pub const HITS_MAX: usize = 50;
/// Characters of what is searched for.
const CHARACTERS: RangeInclusive<usize> = 1..=128;

/// The kinds that are found by their ids.
const BY_ID: [Kind; 11] = [
    Kind::Payment,
    Kind::CopPayment,
    Kind::Payout,
    Kind::CopPayout,
    Kind::CryptoPayout,
    Kind::Batch,
    Kind::Conversion,
    Kind::Chargeback,
    Kind::Merchant,
    Kind::Session,
    Kind::Product,
];

/// The kinds that are found by a reference of the tenant's that is unique.
const BY_NAME: [(Space, Kind); 5] = [
    (Space::Payout, Kind::Payout),
    (Space::Merchant, Kind::Merchant),
    (Space::Batch, Kind::Batch),
    (Space::CryptoPayout, Kind::CryptoPayout),
    (Space::CopPayout, Kind::CopPayout),
];

/// A text that is searched for, and what it can be.
#[derive(Clone)]
pub struct Sought {
    /// The text, without white space around it.
    pub text: String,
    id: Option<Id>,
    /// The traits and texts under which the index may know it.
    traits: Vec<(Trait, String)>,
}

impl Sought {
    /// Reads `q`.
    pub fn read(mut query: Query<'_>) -> Result<Sought, Invalid> {
        let text = kinds::sought(CHARACTERS)
            .about("An id in any case, or a text as it was sent; a document or a phone as in bodies.");
        let text = query.required("q", text);
        let sound = query.finish()?;
        Ok(Sought::of(text.get(&sound)))
    }

    fn of(text: String) -> Sought {
        let mut traits = vec![
            (Trait::BankReference, text.clone()),
            (Trait::Reference, text.clone()),
            (Trait::TxHash, index::searched_hash(&text)),
        ];
        if let Ok(document) = IdentityDocument::parse(&text) {
            traits.push((Trait::Document, document.clear().to_string()));
        }
        if let Ok(document) = DocumentNumber::parse(&text) {
            traits.push((Trait::Document, document.clear().to_owned()));
        }
        if let Ok(phone) = MobilePhone::parse(&text) {
            traits.push((Trait::Phone, phone.clear().to_string()));
        }
        if let Ok(phone) = ColombianPhone::parse(&text) {
            traits.push((Trait::Phone, phone.clear().to_string()));
        }
        Sought { id: Id::parse(&text), text, traits }
    }

    /// The prefixes of the index under which it may be known, with what it is there.
    pub fn prefixes(&self, marks: &PersonMarks) -> Vec<(Trait, String, Vec<u8>)> {
        let found =
            |(by, text): &(Trait, String)| Some((*by, text.clone(), index::found_by(marks, *by, text)?));
        self.traits.iter().filter_map(found).collect()
    }
}

/// GET /v1/search
pub const SEARCH: Endpoint =
    endpoint(description::TAG, search, || description::search(summary("Search by one text")));

fn search(call: &Call<'_>) -> Result<Plan, Problem> {
    Ok(Plan::Work(Work::Search(call.asked(Sought::read)?)))
}

/// GET /v1/requests/:requestId
pub const REQUEST: Endpoint = endpoint(description::TAG, request, || {
    summary("Read what became of a request")
        .about(
            "Of 30 days, as far as `[requests] bytes_max` allows; of several requests with one id the \
             newest. Bodies are not kept.",
        )
        .answers(200, "LoggedRequest", "The request")
        .refuses(404, &["not_found"])
});

fn request(call: &Call<'_>) -> Result<Plan, Problem> {
    Ok(Plan::Work(Work::Request((call.path)("requestId"))))
}

/// Adds what a text names within a tenant key, but for what is known by more than the tenant's
/// records: requests, and tenants' names.
pub fn within(
    records: &dyn Records,
    sought: &Sought,
    marks: &PersonMarks,
    hits: &mut Vec<Hit>,
) -> Result<(), Unread> {
    by_id(records, sought, hits)?;
    by_name(records, sought, hits)?;
    for (by, text, prefix) in sought.prefixes(marks) {
        by_trait(records, by, &text, &prefix, hits)?;
    }
    Ok(())
}

/// Adds what has the text as its id.
pub fn by_id(records: &dyn Records, sought: &Sought, hits: &mut Vec<Hit>) -> Result<(), Unread> {
    let Some(id) = sought.id else { return Ok(()) };
    let tenant = records.tenant_key();
    for kind in BY_ID {
        // A quote is no conversion yet.
        let is_shown = |entity: &Entity| match entity {
            Entity::Conversion(conversion) => conversion.accepted().is_some(),
            _ => true,
        };
        if let Some(entity) = records.entity(EntityId { kind, id })?.filter(|entity| is_shown(entity)) {
            hits.push(Hit::of_entity(tenant, entity, Why::Id));
        }
    }
    let (whole, part) = id.entity_and_operation();
    if part > 0 {
        // A link of a product, or an operation with a bank.
        if let Some(product) = records.entity(domain::resources::products::product_of(id))?
            && links::has(&product, id)
        {
            hits.push(Hit { tenant, subject: Subject::Link(product, id), why: Why::Id });
        }
        for kind in [Kind::Payment, Kind::CopPayment, Kind::Payout] {
            if let Some(entity) = records.entity(EntityId { kind, id: whole })?
                && crate::payments::operations::show(id, part, &entity).is_some()
            {
                hits.push(Hit::of_entity(tenant, entity, Why::Id));
            }
        }
    }
    if let Some((kind, at)) = crate::events::pages::named(records, id)? {
        hits.push(Hit { tenant, subject: Subject::Event { id, kind, at }, why: Why::Id });
    }
    let text = id.to_string();
    if let Some(prefix) = index::found_by(&PersonMarks::default(), Trait::PartId, &text) {
        by_trait(records, Trait::PartId, &text, &prefix, hits)?;
    }
    Ok(())
}

/// Adds what has the text as the tenant's own reference.
pub fn by_name(records: &dyn Records, sought: &Sought, hits: &mut Vec<Hit>) -> Result<(), Unread> {
    let tenant = records.tenant_key();
    let mut named = list::named(records, &sought.text)?;
    for (space, kind) in BY_NAME {
        named.extend(records.named(space, &sought.text)?.map(|id| EntityId { kind, id }));
    }
    for id in named {
        hits.extend(records.entity(id)?.map(|entity| Hit::of_entity(tenant, entity, Why::ExternalRef)));
    }
    Ok(())
}

/// Adds what the index knows by a text, newest first.
pub fn by_trait(
    records: &dyn Records,
    by: Trait,
    text: &str,
    prefix: &[u8],
    hits: &mut Vec<Hit>,
) -> Result<(), Unread> {
    let tenant = records.tenant_key();
    let (mut found, mut looks) = (0, 0);
    records.newest_entries(vec![index::found_within(prefix, tenant)], None, None, &mut |suffix, _| {
        looks += 1;
        let hit = match index::found(suffix) {
            Some(Found::Entity(id)) => {
                let entity = records.entity(id)?.filter(|entity| traits::has(entity, by, text));
                entity.map(|entity| Hit::of_entity(tenant, entity, Why::of(by)))
            }
            Some(Found::Deposit(id)) => {
                let key = [&index::found_within(prefix, tenant), suffix].concat();
                let deposit = traits::deposit(records, &key, id)?;
                deposit.filter(|deposit| deposit.has(by, text)).map(|deposit| Hit {
                    tenant,
                    subject: Subject::Deposit(Box::new(deposit)),
                    why: Why::of(by),
                })
            }
            None => None,
        };
        found += usize::from(hit.is_some());
        hits.extend(hit);
        // Entities that have gone or changed since are passed over, but not for ever.
        let enough = found == HITS_MAX || looks == 10 * HITS_MAX;
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })
}

/// The hits that are shown: each once, by the first reason for which it was found, newest first.
pub fn newest(mut hits: Vec<Hit>) -> Vec<Hit> {
    let mut known = std::collections::BTreeSet::new();
    hits.retain(|hit| known.insert((hit.tenant, hit.subject.kind(), hit.subject.id())));
    hits.sort_by_key(|hit| std::cmp::Reverse((hit.subject.made_at(), hit.subject.id())));
    hits.truncate(HITS_MAX);
    hits
}
