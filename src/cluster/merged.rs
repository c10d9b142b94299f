//! What operators read over all partitions: each partition's leader is asked for its part, at the same time, with the
//! caller's own headers, so that who may read what is decided there as it is with one partition. A refusal of any is
//! the answer; one that gives no answer is named in a header instead.
//!
//! How pages, sums and figures are put together is in the files below.

mod metrics;
mod pages;
mod statement;
mod status;

use super::passing::Passing;
use super::peers::Surface;
use super::reports::Partition;
use crate::http::accept;
use crate::http::body::Inbound;
use crate::http::listen::Arrival;
use crate::http::respond::{JSON, Reply, RequestId, TEXT};
use api::endpoint::Later;
use api::page::{ListOf, Page, bad_cursor, list_json, page_json};
use api::problem::Problem;
use api::query::{self, sent_parameters};
use api::search::HITS_MAX;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use domain::values::ids::{Id, PLATFORM};
use domain::values::time::Timestamp;
use futures_util::future::join_all;
use http_body_util::{BodyExt as _, Limited};
use hyper::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Uri, Version};
use pages::{Item, Part, Place};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use statement::Statement;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The partitions that could not be asked: `2,5`.
pub const MISSING: HeaderName = HeaderName::from_static("pasarela-partitions-missing");
const CSV: &str = "text/csv";
const SEARCH: &str = "/admin/search";
const STATEMENT: &str = "/admin/statements";
const STATUS: &str = "/admin/status";
/// What pages of the console count in the books of each partition, below this.
pub(super) const PARTS: &str = "/console/parts/";
/// Of one partition's answer: a hundred of the longest items.
const PART_BYTES_MAX: usize = 32 << 20;

/// The pages of a list, each by its query.
pub type Pages = Arc<dyn Fn(String) -> Later<'static, Bytes> + Send + Sync>;

/// The CSV of a first page and those after it. How it is written, a higher room knows.
type Written = dyn FnOnce(&[u8], Pages, RequestId) -> Result<Reply, Problem> + Send;

/// A list as CSV.
pub struct Csv {
    /// The query of the first page.
    pub first: String,
    pub written: Box<Written>,
}

/// By path, headers and query of who wants CSV; none where there is none, or the query is bad.
pub type Exports = fn(&str, &HeaderMap, Option<&str>) -> Option<Csv>;

/// What is put together of the answers of several partitions.
#[derive(Clone, Copy)]
enum Merging {
    List(&'static List),
    Search,
    Statement,
    Status,
}

impl Merging {
    fn of(path: &str) -> Option<Merging> {
        match path {
            SEARCH => Some(Merging::Search),
            STATEMENT => Some(Merging::Statement),
            STATUS => Some(Merging::Status),
            path => LISTS.iter().find(|list| list.path == path).map(Merging::List),
        }
    }

    fn is_of_platform(self) -> bool {
        matches!(self, Merging::List(list) if list.is_of_platform)
    }
}

pub(super) fn is_merged(path: &str) -> bool {
    Merging::of(path).is_some()
}

/// JSON, and the partitions that are not in it.
type Read = (Vec<u8>, BTreeSet<usize>);

/// A list whose rows are in several partitions.
struct List {
    path: &'static str,
    /// The members that tell when an item was made, the first that there is; if none is there, or none is named, its
    /// id does.
    times: &'static [&'static str],
    id: &'static str,
    /// Whether rows about a tenant are in the first partition, too.
    is_of_platform: bool,
}

const fn by_id(path: &'static str, id: &'static str) -> List {
    List { path, times: &[], id, is_of_platform: false }
}

const LISTS: [List; 10] = [
    by_id("/admin/payments", "id"),
    by_id("/admin/payouts", "payoutId"),
    List { times: &["createdAt"], ..by_id("/admin/conversions", "id") },
    by_id("/admin/cop-payouts", "id"),
    by_id("/admin/chargebacks", "chargebackId"),
    by_id("/admin/webhooks/deliveries", "id"),
    List { times: &["contradictedAt", "sentAt"], ..by_id("/admin/operations", "operationId") },
    by_id("/admin/crypto/payouts", "id"),
    by_id("/admin/approvals", "approvalId"),
    List { times: &["at"], is_of_platform: true, ..by_id("/admin/audit", "id") },
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    items: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
}

