//! Lists that people work with all day: what is listed, by which filters, what it comes to, and the file of
//! exactly that. [`RESOURCES`] has a row per list; its filters and its columns are those that the API's
//! description says, so a member that the API adds is a column here. The address says everything that was asked.

mod asked;
mod file;

pub use asked::days_asked;

use crate::gateway::services::Services;
use crate::language::Language;
use crate::pages::inside::{Refused, with_query};
use crate::pages::show::{self, Gender, items, str_of};
use crate::pages::site::{Shown, Visit};
use crate::pages::view::{Cell, Form, Input, Kind, Link, Listed, Note, Page, Row, Table, Tone};
use crate::pages::words::words;
use crate::store::history::{EntityReader, Stored};
use api::fields::{Invalid, read};
use api::lists::{List, Tenants, Totals};
use api::openapi::document::Document;
use api::problem::Problem;
use api::query::{self, Query};
use api::records::{Stopped, Unread};
use api::{chargebacks, conversions, cop_payments, crypto, payments, payouts};
use asked::Asked;
use domain::values::time::{Date, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

const LIMIT: &str = "50";
/// The newest entities that a sum looks at, so that no page waits for it, and after a press on the link that is beside
/// it.
const FOUND: usize = 500;
pub const FOUND_MORE: usize = 20_000;
/// The members that lead to the page of an item, the first that is shown.
const NAMES: [&str; 5] = ["externalRef", "reference", "paymentId", "payoutId", "id"];

/// The list that a query asks for.
type Reads = for<'q> fn(Query<'q>) -> Result<List, Invalid>;

pub struct Resource {
    /// Of its page, below a site's address.
    pub name: &'static str,
    pub title: [&'static str; 2],
    /// Its list in the tenants' API and in the operators'; empty where there is none.
    apis: [&'static str; 2],
    /// What is always asked of the list.
    fixed: &'static [(&'static str, &'static str)],
    /// What it sums. What is no list of entities has no sum.
    reads: Option<Reads>,
    /// The columns that are shown unless the address names others.
    columns: &'static [&'static str],
    /// The member that names the page of an item, and the pages.
    place: Option<(&'static str, &'static str)>,
    zone: Zone,
    gender: Gender,
}

macro_rules! reads {
    ($filters:path $(, $list:ident)?) => {
        Some(|mut query| Ok(read!(query { got list = $filters(&mut query); } => list$(.$list())?)))
    };
}

#[rustfmt::skip] // A row is read across.
pub static RESOURCES: [Resource; 7] = [
    Resource {
        name: "payments", title: ["Cobros", "Payments"], apis: ["/v1/payments", "/admin/payments"], fixed: &[],
        reads: reads!(payments::list::filters, list),
        columns: &["createdAt", "tenantId", "externalRef", "method", "usdAmount", "vesAmount", "status"],
        place: Some(("paymentId", "payments")), zone: Zone::Caracas, gender: Gender::Masculine,
    },
    Resource {
        name: "payouts", title: ["Pagos", "Payouts"], apis: ["/v1/payouts", "/admin/payouts"], fixed: &[],
        reads: reads!(payouts::list::filters, list),
        columns: &["createdAt", "tenantId", "externalRef", "merchantName", "monto", "concepto", "status"],
        place: Some(("payoutId", "payouts")), zone: Zone::Caracas, gender: Gender::Masculine,
    },
    Resource {
        name: "cop-payouts", title: ["Pagos en pesos", "Peso payouts"], apis: ["/v1/cop/payouts", "/admin/cop-payouts"],
        fixed: &[], reads: reads!(cop_payments::payouts::by_status),
        columns: &["createdAt", "tenantId", "externalRef", "amountCop", "bank", "reference", "status"],
        place: Some(("id", "payouts")), zone: Zone::Bogota, gender: Gender::Masculine,
    },
    Resource {
        name: "crypto-payouts", title: ["Pagos en USDT", "USDT payouts"],
        apis: ["/v1/crypto/payouts", "/admin/crypto/payouts"], fixed: &[], reads: reads!(crypto::by_status),
        columns: &["createdAt", "tenantId", "externalRef", "amountUsdt", "network", "txHash", "status"],
        place: Some(("id", "payouts")), zone: Zone::Caracas, gender: Gender::Masculine,
    },
    Resource {
        name: "conversions", title: ["Conversiones", "Conversions"], apis: ["/v1/conversions", "/admin/conversions"],
        fixed: &[], reads: reads!(conversions::filters),
        columns: &["createdAt", "tenantId", "reference", "sourceCurrency", "sourceAmount", "targetAmountUsdt", "rate", "status"],
        place: None, zone: Zone::Caracas, gender: Gender::Feminine,
    },
    Resource {
        name: "chargebacks", title: ["Contracargos", "Chargebacks"], apis: ["/v1/chargebacks", "/admin/chargebacks"],
        fixed: &[], reads: reads!(chargebacks::by_status),
        columns: &["createdAt", "tenantId", "externalRef", "amountVes", "feeVes", "reason", "status"],
        place: Some(("paymentId", "payments")), zone: Zone::Caracas, gender: Gender::Masculine,
    },
    Resource {
        name: "deposits", title: ["Depósitos de clientes", "Customers' deposits"],
        apis: ["/v1/crypto/balance/transactions", ""], fixed: &[("type", "deposit")], reads: None,
        columns: &["createdAt", "externalRef", "amountUsdt", "availableAt", "id"], place: None, zone: Zone::Caracas, gender: Gender::Masculine,
    },
];

/// What a site's API says of a list: the filters, each with the texts that it may have, and the columns.
pub struct Described {
    pub resource: &'static Resource,
    api: &'static str,
    filters: Vec<(&'static str, Vec<String>)>,
    columns: Vec<String>,
}

impl Described {
    pub fn takes(&self, filter: &str) -> bool {
        self.filters.iter().any(|(name, _)| *name == filter)
    }

