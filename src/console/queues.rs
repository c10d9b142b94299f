//! The queues: what waits for a person, with its number, and what that person may do about it.

use super::at_bank;
use super::counts;
use super::dead_endpoints::{self, Dead, GivenUp, Untaken};
use super::money::{self, cell_to, maybe_list, show_receiver};
use super::{Here, Made, after, may, path};
use crate::gateway::services::Services;
use crate::pages::form::Form;
use crate::pages::inside::{Refused, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Button, Cell, Fact, Input, Page, Row, Table, Tone};
use crate::reconciliation::shelf::Status;
use crate::store::read_budget::ReadBudget;
use api::problem::Problem;
use domain::platform::operators::Role;
use domain::values::mode::PLATFORM;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const LIMIT: &str = "100";
const OPERATION: [&str; 8] =
    ["operationId", "kind", "rail", "amount", "currency", "sentAt", "asks", "bankText"];

struct Queues {
    unresolved: Value,
    contradicted: Value,
    reviews: Value,
    pesos: Value,
    chargebacks: Value,
    approvals: Value,
    untaken: Untaken,
    reconciliations: Value,
    live_asked: usize,
    /// Of queues that are longer than a page.
    long: BTreeMap<&'static str, usize>,
}

/// The cursor has the queue's name there.
fn next(name: &str, list: &Value) -> Option<String> {
    list["nextCursor"].as_str().map(|cursor| with_query("/console/queues", &[(name, cursor)]))
}

impl Queues {
    async fn read(visit: &Here<'_>) -> Result<Queues, Refused> {
        let list = |base: &str, status: &str| with_query(base, &[("status", status), ("limit", LIMIT)]);
        let untaken = visit.services.read_pool.read(visit.services, PLATFORM, dead_endpoints::find);
        let mut queues = Queues {
            unresolved: visit.inside.get(&list("/admin/operations", "unresolved")).await?,
            contradicted: visit.inside.get(&list("/admin/operations", "contradicted")).await?,
            reviews: visit.inside.get(&list("/admin/crypto/payouts", "pending_review")).await?,
            pesos: maybe_list(visit, &list("/admin/cop-payouts", "pending")).await?,
            chargebacks: maybe_list(visit, &list("/admin/chargebacks", "open")).await?,
            approvals: visit.inside.get(&list("/admin/approvals", "pending")).await?,
            untaken: untaken.await?,
            reconciliations: maybe_list(visit, &list("/admin/reconciliations", "failed")).await?,
            live_asked: visit.services.callers.directory.live_asked_count(),
            long: BTreeMap::new(),
        };
        queues.long = queues.count_long(visit.services).await?;
        Ok(queues)
    }