impl List {
    fn item(&self, json: Box<RawValue>) -> Option<Item> {
        let members: HashMap<String, &RawValue> = serde_json::from_str(json.get()).ok()?;
        let text = |name: &str| serde_json::from_str::<Option<String>>(members.get(name)?.get()).ok()?;
        let id = text(self.id)?;
        let order = match self.times.iter().find_map(|name| text(name)) {
            Some(time) => format!("{time} {id}"),
            None if self.times.is_empty() => id,
            None => format!("{} {id}", Timestamp::from_unix_ms(Id::parse(&id)?.unix_ms())),
        };
        Some(Item { order, json })
    }

    fn part(&self, page: &[u8]) -> Option<Part> {
        let listed: Listed = serde_json::from_slice(page).ok()?;
        let items: Option<Vec<Item>> = listed.items.into_iter().map(|item| self.item(item)).collect();
        let next = match listed.next_cursor {
            Some(cursor) => Place::After(URL_SAFE_NO_PAD.decode(cursor).ok()?),
            None => Place::End,
        };
        Some(Part { items: items?, next })
    }
}

#[derive(Deserialize)]
struct Found {
    items: Vec<Box<RawValue>>,
}

/// What a search found.
struct Hit {
    kind: String,
    id: String,
    created_at: String,
    json: Box<RawValue>,
}

impl Hit {
    fn of(json: Box<RawValue>) -> serde_json::Result<Hit> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Members {
            kind: String,
            id: String,
            created_at: Option<String>,
        }
        let Members { kind, id, created_at } = serde_json::from_str(json.get())?;
        Ok(Hit { kind, id, created_at: created_at.unwrap_or_default(), json })
    }
}

/// Why there is no merged answer.
enum Stop {
    /// One partition's answer, which is everybody's.
    Refused(Reply),
    Problem(Problem),
    /// Its limit or cursor is bad.
    Unread,
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Problem(problem)
    }
}

#[derive(Clone)]
pub(super) struct Merged {
    partitions: Arc<[Partition]>,
    passing: Passing,
    exports: Exports,
}

impl Merged {
    pub(super) fn new(partitions: Arc<[Partition]>, passing: Passing, exports: Exports) -> Merged {
        Merged { partitions, passing, exports }
    }

