//! The portal of merchants (`docs/contract.md, 20.9`): what a tenant's key may see and do, as
//! pages; a file per page. Every page asks the tenants' API with the key of whoever is logged in,
//! so it sees what the key sees, in the key's mode, and an act is refused as the API refuses it.
//! What a key may not do has no form on a page.

mod approvals;
mod events;
mod home;
mod keys;
mod links;
mod lists;
mod live;
mod merchants;
mod payments;
mod payouts;
mod preview;
mod rehearsal;
mod requests;
mod search;
mod sessions;
mod statements;
mod today;
mod webhooks;

use crate::gateway::services::Services;
use crate::pages::inside::{Refused, segment, with_query};
use crate::pages::show;
use crate::pages::site::{Shown, Site, SiteRow, Visit, site_rows};
use crate::pages::view::{Page, Tone};
use crate::store::history;
use api::endpoint::{Caller, KnownKey};
use api::problem::Problem;
use domain::entities::Entity;
use domain::platform::Scope;
use domain::platform::mandate::Mandate;
use domain::values::ids::{EntityId, Id};
use serde_json::Value;

type Here<'a> = Visit<'a, Caller>;

type Made = Result<Page, Refused>;

/// What the first of these paths that has something has under this id.
async fn first(visit: &Here<'_>, paths: &[&str], id: &str) -> Result<Value, Refused> {
    let mut found = Err(Problem::not_found().into());
    for path in paths {
        found = visit.inside.get(&format!("{path}/{}", segment(id))).await;
        if !matches!(&found, Err(refused) if refused.status == 404) {
            break;
        }
    }
    found
}

/// The account's keys in the mode of the visitor's own, of whose mandates payouts are taken. Every key reads itself, as
/// with the API; the others are of whoever has the scope.
async fn own_keys(visit: &Here<'_>) -> Result<Vec<KnownKey>, Refused> {
    let own = &visit.who.key;
    let mut keys = visit.services.keys_of(visit.who.tenant.number).await?;
    keys.retain(|(key, _)| key.mode == own.mode && (key.id == own.id || may(visit, Scope::Keys)));
    Ok(keys)
}

/// Who holds the key whose mandate this was taken from.
fn agent_of(services: &Services, tenant: u64, keys: &[KnownKey], id: &str) -> Option<String> {
    let (reader, id) = (services.engine.reader(), Id::parse(id)?);
    let found = [EntityId::payout(id), EntityId::crypto_payout(id)].into_iter();
    let mut found = found.filter_map(|id| history::entity(reader, tenant, id).ok().flatten());
    let mandate = match &*found.next()? {
        Entity::Payout(payout) => payout.drawn.mandate(),
        Entity::CryptoPayout(payout) => payout.drawn.mandate(),
        _ => None,
    }?;
    let of_mandate = |mandate_of: &Mandate| mandate_of.id == mandate;
    let mut keys = keys.iter().map(|(key, _)| key);
    let key = keys.find(|key| key.details.mandate.as_deref().is_some_and(of_mandate))?;
    let agent = key.details.mandate.as_ref().and_then(|mandate| mandate.agent.as_deref());
    Some(agent.or(key.details.name.as_deref()).unwrap_or(&key.prefix).to_owned())
}

/// Whether a call was not made, and waits for the approval that its key's mandate asks for.
fn waits(answer: &Value) -> bool {
    show::str_of(answer, "status") == "awaiting_approval"
}

/// Where a call leads: what `done` says, or `to` with a note that it waits.
fn after(answer: &Value, to: &str, done: impl FnOnce(&Value) -> Shown) -> Shown {
    if waits(answer) { Shown::See(with_query(to, &[("done", "waits")])) } else { done(answer) }
}

fn may(visit: &Here<'_>, scope: Scope) -> bool {
    visit.who.key.scopes.allow(scope)
}