    /// The list's own columns, of those that the API has.
    fn own_columns(&self) -> Vec<&'static str> {
        let is_there = |name: &&&str| self.columns.iter().any(|known| known == **name);
        self.resource.columns.iter().filter(is_there).copied().collect()
    }
}

/// The lists of the tenants' API (0) or of the operators' (1).
pub fn described(document: &Document, which: usize) -> Vec<Described> {
    let of = |resource: &'static Resource| {
        let api = resource.apis[which];
        let (takes, table) = document.list(api)?;
        let is_free = |name: &str| !resource.fixed.iter().any(|(fixed, _)| *fixed == name);
        let filters = takes.members.into_iter().filter(|(name, ..)| is_free(name));
        let filters = filters.map(|(name, schema, _)| (name, schema.choices().to_vec())).collect();
        Some(Described { resource, api, filters, columns: table.headings().map(str::to_owned).collect() })
    };
    RESOURCES.iter().filter_map(of).collect()
}

/// What stands under the reference of what has this id.
pub type Sub = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What a list is summed from.
pub enum Books {
    /// Those of these tenant keys; the last is the one whose read it is.
    These(Vec<u64>, u64),
    /// Those of each partition, which says at this address what is in its own.
    OfAll(&'static str),
}

/// Whose things a site lists, and what it says of them in its own way.
pub struct Whose {
    /// The lists of the site.
    pub lists: Vec<Link>,
    pub now: Timestamp,
    pub books: Books,
    /// What may be chosen for a filter that is the id of something.
    pub named: Vec<(&'static str, Vec<(String, String)>)>,
    /// What it adds to a row, made once for the page.
    pub sub: Option<Sub>,
}

pub fn find<'a>(lists: &'a [Described], name: &str) -> Option<&'a Described> {
    lists.iter().find(|each| each.resource.name == name)
}

/// The file of what a list lists of a shop, if the address asks for it by `format=csv`.
pub async fn file<W>(
    visit: &Visit<'_, W>,
    described: &Described,
    shop: &str,
) -> Option<Result<Shown, Problem>> {
    let asked = Asked::read(visit, described);
    if visit.query.get("format") != Some("csv") || !asked.faults.is_empty() {
        return None;
    }
    Some(file::answer(visit, described, &asked, shop).await)
}