    async fn count_long(&self, services: &Arc<Services>) -> Result<BTreeMap<&'static str, usize>, Problem> {
        let queues = [
            ("unresolved", &self.unresolved),
            ("contradicted", &self.contradicted),
            ("cryptoReviews", &self.reviews),
            ("copPayouts", &self.pesos),
            ("openChargebacks", &self.chargebacks),
            ("approvals", &self.approvals),
        ];
        let long = queues.into_iter().filter(|(_, list)| list["nextCursor"].is_string());
        let mut found: BTreeMap<&'static str, usize> =
            long.map(|(name, list)| (name, items(list).len())).collect();
        // A reconciliation that failed is a file of its own, and all are in memory.
        let failed = services.files.reconciliations.list(Some(Status::Failed)).len();
        if self.reconciliations["nextCursor"].is_string() {
            found.insert("failedReconciliations", failed);
        }
        if found.is_empty() {
            return Ok(found);
        }
        let count = move |services: &Services, budget: &ReadBudget| {
            for (name, length) in &mut found {
                *length = counts::of(services, name, budget)?.max(*length);
            }
            Ok(found)
        };
        services.read_pool.read_long(services, PLATFORM, count).await
    }

    async fn turn(&mut self, visit: &Here<'_>) -> Result<(), Refused> {
        for (name, base, status, list) in [
            ("unresolved", "/admin/operations", "unresolved", &mut self.unresolved),
            ("contradicted", "/admin/operations", "contradicted", &mut self.contradicted),
            ("cryptoReviews", "/admin/crypto/payouts", "pending_review", &mut self.reviews),
            ("copPayouts", "/admin/cop-payouts", "pending", &mut self.pesos),
            ("openChargebacks", "/admin/chargebacks", "open", &mut self.chargebacks),
        ] {
            if let Some(cursor) = visit.query.filled(name) {
                let page = [("status", status), ("limit", LIMIT), ("cursor", cursor)];
                *list = visit.inside.get(&with_query(base, &page)).await?;
            }
        }
        Ok(())
    }

    fn counts(&self, visit: &Here<'_>) -> Vec<Fact> {
        let fact = |field: &str, label: &str, length: usize, to: &str| {
            let length = self.long.get(field).copied().unwrap_or(length);
            let more = if length > counts::COUNT_MAX { "+" } else { "" };
            let shown = visit.language.figure(&length.min(counts::COUNT_MAX).to_string());
            Fact::new(field, label, Cell::text(format!("{shown}{more}")).to(to))
        };
        let count = |list: &Value| items(list).len();
        let say = |spanish, english| visit.say(spanish, english);
        vec![
            fact(
                "unresolved",
                say("Operaciones sin respuesta", "Unresolved operations"),
                count(&self.unresolved),
                "/console/queues#unresolved",
            ),
            fact(
                "contradicted",
                say("Bancos que se contradijeron", "Contradicted operations"),
                count(&self.contradicted),
                "/console/queues#contradicted",
            ),
            fact(
                "cryptoReviews",
                say("Pagos en USDT por revisar", "USDT payouts to review"),
                count(&self.reviews),
                "/console/queues#cryptoReviews",
            ),
            fact(
                "copPayouts",
                say("Pagos en pesos pendientes", "Peso payouts pending"),
                count(&self.pesos),
                "/console/queues#copPayouts",
            ),
            fact(
                "openChargebacks",
                say("Contracargos abiertos", "Open chargebacks"),
                count(&self.chargebacks),
                "/console/queues#openChargebacks",
            ),
            fact(
                "liveAsked",
                say("Piden modo real", "Ask for live mode"),
                self.live_asked,
                "/console/tenants?liveAsked=true",
            ),
            fact("approvals", say("Por aprobar", "To approve"), count(&self.approvals), "/console/approvals"),
            fact(
                "deadWebhooks",
                say("Webhooks que no reciben", "Dead webhook endpoints"),
                self.untaken.dead.len(),
                "/console/queues#deadWebhooks",
            ),
            fact(
                "exhaustedWebhooks",
                say("Eventos que nadie recibió", "Events given up"),
                self.untaken.given_up.len(),
                "/console/queues#exhaustedWebhooks",
            ),
            fact(
                "failedReconciliations",
                say("Conciliaciones fallidas", "Failed reconciliations"),
                count(&self.reconciliations),
                "/console/reconciliations",
            ),
        ]
    }
}

/// GET /console/home
pub async fn home(visit: &Here<'_>) -> Made {
    let me = visit.inside.get("/admin/me").await?;
    let queues = Queues::read(visit).await?;
    let status = visit.inside.get("/admin/status").await?;
    let mut page = Page::new("home", visit.say("Inicio", "Home"));
    page.blocks.push(Block::Heading(visit.say("Lo que espera", "What waits").to_owned()));
    page.blocks.push(view::live(&[Block::Facts(queues.counts(visit))], &visit.writing())?);
    page.blocks.push(Block::Heading(visit.say("El servidor", "The server").to_owned()));
    page.blocks.push(
        show::facts(visit.language, &status, &["walSeq", "snapshotSeq", "underWay", "outbound"]).into(),
    );
    page.blocks.push(Block::Heading(visit.say("Tú", "You").to_owned()));
    page.blocks.push(show::facts(visit.language, &me, &["name", "email", "role", "status"]).into());
    Ok(page)
}

