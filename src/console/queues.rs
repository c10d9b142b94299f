//! The queues: what waits for a person, with its number, and what that person may do about it.

use super::at_bank;
use super::counts::{self, Dead, GivenUp, Untaken};
use super::money::{self, cell_to, show_receiver};
use super::{Here, Made, after, may, path, post_by};
use crate::gateway::services::Services;
use crate::pages::inside::{ApiResult, Refused, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Button, Cell, Fact, Input, Page, Row, Table};
use crate::pages::words::words;
use crate::reconciliation::shelf::Status;
use crate::store::read_budget::ReadBudget;
use api::problem::Problem;
use domain::platform::operators::Role;
use domain::values::ids::PLATFORM;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const LIMIT: &str = "100";
const OPERATION: [&str; 8] =
    ["operationId", "kind", "rail", "amount", "currency", "sentAt", "asks", "bankText"];

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
const RECONCILIATIONS: &str = "failedReconciliations";
/// What may not be there yet is nothing then.
const MAY_BE_MISSING: [&str; 3] = ["copPayouts", "openChargebacks", RECONCILIATIONS];

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
            let api = with_query(api, &[("limit", LIMIT)]);
            let list = match MAY_BE_MISSING.contains(&name) {
                true => visit.inside.find(&api).await?.unwrap_or_default(),
                false => visit.inside.get(&api).await?,
            };
            lists.insert(name, list);
        }
        let untaken = visit.services.read_pool.read(visit.services, PLATFORM, counts::find).await?;
        let live_asked = visit.services.callers.directory.live_asked.len();
        let long = count_long(visit.services, &lists).await?;
        Ok(Queues { lists, untaken, live_asked, long })
    }

    /// To the pages that the address names: a cursor has its queue's name there.
    async fn turn(&mut self, visit: &Here<'_>) -> Result<(), Refused> {
        for (name, _, _, api) in QUEUES.into_iter().filter(|(_, _, to, _)| to.contains('#')) {
            if let Some(cursor) = visit.query.filled(name).filter(|_| !api.is_empty()) {
                let page = with_query(api, &[("limit", LIMIT), ("cursor", cursor)]);
                self.lists.insert(name, visit.inside.get(&page).await?);
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
            Fact::new(name, visit.say(spanish, english), Cell::text(format!("{shown}{more}")).to(to))
        };
        QUEUES.map(fact).into()
    }
}

async fn count_long(
    services: &Arc<Services>,
    lists: &BTreeMap<&'static str, Value>,
) -> Result<BTreeMap<&'static str, usize>, Problem> {
    let long = lists.iter().filter(|(_, list)| list["nextCursor"].is_string());
    let mut found: BTreeMap<&'static str, usize> =
        long.map(|(name, list)| (*name, items(list).len())).collect();
    if found.is_empty() {
        return Ok(found);
    }
    // A reconciliation that failed is a file of its own, and all are in memory.
    let failed = services.files.reconciliations.list(Some(Status::Failed)).len();
    let count = move |services: &Services, budget: &ReadBudget| {
        for (name, length) in &mut found {
            let counted = if *name == RECONCILIATIONS { failed } else { counts::of(services, name, budget)? };
            *length = counted.max(*length);
        }
        Ok(found)
    };
    services.read_pool.read_long(services, PLATFORM, count).await
}

fn next(name: &str, list: &Value) -> Option<String> {
    list["nextCursor"].as_str().map(|cursor| with_query("/console/queues", &[(name, cursor)]))
}

pub async fn home(visit: &Here<'_>) -> Made {
    let me = visit.inside.get("/admin/me").await?;
    let queues = Queues::read(visit).await?;
    let status = visit.inside.get("/admin/status").await?;
    let server = show::facts(visit.language, &status, &["walSeq", "snapshotSeq", "underWay", "outbound"]);
    Ok(Page::new("home", visit.say("Inicio", "Home"))
        .heading(visit.say("Lo que espera", "What waits"))
        .live(&[Block::Facts(queues.counts(visit))], &visit.writing())?
        .heading(visit.say("El servidor", "The server"))
        .with(server)
        .heading(visit.say("Tú", "You"))
        .with(show::facts(visit.language, &me, &["name", "email", "role", "status"])))
}

pub async fn page(visit: &Here<'_>) -> Made {
    let mut queues = Queues::read(visit).await?;
    let page = Page::new("queues", visit.say("Colas", "Queues")).maybe(visit.done());
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
        let mut row = show::row(visit.language, item, &OPERATION);
        let entity = &item["entity"];
        let id = str_of(entity, "id");
        row.cells.push(match str_of(entity, "type") {
            "payment" => cell_to("payments", id),
            "payout" => cell_to("payouts", id),
            other => Cell::code(id).with_sub(other),
        });
        if contradicted {
            let other = item["otherAttemptId"].as_str();
            row.cells.push(other.map_or(Cell::text(""), |other| cell_to("payments", other)));
        } else if may(visit, Role::Treasury) {
            row.forms.push(at_bank::resolve_form(visit, str_of(item, "operationId")));
        }
        row
    };
    let of = [visit.say("De", "Of"), words(visit.language, "otherAttemptId")];
    let heads = OPERATION.iter().map(|name| words(visit.language, name));
    let heads = heads.chain(of.into_iter().take(if contradicted { 2 } else { 1 }));
    let queue = if contradicted { "contradicted" } else { "unresolved" };
    show::headed(visit.language, visit.say("Operaciones", "Operations"), heads)
        .rows(items(list).iter().map(row))
        .next(next(queue, list))
}