pub async fn page<W>(visit: &Visit<'_, W>, described: &Described, whose: Whose) -> Result<Page, Refused> {
    let asked = &Asked::read(visit, described);
    let (language, resource) = (visit.language, described.resource);
    let [spanish, english] = resource.title;
    let page = Page::new(resource.name, visit.say(spanish, english)).maybe(visit.done());
    let view = |faults: &[(String, String)]| view(visit, described, asked, &whose, faults);
    if !asked.faults.is_empty() {
        return Ok(page.with(view(&asked.faults)).failed(400, bad_filters(language, &asked.faults)));
    }
    let at = [("limit", LIMIT), ("cursor", visit.query.text("cursor"))];
    let address = with_query(&asked.of_api(described.api), &at);
    let (found, totals) = tokio::join!(visit.inside.get(&address), totals(visit, asked, resource, &whose));
    let found = match found {
        Err(refused) if refused.status == 400 && !refused.fields.is_empty() => {
            let said = |(name, why): &(String, String)| (name.clone(), show::fault(language, why));
            let faults: Vec<_> = refused.fields.iter().map(said).collect();
            return Ok(page.with(view(&faults)).failed(400, bad_filters(language, &faults)));
        }
        found => found?,
    };
    let mut list = view(&[]);
    let chosen = asked.columns(described);
    let heads = chosen.iter().map(|name| head(visit, name));
    let table = show::headed(language, page.title.clone(), heads);
    let rows = items(&found).iter().map(|item| row(visit, described, &whose, &chosen, item));
    let next = found["nextCursor"].as_str().map(|cursor| asked.here(&[("cursor", cursor)]));
    list.table =
        Table { none: nothing(language, asked.is_filtered, next.is_some()), ..table.rows(rows) }.next(next);
    if items(&found).is_empty() {
        list.table.next_label = look_on(language);
    } else {
        list.totals = totals;
        list.files = files(language, |separator| asked.here(&[("format", "csv"), ("separator", separator)]));
    }
    Ok(page.with(list))
}

pub fn bad_filters(language: Language, faults: &[(impl AsRef<str>, String)]) -> Note {
    let text =
        language.say("Revisa los filtros: no se buscó nada.", "Check the filters: nothing was looked for.");
    let more = faults.iter().map(|(name, why)| format!("{}: {why}", words(language, name.as_ref())));
    Note { tone: Tone::Bad, text: text.to_owned(), more: more.collect() }
}

pub fn look_on(language: Language) -> String {
    language.say("Buscar entre los anteriores", "Look among older ones").to_owned()
}

pub fn nothing(language: Language, is_filtered: bool, goes_on: bool) -> String {
    let text = match (goes_on, is_filtered) {
        (true, _) => language.say(
            "Entre los más recientes nada coincide con estos filtros.",
            "Nothing among the newest matches these filters.",
        ),
        (false, true) => language.say("Nada coincide con estos filtros.", "Nothing matches these filters."),
        (false, false) => language.say("Todavía no hay nada aquí.", "There is nothing here yet."),
    };
    text.to_owned()
}

/// The links to the file of a list, whose address with a separator is `to`.
pub fn files(language: Language, to: impl Fn(&str) -> String) -> Vec<Link> {
    vec![
        Link::new(language.say("Descargar CSV", "Download CSV"), to("")),
        Link::new(language.say("CSV con punto y coma", "CSV with semicolons"), to("semicolon")),
    ]
}

/// The word for a column: of a member of a member, that of the inner one.
fn head<'n, W>(visit: &Visit<'_, W>, name: &'n str) -> &'n str {
    match visit.label(name) {
        same if same == name => words(visit.language, name.rsplit('.').next().unwrap_or(name)),
        found => found,
    }
}

