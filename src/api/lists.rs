//! Lists of entities with filters, of one tenant or across all: `GET /v1/payments` and its kin, and
//! their twins for operators.
//!
//! A list walks over parts of the index, newest first. Filters that are in the index choose the
//! parts; the others look at each entity, and a page looks at a bounded number: a page may be short
//! and still have a next one. So a page costs the same whatever the length of the history.

use crate::fields::{Got, Kind as _, gather};
use crate::openapi::kinds;
use crate::page::{Page, page_json};
use crate::query::Query;
use crate::records::{Answered, Records, Stopped, Unread, another_kind};
use domain::entities::{Entity, Minor};
use domain::index::{self, Found, PersonMarks, Trait};
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::money::decimals;
use domain::values::time::Timestamp;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The most entities that a page looks at.
const LOOKS_MAX: usize = 10_000;
/// The time by which an id may be older than its entity: the longest that a request waits before it
/// is decided on, and more.
const SKEW_MS: i64 = 60 * 60 * 1000;

/// The parts of the index that a list walks over.
enum Parts {
    /// In the order of the entities' ids.
    ById(Vec<(Kind, u8)>),
    /// In the order of the instants at which the entities were made.
    ByTime(Vec<(Kind, u8)>),
    FoundBy(Trait, String),
}

/// The test of an entity by filters that are not in the index.
pub type Keep = Box<dyn Fn(&Entity) -> bool + Send + Sync>;

pub struct List {
    parts: Parts,
    span: Span,
    keep: Keep,
}

/// The instants between which the entities of a list were made, and the bounds of their amounts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    /// In hundredths, whatever the decimals of the currency.
    least: Option<i64>,
    most: Option<i64>,
}

/// Reads the status of entities of a kind that the index lists by their status alone; each status is given by
/// its name and its facet.
pub fn by_status<const N: usize>(
    query: &mut Query<'_>,
    kind: Kind,
    statuses: [(&'static str, u8); N],
) -> Got<List> {
    gather!(query {
        optional asked = "status", kinds::one_of(statuses);
        got span = Span::read(query);
    } => {
        let facets = statuses.into_iter().map(|(_, facet)| facet);
        let listed = facets.filter(|each| asked.is_none_or(|asked| asked == *each));
        List::of(listed.map(|facet| (kind, facet)).collect(), span, Box::new(|_| true))
    })
}

impl Span {
    /// Reads `from`, `to`, `minAmount` and `maxAmount`.
    pub fn read(query: &mut Query<'_>) -> Got<Span> {
        gather!(query {
            optional from = "from", kinds::instant().about("Made at this instant or later.");
            optional to = "to", kinds::instant().about("Made before this instant.");
            optional least = "minAmount", kinds::cents().about("Of this amount or more, in its own currency.");
            optional most = "maxAmount", kinds::cents().about("Of this amount or less, in its own currency.");
        } => Span { from, to, least, most })
    }

    /// From this instant on.
    pub fn since(from: Timestamp) -> Span {
        Span { from: Some(from), ..Span::default() }
    }

    pub fn includes(&self, entity: &Entity) -> bool {
        let at = entity.created_at();
        self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at < to) && self.holds(entity)
    }

    /// Whether the amount is within its bounds; what has none is within no bound.
    fn holds(&self, entity: &Entity) -> bool {
        if self.least.is_none() && self.most.is_none() {
            return true;
        }
        let hundredths = |(minor, currency): Minor| {
            10_i64.checked_pow(2_u32.checked_sub(decimals(currency))?)?.checked_mul(minor)
        };
        entity.amount().and_then(hundredths).is_some_and(|amount| {
            self.least.is_none_or(|least| amount >= least) && self.most.is_none_or(|most| amount <= most)
        })
    }

    /// Whether neither an entity nor any that follows it was made late enough.
    fn is_passed(&self, entity: &Entity) -> bool {
        self.from.is_some_and(|from| entity.created_at().unix_ms() < from.unix_ms().saturating_sub(SKEW_MS))
    }
}

/// A part of a list: its prefix in the index, whose it is, and the kind of its entities if its
/// entries do not say.
struct Part {
    prefix: Vec<u8>,
    tenant: u64,
    kind: Option<Kind>,
}

impl Part {
    fn entity(&self, suffix: &[u8]) -> Result<EntityId, Stopped> {
        let named = match self.kind {
            Some(kind) => suffix.last_chunk::<16>().map(|id| EntityId { kind, id: Id::from_bytes(*id) }),
            None => match index::found(suffix) {
                Some(Found::Entity(id)) => Some(id),
                Some(Found::Deposit(_)) | None => None,
            },
        };
        named.ok_or_else(|| Stopped::Unreadable("a list entry without an id".to_owned()))
    }
}

pub struct Tenants<'a> {
    pub keys: &'a [u64],
    /// Reads the newest state of an entity of a tenant key.
    pub entity: &'a dyn Fn(u64, EntityId) -> Result<Option<Arc<Entity>>, Stopped>,
    /// Whether an entity is wanted by what its own state does not say.
    pub wanted: &'a dyn Fn(&Entity) -> Result<bool, Stopped>,
    pub show: &'a dyn Fn(u64, &Entity) -> Option<Vec<u8>>,
}