/// GET /console/queues
pub async fn page(visit: &Here<'_>) -> Made {
    let mut queues = Queues::read(visit).await?;
    let say = |spanish, english| visit.say(spanish, english);
    let mut page = Page::new("queues", say("Colas", "Queues")).maybe(visit.done());
    page.blocks.push(view::live(&[Block::Facts(queues.counts(visit))], &visit.writing())?);
    queues.turn(visit).await?;
    let mut add = |id: &'static str, title: &str, table: Table| {
        page.blocks.push(Block::Anchor(id, title.to_owned()));
        page.blocks.push(table.into());
    };
    add(
        "unresolved",
        say("Operaciones sin respuesta", "Unresolved operations"),
        operations(visit, &queues.unresolved, "unresolved"),
    );
    add(
        "contradicted",
        say("Bancos que se contradijeron", "Contradicted operations"),
        operations(visit, &queues.contradicted, "contradicted"),
    );
    add(
        "cryptoReviews",
        say("Pagos en USDT por revisar", "USDT payouts to review"),
        reviews(visit, &queues.reviews),
    );
    add("copPayouts", say("Pagos en pesos pendientes", "Peso payouts pending"), pesos(visit, &queues.pesos));
    add(
        "openChargebacks",
        say("Contracargos abiertos", "Open chargebacks"),
        chargebacks(visit, &queues.chargebacks),
    );
    add(
        "deadWebhooks",
        say("Webhooks que no reciben", "Dead webhook endpoints"),
        dead(visit, &queues.untaken.dead),
    );
    add(
        "exhaustedWebhooks",
        say("Eventos que nadie recibió", "Events given up"),
        given_up(visit, &queues.untaken.given_up),
    );
    Ok(page)
}

fn operations(visit: &Here<'_>, list: &Value, queue: &str) -> Table {
    let row = |item: &Value| {
        let mut cells: Vec<Cell> = OPERATION.map(|name| show::cell(visit.language, name, &item[name])).into();
        let entity = &item["entity"];
        let id = str_of(entity, "id");
        match str_of(entity, "type") {
            "payment" => cells.push(cell_to("payments", id)),
            "payout" => cells.push(cell_to("payouts", id)),
            other => cells.push(Cell::code(id).with_sub(other)),
        }
        if queue == "contradicted" {
            cells.push(match item["otherAttemptId"].as_str() {
                Some(other) => cell_to("payments", other),
                None => Cell::text(String::new()),
            });
        }
        let mut row = Row::new(cells).status(str_of(item, "status"));
        if queue == "unresolved" && may(visit, Role::Treasury) {
            row.forms.push(at_bank::resolve_form(visit, str_of(item, "operationId")));
        }
        row
    };
    let mut heads =
        OPERATION.map(|name| crate::pages::words::words(visit.language, name).to_owned()).to_vec();
    heads.push(visit.say("De", "Of").to_owned());
    if queue == "contradicted" {
        heads.push(crate::pages::words::words(visit.language, "otherAttemptId").to_owned());
    }
    Table {
        rows: items(list).iter().map(row).collect(),
        heads,
        next: next(queue, list),
        ..show::table(visit.language, visit.say("Operaciones", "Operations"), &[])
    }
}

