//! What pages count in books, each partition in its own: the page asks all of them and puts it together
//! ([`Inside::parts`](crate::pages::inside::Inside::parts)). No browser asks for it.

use super::counts::{self, Untaken};
use super::{Here, lists, subject, verdict};
use crate::admin;
use crate::gateway::services::Services;
use crate::http::respond::Reply;
use crate::pages::inside::{Refused, with_query};
use crate::pages::show::str_of;
use crate::pages::site::Shown;
use crate::pages::view::Fact;
use crate::store::history;
use crate::store::read_budget::ReadBudget;
use api::page::list_json;
use api::problem::Problem;
use domain::entities::Entity;
use domain::values::ids::{EntityId, Id, Mode, PLATFORM};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const AT: &str = "/console/parts";
/// Their ids have to fit in the head of a request.
const SUBJECTS_MAX: usize = 500;

/// GET /console/parts/:id
pub async fn answer(visit: &Here<'_>) -> Result<Shown, Problem> {
    let items = match visit.id() {
        "queues" => vec![json(&counted(visit).await?)?],
        "today" => vec![json(&verdict::ways_today(visit.services).await?)?],
        "sums" => vec![json(&lists::sums(visit).await?)?],
        "second-persons" => second_persons_here(visit)?.iter().map(json).collect::<Result<_, _>>()?,
        "subjects" => subjects_here(visit).await?.iter().map(json).collect::<Result<_, _>>()?,
        _ => return Err(Problem::not_found()),
    };
    Ok(Shown::Raw(Reply::json(200, list_json(items))))
}

fn json(of: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(of).map_err(Problem::internal_error)
}

/// What waits in queues, beside what lists of the API show of it.
#[derive(Default, Serialize, Deserialize)]
pub struct Counted {
    pub untaken: Untaken,
    /// Of the queues that are longer than a page.
    pub lengths: BTreeMap<String, usize>,
}

async fn counted(visit: &Here<'_>) -> Result<Counted, Problem> {
    let mode = if visit.query.text("mode") == Mode::Test.name() { Mode::Test } else { Mode::Live };
    let long: Vec<String> = visit.query.text("long").split(',').map(str::to_owned).collect();
    let pool = &visit.services.read_pool;
    let untaken = pool.read(visit.services, PLATFORM, counts::find).await?;
    if visit.query.text("long").is_empty() {
        return Ok(Counted { untaken, lengths: BTreeMap::new() });
    }
    let count = move |services: &Services, budget: &ReadBudget| {
        let mut lengths = BTreeMap::new();
        for name in long {
            let length = counts::of(services, &name, mode, budget)?;
            lengths.insert(name, length);
        }
        Ok(lengths)
    };
    Ok(Counted { untaken, lengths: pool.read_long(visit.services, PLATFORM, count).await? })
}

pub async fn queues(visit: &Here<'_>, mode: Mode, long: &[&str]) -> Result<Counted, Refused> {
    let asked = with_query(&format!("{AT}/queues"), &[("mode", mode.name()), ("long", &long.join(","))]);
    let mut all = Counted::default();
    for part in visit.inside.parts::<Counted>(&asked).await? {
        all.untaken.dead.extend(part.untaken.dead);
        all.untaken.given_up.extend(part.untaken.given_up);
        for (name, length) in part.lengths {
            *all.lengths.entry(name).or_default() += length;
        }
    }
    all.untaken.given_up.sort_by(|one, other| other.at.cmp(&one.at));
    Ok(all)
}

/// The subject of a call that waits for a second person, from the books of the partition in which it waits.
#[derive(Serialize, Deserialize)]
pub struct About {
    approval: String,
    pub mode: Option<String>,
    pub facts: Vec<Fact>,
}

fn asked_of<'v>(visit: &'v Here<'_>) -> impl Iterator<Item = Id> + 'v {
    visit.query.text("of").split(',').filter_map(Id::parse)
}

async fn subjects_here(visit: &Here<'_>) -> Result<Vec<About>, Problem> {
    let mut about = Vec::new();
    for id in asked_of(visit) {
        let Some(shown) = admin::show_approval(visit.services, id)? else { continue };
        let item: Value = serde_json::from_slice(&shown).map_err(Problem::internal_error)?;
        let mode = subject::mode(visit.services, &item)?.map(|mode| mode.name().to_owned());
        about.push(About { approval: id.to_string(), mode, facts: subject::of(visit, &item).await? });
    }
    Ok(about)
}

/// By the id of the approval.
pub async fn subjects(visit: &Here<'_>, approvals: &[Value]) -> Result<BTreeMap<String, About>, Refused> {
    let found: Vec<About> = of_approvals(visit, "subjects", approvals).await?;
    Ok(found.into_iter().map(|about| (about.approval.clone(), about)).collect())
}

fn second_persons_here(visit: &Here<'_>) -> Result<Vec<(String, String)>, Problem> {
    let mut persons = Vec::new();
    for id in asked_of(visit) {
        let found = history::entity(visit.services.engine.reader(), PLATFORM, EntityId::approval(id))?;
        let Some(Entity::Approval(approval)) = found.as_deref() else { continue };
        persons.extend(
            approval.decision.as_ref().map(|decision| (id.to_string(), decision.by.name.to_string())),
        );
    }
    Ok(persons)
}

/// Who decided, by the id of the approval.
pub async fn second_persons(
    visit: &Here<'_>,
    entries: &[Value],
) -> Result<BTreeMap<String, String>, Refused> {
    let found: Vec<(String, String)> = of_approvals(visit, "second-persons", entries).await?;
    Ok(found.into_iter().collect())
}

/// What the partitions that have the approvals of these items say of them.
async fn of_approvals<T: DeserializeOwned>(
    visit: &Here<'_>,
    what: &str,
    items: &[Value],
) -> Result<Vec<T>, Refused> {
    let ids: BTreeSet<&str> =
        items.iter().map(|item| str_of(item, "approvalId")).filter(|id| !id.is_empty()).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let mut found = Vec::new();
    for some in ids.chunks(SUBJECTS_MAX) {
        let asked = [("of", &*some.join(",")), ("lang", visit.language.code())];
        found.extend(visit.inside.parts::<T>(&with_query(&format!("{AT}/{what}"), &asked)).await?);
    }
    Ok(found)
}