/// An entity that a list has, and its place in the index.
struct Step<'a> {
    suffix: &'a [u8],
    tenant: u64,
    entity: &'a Entity,
}

/// What a list comes to.
#[derive(Debug, Default)]
pub struct Totals {
    pub count: usize,
    /// By state: what failed is no money.
    pub by_status: BTreeMap<&'static str, OfStatus>,
    /// Whether nothing older was left out.
    pub is_whole: bool,
}

#[derive(Debug, Default)]
pub struct OfStatus {
    pub count: usize,
    /// Minor units, by currency.
    pub sums: BTreeMap<&'static str, i64>,
}

impl List {
    /// The entities with these kinds and facets, sorted by their ids.
    pub fn of(listed: Vec<(Kind, u8)>, span: Span, keep: Keep) -> List {
        List { parts: Parts::ById(listed), span, keep }
    }

    /// The entities with these kinds and facets, which the index sorts by time.
    pub fn by_time(listed: Vec<(Kind, u8)>, span: Span, keep: Keep) -> List {
        List { parts: Parts::ByTime(listed), span, keep }
    }

    /// The entities that have a text. The index may know others by the same hash: `keep` has to
    /// compare.
    pub fn found_by(by: Trait, text: String, span: Span, keep: Keep) -> List {
        List { parts: Parts::FoundBy(by, text), span, keep }
    }

    /// The kinds and facets that are listed.
    pub fn listed(&self) -> &[(Kind, u8)] {
        match &self.parts {
            Parts::ById(listed) | Parts::ByTime(listed) => listed,
            Parts::FoundBy(..) => &[],
        }
    }

    pub fn has(&self, entity: &Entity) -> bool {
        self.span.includes(entity) && (self.keep)(entity)
    }

    pub fn page(
        &self,
        records: &dyn Records,
        page: &Page,
        show: &dyn Fn(&Entity) -> Option<Vec<u8>>,
    ) -> Answered {
        self.page_of(records, page, &|_| Ok(true), show)
    }

    /// A page of one tenant's list, of what is wanted by what the entities do not say themselves.
    pub fn page_of(
        &self,
        records: &dyn Records,
        page: &Page,
        wanted: &dyn Fn(&Entity) -> Result<bool, Stopped>,
        show: &dyn Fn(&Entity) -> Option<Vec<u8>>,
    ) -> Answered {
        let tenants = Tenants {
            keys: &[records.tenant_key()],
            entity: &|_, id| records.entity(id),
            wanted,
            show: &|_, entity| show(entity),
        };
        self.page_across(records, &tenants, page)
    }

    pub fn page_across(&self, records: &dyn Records, tenants: &Tenants<'_>, page: &Page) -> Answered {
        let bound = self.bound();
        let before = [page.after.as_deref(), bound.as_deref()].into_iter().flatten().min();
        let (mut items, mut next, mut last_shown) = (Vec::with_capacity(page.limit), None, Vec::new());
        // Entries up to the page's limit are free; more are taken from the read budget.
        let stopped = self.walk(records, tenants, before, (page.limit, LOOKS_MAX), &mut |step| {
            if items.len() == page.limit {
                next = Some(page.next(&last_shown));
                return Ok(ControlFlow::Break(()));
            }
            let shown = (tenants.show)(step.tenant, step.entity);
            items.push(shown.ok_or_else(|| another_kind(step.entity.id()))?);
            last_shown = step.suffix.to_vec();
            Ok(ControlFlow::Continue(()))
        })?;
        next = next.or_else(|| stopped.map(|last| page.next(&last)));
        Ok(page_json(items, next.as_deref()))
    }

