//! The portal of merchants (`docs/contract.md, 20.9`): what a tenant's key may see and do, as
//! pages; a file per page. Every page asks the tenants' API with the key of whoever is logged in,
//! so it sees what the key sees, in the key's mode, and an act is refused as the API refuses it.
//! What a key may not do has no form on a page.

mod home;
mod keys;
mod links;
mod live;
mod merchants;
mod payments;
mod payouts;
mod preview;
mod requests;
mod search;
mod sessions;
mod signature;
mod statements;
mod webhooks;

use crate::gateway::services::Services;
use crate::http::listen::Answer;
use crate::pages::form::Form;
use crate::pages::inside::Refused;
use crate::pages::language::Language;
use crate::pages::show;
use crate::pages::site::{Shown, Site, Visit};
use crate::pages::upload::Sent;
use crate::pages::view::{Link, Page};
use api::plan::Caller;
use api::problem::Problem;
use domain::platform::Scope;
use domain::values::ids::Id;
use std::sync::Arc;

/// A file of a thousand payouts.
const FORM_BYTES_MAX: usize = 1 << 20;

pub struct Portal<G> {
    services: Arc<Services>,
    api: G,
}

impl<G> Portal<G> {
    pub fn new(services: Arc<Services>, api: G) -> Portal<G> {
        Portal { services, api }
    }
}

type Here<'a, G> = Visit<'a, Portal<G>>;

type Made = Result<Page, Refused>;

struct Failed<'a> {
    form: &'a Form,
    refused: &'a Refused,
}

/// Empty on a fresh form.
fn typed(failed: Option<&Failed<'_>>, name: &str) -> String {
    failed.map(|failed| failed.form.text(name).to_owned()).unwrap_or_default()
}

fn may<G: Answer>(visit: &Here<'_, G>, scope: Scope) -> bool {
    visit.who.key.scopes.allow(scope)
}

impl<G: Answer> Site for Portal<G> {
    type Api = G;
    type Who = Caller;

    const BASE: &'static str = "/portal";
    const COOKIE: &'static str = "pasarela_portal_session";
    const SECRET: &'static str = "key";
    const FORM_BYTES_MAX: usize = FORM_BYTES_MAX;

    fn services(&self) -> &Services {
        &self.services
    }

    fn api(&self) -> &G {
        &self.api
    }

    fn recognise(&self, hash: &[u8; 32]) -> Option<Caller> {
        self.services.callers.directory.recognise(hash, self.services.now())
    }

    fn owner(&self, who: &Caller) -> Id {
        who.tenant.id
    }

    fn brand(&self, language: Language) -> String {
        language.say("Portal de Pasarela", "Pasarela portal").to_owned()
    }

    fn login(&self, language: Language) -> (String, String) {
        let hint = language.say(
            "La de prueba (pk_test_…) o la real (pk_live_…). Con una de solo lectura puedes mirar sin \
             cambiar nada.",
            "The test key (pk_test_…) or the live one (pk_live_…). With a read-only key you can look without \
             changing anything.",
        );
        (language.say("Tu llave de API", "Your API key").to_owned(), hint.to_owned())
    }

    fn who(&self, who: &Caller, language: Language) -> String {
        let mode = if who.livemode() { language.say("real", "live") } else { language.say("prueba", "test") };
        format!("{} · {mode} · {}…", who.tenant.name, who.key.prefix)
    }

    fn banner(&self, who: &Caller, language: Language) -> Option<String> {
        let text = language.say("Modo de prueba: no se mueve dinero real", "Test mode: no real money moves");
        (!who.livemode()).then(|| text.to_owned())
    }

    fn nav(&self, _: &Caller, language: Language) -> Vec<(&'static str, Link)> {
        let pages = [
            ("home", "Inicio", "Home"),
            ("payments", "Cobros", "Payments"),
            ("payouts", "Pagos", "Payouts"),
            ("merchants", "Vendedores", "Sellers"),
            ("links", "Enlaces", "Links"),
            ("sessions", "Sesiones", "Sessions"),
            ("webhooks", "Webhooks", "Webhooks"),
            ("requests", "Solicitudes", "Requests"),
            ("statements", "Estado de cuenta", "Statements"),
            ("keys", "Llaves", "Keys"),
            ("live", "Modo real", "Go live"),
        ];
        pages
            .map(|(name, spanish, english)| {
                (name, Link::new(language.say(spanish, english), format!("/portal/{name}")))
            })
            .into()
    }

