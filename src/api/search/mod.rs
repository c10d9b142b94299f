//! Searching: one text, and everything that it names, whatever its kind (`docs/contract.md, 20.4`).
//!
//! A text is tried as an id, as a name of the tenant's, and as what the index knows of banks'
//! references, transactions and people. Each trial is a seek, so a search costs the same whatever
//! the length of the history; what an entry leads to is compared with the text before it is shown.

pub mod description;
mod items;
mod people;
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
use domain::values::ids::{EntityId, Id, Kind};
use people::{Person, people};
use std::ops::{ControlFlow, RangeInclusive};
use unicode_normalization::UnicodeNormalization;

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
    /// The text in each Unicode normal form: who types é may send one character or two.
    spellings: Vec<String>,
    /// The documents and phones that the text may be.
    people: Vec<Person>,
}

impl Sought {
    /// Reads `q`.
    pub fn read(mut query: Query<'_>) -> Result<Sought, Invalid> {
        let text = kinds::sought(CHARACTERS).about(
            "An id in any case, or a text as it was sent; a document or a phone in any form in which people \
             type them, such as `V-12.345.678` or `0414-1234567`.",
        );
        let text = query.required("q", text);
        let sound = query.finish()?;
        Ok(Sought::of(text.get(&sound)))
    }

    fn of(text: String) -> Sought {
        let mut spellings = vec![text.clone()];
        for spelling in [text.nfc().collect::<String>(), text.nfd().collect()] {
            if !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        }
        Sought { id: Id::parse(&text), people: people(&text), spellings, text }
    }

    /// Whether the text is a document or a phone, and nothing else.
    pub fn is_person(&self) -> bool {
        self.people.iter().any(|person| person.is_plain)
    }

    /// Whether the text may be a document or a phone.
    pub fn may_be_person(&self) -> bool {
        !self.people.is_empty()
    }

    /// The document or the phone that the text most likely is, as people who may not see it are shown it.
    pub fn masked(&self) -> Option<&str> {
        self.people.first().map(|person| &*person.masked)
    }

    /// The text, and no person that it may be.
    pub fn without_people(self) -> Sought {
        Sought { people: Vec::new(), ..self }
    }

    /// Whether something is named so, or begins so, whatever the case and the Unicode normal form.
    pub fn begins(&self, name: &str) -> bool {
        folded(name).starts_with(&folded(&self.text))
    }

    /// The prefixes of the index under which it may be known, with what it is there.
    pub fn prefixes(&self, marks: &PersonMarks) -> Vec<(Trait, String, Vec<u8>)> {
        let hash = (Trait::TxHash, index::searched_hash(&self.text));
        let of_spelling =
            |text: &String| [Trait::BankReference, Trait::Reference].map(|by| (by, text.clone()));
        let people = self.people.iter().map(|person| (person.by, person.text.clone()));
        let found = |(by, text): (Trait, String)| {
            let prefix = index::found_by(marks, by, &text)?;
            Some((by, text, prefix))
        };
        self.spellings.iter().flat_map(of_spelling).chain([hash]).chain(people).filter_map(found).collect()
    }
}

/// A name as names are compared: composed, and in lower case.
fn folded(text: &str) -> String {
    text.nfkc().collect::<String>().to_lowercase()
}

/// GET /v1/search
pub const SEARCH: Endpoint = endpoint(description::TAG, search, || {
    description::search(summary("Search by one text")).refuses(429, &["too_many_attempts"])
});

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
    let mut named = Vec::new();
    for text in &sought.spellings {
        named.extend(list::named(records, text)?);
        for (space, kind) in BY_NAME {
            named.extend(records.named(space, text)?.map(|id| EntityId { kind, id }));
        }
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