    /// What the list comes to, of at most so many entities, the newest.
    pub fn totals(
        &self,
        records: &dyn Records,
        tenants: &Tenants<'_>,
        looks_max: usize,
        status: fn(&Entity) -> Option<&'static str>,
    ) -> Result<Totals, Unread> {
        let mut totals = Totals::default();
        let is_whole = self.each(records, tenants, looks_max, &mut |entity| {
            totals.count += 1;
            let of = totals.by_status.entry(status(entity).unwrap_or_default()).or_default();
            of.count += 1;
            if let Some((minor, currency)) = entity.amount() {
                let sum: &mut i64 = of.sums.entry(currency).or_default();
                *sum = sum.saturating_add(minor);
            }
        })?;
        Ok(Totals { is_whole, ..totals })
    }

    /// Every entity that the list has, newest first, of at most so many that are looked at; whether none was left out.
    pub fn each(
        &self,
        records: &dyn Records,
        tenants: &Tenants<'_>,
        looks_max: usize,
        each: &mut dyn FnMut(&Entity),
    ) -> Result<bool, Unread> {
        let stopped = self.walk(records, tenants, self.bound().as_deref(), (0, looks_max), &mut |step| {
            each(step.entity);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(stopped.is_none())
    }

    /// Walks over the entities that the list has, newest first, and looks at no more than so many; the place at
    /// which it stopped for that.
    fn walk(
        &self,
        records: &dyn Records,
        tenants: &Tenants<'_>,
        before: Option<&[u8]>,
        (free, looks_max): (usize, usize),
        each: &mut dyn FnMut(Step<'_>) -> Result<ControlFlow<()>, Unread>,
    ) -> Result<Option<Vec<u8>>, Unread> {
        let parts = self.parts(tenants.keys);
        let (mut looks, mut last, mut stopped) = (0, Vec::new(), None);
        let prefixes = parts.iter().map(|part| part.prefix.clone()).collect();
        records.newest_entries(prefixes, before, None, &mut |suffix, place| {
            if looks == looks_max {
                stopped = Some(last.clone());
                return Ok(ControlFlow::Break(()));
            }
            looks += 1;
            if looks > free {
                records.spend()?;
            }
            last = suffix.to_vec();
            let part = &parts[place];
            // Gone since it was listed: a merchant that was deleted.
            let Some(entity) = (tenants.entity)(part.tenant, part.entity(suffix)?)? else {
                return Ok(ControlFlow::Continue(()));
            };
            if self.span.is_passed(&entity) {
                return Ok(ControlFlow::Break(()));
            }
            if !self.has(&entity) || !(tenants.wanted)(&entity)? {
                return Ok(ControlFlow::Continue(()));
            }
            each(Step { suffix, tenant: part.tenant, entity: &entity })
        })?;
        Ok(stopped)
    }

    /// The parts of tenants, in the order of the index.
    fn parts(&self, tenants: &[u64]) -> Vec<Part> {
        let mut parts: Vec<Part> = match &self.parts {
            Parts::ById(listed) | Parts::ByTime(listed) => tenants
                .iter()
                .flat_map(|tenant| {
                    listed.iter().map(|(kind, facet)| Part {
                        prefix: index::list(*tenant, *kind, *facet),
                        tenant: *tenant,
                        kind: Some(*kind),
                    })
                })
                .collect(),
            Parts::FoundBy(by, text) => {
                let found = index::found_by(&PersonMarks::default(), *by, text);
                let part = |tenant: &u64| {
                    let prefix = index::found_within(found.as_deref()?, *tenant);
                    Some(Part { prefix, tenant: *tenant, kind: None })
                };
                tenants.iter().filter_map(part).collect()
            }
        };
        parts.sort_unstable_by(|one, other| one.prefix.cmp(&other.prefix));
        parts
    }

    /// The place before which everything is that was made before the end of the span. Ids are never
    /// younger than their entities.
    fn bound(&self) -> Option<Vec<u8>> {
        let to = self.span.to?;
        Some(match &self.parts {
            Parts::ByTime(_) => index::time_bytes(to).to_vec(),
            Parts::ById(_) | Parts::FoundBy(..) => index::time_bytes(to)[2..].to_vec(),
        })
    }
}