    /// The answer to a read of what [`is_merged`].
    pub(super) async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        let Some(what) = Merging::of(arrival.head.uri.path()) else {
            return self.passed(0, arrival, body).await;
        };
        match self.merged(what, arrival, body).await {
            Ok(reply) | Err(Stop::Refused(reply)) => Ok(reply),
            Err(Stop::Problem(problem)) => Err(problem),
            Err(Stop::Unread) => Err(bad_cursor()),
        }
    }

    /// Has the leader of each partition confirm its machine's clock; the answer is that of the one whose clock was set
    /// farthest.
    pub(super) async fn each(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Confirmed {
            step_ms: i64,
        }
        let body = &body.bytes().await?;
        let asked = (0..self.partitions.len()).map(|partition| async move {
            let answered = self.passed(partition, arrival, &mut Inbound::made(body.clone())).await;
            taken(answered, arrival).await
        });
        let parts = match join_all(asked).await.into_iter().collect::<Result<Vec<_>, Stop>>() {
            Ok(parts) => parts,
            Err(Stop::Refused(reply)) => return Ok(reply),
            Err(Stop::Problem(problem)) => return Err(problem),
            Err(Stop::Unread) => return Err(Problem::no_leader()),
        };
        let missing = missing(&parts);
        let step = |part: &Bytes| {
            serde_json::from_slice::<Confirmed>(part).map_or(0, |confirmed| confirmed.step_ms.unsigned_abs())
        };
        let farthest = parts.into_iter().flatten().max_by_key(step).ok_or_else(Problem::no_leader)?;
        Ok(without(Reply::json(200, farthest), &missing))
    }

    async fn merged(&self, what: Merging, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Stop> {
        let head = &arrival.head;
        let own = self.own(what, head.uri.query());
        if let Some(own) = own.filter(|own| *own == 0 || !what.is_of_platform()) {
            return Ok(self.passed(own, arrival, body).await?);
        }
        let is_table = !matches!(what, Merging::Status);
        if is_table && accept::wanted(&head.headers, &[JSON, CSV]) == Some(CSV) {
            let csv = (self.exports)(head.uri.path(), &head.headers, head.uri.query());
            let Some(csv) = csv else { return self.refused(arrival, body).await };
            return self.exported(what, own, csv, arrival).await;
        }
        match self.read(what, own, arrival).await {
            Ok((json, missing)) => Ok(without(Reply::json(200, json), &missing)),
            Err(Stop::Unread) => self.refused(arrival, body).await,
            Err(stop) => Err(stop),
        }
    }

    /// The partition of the one tenant that is meant.
    fn own(&self, what: Merging, query: Option<&str>) -> Option<usize> {
        let Merging::List(_) = what else { return None };
        let mut tenants = sent_parameters(query).filter(|(_, name, _)| *name == "tenantId");
        match (tenants.next(), tenants.next()) {
            (None, _) => None,
            (Some((_, _, id)), None) => Some(self.of_tenant(&id)),
            // To be refused.
            (Some(_), Some(_)) => Some(0),
        }
    }

    async fn read(&self, what: Merging, own: Option<usize>, arrival: &Arrival) -> Result<Read, Stop> {
        match what {
            Merging::List(list) => {
                let (page, merged) = self.page(list, own, arrival).await?;
                Ok((written(&page, &merged)?, merged.missing))
            }
            Merging::Search => self.search(arrival).await,
            Merging::Statement => self.statement(arrival).await,
            Merging::Status => self.status(arrival).await,
        }
    }

    /// The partitions that the first page lacks are in none.
    async fn exported(
        &self,
        what: Merging,
        own: Option<usize>,
        csv: Csv,
        arrival: &Arrival,
    ) -> Result<Reply, Stop> {
        let first = of_query(arrival, &csv.first)?;
        let (json, missing) = match what {
            Merging::List(list) => {
                let (page, mut merged) = self.page(list, own, &first).await?;
                merged.missing.iter().for_each(|partition| merged.places[*partition] = Place::End);
                (written(&page, &merged)?, merged.missing)
            }
            what => self.read(what, own, &first).await?,
        };
        let (all, request_id) = (self.clone(), arrival.request_id.clone());
        let pages: Pages = Arc::new(move |query| {
            let (all, asked) = (all.clone(), of_query(&first, &query));
            Box::pin(async move {
                match all.read(what, own, &asked?).await {
                    Ok((json, missing)) if missing.is_empty() => Ok(json.into()),
                    // To be asked again.
                    Ok(_) => Err(Problem::no_leader()),
                    Err(Stop::Problem(problem)) => Err(problem),
                    Err(Stop::Refused(reply)) if reply.status == 429 => Err(Problem::overloaded(1)),
                    Err(Stop::Refused(_) | Stop::Unread) => Err(Problem::internal_error("a page is refused")),
                }
            })
        });
        let reply = (csv.written)(&json, pages, request_id)?;
        Ok(without(reply, &missing))
    }

    /// The page that is meant; none if its limit or cursor is bad.
    fn begun(&self, list: &List, query: Option<&str>) -> Option<Page> {
        let mark = |parts: &[&[u8]]| self.passing.mark(parts);
        let of = ListOf { mark: &mark, tenant_key: PLATFORM, kind: list.path };
        let page = query::read(query, |mut query| Ok::<_, Problem>(query.page(of).peek().cloned()));
        page.ok().flatten()
    }

    /// One that is not known is the first's to say so.
    fn of_tenant(&self, id: &str) -> usize {
        let id = Id::parse(id).map(|id| id.to_string());
        let partition = id.and_then(|id| self.partitions.iter().find_map(|heard| heard.of_tenant(&id)));
        partition.map(usize::from).filter(|partition| *partition < self.partitions.len()).unwrap_or(0)
    }

    /// The first page begins in these: in all, or in the first and a tenant's own.
    fn first(&self, own: Option<usize>) -> Vec<Place> {
        let is_in = |partition| own.is_none_or(|own| [0, own].contains(&partition));
        let place = |partition| if is_in(partition) { Place::Start } else { Place::End };
        (0..self.partitions.len()).map(place).collect()
    }

    /// A bad limit or cursor, by the words of who reads the filters too.
    async fn refused(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Stop> {
        let reply = self.passed(0, arrival, body).await?;
        // It is one of that partition alone.
        if reply.status == 200 { Err(bad_cursor().into()) } else { Ok(reply) }
    }

    async fn page(
        &self,
        list: &'static List,
        own: Option<usize>,
        arrival: &Arrival,
    ) -> Result<(Page, pages::Page), Stop> {
        let query = arrival.head.uri.query();
        let page = self.begun(list, query).ok_or(Stop::Unread)?;
        let places = match &page.after {
            Some(bytes) => pages::of_bytes(bytes)
                .filter(|places| places.len() == self.partitions.len())
                .ok_or_else(bad_cursor)?,
            None => self.first(own),
        };
        let filters: Vec<&str> = sent_parameters(query)
            .filter(|(_, name, _)| !matches!(&**name, "limit" | "cursor"))
            .map(|(sent, ..)| sent)
            .collect();
        let filters = filters.join("&");
        let merged = pages::merged(places, page.limit, |partition, place, limit| {
            let cursor = match place {
                Place::After(cursor) => format!("&cursor={}", URL_SAFE_NO_PAD.encode(cursor)),
                Place::Start | Place::End => String::new(),
            };
            let asked = format!("{}?{filters}&limit={limit}{cursor}", list.path);
            async move {
                let Some(page) = self.asked(partition, arrival, &asked).await? else { return Ok(None) };
                let part = list.part(&page);
                part.map(Some).ok_or_else(|| Stop::Problem(Problem::internal_error("a page that is none")))
            }
        });
        let merged = merged.await?;
        if !merged.is_answered || own.is_some_and(|own| merged.missing.contains(&own)) {
            return Err(Problem::no_leader().into());
        }
        Ok((page, merged))
    }

    /// Of all partitions at the same time.
    async fn asked_of_all(&self, arrival: &Arrival) -> Result<Vec<Option<Bytes>>, Stop> {
        let target = arrival.head.uri.path_and_query().map_or("/", |target| target.as_str());
        let asked = (0..self.partitions.len()).map(|partition| self.asked(partition, arrival, target));
        join_all(asked).await.into_iter().collect()
    }

    async fn search(&self, arrival: &Arrival) -> Result<Read, Stop> {
        let parts = self.asked_of_all(arrival).await?;
        let missing = missing(&parts);
        if missing.len() == parts.len() {
            return Err(Problem::no_leader().into());
        }
        let mut hits: Vec<Hit> = Vec::new();
        for part in parts.into_iter().flatten() {
            let found: Found = serde_json::from_slice(&part).map_err(Problem::internal_error)?;
            for json in found.items {
                hits.push(Hit::of(json).map_err(Problem::internal_error)?);
            }
        }
        // The first partition knows the names of all tenants.
        let mut known = BTreeSet::new();
        hits.retain(|hit| known.insert((hit.kind.clone(), hit.id.clone())));
        hits.sort_by(|one, other| (&other.created_at, &other.id).cmp(&(&one.created_at, &one.id)));
        hits.truncate(HITS_MAX);
        Ok((list_json(hits.iter().map(|hit| hit.json.get())), missing))
    }

    /// A sum that lacks money is wrong, so it is refused.
    async fn statement(&self, arrival: &Arrival) -> Result<Read, Stop> {
        let parts: Option<Vec<Bytes>> = self.asked_of_all(arrival).await?.into_iter().collect();
        let parts: Result<Vec<Statement>, _> =
            parts.ok_or_else(Problem::no_leader)?.iter().map(|part| serde_json::from_slice(part)).collect();
        // Clocks differ at midnight: later they agree.
        let sum = statement::sum(parts.map_err(Problem::internal_error)?).ok_or_else(Problem::no_leader)?;
        Ok((serde_json::to_vec(&sum).map_err(Problem::internal_error)?, BTreeSet::new()))
    }

    /// The items of all partitions, for a page that puts them together.
    pub(super) async fn parts(&self, arrival: &Arrival) -> Result<Reply, Problem> {
        let parts = match self.asked_of_all(arrival).await {
            Ok(parts) => parts,
            Err(Stop::Refused(reply)) => return Ok(reply),
            Err(Stop::Problem(problem)) => return Err(problem),
            Err(Stop::Unread) => return Err(Problem::no_leader()),
        };
        let missing = missing(&parts);
        if missing.len() == parts.len() {
            return Err(Problem::no_leader());
        }
        let mut items: Vec<Box<RawValue>> = Vec::new();
        for part in parts.iter().flatten() {
            let found: Found = serde_json::from_slice(part).map_err(Problem::internal_error)?;
            items.extend(found.items);
        }
        Ok(without(Reply::json(200, list_json(items.iter().map(|item| item.get()))), &missing))
    }

    async fn status(&self, arrival: &Arrival) -> Result<Read, Stop> {
        let parts = self.asked_of_all(arrival).await?;
        let missing = missing(&parts);
        let parts: Result<Vec<Value>, _> =
            parts.iter().flatten().map(|part| serde_json::from_slice(part)).collect();
        let parts = parts.map_err(Problem::internal_error)?;
        if parts.is_empty() {
            return Err(Problem::no_leader().into());
        }
        let together = serde_json::to_vec(&status::together(parts)).map_err(Problem::internal_error)?;
        Ok((together, missing))
    }

    /// Of all processes of this node, whoever leads.
    pub(super) async fn metrics(&self, arrival: &Arrival) -> Result<Reply, Problem> {
        let asked = self.partitions.iter().map(|partition| async move {
            let mut nothing = Inbound::made(Bytes::new());
            taken(self.passing.ask(&partition.listens(), arrival, &mut nothing).await, arrival).await
        });
        let parts: Result<Vec<Option<Bytes>>, Stop> = join_all(asked).await.into_iter().collect();
        let parts = match parts {
            Ok(parts) => parts,
            Err(Stop::Refused(reply)) => return Ok(reply),
            Err(Stop::Problem(problem)) => return Err(problem),
            Err(Stop::Unread) => return Err(Problem::no_leader()),
        };
        let pages = parts
            .iter()
            .enumerate()
            .filter_map(|(partition, part)| Some((partition, std::str::from_utf8(part.as_ref()?).ok()?)));
        let missing = missing(&parts);
        if missing.len() == parts.len() {
            return Err(Problem::no_leader());
        }
        Ok(without(Reply::new(200, TEXT, metrics::together(pages)), &missing))
    }

    /// What a partition's leader answers to this instead; none if it gives no answer.
    async fn asked(&self, partition: usize, arrival: &Arrival, target: &str) -> Result<Option<Bytes>, Stop> {
        let arrival = instead(arrival, target).map_err(Problem::internal_error)?;
        let answered = self.passed(partition, &arrival, &mut Inbound::made(Bytes::new())).await;
        taken(answered, &arrival).await
    }

    async fn passed(
        &self,
        partition: usize,
        arrival: &Arrival,
        body: &mut Inbound,
    ) -> Result<Reply, Problem> {
        self.passing.pass(self.partitions[partition].views(), Surface::Admin, arrival, body).await
    }
}

fn of_query(arrival: &Arrival, query: &str) -> Result<Arrival, Problem> {
    instead(arrival, &format!("{}?{query}", arrival.head.uri.path())).map_err(Problem::internal_error)
}

/// The same call with another target, for JSON.
fn instead(arrival: &Arrival, target: &str) -> Result<Arrival, hyper::http::Error> {
    let mut head = arrival.head.clone();
    // Where the host is in it, it stays.
    let mut parts = head.uri.into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(target)?);
    head.uri = Uri::from_parts(parts)?;
    head.method = Method::GET;
    head.headers.insert(ACCEPT, HeaderValue::from_static(JSON));
    Ok(Arrival { head, request_id: arrival.request_id.clone(), peer: arrival.peer })
}