fn reviews(visit: &Here<'_>, list: &Value) -> Table {
    const COLUMNS: [&str; 5] = ["createdAt", "payoutId", "tenantId", "amountUsdt", "status"];
    let row = |item: &Value| {
        let mut cells = COLUMNS.map(|name| show::cell(visit.language, name, &item[name]));
        let id = item["payoutId"].as_str().or(item["id"].as_str()).unwrap_or_default();
        cells[1] = cell_to("payouts", id);
        let mut row = Row::new(cells.into()).status(str_of(item, "status"));
        if may(visit, Role::Treasury) {
            let acts =
                [("approve", visit.say("Aprobar", "Approve")), ("reject", visit.say("Rechazar", "Reject"))];
            let note = Input::new("note", visit.say("Nota", "Note")).optional();
            row.forms.push(either("/console/crypto", id, acts, note));
        }
        row
    };
    Table {
        rows: items(list).iter().map(row).collect(),
        next: next("cryptoReviews", list),
        ..show::table(visit.language, "USDT", &COLUMNS)
    }
}

/// The good end first.
fn either(base: &str, id: &str, [good, bad]: [(&'static str, &'static str); 2], input: Input) -> view::Form {
    let other =
        Button { action: bad.0, label: bad.1.to_owned(), tone: Tone::Bad, to: Some(path(base, id, bad.0)) };
    view::Form::new(path(base, id, good.0), good.0, good.1)
        .id(format!("{}-{id}", good.0))
        .input(input)
        .button(other)
}

fn pesos(visit: &Here<'_>, list: &Value) -> Table {
    const COLUMNS: [&str; 7] =
        ["createdAt", "payoutId", "tenantId", "amountCop", "bank", "accountNumber", "status"];
    let row = |item: &Value| {
        let mut cells = COLUMNS.map(|name| show::cell(visit.language, name, &item[name]));
        let id = str_of(item, "payoutId");
        cells[1] = cell_to("payouts", id);
        let mut row = Row::new(cells.into()).status(str_of(item, "status"));
        if may(visit, Role::Treasury) {
            let acts =
                [("complete", visit.say("Llegó", "It arrived")), ("fail", visit.say("Falló", "It failed"))];
            let word = Input::new("word", visit.say("Referencia o código", "Reference or code"));
            row.forms.push(show_receiver(visit, id).id(format!("unmask-{id}")));
            row.forms.push(either("/console/cop-payouts", id, acts, word));
        }
        row
    };
    Table {
        rows: items(list).iter().map(row).collect(),
        next: next("copPayouts", list),
        ..show::table(visit.language, "COP", &COLUMNS)
    }
}

fn chargebacks(visit: &Here<'_>, list: &Value) -> Table {
    const COLUMNS: [&str; 5] = ["createdAt", "paymentId", "tenantId", "amountVes", "status"];
    let row = |item: &Value| {
        let mut cells = COLUMNS.map(|name| show::cell(visit.language, name, &item[name]));
        cells[1] = cell_to("payments", str_of(item, "paymentId"));
        let mut row = Row::new(cells.into()).status(str_of(item, "status"));
        if may(visit, Role::Treasury) {
            let id = str_of(item, "chargebackId");
            let to = |act: &str| path("/console/chargebacks", id, act);
            let lost = visit.say("Se perdió", "It was lost");
            let form = view::Form::new(to("won"), "won", visit.say("Se ganó", "It was won"))
                .id(format!("close-{id}"))
                .button(Button {
                    action: "lost",
                    label: lost.to_owned(),
                    tone: Tone::Bad,
                    to: Some(to("lost")),
                })
                .inline();
            row.forms.push(form);
        }
        row
    };
    Table {
        rows: items(list).iter().map(row).collect(),
        next: next("openChargebacks", list),
        ..show::table(visit.language, visit.say("Contracargos", "Chargebacks"), &COLUMNS)
    }
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
        let cells = vec![
            tenant_cell(visit.services, given_up.tenant),
            Cell::code(given_up.url.clone()),
            Cell::text(event.kind.name()).with_sub(event.id.to_string()),
            show::cell(visit.language, "createdAt", &given_up.exhausted.at.to_string().into()),
            Cell::code("webhook.exhausted"),
        ];
        Row::new(cells).status("failed")
    };
    let heads = [
        visit.say("Comercio", "Tenant"),
        visit.say("Dirección", "Address"),
        visit.say("Evento", "Event"),
        visit.say("Último intento", "Last try"),
        visit.say("Qué pasó", "What happened"),
    ];
    Table {
        rows: list.iter().map(row).collect(),
        heads: heads.map(str::to_owned).into(),
        ..show::table(visit.language, "Webhooks", &[])
    }
}