#[rustfmt::skip]
pub static SITE: Site<Caller> = Site {
    base: "/portal",
    cookie: "pasarela_portal_session",
    secret: "key",
    label: ["Tu llave de API", "Your API key"],
    hint: [
        "La de prueba (pk_test_…) o la real (pk_live_…). Con una de solo lectura puedes mirar sin \
         cambiar nada.",
        "The test key (pk_test_…) or the live one (pk_live_…). With a read-only key you can look without \
         changing anything.",
    ],
    brand: ["Portal de Pasarela", "Pasarela portal"],
    // A file of a thousand payouts.
    form_bytes_max: 1 << 20,
    nav: &[
        ("home", "Inicio", "Home"),
        ("payments", "Cobros", "Payments"),
        ("payouts", "Pagos", "Payouts"),
        ("merchants", "Vendedores", "Sellers"),
        ("links", "Enlaces", "Links"),
        ("sessions", "Sesiones", "Sessions"),
        ("webhooks", "Webhooks", "Webhooks"),
        ("requests", "Solicitudes", "Requests"),
        ("statements", "Estado de cuenta", "Statements"),
        ("approvals", "Aprobaciones", "Approvals"),
        ("keys", "Llaves", "Keys"),
        ("live", "Pasar a modo real", "Go live"),
    ],
    recognise: |services, hash| services.callers.directory.recognise(hash, services.now()),
    owner: |who| who.tenant.id,
    book: |who| Some(who.tenant_key),
    shown_by: None,
    who: |who, language| {
        let mode = if who.livemode() { language.say("real", "live") } else { language.say("prueba", "test") };
        format!("{} · {mode} · {}…", who.tenant.name, who.key.prefix)
    },
    banner: |who, language| {
        let text = language.say("Modo de prueba: no se mueve dinero real", "Test mode: no real money moves");
        (!who.livemode()).then_some(text)
    },
    refused: refused_page,
    done: &[
        ("reversed", Tone::Good, ["Se pidió el reverso. Abajo ves cómo va.", "The reversal was requested. Its progress is below."]),
        ("refunded", Tone::Good, ["Se pidió el reintegro. Abajo ves cómo va.", "The refund was requested. Its progress is below."]),
        ("payout", Tone::Good, ["Se ordenó el pago. Abajo ves cómo va.", "The payout was ordered. Its progress is below."]),
        ("waits", Tone::Plain, ["Espera la aprobación de una persona. Todavía no se hizo nada.", "It waits for a person's approval. Nothing has been done yet."]),
        ("link", Tone::Good, ["El enlace está listo.", "The link is ready."]),
        ("resent", Tone::Good, ["Se está enviando de nuevo el evento.", "The event is being sent again."]),
        ("tested", Tone::Good, ["La prueba se envió.", "The test was sent."]),
        ("changed", Tone::Good, ["Cambiado.", "Changed."]),
        ("approved", Tone::Good, ["Aprobado: se hizo lo que pidió el agente.", "Approved: what the agent asked for was done."]),
        ("rejected", Tone::Good, ["Rechazado: no se hará lo que pidió el agente.", "Rejected: what the agent asked for will not be done."]),
        ("asked", Tone::Good, ["Tu solicitud quedó registrada. El operador la verá.", "Your request is recorded. The operator will see it."]),
    ],
};

pub fn rows() -> Vec<SiteRow<Caller>> {
    site_rows! {
        show "" => home::page;
        show "/home" => home::page;
        answer "/payments" => lists::answer;
        answer "/conversions" => lists::answer;
        answer "/chargebacks" => lists::answer;
        answer "/cop-payouts" => lists::answer;
        answer "/crypto-payouts" => lists::answer;
        answer "/deposits" => lists::answer;
        answer "/events" => events::answer;
        act "/events/:id/resend" => events::resend;
        show "/payments/:id" => payments::one;
        answer "/payments/:id/receipt" => payments::receipt;
        act "/payments/:id/reverse" => payments::reverse;
        answer "/payouts" => payouts::answer;
        show "/payouts/batch" => payouts::batch;
        show "/payouts/:id" => payouts::one;
        act "/payouts" => payouts::review;
        act "/payouts/edit" => payouts::edit;
        act "/payouts/pay" => payouts::create;
        act "/payouts/preview" => preview::page;
        act "/payouts/confirm" => preview::confirm;
        show "/merchants" => merchants::list;
        show "/merchants/:id" => merchants::one;
        show "/links" => links::list;
        show "/links/:id" => links::one;
        act "/links" => links::create;
        show "/sessions" => sessions::list;
        show "/sessions/:id" => sessions::one;
        show "/webhooks" => webhooks::list;
        show "/webhooks/:id" => webhooks::one;
        act "/webhooks" => webhooks::create;
        act "/webhooks/test" => webhooks::test;
        act "/webhooks/:id/resend" => webhooks::resend;
        act "/webhooks/:id/status" => webhooks::switch;
        answer "/requests" => requests::answer;
        show "/search" => search::page;
        answer "/statements" => statements::answer;
        show "/approvals" => approvals::page;
        show "/approvals/:id" => approvals::one;
        act "/approvals/:id/approve" => approvals::decide;
        act "/approvals/:id/reject" => approvals::decide;
        show "/keys" => keys::page;
        act "/keys" => keys::create;
        act "/keys/rotate" => keys::rotate;
        show "/live" => live::page;
        act "/live" => live::request;
    }
}

fn refused_page(visit: &Here<'_>, refused: &Refused) -> Result<Page, Problem> {
    if refused.status == 404 {
        return Err(Problem::not_found());
    }
    let name = SITE.nav.iter().find(|(name, ..)| *name == visit.part(0)).map_or("home", |(name, ..)| *name);
    let page = Page::new(name, visit.say("No se pudo mostrar", "It could not be shown"));
    Ok(page.failed(refused.status, show::refusal(visit.language, refused)))
}