/// What treasury has to decide about, with the two ways to do it.
fn to_decide(visit: &Here<'_>, queue: &'static str, list: &Value) -> Table {
    let say = |spanish, english| visit.say(spanish, english);
    let (caption, columns, base, page): (_, &[&str], _, _) = match queue {
        "cryptoReviews" => (
            "USDT",
            &["createdAt", "payoutId", "tenantId", "amountUsdt", "status"],
            "/console/crypto",
            "payouts",
        ),
        "copPayouts" => (
            "COP",
            &["createdAt", "payoutId", "tenantId", "amountCop", "bank", "accountNumber", "status"],
            "/console/cop-payouts",
            "payouts",
        ),
        _ => (
            say("Contracargos", "Chargebacks"),
            &["createdAt", "paymentId", "tenantId", "amountVes", "status"],
            "/console/chargebacks",
            "payments",
        ),
    };
    let forms = |item: &Value, id: &str| match queue {
        "cryptoReviews" => {
            let acts = [("approve", say("Aprobar", "Approve")), ("reject", say("Rechazar", "Reject"))];
            vec![either(base, id, acts).input(Input::new("note", say("Nota", "Note")).optional())]
        }
        "copPayouts" => {
            let acts = [("complete", say("Llegó", "It arrived")), ("fail", say("Falló", "It failed"))];
            let word = Input::new("word", say("Referencia o código", "Reference or code"));
            vec![show_receiver(visit, id).id(format!("unmask-{id}")), either(base, id, acts).input(word)]
        }
        _ => {
            let id = str_of(item, "chargebackId");
            let acts = [("won", say("Se ganó", "It was won")), ("lost", say("Se perdió", "It was lost"))];
            vec![either(base, id, acts).id(format!("close-{id}")).inline()]
        }
    };
    let row = |item: &Value| {
        let mut row = show::row(visit.language, item, columns);
        let id = item[columns[1]].as_str().or(item["id"].as_str()).unwrap_or_default();
        row.cells[1] = cell_to(page, id);
        if may(visit, Role::Treasury) {
            row.forms = forms(item, id);
        }
        row
    };
    let table = show::table(visit.language, caption, columns);
    table.rows(items(list).iter().map(row)).next(next(queue, list))
}

fn either(base: &str, id: &str, [good, bad]: [(&'static str, &'static str); 2]) -> view::Form {
    view::Form::new(path(base, id, good.0), good.0, good.1)
        .id(format!("{}-{id}", good.0))
        .button(Button::bad(bad.0, bad.1, path(base, id, bad.0)))
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
        let event = given_up.exhausted.event;
        Row::new([
            tenant_cell(visit.services, given_up.tenant),
            Cell::code(given_up.url.clone()),
            Cell::text(event.kind.name()).with_sub(event.id.to_string()),
            show::cell(visit.language, "createdAt", &given_up.exhausted.at.to_string().into()),
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
        Row::new([tenant, Cell::code(dead.url.clone()), Cell::text(dead.error.clone())]).status("failed")
    };
    let heads = ("Comercio, Dirección, Último error", "Tenant, Address, Last error");
    visit.table(["Webhooks"; 2], heads.0, heads.1).rows(list.iter().map(row))
}

pub async fn resolve(visit: &Here<'_>) -> Result<Shown, Problem> {
    let body = visit.form.filled_members(&["outcome", "reference", "failureCode", "note"]);
    let outcome = visit.post(&path("/admin/operations", visit.id(), "resolve"), &body).await;
    // The form stands in the queue, and on the page of what the operation is of.
    let of = visit.form.text("id");
    let again = async {
        match visit.form.text("page") {
            "payments" => money::of_payment(visit, of, false).await,
            "payouts" => money::of_payout(visit, of, false).await,
            _ => page(visit).await,
        }
    };
    visit.acted(outcome, |answer| after(&money::page_of(visit), answer), again).await
}

pub async fn review(visit: &Here<'_>) -> Result<Shown, Problem> {
    let act = visit.part(2);
    let reason = visit.form.filled("note").filter(|_| act == "reject");
    let body = reason.map_or(json!({}), |reason| json!({ "reason": reason }));
    done(visit, post_by(visit, &path("/admin/crypto/payouts", visit.id(), act), &body, act).await).await
}

pub async fn close_chargeback(visit: &Here<'_>) -> Result<Shown, Problem> {
    let (act, to) = (visit.part(2), path("/admin/chargebacks", visit.id(), "close"));
    done(visit, post_by(visit, &to, &json!({ "outcome": act }), act).await).await
}

pub async fn settle(visit: &Here<'_>) -> Result<Shown, Problem> {
    let act = visit.part(2);
    let name = if act == "complete" { "reference" } else { "failureCode" };
    let to = path("/admin/cop-payouts", visit.id(), act);
    done(visit, post_by(visit, &to, &json!({ name: visit.form.text("word") }), act).await).await
}

async fn done(visit: &Here<'_>, outcome: ApiResult) -> Result<Shown, Problem> {
    visit.acted(outcome, |answer| after("/console/queues", answer), page(visit)).await
}
