//! Approvals: what waits for a second person, and the word of that person.

use super::{Here, Made, after, parts, path, post_by};
use crate::admin::least_role;
use crate::language::Language;
use crate::pages::inside::with_query;
use crate::pages::show::{self, Gender, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{Block, Button, Cell, Fact, Form, Input, Page, Row, Table};
use crate::pages::words::words;
use api::problem::Problem;
use domain::platform::audit::Who;
use domain::values::ids::Id;
use domain::values::time::{DAY_MS, Timestamp};
use serde_json::{Value, json};

pub async fn page(visit: &Here<'_>) -> Made {
    let waiting = visit.inside.get("/admin/approvals?status=pending&limit=50").await?;
    let (all, next) = visit.list("/admin/approvals", "/console/approvals", &[], "25").await?;
    let mut page = Page::new("approvals", visit.say("Aprobaciones", "Approvals")).maybe(visit.done());
    if items(&waiting).is_empty() {
        page = page.text(
            visit
                .say("Nada está esperando a una segunda persona.", "Nothing is waiting for a second person."),
        );
    }
    let mut of = parts::subjects(visit, items(&waiting)).await?;
    for item in items(&waiting) {
        let about = of.remove(str_of(item, "approvalId")).map(|about| about.facts).unwrap_or_default();
        page.blocks.extend(waiting_call(visit, item, about));
    }
    Ok(page.heading(visit.say("Todas", "All")).with(table(visit, &all).next(next)))
}

fn waiting_call(visit: &Here<'_>, item: &Value, mut about: Vec<Fact>) -> Vec<Block> {
    let facts = show::facts(visit.language, item, &["status", "target", "createdAt", "expiresAt"]);
    let mut facts = show::agreed_facts(visit.language, Gender::Feminine, facts);
    for fact in facts.iter_mut().filter(|fact| fact.field == "target" && !fact.cell.text.is_empty()) {
        // The search knows the page of every target.
        fact.cell.href = Some(with_query("/console/search", &[("q", str_of(item, "target"))]));
    }
    let label = visit.say("Pedido por", "Requested by");
    facts.insert(1, Fact::new("requestedBy", label, Cell::text(person(&item["requestedBy"]))));
    about.append(&mut facts);
    let mut blocks = vec![Block::Heading(what(visit, item).to_owned()), Block::Facts(about)];
    blocks.push(decision(visit, item));
    blocks
}

/// Of whoever may decide; else who may.
fn decision(visit: &Here<'_>, item: &Value) -> Block {
    let id = str_of(item, "approvalId");
    let least = least_role(visit.services, Id::parse(id));
    let asker = Who { id: Id::parse(str_of(&item["requestedBy"], "operatorId")), name: "".into() };
    let is_own = asker.is(visit.who.who());
    let day_before =
        Timestamp::parse(str_of(item, "createdAt")).map_or(Timestamp::EPOCH, |at| at.plus_ms(-DAY_MS));
    let is_second = visit.services.callers.operators.are_two(&asker, visit.who.who(), day_before);
    if !is_second || visit.who.role() < least {
        let role = words(visit.language, least.name());
        let has_role = visit.who.role() >= least;
        return Block::Text(match (visit.language, is_own, has_role) {
            (Language::Spanish, true, _) => {
                format!("Lo pediste tú: lo decide otra persona con el rol {role} o uno mayor.")
            }
            (Language::English, true, _) => {
                format!("You asked for it: somebody else with the role {role} or a higher one decides.")
            }
            (Language::Spanish, _, true) => format!(
                "Lo decide otra persona con el rol {role} o uno mayor: hace menos de un día, uno de los dos creó \
                 al otro, lo ascendió, lo activó o le dio otro token."
            ),
            (Language::English, _, true) => format!(
                "Somebody else with the role {role} or a higher one decides: less than a day ago, one of you \
                 created the other, raised or enabled it, or rotated its token."
            ),
            (Language::Spanish, ..) => format!("Lo decide quien tenga el rol {role} o uno mayor."),
            (Language::English, ..) => format!("Whoever has the role {role} or a higher one decides."),
        });
    }
    let to = |act: &str| path("/console/approvals", id, act);
    let reject = Button::bad("reject", visit.say("Rechazar", "Reject"), to("reject"));
    Form::new(to("approve"), "approve", visit.say("Aprobar", "Approve"))
        .id(format!("decide-{id}"))
        .input(Input::new("note", visit.say("Nota", "Note")))
        .button(reject)
        .into()
}

fn what(visit: &Here<'_>, item: &Value) -> &'static str {
    let request = &item["request"];
    match str_of(item, "action") {
        "adjustments" => visit.say("Corregir un saldo", "Correct a balance"),
        "rates" if request["pinnedUntil"].is_string() => visit.say("Fijar una tasa", "Pin a rate"),
        "rates" if request["price"].is_null() => visit.say("Soltar una tasa", "Unpin a rate"),
        "rates" => visit.say("Cambiar una tasa", "Change a rate"),
        "live-status" => visit.say("Cambiar el modo real de un comercio", "Change a tenant's live mode"),
        "operations" if request["outcome"].is_null() => {
            visit.say("Aceptar una conciliación", "Accept a reconciliation")
        }
        "operations" => visit.say("Resolver una operación", "Resolve an operation"),
        "crypto-payouts" if request["reason"].is_string() => {
            visit.say("Rechazar un pago en USDT", "Reject a payout in USDT")
        }
        "crypto-payouts" => visit.say("Aprobar un pago en USDT", "Release a payout in USDT"),
        "operators" if request["status"].is_string() || request["role"].is_null() => {
            visit.say("Cambiar a un operador o su token", "Change an operator or its token")
        }
        "operators" => visit.say("Crear o cambiar a un operador", "Create or change an operator"),
        "cop_payouts" if request["failureCode"].is_string() => {
            visit.say("Dar por fallido un pago en pesos", "Record that a payout in pesos failed")
        }
        "cop_payouts" if request["reference"].is_string() => {
            visit.say("Dar por hecho un pago en pesos", "Record that a payout in pesos was paid")
        }
        "cop_payouts" => visit.say("Hacer un pago en pesos", "Pay out pesos"),
        "take-over" => visit.say("Tomar el mando en este servidor", "Take over on this server"),
        _ => visit.say("Otra cosa", "Something else"),
    }
}

fn person(of: &Value) -> String {
    of["name"].as_str().map_or_else(|| show::text(of), str::to_owned)
}

fn table(visit: &Here<'_>, all: &Value) -> Table {
    let row = |item: &Value| {
        let row = Row::new([
            show::cell(visit.language, "createdAt", &item["createdAt"]),
            Cell::text(what(visit, item)).with_sub(str_of(item, "target")),
            show::cell(visit.language, "status", &item["status"]),
            Cell::text(person(&item["requestedBy"])),
            Cell::text(person(&item["decidedBy"])),
            Cell::text(str_of(item, "note")),
        ]);
        show::agreed(visit.language, Gender::Feminine, row).status(str_of(item, "status"))
    };
    let table = visit.table(
        ["Aprobaciones, primero las más recientes", "Approvals, newest first"],
        "Creada, Qué, Estado, Pedida por, Decidida por, Nota",
        "Created, What, State, Requested by, Decided by, Note",
    );
    table.rows(items(all).iter().map(row))
}

pub async fn decide(visit: &Here<'_>) -> Result<Shown, Problem> {
    let act = visit.part(2);
    let to = path("/admin/approvals", visit.id(), act);
    let outcome = post_by(visit, &to, &json!({ "note": visit.form.text("note") }), act).await;
    visit.acted(outcome, |_| after("/console/approvals", &Value::Null), page(visit)).await
}
