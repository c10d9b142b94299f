//! The console of operators (`docs/contract.md, 20.9`): what an operator's token may see and do, as
//! pages on the admin listener; a file per subject. Every page asks the operators' API with the
//! token of whoever is logged in: roles, masks, approvals and the audit are those of the API. What
//! a role may not do has no form on a page, and is refused when it is sent.

mod accounts;
mod advice;
mod at_bank;
mod counts;
mod decisions;
mod money;
mod queues;
mod rates;
mod reconciliations;
mod server;
mod subject;

use crate::gateway::operators::Operator;
use crate::pages::inside::{Refused, segment, with_query};
use crate::pages::show;
use crate::pages::site::{Act, PageRow, Shown, Site, SiteRow, Visit, act, show};
use crate::pages::view::{Page, Tone};
use api::problem::Problem;
use domain::platform::operators::Role;
use domain::values::ids::Id;
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
        ("approvals", "Aprobaciones", "Approvals"),
        ("tenants", "Comercios", "Tenants"),
        ("rates", "Tasas", "Rates"),
        ("rails", "Bancos y redes", "Rails"),
        ("health", "Salud", "Health"),
        ("audit", "Auditoría", "Audit"),
        ("statements", "Estados de cuenta", "Statements"),
        ("reconciliations", "Conciliación", "Reconciliation"),
    ],
    recognise: |services, hash| services.callers.operators.of_session(*hash),
    owner: |who| who.account().map_or(ROOT, |account| account.id),
    who: |who, _| format!("{} · {}", who.who().name, who.role().name()),
    banner: |_, _| None,
    refused: refused_page,
    done: &[
        ("done", Tone::Good, ["Hecho.", "Done."]),
        ("waits", Tone::Plain, ["Todavía no se hizo: otra persona tiene que aprobarlo.", "Not done yet: somebody else has to approve it."]),
    ],
};

pub fn rows() -> Vec<SiteRow<Operator>> {
    let of_tenant: Act<Operator> =
        |visit| Box::pin(accounts::act(visit, visit.id(), visit.part(2), &visit.form));
    let of_key: Act<Operator> =
        |visit| Box::pin(accounts::act_on_key(visit, visit.id(), visit.part(2), &visit.form));
    let of_chargeback: Act<Operator> =
        |visit| Box::pin(queues::close_chargeback(visit, visit.id(), visit.part(2), &visit.form));
    let of_review: Act<Operator> =
        |visit| Box::pin(queues::review(visit, visit.id(), visit.part(2), &visit.form));
    let of_cop_payout: Act<Operator> =
        |visit| Box::pin(queues::settle(visit, visit.id(), visit.part(2), &visit.form));
    let of_approval: Act<Operator> =
        |visit| Box::pin(decisions::decide(visit, visit.id(), visit.part(2), &visit.form));
    vec![
        show("", |visit| Box::pin(queues::home(visit))),
        show("/home", |visit| Box::pin(queues::home(visit))),
        show("/search", |visit| Box::pin(money::search(visit))),
        show("/payments/:id", |visit| Box::pin(money::payment(visit, visit.id(), None))),
        act("/payments/:id/unmask", |visit| {
            Box::pin(async { visit.shown(money::payment(visit, visit.id(), Some("true")).await) })
        }),
        act("/payments/:id/cancel", |visit| Box::pin(money::cancel(visit, visit.id(), &visit.form))),
        act("/payments/:id/chargeback", |visit| {
            Box::pin(money::open_chargeback(visit, visit.id(), &visit.form))
        }),
        show("/payouts/:id", |visit| Box::pin(money::payout(visit, visit.id(), false))),
        act("/payouts/:id/unmask", |visit| {
            Box::pin(async { visit.shown(money::payout(visit, visit.id(), true).await) })
        }),
        act("/events/:id/resend", |visit| Box::pin(money::resend(visit, visit.id(), &visit.form))),
        show("/tenants", |visit| Box::pin(accounts::list(visit))),
        show("/tenants/:id", |visit| Box::pin(accounts::one(visit, visit.id(), None))),
        act("/tenants/:id/live-status", of_tenant),
        act("/tenants/:id/settings", of_tenant),
        act("/tenants/:id/keys", of_tenant),
        act("/tenants/:id/adjustments", of_tenant),
        act("/keys/:id/revoke", of_key),
        act("/keys/:id/rotate", of_key),
        show("/queues", |visit| Box::pin(queues::page(visit))),
        act("/chargebacks/:id/won", of_chargeback),
        act("/chargebacks/:id/lost", of_chargeback),
        act("/crypto/:id/approve", of_review),
        act("/crypto/:id/reject", of_review),
        act("/operations/:id/resolve", |visit| Box::pin(queues::resolve(visit, visit.id(), &visit.form))),
        act("/cop-payouts/:id/complete", of_cop_payout),
        act("/cop-payouts/:id/fail", of_cop_payout),
        show("/approvals", |visit| Box::pin(decisions::page(visit))),
        act("/approvals/:id/approve", of_approval),
        act("/approvals/:id/reject", of_approval),
        show("/rates", |visit| Box::pin(rates::page(visit, None))),
        act("/rates", |visit| Box::pin(rates::pin(visit, &visit.form))),
        act("/rates/unpin", |visit| Box::pin(rates::unpin(visit, &visit.form))),
        show("/rails", |visit| Box::pin(server::rails(visit))),
        show("/health", |visit| Box::pin(server::health(visit))),
        show("/audit", |visit| Box::pin(server::audit(visit))),
        (Method::GET, "/statements", PageRow::Answer(|visit| Box::pin(server::statements(visit)))),
        show("/reconciliations", |visit| Box::pin(reconciliations::page(visit, None))),
        show("/reconciliations/:id", |visit| Box::pin(reconciliations::one(visit, visit.id()))),
        act("/reconciliations", |visit| Box::pin(reconciliations::upload(visit))),
        act("/reconciliations/:id/accept", |visit| {
            Box::pin(reconciliations::accept(visit, visit.id(), &visit.form))
        }),
    ]
}

fn page_name(visit: &Here<'_>) -> &'static str {
    let named = |name: &&str| *name == visit.part(0);
    SITE.nav.iter().map(|(name, ..)| *name).chain(["search"]).find(named).unwrap_or("home")
}

/// What is not there is a 404.
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

fn path(base: &str, id: &str, act: &str) -> String {
    if act.is_empty() { format!("{base}/{}", segment(id)) } else { format!("{base}/{}/{act}", segment(id)) }
}
