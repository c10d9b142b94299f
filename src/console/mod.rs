//! The console of operators (`docs/contract.md, 20.9`): what an operator's token may see and do, as
//! pages on the admin listener; a file per subject. Every page asks the operators' API with the
//! token of whoever is logged in: roles, masks, approvals and the audit are those of the API. What
//! a role may not do has no form on a page, and is refused when it is sent.

mod accounts;
mod advice;
mod at_bank;
mod counts;
mod dead_endpoints;
mod decisions;
mod money;
mod queues;
mod rates;
mod reconciliations;
mod server;
mod subject;

use crate::gateway::operators::{Operator, TokenDigest};
use crate::gateway::services::Services;
use crate::http::listen::{Answer, Arrival};
use crate::http::origin_check::OriginCheck;
use crate::pages::inside::{Refused, segment, with_query};
use crate::pages::language::Language;
use crate::pages::show;
use crate::pages::site::{Shown, Site, Visit};
use crate::pages::upload::Sent;
use crate::pages::view::{Link, Note, Page, Tone};
use api::problem::Problem;
use domain::platform::operators::Role;
use domain::values::ids::Id;
use serde_json::Value;
use std::sync::Arc;

/// The owner of `root`'s sessions, who has no account.
const ROOT: Id = Id::from_bytes([0; 16]);
/// A bank's statement.
const FORM_BYTES_MAX: usize = 33 << 20;

pub struct Console<G> {
    services: Arc<Services>,
    guard: OriginCheck,
    api: G,
}

impl<G> Console<G> {
    /// `guard` keeps other sites' pages out.
    pub fn new(services: Arc<Services>, guard: OriginCheck, api: G) -> Console<G> {
        Console { services, guard, api }
    }
}

type Here<'a, G> = Visit<'a, Console<G>>;

type Made = Result<Page, Refused>;

/// Spanish, English.
const PAGES: [(&str, &str, &str); 11] = [
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
    ("search", "Búsqueda", "Search"),
];

fn may<G: Answer>(visit: &Here<'_, G>, role: Role) -> bool {
    visit.who.role() >= role
}

impl<G: Answer> Site for Console<G> {
    type Api = G;
    type Who = Operator;

    const BASE: &'static str = "/console";
    const COOKIE: &'static str = "pasarela_console_session";
    const SECRET: &'static str = "token";
    const FORM_BYTES_MAX: usize = FORM_BYTES_MAX;

    fn services(&self) -> &Services {
        &self.services
    }

    fn api(&self) -> &G {
        &self.api
    }

    fn guard(&self, arrival: &Arrival) -> Result<(), Problem> {
        self.guard.check(&arrival.head)
    }

    fn recognise(&self, hash: &[u8; 32]) -> Option<Operator> {
        self.services.callers.operators.of_session(TokenDigest::from_bytes(*hash))
    }

    fn owner(&self, who: &Operator) -> Id {
        who.account().map_or(ROOT, |account| account.id)
    }

    fn brand(&self, language: Language) -> String {
        language.say("Consola de Pasarela", "Pasarela console").to_owned()
    }

    fn login(&self, language: Language) -> (String, String) {
        let hint = language
            .say("El tuyo (op_…), o el de la configuración.", "Yours (op_…), or that of the configuration.");
        (language.say("Tu token de operador", "Your operator's token").to_owned(), hint.to_owned())
    }

    fn who(&self, who: &Operator, _: Language) -> String {
        format!("{} · {}", who.who().name, who.role().name())
    }

    fn banner(&self, _: &Operator, _: Language) -> Option<String> {
        None
    }

    fn nav(&self, _: &Operator, language: Language) -> Vec<(&'static str, Link)> {
        let shown = PAGES.iter().filter(|(name, ..)| *name != "search");
        shown
            .map(|(name, spanish, english)| {
                (*name, Link::new(language.say(spanish, english), format!("/console/{name}")))
            })
            .collect()
    }

    async fn show(&self, visit: &Here<'_, G>) -> Result<Shown, Problem> {
        let made = match (visit.part(0), visit.part(1)) {
            ("" | "home", "") => queues::home(self, visit).await,
            ("search", "") => money::search(self, visit).await,
            ("payments", id) if !id.is_empty() => money::payment(self, visit, id, None).await,
            ("payouts", id) if !id.is_empty() => money::payout(self, visit, id, false).await,
            ("tenants", "") => accounts::list(visit).await,
            ("tenants", id) => accounts::one(visit, id, None).await,
            ("queues", "") => queues::page(self, visit).await,
            ("approvals", "") => decisions::page(self, visit).await,
            ("rates", "") => rates::page(self, visit, None).await,
            ("rails", "") => server::rails(visit).await,
            ("health", "") => server::health(visit).await,
            ("audit", "") => server::audit(visit).await,
            ("statements", "") if visit.query.get("format") == Some("csv") => {
                return Ok(Shown::Raw(server::download(self, visit).await));
            }
            ("statements", "") => server::statements(self, visit).await,
            ("reconciliations", "") => reconciliations::page(visit, None).await,
            ("reconciliations", id) => reconciliations::one(visit, id).await,
            _ => return Err(Problem::not_found()),
        };
        Ok(Shown::Page(made.or_else(|refused| refused_page(visit, &refused))?))
    }

