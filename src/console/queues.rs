//! The queues: what waits for a person, with its number, and what that person may do about it.

use super::at_bank;
use super::counts::{self, Dead, GivenUp, RECONCILIATIONS, Untaken};
use super::money::{self, cell_to, show_receiver};
use super::parts::{self, Counted};
use super::{Here, Made, after, asked, home_of, in_mode, may, path, post_by, subject, verdict};
use crate::admin;
use crate::gateway::services::Services;
use crate::language::Language;
use crate::pages::confirm::Confirm;
use crate::pages::inside::{ApiResult, Refused, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Button, Cell, Fact, Input, Link, Note, Page, Row, Table, Tone};
use crate::pages::words::words;
use api::problem::Problem;
use domain::platform::operators::Role;
use domain::resources::operations::Kind as OperationKind;
use domain::values::ids::{EntityId, Id, Mode, is_live};
use domain::values::time::Timestamp;
use hyper::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const LIMIT: &str = "100";
/// Of a list in which both modes are, for a page of one.
const PAGES_MAX: usize = 10;

/// A queue: its name, its words in Spanish and English, its page, and the list of the API that it is, if it is one.
type Queue = (&'static str, [&'static str; 2], &'static str, &'static str);

#[rustfmt::skip]
const QUEUES: [Queue; 10] = [
    ("unresolved", ["Operaciones sin respuesta", "Unresolved operations"], "/console/queues#unresolved", "/admin/operations?status=unresolved"),
    ("contradicted", ["Bancos que se contradijeron", "Contradicted operations"], "/console/queues#contradicted", "/admin/operations?status=contradicted"),
    ("cryptoReviews", ["Pagos en USDT por revisar", "USDT payouts to review"], "/console/queues#cryptoReviews", "/admin/crypto/payouts?status=pending_review"),
    ("copPayouts", ["Pagos en pesos pendientes", "Peso payouts pending"], "/console/queues#copPayouts", "/admin/cop-payouts?status=pending"),
    ("openChargebacks", ["Contracargos abiertos", "Open chargebacks"], "/console/queues#openChargebacks", "/admin/chargebacks?status=open"),
    ("liveAsked", ["Piden modo real", "Ask for live mode"], "/console/tenants?liveAsked=true", ""),
    ("approvals", ["Por aprobar", "To approve"], "/console/approvals", "/admin/approvals?status=pending"),
    ("deadWebhooks", ["Webhooks que no reciben", "Dead webhook endpoints"], "/console/queues#deadWebhooks", ""),
    ("exhaustedWebhooks", ["Eventos que nadie recibió", "Events given up"], "/console/queues#exhaustedWebhooks", ""),
    (RECONCILIATIONS, ["Conciliaciones fallidas", "Failed reconciliations"], "/console/reconciliations", "/admin/reconciliations?status=failed"),
];
/// What may not be there yet is nothing then.
const MAY_BE_MISSING: [&str; 3] = ["copPayouts", "openChargebacks", RECONCILIATIONS];

/// A queue is of live mode, and that of test mode is behind a switch.
fn mode(visit: &Here<'_>) -> Mode {
    if visit.query.text("mode") == Mode::Test.name() { Mode::Test } else { Mode::Live }
}

/// The way to the other mode, and what is said above orders by which no real money moves.
fn switch(visit: &Here<'_>, here: &str) -> Vec<Block> {
    let link = |(of, label): (Mode, &str)| Link {
        is_current: of == mode(visit),
        ..Link::new(label, in_mode(here, of))
    };
    let labels = [(Mode::Live, visit.say("Reales", "Live")), (Mode::Test, visit.say("De prueba", "Test"))];
    let mut blocks = vec![Block::Links(labels.map(link).into())];
    if mode(visit) == Mode::Test {
        let text =
            visit.say("Órdenes de prueba: no mueven dinero real.", "Test orders: no real money moves.");
        blocks.push(Note::new(Tone::Warning, text).into());
    }
    blocks
}