    async fn show(&self, visit: &Here<'_, G>) -> Result<Shown, Problem> {
        let made = match (visit.part(0), visit.part(1)) {
            ("" | "home", "") => home::page(self, visit).await,
            ("payments", "") => payments::list(visit).await,
            ("payments", id) => payments::one(self, visit, id, None).await,
            ("payouts", "") => payouts::list(visit, None).await,
            ("payouts", "batch") => payouts::batch(visit).await,
            ("payouts", id) => payouts::one(self, visit, id).await,
            ("merchants", "") => merchants::list(visit).await,
            ("merchants", id) => merchants::one(visit, id).await,
            ("links", "") => links::list(visit, None).await,
            ("links", id) => links::one(visit, id).await,
            ("sessions", "") => sessions::list(visit).await,
            ("sessions", id) => sessions::one(visit, id).await,
            ("webhooks", "") => webhooks::list(visit, None).await,
            ("webhooks", id) => webhooks::one(self, visit, id).await,
            ("requests", "") => requests::page(visit).await,
            ("search", "") => search::page(visit).await,
            ("statements", "") if visit.query.get("format") == Some("csv") => {
                return Ok(Shown::Raw(statements::download(self, visit).await));
            }
            ("statements", "") => statements::page(self, visit).await,
            ("keys", "") => keys::page(self, visit, None).await,
            ("live", "") => live::page(self, visit).await,
            _ => return Err(Problem::not_found()),
        };
        Ok(Shown::Page(made.or_else(|refused| refused_page(visit, &refused))?))
    }

    async fn act(&self, visit: &Here<'_, G>, sent: Sent) -> Result<Shown, Problem> {
        let form = &sent.form;
        match (visit.part(0), visit.part(1), visit.part(2)) {
            ("payments", id, "reverse") => payments::reverse(self, visit, id, form).await,
            ("payouts", "", "") => payouts::create(visit, form).await,
            ("payouts", "preview", "") => preview::page(self, visit, sent.file).await,
            ("payouts", "confirm", "") => preview::confirm(visit, form).await,
            ("links", "", "") => links::create(visit, form).await,
            ("webhooks", "", "") => webhooks::create(visit, form).await,
            ("webhooks", "test", "") => webhooks::test(visit, form).await,
            ("webhooks", id, "resend") => webhooks::resend(self, visit, id, form).await,
            ("webhooks", id, "status") => webhooks::switch(self, visit, id, form).await,
            ("keys", "rotate", "") => keys::rotate(self, visit, form).await,
            ("live", "", "") => live::request(self, visit, form).await,
            _ => Err(Problem::not_found()),
        }
    }
}

/// What is not there is a 404.
fn refused_page<G: Answer>(visit: &Here<'_, G>, refused: &Refused) -> Result<Page, Problem> {
    if refused.status == 404 {
        return Err(Problem::not_found());
    }
    let nav = [
        "home",
        "payments",
        "payouts",
        "merchants",
        "links",
        "sessions",
        "webhooks",
        "requests",
        "statements",
        "keys",
        "live",
    ];
    let name = nav.into_iter().find(|name| *name == visit.part(0)).unwrap_or("home");
    let page = Page::new(name, visit.say("No se pudo mostrar", "It could not be shown"));
    Ok(page.failed(refused.status, show::refusal(visit.language, refused)))
}

fn failed_page(visit_language: Language, made: Made, refused: &Refused) -> Result<Shown, Problem> {
    let note = show::refusal(visit_language, refused);
    match made {
        Ok(page) => Ok(Shown::Page(page.failed(refused.status, note))),
        Err(_) => Ok(Shown::Page(
            Page::new("home", visit_language.say("No se pudo hacer", "It could not be done"))
                .failed(refused.status, note),
        )),
    }
}

/// The address of the next page names it.
fn done_note<G: Answer>(visit: &Here<'_, G>) -> Option<crate::pages::view::Note> {
    let (spanish, english) = match visit.query.get("done")? {
        "reversed" => {
            ("Se pidió el reverso. Abajo ves cómo va.", "The reversal was requested. Its progress is below.")
        }
        "refunded" => {
            ("Se pidió el reintegro. Abajo ves cómo va.", "The refund was requested. Its progress is below.")
        }
        "payout" => {
            ("Se ordenó el pago. Abajo ves cómo va.", "The payout was ordered. Its progress is below.")
        }
        "link" => ("El enlace está listo.", "The link is ready."),
        "resent" => ("Se está enviando de nuevo el evento.", "The event is being sent again."),
        "tested" => ("La prueba se envió.", "The test was sent."),
        "changed" => ("Cambiado.", "Changed."),
        "asked" => (
            "Tu solicitud quedó registrada. El operador la verá.",
            "Your request is recorded. The operator will see it.",
        ),
        _ => return None,
    };
    let tone = crate::pages::view::Tone::Good;
    Some(crate::pages::view::Note::new(tone, visit.language.say(spanish, english)))
}
