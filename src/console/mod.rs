//! The console of operators (`docs/contract.md, 20.9`): what an operator's token may see and do, as
//! pages on the admin listener; a file per subject. Every page asks the operators' API with the
//! token of whoever is logged in: roles, masks, approvals and the audit are those of the API. What
//! a role may not do has no form on a page, and is refused when it is sent.

mod accounts;
mod advice;
mod at_bank;
mod counts;
mod decisions;
mod earlier;
mod lists;
mod money;
mod parts;
mod queues;
mod rates;
mod reconciliations;
mod requests;
mod server;
mod settings;
mod subject;
mod verdict;

use crate::cluster::questions::ShownBy;
use crate::cluster::questions::Thing;
use crate::gateway::services::Services;
use crate::operators::Operator;
use crate::pages::confirm::{self, Confirm};
use crate::pages::form::Form;
use crate::pages::inside::{ApiResult, Refused, segment, with_query};
use crate::pages::show;
use crate::pages::site::{Shown, Site, SiteRow, Visit, site_rows};
use crate::pages::view::{Input, Note, Page, Tone};
use crate::pages::words::words;
use api::problem::Problem;
use domain::platform::operators::Role;
use domain::values::ids::{Id, Mode};
use hyper::Method;
use serde_json::Value;

/// The owner of `root`'s sessions, who has no account.
const ROOT: Id = Id::from_bytes([0; 16]);
type Here<'a> = Visit<'a, Operator>;

type Made = Result<Page, Refused>;

fn may(visit: &Here<'_>, role: Role) -> bool {
    visit.who.role() >= role
}

#[rustfmt::skip]
pub static SITE: Site<Operator> = Site {
    base: "/console",
    cookie: "pasarela_console_session",
    secret: "token",
    label: ["Tu token de operador", "Your operator's token"],
    hint: ["El tuyo (op_…), o el de la configuración.", "Yours (op_…), or that of the configuration."],
    brand: ["Consola de Pasarela", "Pasarela console"],
    // A bank's statement.
    form_bytes_max: 33 << 20,
    nav: &[
        ("home", "Inicio", "Home"),
        ("queues", "Colas", "Queues"),
        ("payments", "Cobros", "Payments"),
        ("payouts", "Pagos", "Payouts"),
        ("approvals", "Aprobaciones", "Approvals"),
        ("tenants", "Comercios", "Tenants"),
        ("rates", "Tasas", "Rates"),
        ("rails", "Bancos y redes", "Rails"),
        ("requests", "Solicitudes", "Requests"),
        ("health", "Salud", "Health"),
        ("audit", "Auditoría", "Audit"),
        ("statements", "Estados de cuenta", "Statements"),
        ("reconciliations", "Conciliación", "Reconciliation"),
    ],
    recognise: |services, hash| services.callers.operators.of_session(*hash),
    owner: |who| who.account().map_or(ROOT, |account| account.id),
    book: |_| None,
    shown_by: Some(shown_by),
    who: |who, language| format!("{} · {}", who.who().name, words(language, who.role().name())),
    banner: |_, _| None,
    refused: refused_page,
    done: &[
        ("done", Tone::Good, ["Hecho.", "Done."]),
        ("waits", Tone::Plain, ["Todavía no se hizo: otra persona tiene que aprobarlo.", "Not done yet: somebody else has to approve it."]),
    ],
};

pub fn rows() -> Vec<SiteRow<Operator>> {
    site_rows! {
        show "" => queues::home;
        show "/home" => queues::home;
        show "/search" => money::search;
        answer "/parts/:id" => parts::answer;
        answer "/payments" => lists::answer;
        answer "/payouts" => lists::answer;
        answer "/cop-payouts" => lists::answer;
        answer "/crypto-payouts" => lists::answer;
        answer "/conversions" => lists::answer;
        answer "/chargebacks" => lists::answer;
        show "/payments/:id" => money::payment;
        act "/payments/:id/unmask" => money::unmask_payment;
        act "/payments/:id/cancel" => money::cancel;
        act "/payments/:id/chargeback" => money::open_chargeback;
        show "/payouts/:id" => money::payout;
        act "/payouts/:id/unmask" => money::unmask_payout;
        act "/events/:id/resend" => money::resend;
        show "/tenants" => accounts::list;
        act "/tenants" => accounts::create;
        show "/tenants/:id" => accounts::one;
        show "/tenants/:id/past" => earlier::tenant;
        show "/records/:id" => earlier::record;
        act "/tenants/:id/live-status" => accounts::act;
        act "/tenants/:id/settings" => accounts::act;
        act "/tenants/:id/keys" => accounts::act;
        act "/tenants/:id/adjustments" => accounts::act;
        show "/keys/:id" => accounts::key;
        act "/keys/:id/revoke" => accounts::act_on_key;
        act "/keys/:id/rotate" => accounts::act_on_key;
        show "/queues" => queues::page;
        show "/operations/:id" => queues::operation;
        show "/crypto/:id" => queues::crypto;
        show "/cop-payouts/:id" => queues::cop_payout;
        show "/chargebacks/:id" => queues::chargeback;
        act "/chargebacks/:id/won" => queues::close_chargeback;
        act "/chargebacks/:id/lost" => queues::close_chargeback;
        act "/crypto/:id/approve" => queues::review;
        act "/crypto/:id/reject" => queues::review;
        act "/operations/:id/resolve" => queues::resolve;
        act "/cop-payouts/:id/complete" => queues::settle;
        act "/cop-payouts/:id/fail" => queues::settle;
        show "/approvals" => decisions::page;
        act "/approvals/:id/approve" => decisions::decide;
        act "/approvals/:id/reject" => decisions::decide;
        show "/rates" => rates::page;
        act "/rates" => rates::pin;
        act "/rates/unpin" => rates::unpin;
        answer "/requests" => requests::answer;
        show "/rails" => server::rails;
        show "/health" => server::health;
        act "/health/backup" => server::back_up;
        show "/audit" => server::audit;
        answer "/statements" => server::statements;
        show "/reconciliations" => reconciliations::page;
        show "/reconciliations/:id" => reconciliations::one;
        act "/reconciliations" => reconciliations::upload;
        act "/reconciliations/:id/accept" => reconciliations::accept;
    }
}