/// A page of a queue in one mode, of lists whose API does not tell modes apart; with the cursor after it.
async fn of_mode(visit: &Here<'_>, api: &str, first: &str) -> Result<Value, Refused> {
    let (wanted, limit) = (mode(visit).name(), LIMIT.parse().unwrap_or(100));
    let (mut found, mut cursor) = (Vec::new(), first.to_owned());
    for _ in 0..PAGES_MAX {
        let asked = with_query(
            api,
            &[("limit", LIMIT), ("mode", if has_modes(api) { wanted } else { "" }), ("cursor", &cursor)],
        );
        let page = match visit.inside.get(&asked).await {
            // What is left is of partitions that do not answer: the page says which.
            Err(refused)
                if refused.code == "no_leader" && !cursor.is_empty() && visit.inside.missing().is_some() =>
            {
                break;
            }
            page => page?,
        };
        found.extend(
            items(&page)
                .iter()
                .filter(|item| item["mode"].is_null() || str_of(item, "mode") == wanted)
                .cloned(),
        );
        cursor = str_of(&page, "nextCursor").to_owned();
        if cursor.is_empty() || found.len() >= limit {
            break;
        }
    }
    Ok(json!({ "items": found, "nextCursor": Some(cursor).filter(|cursor| !cursor.is_empty()) }))
}

/// The calls that wait in the mode that is shown; those that hold for both are shown with the live ones.
async fn of_approvals(visit: &Here<'_>, list: &Value) -> Result<Vec<Value>, Refused> {
    let of = parts::subjects(visit, items(list)).await?;
    let is_shown = |item: &&Value| {
        let of_it = of.get(str_of(item, "approvalId")).and_then(|about| about.mode.as_deref());
        of_it.unwrap_or(Mode::Live.name()) == mode(visit).name()
    };
    Ok(items(list).iter().filter(is_shown).cloned().collect())
}

/// Whether the API's list takes the mode.
fn has_modes(api: &str) -> bool {
    ["/admin/crypto/payouts", "/admin/cop-payouts", "/admin/chargebacks"]
        .iter()
        .any(|list| api.starts_with(list))
}

/// By what an order is found on the bank's statement.
#[rustfmt::skip]
const TO_FIND: [&str; 13] = [
    "externalRef", "debtorBankCode", "debtorId", "debtorCellPhone", "cardLast4", "bankCode", "destination", "bank",
    "accountNumber", "network", "address", "bankReference", "reference",
];
/// What a decision about one repeats.
#[rustfmt::skip]
const PESOS: [&str; 9] = [
    "status", "tenantId", "amountCop", "bank", "accountType", "accountNumber", "externalRef", "createdAt", "payoutId",
];
const USDT: [&str; 8] =
    ["status", "tenantId", "amountUsdt", "network", "address", "externalRef", "createdAt", "payoutId"];
const CHARGEBACK: [&str; 8] =
    ["status", "tenantId", "amountVes", "feeVes", "reason", "externalRef", "createdAt", "paymentId"];

struct Queues {
    lists: BTreeMap<&'static str, Value>,
    untaken: Untaken,
    live_asked: usize,
    long: BTreeMap<&'static str, usize>,
}