fn dead(visit: &Here<'_>, list: &[Dead]) -> Table {
    let row = |dead: &Dead| {
        let tenant = tenant_cell(visit.services, dead.tenant);
        Row::new(vec![tenant, Cell::code(dead.url.clone()), Cell::text(dead.error.clone())]).status("failed")
    };
    let heads = [
        visit.say("Comercio", "Tenant"),
        visit.say("Dirección", "Address"),
        visit.say("Último error", "Last error"),
    ];
    Table {
        rows: list.iter().map(row).collect(),
        heads: heads.map(str::to_owned).into(),
        ..show::table(visit.language, "Webhooks", &[])
    }
}

/// One form has several buttons.
fn key_of(form: &Form, act: &str) -> String {
    form.filled("once").map(|once| format!("{once}-{act}")).unwrap_or_default()
}

/// POST /console/operations/:id/resolve
pub async fn resolve(visit: &Here<'_>, id: &str, form: &Form) -> Result<Shown, Problem> {
    let mut body = Map::new();
    for name in ["outcome", "reference", "failureCode", "note"] {
        if let Some(value) = form.filled(name) {
            body.insert(name.to_owned(), value.into());
        }
    }
    let to = path("/admin/operations", id, "resolve");
    let outcome = visit.inside.post(&to, &Value::Object(body), form.text("once")).await;
    // The form stands in the queue, and on the page of what the operation is of.
    let (page, of) = (form.text("page"), form.text("id"));
    match outcome {
        Ok(answer) if matches!(page, "payments" | "payouts") => {
            Ok(after(&path(&format!("/console/{page}"), of, ""), &answer))
        }
        Err(refused) if page == "payments" => visit.failed(money::payment(visit, of, None).await, &refused),
        Err(refused) if page == "payouts" => visit.failed(money::payout(visit, of, false).await, &refused),
        outcome => done(visit, outcome).await,
    }
}

/// POST /console/crypto/:id/approve | reject
pub async fn review(visit: &Here<'_>, id: &str, act: &str, form: &Form) -> Result<Shown, Problem> {
    let mut body = Map::new();
    if let Some(note) = form.filled("note").filter(|_| act == "reject") {
        body.insert("reason".to_owned(), note.into());
    }
    let to = path("/admin/crypto/payouts", id, act);
    done(visit, visit.inside.post(&to, &Value::Object(body), &key_of(form, act)).await).await
}

/// POST /console/chargebacks/:id/won | lost
pub async fn close_chargeback(visit: &Here<'_>, id: &str, act: &str, form: &Form) -> Result<Shown, Problem> {
    let to = path("/admin/chargebacks", id, "close");
    let body = json!({ "outcome": act });
    done(visit, visit.inside.post(&to, &body, &key_of(form, act)).await).await
}

/// POST /console/cop-payouts/:id/complete | fail
pub async fn settle(visit: &Here<'_>, id: &str, act: &str, form: &Form) -> Result<Shown, Problem> {
    let name = if act == "complete" { "reference" } else { "failureCode" };
    let to = path("/admin/cop-payouts", id, act);
    done(visit, visit.inside.post(&to, &json!({ name: form.text("word") }), &key_of(form, act)).await).await
}

async fn done(visit: &Here<'_>, outcome: Result<Value, Refused>) -> Result<Shown, Problem> {
    match outcome {
        Ok(answer) => Ok(after("/console/queues", &answer)),
        Err(refused) => visit.failed(page(visit).await, &refused),
    }
}