/// What a page shows from books, and not by the API, the partition that has them shows.
fn shown_by(services: &Services, path: &[String], query: &Form) -> Option<ShownBy> {
    let part = |at: usize| path.get(at).map_or("", String::as_str);
    let of_tenant = |id: &str| {
        let tenant = services.callers.directory.tenant(Id::parse(id)?)?;
        Some(ShownBy::Partition(tenant.partition))
    };
    let thing = match part(0) {
        "tenants" if part(2) == "past" => return of_tenant(part(1)),
        "requests" => return of_tenant(query.text("tenantId")),
        "records" => return query.text("partition").parse().ok().map(ShownBy::Partition),
        "payments" => Thing::Payment,
        "payouts" => Thing::Payout,
        "operations" => Thing::Operation,
        "crypto" => Thing::CryptoPayout,
        "cop-payouts" => Thing::CopPayout,
        "chargebacks" => Thing::Chargeback,
        _ => return None,
    };
    Some(ShownBy::Holder(thing, Id::parse(part(1))?))
}

fn page_name(visit: &Here<'_>) -> &'static str {
    let named = |name: &&str| *name == visit.part(0);
    SITE.nav.iter().map(|(name, ..)| *name).chain(["search"]).find(named).unwrap_or("home")
}

fn refused_page(visit: &Here<'_>, refused: &Refused) -> Result<Page, Problem> {
    if refused.status == 404 && !visit.part(1).is_empty() {
        return Err(Problem::not_found());
    }
    let page = Page::new(page_name(visit), visit.say("No se pudo mostrar", "It could not be shown"));
    Ok(page.failed(refused.status, show::refusal(visit.language, refused)))
}

/// With a note that the act was done, or that it waits for a second person.
fn after(to: &str, answer: &Value) -> Shown {
    let waits = answer.get("approvalId").is_some() && show::str_of(answer, "status") == "pending";
    Shown::See(with_query(to, &[("done", if waits { "waits" } else { "done" })]))
}

/// One form has several buttons, and each is an act of its own.
async fn post_by(visit: &Here<'_>, to: &str, body: &Value, act: &str) -> ApiResult {
    let once = visit.form.filled("once").map(|once| format!("{once}-{act}")).unwrap_or_default();
    visit.inside.post(to, body, &once).await
}

/// The page that asks once more before a call, with what the call would do now; or why it would be refused, on the page
/// of its form.
async fn asked(
    visit: &Here<'_>,
    call: (Method, &str, Option<&Value>),
    confirm: Confirm,
    form: impl Future<Output = Made>,
) -> Result<Shown, Problem> {
    asked_with(visit, call, confirm, None, form).await
}

/// With something to type once more.
async fn asked_with(
    visit: &Here<'_>,
    (method, path, body): (Method, &str, Option<&Value>),
    mut confirm: Confirm,
    typed_again: Option<Input>,
    form: impl Future<Output = Made>,
) -> Result<Shown, Problem> {
    match visit.rehearsed(method, path, body).await {
        Ok(shown) => {
            if shown["body"]["approvalId"].is_string() {
                let text = visit.say(
                    "Otra persona tiene que aprobarlo: hasta entonces no se hace.",
                    "Somebody else has to approve it: it is not done before.",
                );
                confirm.figures.push(Note::new(Tone::Plain, text).into());
            }
            confirm.figures.extend(confirm::figures(visit.language, &shown));
            Ok(visit.confirmation_with(confirm, typed_again))
        }
        Err(refused) => visit.failed(form.await, &refused),
    }
}

/// The address of a page of what waits, in a mode.
fn in_mode(to: &str, mode: Mode) -> String {
    let (page, fragment) =
        to.split_once('#').map_or((to, String::new()), |(page, at)| (page, format!("#{at}")));
    let name = if mode == Mode::Test { mode.name() } else { "" };
    format!("{}{fragment}", with_query(page, &[("mode", name)]))
}

/// The queues in the mode of what a form was about.
fn home_of(visit: &Here<'_>) -> String {
    let mode = if visit.form.text("mode") == Mode::Test.name() { Mode::Test } else { Mode::Live };
    in_mode("/console/queues", mode)
}

fn path(base: &str, id: &str, act: &str) -> String {
    if act.is_empty() { format!("{base}/{}", segment(id)) } else { format!("{base}/{}/{act}", segment(id)) }
}