impl Queues {
    async fn read(visit: &Here<'_>) -> Result<Queues, Refused> {
        let mut lists = BTreeMap::new();
        for (name, _, _, api) in QUEUES.into_iter().filter(|(.., api)| !api.is_empty()) {
            let mut list = match of_mode(visit, api, "").await {
                Err(refused) if MAY_BE_MISSING.contains(&name) && matches!(refused.status, 403 | 404) => {
                    Value::Null
                }
                list => list?,
            };
            if name == "approvals" {
                list["items"] = of_approvals(visit, &list).await?.into();
            }
            lists.insert(name, list);
        }
        let mode = mode(visit);
        let long: Vec<(&'static str, usize)> = lists
            .iter()
            .filter(|(_, list)| list["nextCursor"].is_string())
            .map(|(name, list)| (*name, items(list).len()))
            .collect();
        let names: Vec<&str> = long.iter().map(|(name, _)| *name).collect();
        let Counted { mut untaken, lengths } = parts::queues(visit, mode, &names).await?;
        untaken.dead.retain(|dead| is_live(dead.tenant) == (mode == Mode::Live));
        untaken.given_up.retain(|given_up| is_live(given_up.tenant) == (mode == Mode::Live));
        let live_asked = visit.services.callers.directory.live_asked.len();
        let counted = |(name, length): (&'static str, usize)| {
            (name, lengths.get(name).map_or(length, |counted| length.max(*counted)))
        };
        let long = long.into_iter().map(counted).collect();
        Ok(Queues { lists, untaken, live_asked, long })
    }

    /// To the pages that the address names: a cursor has its queue's name there.
    async fn turn(&mut self, visit: &Here<'_>) -> Result<(), Refused> {
        for (name, _, _, api) in QUEUES.into_iter().filter(|(_, _, to, _)| to.contains('#')) {
            if let Some(cursor) = visit.query.filled(name).filter(|_| !api.is_empty()) {
                self.lists.insert(name, of_mode(visit, api, cursor).await?);
            }
        }
        Ok(())
    }

    fn counts(&self, visit: &Here<'_>) -> Vec<Fact> {
        let fact = |(name, [spanish, english], to, _): Queue| {
            let length = match name {
                "liveAsked" => self.live_asked,
                "deadWebhooks" => self.untaken.dead.len(),
                "exhaustedWebhooks" => self.untaken.given_up.len(),
                _ => items(&self.lists[name]).len(),
            };
            let length = self.long.get(name).copied().unwrap_or(length);
            let more = if length > counts::COUNT_MAX { "+" } else { "" };
            let shown = visit.language.figure(&length.min(counts::COUNT_MAX).to_string());
            Fact::new(
                name,
                visit.say(spanish, english),
                Cell::text(format!("{shown}{more}")).to(in_mode(to, mode(visit))),
            )
        };
        QUEUES.map(fact).into()
    }

    /// The counts with how long the oldest waits, the queue of the oldest first.
    fn by_age(&self, visit: &Here<'_>) -> Vec<Fact> {
        let mut aged: Vec<(Option<i64>, Fact)> = Vec::new();
        for mut fact in self.counts(visit) {
            let list = self.lists.get(&*fact.field);
            let made = |item: &Value| {
                let at =
                    ["sentAt", "createdAt", "startedAt"].into_iter().find_map(|name| item[name].as_str());
                at.and_then(show::instant_ms)
            };
            let oldest = list.and_then(|list| items(list).iter().filter_map(made).min());
            if let Some(at) = oldest {
                let is_long = list.is_some_and(|list| list["nextCursor"].is_string());
                let label = match is_long {
                    true => visit.say("desde antes del", "since before"),
                    false => visit.say("desde el", "since"),
                };
                fact.cell.sub = format!("{label} {}", show::in_caracas(at));
            }
            aged.push((oldest, fact));
        }
        // What has none, and what nobody knows the age of, comes last.
        aged.sort_by_key(|(oldest, _)| oldest.unwrap_or(i64::MAX));
        aged.into_iter().map(|(_, fact)| fact).collect()
    }
}

fn next(visit: &Here<'_>, name: &str, list: &Value) -> Option<String> {
    let here = in_mode("/console/queues", mode(visit));
    list["nextCursor"].as_str().map(|cursor| with_query(&here, &[(name, cursor)]))
}

pub async fn home(visit: &Here<'_>) -> Made {
    let me = visit.inside.get("/admin/me").await?;
    let queues = Queues::read(visit).await?;
    let status = visit.inside.get("/admin/status").await?;
    let server = show::facts(visit.language, &status, &["walSeq", "snapshotSeq", "underWay", "outbound"]);
    let mut live = vec![Block::Note(verdict::note(visit, &status))];
    live.push(Block::Heading(visit.say("Lo que espera", "What waits").to_owned()));
    live.extend(switch(visit, "/console/home"));
    live.push(Block::Facts(queues.by_age(visit)));
    let page = Page::new("home", visit.say("Inicio", "Home")).live(&live, &visit.writing())?;
    if visit.is_by_script() {
        // What stands below is not shown anew every few seconds.
        return Ok(page);
    }
    Ok(page
        .with_all(verdict::money_today(visit).await?)
        .heading(visit.say("El servidor", "The server"))
        .with(server)
        .heading(visit.say("Tú", "You"))
        .with(show::facts(visit.language, &me, &["name", "email", "role", "status"])))
}

pub async fn page(visit: &Here<'_>) -> Made {
    let mut queues = Queues::read(visit).await?;
    let page = Page::new("queues", visit.say("Colas", "Queues")).at("/console/queues").maybe(visit.done());
    let page = page.with_all(switch(visit, "/console/queues"));
    let page = page.live(&[Block::Facts(queues.counts(visit))], &visit.writing())?;
    queues.turn(visit).await?;
    let none = Value::Null;
    let parts = QUEUES.into_iter().filter(|(_, _, to, _)| to.contains('#'));
    Ok(parts.fold(page, |page, (name, [spanish, english], ..)| {
        let list = queues.lists.get(name).unwrap_or(&none);
        let table = match name {
            name @ ("cryptoReviews" | "copPayouts" | "openChargebacks") => to_decide(visit, name, list),
            "deadWebhooks" => dead(visit, &queues.untaken.dead),
            "exhaustedWebhooks" => given_up(visit, &queues.untaken.given_up),
            name => operations(visit, list, name == "contradicted"),
        };
        page.with(Block::Anchor(name, visit.say(spanish, english).to_owned())).with(table)
    }))
}

fn operations(visit: &Here<'_>, list: &Value, contradicted: bool) -> Table {
    let row = |item: &Value| {
        let id = str_of(item, "operationId");
        let mut cells = vec![
            show::cell(visit.language, "sentAt", &item["sentAt"]),
            visit.tenant(str_of(item, "tenantId")),
            show::cell(visit.language, "kind", &item["kind"]),
            Cell::money(visit.language, str_of(item, "amount"), str_of(item, "currency")),
            Cell::text(words(visit.language, str_of(item, "rail"))),
            Cell::text(str_of(item, "bankText")),
        ];
        if mode(visit) == Mode::Test {
            cells[2] = cells[2].clone().marked(words(visit.language, Mode::Test.name()));
        }
        if contradicted {
            let entity = str_of(&item["entity"], "id");
            cells.push(cell_to(
                if str_of(&item["entity"], "type") == "payment" { "payments" } else { "payouts" },
                entity,
            ));
            let other = item["otherAttemptId"].as_str();
            cells.push(other.map_or(Cell::text(""), |other| cell_to("payments", other)));
        } else if may(visit, Role::Treasury) {
            cells.push(Cell::text(visit.say("Resolver", "Resolve")).to(path("/console/operations", id, "")));
        } else {
            cells.push(Cell::text(""));
        }
        Row::new(cells)
    };
    let (spanish, english) = if contradicted {
        (
            "Enviada, Comercio, Tipo, Monto, Banco o red, Dijo el banco, De, Otro intento que se pagó",
            "Sent, Tenant, Kind, Amount, Rail, The bank said, Of, Another attempt that was paid",
        )
    } else {
        (
            "Enviada, Comercio, Tipo, Monto, Banco o red, Dijo el banco, ",
            "Sent, Tenant, Kind, Amount, Rail, The bank said, ",
        )
    };
    let queue = if contradicted { "contradicted" } else { "unresolved" };
    visit
        .table(["Operaciones", "Operations"], spanish, english)
        .rows(items(list).iter().map(row))
        .next(next(visit, queue, list))
}

/// What treasury has to decide about, each with the way to its form.
fn to_decide(visit: &Here<'_>, queue: &'static str, list: &Value) -> Table {
    let (caption, columns, base): (_, &[&str], _) = match queue {
        "cryptoReviews" => {
            ("USDT", &["createdAt", "tenantId", "externalRef", "amountUsdt", "network"], "/console/crypto")
        }
        "copPayouts" => (
            "COP",
            &["createdAt", "tenantId", "externalRef", "amountCop", "bank", "accountNumber"],
            "/console/cop-payouts",
        ),
        _ => (
            visit.say("Contracargos", "Chargebacks"),
            &["createdAt", "tenantId", "externalRef", "amountVes", "reason"],
            "/console/chargebacks",
        ),
    };
    let row = |item: &Value| {
        let mut row = visit.row(item, columns);
        if mode(visit) == Mode::Test {
            row.cells[3] = row.cells[3].clone().marked(words(visit.language, Mode::Test.name()));
        }
        let named = ["payoutId", "chargebackId", "id"].into_iter().find_map(|name| item[name].as_str());
        let to = path(base, named.unwrap_or_default(), "");
        let label = if may(visit, Role::Treasury) {
            visit.say("Resolver", "Resolve")
        } else {
            visit.say("Ver", "Show")
        };
        row.cells.push(Cell::text(label).to(to));
        row
    };
    let heads = columns.iter().map(|name| visit.label(name)).chain([""]);
    show::headed(visit.language, caption, heads)
        .rows(items(list).iter().map(row))
        .next(next(visit, queue, list))
}

/// A form with two ends: its words are what each does.
fn either(base: &str, id: &str, [good, bad]: [(&'static str, &str); 2]) -> view::Form {
    view::Form::new(path(base, id, good.0), good.0, good.1)
        .id(format!("{}-{id}", good.0))
        .button(Button::bad(bad.0, bad.1, path(base, id, bad.0)))
}

/// GET /console/operations/:id: the order, and what treasury says became of it.
pub async fn operation(visit: &Here<'_>) -> Made {
    let id = visit.id();
    let parsed = Id::parse(id).ok_or_else(Problem::not_found)?;
    let of = subject::operation(visit.services, parsed).await?.ok_or_else(Problem::not_found)?;
    let (tenant, found, entity) = of;
    let mode = if is_live(tenant) { Mode::Live } else { Mode::Test };
    let mut facts = vec![of_tenant(visit, tenant)];
    facts.extend(subject::of_operation(visit, &found));
    facts.extend(visit.facts(&money::shown(visit.services, tenant, &entity), &TO_FIND));
    let instant = |at: Timestamp| Cell::whole(show::in_caracas(at.unix_ms()));
    if !found.is_queued {
        facts.push(Fact::new("sentAt", words(visit.language, "sentAt"), instant(found.sent_at)));
    }
    facts.push(Fact::new("asks", words(visit.language, "asks"), Cell::text(found.asks.to_string())));
    if let Some(word) = &found.word {
        let said = format!("{} {}", word.code, word.text);
        facts.push(Fact::new("bankText", words(visit.language, "bankText"), Cell::text(said.trim())));
    }
    let page = Page::new("operation", visit.say("Resolver una operación", "Resolve an operation"))
        .maybe(visit.done());
    let page = page.with_all(marked(visit, mode)).with(facts);
    if found.is_queued || !may(visit, Role::Treasury) {
        return Ok(page);
    }
    let consequence = match found.kind {
        OperationKind::CopPayment | OperationKind::CopRefund => visit.say(
            "Búscala con el procesador: en su panel o en su extracto.",
            "Look it up with the processor: on its dashboard or its statement.",
        ),
        OperationKind::CryptoPayout => visit.say(
            "Búscala en la red, por su dirección y su monto.",
            "Look it up on the network, by its address and its amount.",
        ),
        _ => visit.say("Búscala en el extracto del banco.", "Look it up on the bank's statement."),
    };
    let then = visit.say(
        "Con «Se hizo» cuenta como hecha, y con «No se hizo» como fallida: el dinero se mueve en el saldo del comercio y \
         el comercio recibe el evento. No se puede deshacer.",
        "With \"It was done\" it counts as done, and with \"It was not done\" as failed: money moves in the tenant's \
         balance, and the tenant gets the event. It cannot be undone.",
    );
    let form = at_bank::resolve_form(visit, id)
        .hidden("page", "operations")
        .hidden("id", id)
        .hidden("mode", mode.name());
    Ok(page.with(Note::new(Tone::Warning, format!("{consequence} {then}"))).with(form))
}

/// That an order is of test mode, above its page.
fn marked(visit: &Here<'_>, mode: Mode) -> Option<Block> {
    let text = visit.say("Es de prueba: no mueve dinero real.", "It is of test mode: no real money moves.");
    (mode == Mode::Test).then(|| Note::new(Tone::Warning, text).into())
}

/// What treasury decides on its page: its members, what follows, and its form.
struct Decision<'a> {
    title: &'a str,
    members: &'a [&'a str],
    consequence: &'a str,
    form: view::Form,
}

fn decision(visit: &Here<'_>, of: &Value, at: Decision<'_>) -> Page {
    let mode = mode_of(of);
    let page = Page::new("decision", at.title).status(str_of(of, "status")).maybe(visit.done());
    let page = page.with_all(marked(visit, mode)).with(visit.facts(of, at.members));
    if !may(visit, Role::Treasury) {
        return page;
    }
    page.with(Note::new(Tone::Warning, at.consequence)).with(at.form.hidden("mode", mode.name()))
}

fn mode_of(of: &Value) -> Mode {
    if str_of(of, "mode") == Mode::Test.name() { Mode::Test } else { Mode::Live }
}

async fn found(visit: &Here<'_>, ids: fn(Id) -> EntityId) -> Result<Value, Problem> {
    let id = Id::parse(visit.id()).ok_or_else(Problem::not_found)?;
    let found = admin::among_all(visit.services, vec![ids(id)]).await?;
    let (tenant, entity) = found.ok_or_else(Problem::not_found)?;
    Ok(money::shown(visit.services, tenant, &entity))
}

/// The call about it that waits for a second person, if there is one.
async fn waiting(visit: &Here<'_>) -> Result<Option<Value>, Refused> {
    let pending = of_mode(visit, "/admin/approvals?status=pending", "").await?;
    let about =
        |item: &&Value| str_of(item, "action") == "crypto-payouts" && str_of(item, "target") == visit.id();
    Ok(items(&pending).iter().find(about).cloned())
}

pub async fn crypto(visit: &Here<'_>) -> Made {
    let payout = found(visit, EntityId::crypto_payout).await?;
    if let Some(waiting) = waiting(visit).await? {
        let (who, at) =
            (str_of(&waiting["requestedBy"], "name"), show::instant(str_of(&waiting, "createdAt")));
        let text = match visit.language {
            Language::Spanish => format!("Ya espera a otra persona: {who} lo pidió el {at}."),
            Language::English => format!("It waits for somebody else already: {who} asked for it on {at}."),
        };
        let page = Page::new("decision", visit.say("Revisar un pago en USDT", "Review a payout in USDT"));
        let link = Link::new(visit.say("Ir a Aprobaciones", "Go to Approvals"), "/console/approvals");
        return Ok(page
            .status(str_of(&payout, "status"))
            .maybe(visit.done())
            .with_all(marked(visit, mode_of(&payout)))
            .with(visit.facts(&payout, &USDT))
            .with(Note::new(Tone::Plain, text))
            .with(vec![link]));
    }
    let amount = format!("{} USDT", visit.language.figure(str_of(&payout, "amountUsdt")));
    let approve = format!("{} {amount}", visit.say("Aprobar", "Approve"));
    let acts = [("approve", &*approve), ("reject", visit.say("Rechazar", "Reject"))];
    let note = Input::new("note", visit.say("Nota", "Note"));
    let at = Decision {
        title: visit.say("Revisar un pago en USDT", "Review a payout in USDT"),
        members: &USDT,
        consequence: visit.say(
            "Si lo apruebas, se firma y se envía a la red, y no se puede deshacer. Si lo rechazas, el monto vuelve al \
             saldo del comercio.",
            "If you approve it, it is signed and sent to the network, and cannot be undone. If you reject it, the amount \
             returns to the tenant's balance.",
        ),
        form: either("/console/crypto", visit.id(), acts).input(note.optional()),
    };
    Ok(decision(visit, &payout, at))
}

pub async fn cop_payout(visit: &Here<'_>) -> Made {
    let payout = found(visit, EntityId::cop_payout).await?;
    let acts = [("complete", visit.say("Llegó", "It arrived")), ("fail", visit.say("Falló", "It failed"))];
    let typed = |name| {
        let to = |act| path("/console/cop-payouts", visit.id(), act);
        [to("complete"), to("fail")].into_iter().map(|to| visit.typed(&to, name)).collect::<String>()
    };
    let reference = Input::new("reference", visit.say("Referencia del banco", "The bank's reference"))
        .needed(visit.say("(si llegó)", "(if it arrived)"));
    let code = Input::new("failureCode", visit.say("Código del fallo", "Failure code"))
        .hint(visit.say("Por ejemplo AC01.", "Such as AC01."))
        .needed(visit.say("(si falló)", "(if it failed)"));
    let at = Decision {
        title: visit.say("Pagar pesos por el banco", "Pay pesos through the bank"),
        members: &PESOS,
        consequence: visit.say(
            "Con «Llegó» y la referencia cuenta como pagado. Con «Falló» y el código, el monto vuelve al saldo del \
             comercio. No se puede deshacer.",
            "With \"It arrived\" and the reference it counts as paid. With \"It failed\" and the code, the amount returns \
             to the tenant's balance. It cannot be undone.",
        ),
        form: either("/console/cop-payouts", visit.id(), acts)
            .input(reference.value(typed("reference")))
            .input(code.value(typed("failureCode"))),
    };
    let receiver = may(visit, Role::Treasury).then(|| show_receiver(visit, visit.id()));
    Ok(decision(visit, &payout, at).maybe(receiver))
}

pub async fn chargeback(visit: &Here<'_>) -> Made {
    let chargeback = found(visit, EntityId::chargeback).await?;
    let acts = [("won", visit.say("Se ganó", "It was won")), ("lost", visit.say("Se perdió", "It was lost"))];
    let at = Decision {
        title: visit.say("Cerrar un contracargo", "Close a chargeback"),
        members: &CHARGEBACK,
        consequence: visit.say(
            "Si se ganó, el monto vuelve al saldo del comercio. Si se perdió, queda como está. No se puede deshacer.",
            "If it was won, the amount returns to the tenant's balance. If it was lost, it stays as it is. It cannot be \
             undone.",
        ),
        form: either("/console/chargebacks", visit.id(), acts),
    };
    Ok(decision(visit, &chargeback, at))
}

fn of_tenant(visit: &Here<'_>, tenant: u64) -> Fact {
    Fact::new("tenantId", words(visit.language, "tenantId"), tenant_cell(visit.services, tenant))
}

fn mode_fact(visit: &Here<'_>, tenant: u64) -> Fact {
    let mode = if is_live(tenant) { Mode::Live } else { Mode::Test };
    Fact::new("mode", words(visit.language, "mode"), show::cell(visit.language, "mode", &mode.name().into()))
}

fn tenant_cell(services: &Arc<Services>, tenant_key: u64) -> Cell {
    let number = u32::try_from(tenant_key / 2).unwrap_or_default();
    let tenant = services.callers.directory.tenant_numbered(number);
    tenant.map_or(Cell::text("—"), |tenant| {
        Cell::text(tenant.name.to_string()).to(format!("/console/tenants/{}", tenant.id))
    })
}

fn given_up(visit: &Here<'_>, list: &[GivenUp]) -> Table {
    let row = |given_up: &GivenUp| {
        Row::new([
            tenant_cell(visit.services, given_up.tenant),
            Cell::code(given_up.url.clone()),
            Cell::text(given_up.kind.clone()).with_sub(given_up.event.clone()),
            show::cell(visit.language, "createdAt", &given_up.at.clone().into()),
            Cell::code("webhook.exhausted"),
        ])
        .status("failed")
    };
    let table = visit.table(
        ["Webhooks"; 2],
        "Comercio, Dirección, Evento, Último intento, Qué pasó",
        "Tenant, Address, Event, Last try, What happened",
    );
    table.rows(list.iter().map(row))
}

fn dead(visit: &Here<'_>, list: &[Dead]) -> Table {
    let row = |dead: &Dead| {
        let tenant = tenant_cell(visit.services, dead.tenant);
        Row::new([
            tenant,
            Cell::code(dead.url.clone()),
            Cell::text(show::undelivered(visit.language, &dead.error)),
        ])
        .status("failed")
    };
    let heads = ("Comercio, Dirección, Último error", "Tenant, Address, Last error");
    visit.table(["Webhooks"; 2], heads.0, heads.1).rows(list.iter().map(row))
}

pub async fn resolve(visit: &Here<'_>) -> Result<Shown, Problem> {
    let body = visit.form.filled_members(&["outcome", "reference", "failureCode", "note"]);
    let to = path("/admin/operations", visit.id(), "resolve");
    // The form stands in the queue, and on the page of what the operation is of.
    let of = visit.form.text("id");
    let again = async {
        match visit.form.text("page") {
            "payments" => money::of_payment(visit, of, false).await,
            "payouts" => money::of_payout(visit, of, false).await,
            "operations" => operation(visit).await,
            _ => page(visit).await,
        }
    };
    if !visit.is_confirmed() {
        let confirm = resolution(visit, &body).await?;
        return asked(visit, (Method::POST, &to, Some(&body)), confirm, again).await;
    }
    let outcome = visit.post(&to, &body).await;
    visit.acted(outcome, |answer| after(&money::page_of(visit), answer), again).await
}

/// Which order would count as done or as failed, and what follows.
async fn resolution(visit: &Here<'_>, body: &Value) -> Result<Confirm, Problem> {
    let id = Id::parse(visit.id()).ok_or_else(Problem::not_found)?;
    let (mut facts, mut amount, mut is_charge) = (Vec::new(), String::new(), false);
    if let Some((tenant, operation, _)) = subject::operation(visit.services, id).await? {
        facts.push(of_tenant(visit, tenant));
        facts.push(mode_fact(visit, tenant));
        facts.extend(subject::of_operation(visit, &operation));
        is_charge = operation.kind.brings_money();
        amount = subject::amount(visit, (operation.minor, operation.currency));
    }
    facts.extend(subject::asked(visit, body));
    let is_done = str_of(body, "outcome") == "done";
    let (title, consequence) = match is_done {
        true => (
            visit.say("Se hizo", "It was done"),
            visit.say(
                "La operación cuenta como hecha: el dinero se mueve en el saldo del comercio, y el comercio recibe el \
                 evento. No se puede deshacer.",
                "The operation counts as done: money moves in the tenant's balance, and the tenant gets the event. It \
                 cannot be undone.",
            ),
        ),
        false => (
            visit.say("No se hizo", "It was not done"),
            if is_charge {
                visit.say(
                    "El cobro cuenta como fallido: al comercio no le entra nada, y recibe el evento. No se puede \
                     deshacer, ni si el banco le cobró al pagador.",
                    "The charge counts as failed: nothing is added to the tenant's balance, and the tenant gets the \
                     event. It cannot be undone, not even if the bank charged the payer.",
                )
            } else {
                visit.say(
                "La operación cuenta como fallida: lo apartado vuelve al saldo del comercio, y el comercio recibe el \
                 evento. No se puede deshacer, ni si el banco la hizo.",
                "The operation counts as failed: what was set aside returns to the tenant's balance, and the tenant gets \
                 the event. It cannot be undone, not even if the bank did it.",
            )
            },
        ),
    };
    Ok(Confirm {
        page: ("operation", format!("{}: {title}", visit.say("Resolver", "Resolve"))),
        facts,
        consequence: consequence.to_owned(),
        figures: Vec::new(),
        label: format!("{title}: {amount}"),
        back: money::page_of(visit),
    })
}

pub async fn review(visit: &Here<'_>) -> Result<Shown, Problem> {
    let act = visit.part(2);
    let reason = visit.form.filled("note").filter(|_| act == "reject");
    let body = reason.map_or(json!({}), |reason| json!({ "reason": reason }));
    // Asked for twice, it would wait twice, and the second one for nothing.
    let waits = waiting(visit).await;
    if !matches!(waits, Ok(None)) {
        return visit
            .shown(waits.and(crypto(visit).await).map(|page| Page { code: 409, ..page.status("error") }));
    }
    let outcome = post_by(visit, &path("/admin/crypto/payouts", visit.id(), act), &body, act).await;
    done(visit, outcome, crypto(visit)).await
}

pub async fn close_chargeback(visit: &Here<'_>) -> Result<Shown, Problem> {
    let (act, to) = (visit.part(2), path("/admin/chargebacks", visit.id(), "close"));
    let body = json!({ "outcome": act });
    if !visit.is_confirmed() {
        let (label, consequence) = match act {
            "won" => (
                visit.say("Se ganó", "It was won"),
                visit.say(
                    "El monto vuelve al saldo del comercio. No se puede deshacer.",
                    "The amount returns to the tenant's balance. It cannot be undone.",
                ),
            ),
            _ => (
                visit.say("Se perdió", "It was lost"),
                visit.say(
                    "El monto no vuelve: el comercio lo perdió. No se puede deshacer.",
                    "The amount does not return: the tenant has lost it. It cannot be undone.",
                ),
            ),
        };
        let of = found(visit, EntityId::chargeback).await?;
        let facts = visit.facts(&of, &CHARGEBACK);
        let confirm = decided(visit, &of, facts, (label, consequence), "/console/chargebacks");
        return asked(visit, (Method::POST, &to, Some(&body)), confirm, chargeback(visit)).await;
    }
    let outcome = post_by(visit, &to, &body, act).await;
    done(visit, outcome, chargeback(visit)).await
}

pub async fn settle(visit: &Here<'_>) -> Result<Shown, Problem> {
    let act = visit.part(2);
    let (name, label, consequence) = match act {
        "complete" => ("reference", visit.say("Llegó", "It arrived"), visit.say(
            "El pago cuenta como hecho, con esta referencia. No se puede deshacer.",
            "The payout counts as paid, under this reference. It cannot be undone.",
        )),
        _ => ("failureCode", visit.say("Falló", "It failed"), visit.say(
            "El pago cuenta como fallido, y el monto vuelve al saldo del comercio. No se puede deshacer.",
            "The payout counts as failed, and the amount returns to the tenant's balance. It cannot be undone.",
        )),
    };
    let (to, body) = (path("/admin/cop-payouts", visit.id(), act), json!({ name: visit.form.text(name) }));
    if !visit.is_confirmed() {
        let payout = found(visit, EntityId::cop_payout).await?;
        let mut facts = visit.facts(&payout, &PESOS);
        facts.extend(show::facts(visit.language, &body, &[name]));
        let confirm = decided(visit, &payout, facts, (label, consequence), "/console/cop-payouts");
        return asked(visit, (Method::POST, &to, Some(&body)), confirm, cop_payout(visit)).await;
    }
    let outcome = post_by(visit, &to, &body, act).await;
    done(visit, outcome, cop_payout(visit)).await
}

/// The page between a decision and the deed.
fn decided(
    visit: &Here<'_>,
    of: &Value,
    mut facts: Vec<Fact>,
    (label, consequence): (&str, &str),
    base: &str,
) -> Confirm {
    facts.insert(0, show::fact(visit.language, of, "mode"));
    Confirm {
        page: ("decision", label.to_owned()),
        facts,
        consequence: consequence.to_owned(),
        figures: Vec::new(),
        label: format!("{label}: {}", show::headline(visit.language, of).amount),
        back: path(base, visit.id(), ""),
    }
}

async fn done(
    visit: &Here<'_>,
    outcome: ApiResult,
    again: impl Future<Output = Made>,
) -> Result<Shown, Problem> {
    visit.acted(outcome, |answer| after(&home_of(visit), answer), again).await
}