/// The bytes of an answer that is one.
async fn taken(answered: Result<Reply, Problem>, arrival: &Arrival) -> Result<Option<Bytes>, Stop> {
    match answered {
        Ok(reply) if reply.status == 200 => Ok(gathered(reply, arrival).await?),
        Ok(reply) if reply.status < 500 => Err(Stop::Refused(reply)),
        Ok(_) | Err(_) => Ok(None),
    }
}

fn missing(parts: &[Option<Bytes>]) -> BTreeSet<usize> {
    parts.iter().enumerate().filter(|(_, part)| part.is_none()).map(|(partition, _)| partition).collect()
}

/// None if it broke off.
async fn gathered(reply: Reply, arrival: &Arrival) -> Result<Option<Bytes>, Problem> {
    let body = reply.into_response(&arrival.request_id, Version::HTTP_11).into_body();
    match Limited::new(body, PART_BYTES_MAX).collect().await {
        Ok(whole) => Ok(Some(whole.to_bytes())),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(Problem::internal_error(error)),
        Err(_) => Ok(None),
    }
}

fn written(page: &Page, merged: &pages::Page) -> Result<Vec<u8>, Problem> {
    let is_over = merged.places.iter().all(|place| *place == Place::End);
    let next = if is_over {
        None
    } else {
        let too_long = || Problem::internal_error("a cursor that is longer than any of ours");
        Some(page.next(&pages::to_bytes(&merged.places).ok_or_else(too_long)?))
    };
    Ok(page_json(merged.items.iter().map(|item| item.json.get()), next.as_deref()))
}