fn row<W>(visit: &Visit<'_, W>, described: &Described, whose: &Whose, chosen: &[&str], item: &Value) -> Row {
    let cell = |name: &&str| {
        let (outer, inner) = name.rsplit_once('.').unwrap_or(("", name));
        let of = outer.split('.').filter(|part| !part.is_empty()).fold(item, |of, part| &of[part]);
        let mut cell = visit.cell(of, inner);
        match *name {
            // The unique reference of a checkout is the session's, so that the shop's own stands under it.
            "externalRef" => match item[*name].as_str() {
                Some(_) => cell.sub = str_of(item, "reference").to_owned(),
                None if item["reference"].is_string() => cell = Cell::code(str_of(item, "reference")),
                None => {}
            },
            "status" => {
                cell.text = show::agreeing(visit.language, described.resource.gender, cell.text);
                cell.sub = show::failure(visit.language, str_of(item, "failureCode"));
            }
            // What is in pesos has its amount where the others have theirs, and none in dollars.
            "usdAmount" if !item["amountCop"].is_null() => cell = Cell::text(""),
            "vesAmount" if !item["amountCop"].is_null() => {
                cell = Cell::figure(format!("COP\u{a0}{}", visit.cell(item, "amountCop").text));
            }
            _ => {}
        }
        cell
    };
    let mut row = Row::new(chosen.iter().map(cell).collect::<Vec<_>>()).status(str_of(item, "status"));
    if let Some((id, page)) = described.resource.place
        && let Some(id) = item[id].as_str()
    {
        let is_shown =
            |name: &&str| chosen.contains(name) && (item[*name].is_string() || *name == "externalRef");
        let named = NAMES.iter().find(|name| is_shown(name));
        let at = named.and_then(|name| chosen.iter().position(|each| each == name)).unwrap_or(0);
        row = row.link(at, format!("{}/{page}/{id}", visit.site.base));
        if let Some(more) = whose.sub.as_ref().and_then(|sub| sub(id)) {
            let sub = &mut row.cells[at].sub;
            *sub = if sub.is_empty() { more } else { format!("{sub} · {more}") };
        }
    }
    row
}

async fn totals<W>(
    visit: &Visit<'_, W>,
    asked: &Asked,
    resource: &Resource,
    whose: &Whose,
) -> Option<Vec<(String, Option<String>)>> {
    // What one reference names is on the page.
    let reads = resource.reads.filter(|_| !asked.names_one())?;
    let list = query::read(Some(&asked.of_list()), reads).ok()?;
    let is_more = visit.query.get("sums") == Some("more");
    let most = if is_more { FOUND_MORE } else { FOUND };
    let summed = match &whose.books {
        Books::These(keys, reader) => {
            sums(visit.services, *reader, keys.clone(), list, most).await.map_err(Refused::from)
        }
        Books::OfAll(at) => {
            let most = most.to_string();
            let asked = with_query(&asked.of_api(at), &[("of", resource.name), ("most", &most)]);
            visit.inside.parts(&asked).await.map(|parts| parts.into_iter().fold(Sums::nothing(), Sums::and))
        }
    };
    let language = visit.language;
    let Ok(totals) = summed else {
        return Some(vec![(
            visit.say("Ahora no se pudo sumar.", "It could not be summed now.").to_owned(),
            None,
        )]);
    };
    let mut said = vec![(counted(language, totals.count, totals.is_whole), None)];
    let mut by_status: Vec<_> = totals.by_status.iter().collect();
    by_status.sort_by_key(|(status, _)| !status.eq_ignore_ascii_case("completed"));
    for (status, of) in &by_status {
        let sums = of.sums.iter().map(|(currency, minor)| money(language, *minor, currency));
        // One state of all is said where it was not asked for.
        if by_status.len() == 1 && (asked.filters_by_status() || status.eq_ignore_ascii_case("completed")) {
            said.extend(sums.map(|sum| (sum, None)));
        } else {
            let name = show::agreeing(language, resource.gender, words(language, status).to_owned());
            let count = language.figure(&of.count.to_string());
            said.push((
                [format!("{name}: {count}")].into_iter().chain(sums).collect::<Vec<_>>().join(" · "),
                None,
            ));
        }
    }
    if !totals.is_whole {
        said.push((among(language, most), (!is_more).then(|| asked.here(&[("sums", "more")]))));
    }
    Some(said)
}

pub fn counted(language: Language, count: usize, is_whole: bool) -> String {
    let end = if is_whole { language.say("en total", "in all") } else { language.say("o más", "or more") };
    format!("{} {end}", language.figure(&count.to_string()))
}

pub fn among(language: Language, most: usize) -> String {
    let most = language.figure(&most.to_string());
    match language {
        Language::Spanish => format!("Suma solo entre los {most} más recientes"),
        Language::English => format!("Sums among the newest {most} only"),
    }
}

/// `Bs 1.234,50`.
pub fn money(language: Language, minor: i64, currency: &str) -> String {
    let sign = match currency {
        "VES" => "Bs",
        "USD" => "US$",
        other => other,
    };
    format!("{sign}\u{a0}{}", language.amount(minor, domain::values::money::decimals(currency)))
}