    async fn act(&self, visit: &Here<'_, G>, sent: Sent) -> Result<Shown, Problem> {
        let form = &sent.form;
        match (visit.part(0), visit.part(1), visit.part(2)) {
            ("payments", id, "unmask") => {
                let made = money::payment(self, visit, id, Some("true")).await;
                Ok(Shown::Page(made.or_else(|refused| refused_page(visit, &refused))?))
            }
            ("payouts", id, "unmask") => {
                let made = money::payout(self, visit, id, true).await;
                Ok(Shown::Page(made.or_else(|refused| refused_page(visit, &refused))?))
            }
            ("payments", id, "cancel") => money::cancel(self, visit, id, form).await,
            ("payments", id, "chargeback") => money::open_chargeback(self, visit, id, form).await,
            ("chargebacks", id, act @ ("won" | "lost")) => {
                queues::close_chargeback(self, visit, id, act, form).await
            }
            ("keys", id, act @ ("revoke" | "rotate")) => accounts::act_on_key(visit, id, act, form).await,
            ("events", id, "resend") => money::resend(visit, id, form).await,
            ("tenants", id, act @ ("live-status" | "settings" | "keys" | "adjustments")) => {
                accounts::act(visit, id, act, form).await
            }
            ("approvals", id, act @ ("approve" | "reject")) => {
                decisions::decide(self, visit, id, act, form).await
            }
            ("crypto", id, act @ ("approve" | "reject")) => queues::review(self, visit, id, act, form).await,
            ("operations", id, "resolve") => queues::resolve(self, visit, id, form).await,
            ("cop-payouts", id, act @ ("complete" | "fail")) => {
                queues::settle(self, visit, id, act, form).await
            }
            ("rates", "", "") => rates::pin(self, visit, form).await,
            ("rates", "unpin", "") => rates::unpin(self, visit, form).await,
            ("reconciliations", "", "") => reconciliations::upload(visit, sent).await,
            ("reconciliations", id, "accept") => reconciliations::accept(visit, id, form).await,
            _ => Err(Problem::not_found()),
        }
    }
}

fn page_name<G: Answer>(visit: &Here<'_, G>) -> &'static str {
    let found = PAGES.iter().find(|(name, ..)| *name == visit.part(0));
    found.map_or("home", |(name, ..)| *name)
}

/// What is not there is a 404.
fn refused_page<G: Answer>(visit: &Here<'_, G>, refused: &Refused) -> Result<Page, Problem> {
    if refused.status == 404 && !visit.part(1).is_empty() {
        return Err(Problem::not_found());
    }
    let page = Page::new(page_name(visit), visit.say("No se pudo mostrar", "It could not be shown"));
    Ok(page.failed(refused.status, show::refusal(visit.language, refused)))
}

fn failed_page<G: Answer>(visit: &Here<'_, G>, made: Made, refused: &Refused) -> Result<Shown, Problem> {
    let note = show::refusal(visit.language, refused);
    let page =
        made.unwrap_or_else(|_| Page::new("home", visit.say("No se pudo hacer", "It could not be done")));
    Ok(Shown::Page(page.failed(refused.status, note)))
}

/// With a note that the act was done, or that it waits for a second person.
fn after(to: &str, answer: &Value) -> Shown {
    let waits = answer.get("approvalId").is_some() && show::str_of(answer, "status") == "pending";
    Shown::See(with_query(to, &[("done", if waits { "waits" } else { "done" })]))
}

/// The address of the next page names it.
fn done_note<G: Answer>(visit: &Here<'_, G>) -> Option<Note> {
    let (tone, text) = match visit.query.get("done")? {
        "done" => (Tone::Good, visit.say("Hecho.", "Done.")),
        "waits" => (
            Tone::Plain,
            visit.say(
                "Todavía no se hizo: otra persona tiene que aprobarlo.",
                "Not done yet: somebody else has to approve it.",
            ),
        ),
        _ => return None,
    };
    Some(Note::new(tone, text))
}

fn path(base: &str, id: &str, act: &str) -> String {
    if act.is_empty() { format!("{base}/{}", segment(id)) } else { format!("{base}/{}/{act}", segment(id)) }
}