fn without(reply: Reply, missing: &BTreeSet<usize>) -> Reply {
    let named: Vec<String> = missing.iter().map(usize::to_string).collect();
    match HeaderValue::from_str(&named.join(",")) {
        Ok(named) if !missing.is_empty() => reply.header(MISSING, named),
        _ => reply,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The platform's, which are in the first partition whole.
    const OF_FIRST: [&str; 5] = [
        "/admin/notices",
        "/admin/operators",
        "/admin/reconciliations",
        "/admin/reconciliations/{id}/items",
        "/admin/tenants",
    ];

    fn described(path: &str) -> Value {
        let description = std::fs::read("tests/golden/openapi-admin.json").expect("it is there");
        let description: Value = serde_json::from_slice(&description).expect("JSON");
        description.pointer(path).cloned().unwrap_or_default()
    }

    #[test]
    fn every_list_in_pages_is_merged_or_the_first_partitions() {
        let mut known: Vec<&str> = LISTS.iter().map(|list| list.path).chain(OF_FIRST).collect();
        known.sort_unstable();
        let paths = described("/paths");
        let paths = paths.as_object().expect("paths").iter();
        let in_pages = |of: &Value| of["get"]["parameters"].to_string().contains("parameters/Cursor");
        let mut listed: Vec<&str> =
            paths.filter(|(_, of)| in_pages(of)).map(|(path, _)| path.as_str()).collect();
        listed.sort_unstable();
        assert_eq!(listed, known);
    }

    #[test]
    fn what_items_are_sorted_by_is_in_them() {
        let schemas = described("/components/schemas");
        let named = |of: &Value| {
            let name = of["$ref"].as_str().expect("a name").rsplit('/').next().expect("a name");
            schemas[name].clone()
        };
        for list in &LISTS {
            let answer = format!("/paths/{}/get/responses/200", list.path.replace('/', "~1"));
            let page = named(&described(&answer)["content"][JSON]["schema"]);
            let item = named(&page["properties"]["items"]["items"]).to_string();
            for member in list.times.iter().chain([&list.id]) {
                assert!(item.contains(&format!("\"{member}\":{{")), "{}: {member}", list.path);
            }
        }
    }

    #[test]
    fn an_order_without_an_instant_has_that_of_its_id() {
        let order = |path: &str, json: &str| {
            let list = LISTS.iter().find(|list| list.path == path).expect("a list");
            list.item(RawValue::from_string(json.to_owned()).expect("JSON")).map(|item| item.order)
        };
        let id = "01975a2e-7c00-7000-8000-0000000000aa";
        let of =
            |members: &str| order("/admin/operations", &format!("{{\"operationId\":\"{id}\"{members}}}"));
        let sent = ",\"sentAt\":\"2026-11-21T02:13:00.000Z\"";
        let contradicted = ",\"contradictedAt\":\"2026-11-22T02:13:00.000Z\"";
        assert_eq!(
            of(&format!("{sent},\"contradictedAt\":null")),
            Some(format!("2026-11-21T02:13:00.000Z {id}"))
        );
        assert_eq!(of(&format!("{sent}{contradicted}")), Some(format!("2026-11-22T02:13:00.000Z {id}")));
        let at = Timestamp::from_unix_ms(Id::parse(id).expect("an id").unix_ms());
        assert_eq!(of(",\"sentAt\":null"), Some(format!("{at} {id}")));
        assert_eq!(order("/admin/payouts", &format!("{{\"payoutId\":\"{id}\"}}")), Some(id.to_owned()));
        assert_eq!(order("/admin/payouts", "{}"), None);
    }
}