/// What a list comes to.
#[derive(Serialize, Deserialize)]
pub struct Sums {
    count: usize,
    by_status: BTreeMap<String, OfStatus>,
    is_whole: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct OfStatus {
    count: usize,
    /// Minor units, by currency.
    sums: BTreeMap<String, i64>,
}

impl Sums {
    fn nothing() -> Sums {
        Sums { count: 0, by_status: BTreeMap::new(), is_whole: true }
    }

    fn and(mut self, other: Sums) -> Sums {
        self.count += other.count;
        self.is_whole &= other.is_whole;
        for (status, of) in other.by_status {
            let sum = self.by_status.entry(status).or_default();
            sum.count += of.count;
            for (currency, minor) in of.sums {
                let minor_sum = sum.sums.entry(currency).or_default();
                *minor_sum = minor_sum.saturating_add(minor);
            }
        }
        self
    }
}

impl From<Totals> for Sums {
    fn from(totals: Totals) -> Sums {
        let of_status = |(status, of): (&str, api::lists::OfStatus)| {
            let sums = of.sums.into_iter().map(|(currency, minor)| (currency.to_owned(), minor)).collect();
            (status.to_owned(), OfStatus { count: of.count, sums })
        };
        let by_status = totals.by_status.into_iter().map(of_status).collect();
        Sums { count: totals.count, by_status, is_whole: totals.is_whole }
    }
}

/// What a list of these tenant keys comes to, of which the address says what the API is asked.
pub async fn sums_of<W>(
    visit: &Visit<'_, W>,
    described: &Described,
    (keys, reader): (Vec<u64>, u64),
    most: usize,
) -> Result<Sums, Problem> {
    const OWN: [&str; 5] = ["of", "most", "tenantId", "mode", "lang"];
    let reads = described.resource.reads.ok_or_else(Problem::not_found)?;
    let asked = query::sent_parameters(visit.arrival.head.uri.query());
    let of_list: Vec<&str> =
        asked.filter(|(_, name, _)| !OWN.contains(&&**name)).map(|(sent, ..)| sent).collect();
    let list = query::read(Some(&of_list.join("&")), reads).map_err(|_| Problem::not_found())?;
    sums(visit.services, reader, keys, list, most).await
}

/// What a list of these tenant keys comes to, read where no request waits behind it.
async fn sums(
    services: &Arc<Services>,
    reader: u64,
    keys: Vec<u64>,
    list: List,
    most: usize,
) -> Result<Sums, Problem> {
    let read = move |services: &Services, budget: &_| {
        let log = services.engine.reader();
        let newest = EntityReader::of(log);
        let entity = &|tenant, id| Ok(newest.entity(tenant, id)?);
        let tenants = Tenants { keys: &keys, entity, wanted: &|_| Ok(true), show: &|_, _| None };
        let totals =
            list.totals(&Stored::of(log, reader).within(budget), &tenants, most, api::entity::status);
        totals.map_err(|unread| match unread {
            Unread::Stopped(stopped) => stopped,
            Unread::Problem(problem) => Stopped::Unreadable(problem.message.to_string()),
        })
    };
    services.read_pool.read_long(services, reader, read).await.map(Sums::from)
}

/// The lists of a site, of which one is shown.
pub fn links<W>(visit: &Visit<'_, W>, lists: &[Described], current: &str) -> Vec<Link> {
    let link = |each: &Described| {
        let (name, [spanish, english]) = (each.resource.name, each.resource.title);
        let link = Link::new(visit.say(spanish, english), format!("{}/{name}", visit.site.base));
        Link { is_current: name == current, ..link }
    };
    lists.iter().map(link).collect()
}

fn view<W>(
    visit: &Visit<'_, W>,
    described: &Described,
    asked: &Asked,
    whose: &Whose,
    faults: &[(String, String)],
) -> Listed {
    let (language, say) = (visit.language, |spanish, english| visit.say(spanish, english));
    let mut form = Form::query(&*asked.path, "filter", say("Filtrar", "Filter"));
    let (mut states, mut modes) = (Vec::new(), Vec::new());
    for (name, choices) in &described.filters {
        let value = visit.query.text(name);
        let of = |value: &str, label: &str| {
            let is_current = visit.query.text(name) == value;
            Link { is_current, ..Link::new(label, asked.here(&[(name, value)])) }
        };
        match *name {
            "status" => {
                let gender = described.resource.gender;
                let said = |state: &str| show::agreeing(language, gender, words(language, state).to_owned());
                let each = choices.iter().map(|state| of(state, &said(state)));
                let all = show::agreeing(language, gender, say("Todos", "All").to_owned());
                states = [of("", &all)].into_iter().chain(each).collect();
            }
            "mode" => modes = vec![of("", say("Real", "Live")), of("test", say("Prueba", "Test"))],
            _ => {
                form = form.input(input(visit, name, choices, value, whose, faults));
                continue;
            }
        }
        if !value.is_empty() {
            form = form.hidden(*name, value);
        }
    }
    let is_listed = |column: &String| asked.columns(described).contains(&column.as_str());
    let columns = described.columns.iter().map(|name| {
        let label = head(visit, name).to_owned();
        (name.clone(), label, is_listed(name))
    });
    Listed {
        lists: whose.lists.clone(),
        modes,
        states,
        days: if described.takes("from") {
            days(visit, whose.now.date_in(described.resource.zone), &|changes| asked.here(changes))
        } else {
            Vec::new()
        },
        is_open: asked.is_narrowed || !faults.is_empty(),
        form,
        columns: columns.collect(),
        clear: asked.is_filtered.then(|| asked.path.clone()),
        totals: None,
        files: Vec::new(),
        table: Table { none: say("No se buscó.", "Nothing was looked for.").to_owned(), ..Table::default() },
    }
}

fn input<W>(
    visit: &Visit<'_, W>,
    name: &'static str,
    choices: &[String],
    value: &str,
    whose: &Whose,
    faults: &[(String, String)],
) -> Input {
    let (language, label) = (visit.language, visit.label(name));
    let named = whose.named.iter().find(|(known, _)| *known == name).map(|(_, named)| named);
    let mut input = match (choices, named) {
        ([], None) if matches!(name, "from" | "to") => Input::new(name, label).kind(Kind::Date),
        ([], None) => Input::new(name, label),
        ([], Some(named)) => Input::new(name, label).options(named.clone()),
        (choices, _) => {
            let all = show::agreeing(language, show::gender(name), language.say("Todos", "All").to_owned());
            let all = [("", &*all)];
            let each = choices.iter().map(|choice| (choice.as_str(), words(language, choice)));
            Input::choice(name, label, all.into_iter().chain(each), "")
        }
    };
    input.error = faults.iter().find(|(bad, _)| bad == name).map(|(_, why)| why.clone()).unwrap_or_default();
    // Nobody has to be told that a filter may be left out.
    let value = if name == "tenantId" { visit.tenant_name(value) } else { value.to_owned() };
    input.value(value).needed("")
}

/// The address of a list with some of it changed.
pub type Address<'l> = dyn Fn(&[(&str, &str)]) -> String + 'l;

/// Days to choose from with one press, of a list whose address with some of it changed is `here`.
pub fn days<W>(visit: &Visit<'_, W>, today: Date, here: &Address<'_>) -> Vec<Link> {
    let text = today.to_string();
    let month = |date: &str| format!("{}01", date.get(..8).unwrap_or_default());
    let this = month(&text);
    let last = Date::parse(&this).map_or(today, |first| first.plus_days(-1));
    let before = |days: i32| today.plus_days(-days).to_string();
    let last_text = last.to_string();
    let spans = [
        (visit.say("Todos los días", "All days"), String::new(), String::new()),
        (visit.say("Hoy", "Today"), before(0), before(0)),
        (visit.say("Ayer", "Yesterday"), before(1), before(1)),
        (visit.say("7 días", "7 days"), before(6), before(0)),
        (visit.say("30 días", "30 days"), before(29), before(0)),
        (visit.say("Este mes", "This month"), this, before(0)),
        (visit.say("Mes pasado", "Last month"), month(&last_text), last_text),
    ];
    let link = |(label, from, to): (&str, String, String)| {
        let is_current = visit.query.text("from") == from && visit.query.text("to") == to;
        Link { is_current, ..Link::new(label, here(&[("from", &from), ("to", &to)])).action("days") }
    };
    spans.map(link).into()
}
