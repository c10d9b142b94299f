//! Going live: what has to be there first, and the request to the operator.

use super::{Here, Made, may};
use crate::pages::inside::Refused;
use crate::pages::show::{self, items};
use crate::pages::site::Shown;
use crate::pages::view::{self, Cell, Page, Row};
use crate::pages::words::words;
use api::problem::Problem;
use domain::platform::Scope;
use domain::platform::settings::LiveStatus;
use serde_json::json;

async fn some(visit: &Here<'_>, path: &str) -> Result<bool, Refused> {
    let found = visit.inside.find(path).await?;
    Ok(found.is_some_and(|found| !items(&found).is_empty()))
}

pub async fn page(visit: &Here<'_>) -> Made {
    let settings = &visit.who.tenant.tenant_settings;
    let status = settings.live_status;
    let row = |(what, is_done): (&str, bool)| {
        let state = if is_done { "done" } else { "pending" };
        Row::new([Cell::text(what), Cell::state(state, words(visit.language, state))]).status(state)
    };
    let state = view::Fact::new(
        "liveStatus",
        visit.say("Modo real", "Live mode"),
        Cell::state(status.name(), words(visit.language, status.name())),
    );
    let mut page = Page::new("live", visit.say("Pasar al modo real", "Go live"))
        .status(status.name())
        .maybe(visit.done())
        .with(vec![state]);
    if visit.who.livemode() {
        page = page.text(visit.say(
            "La lista de pasos mira lo que hiciste en modo de prueba. Entra con tu llave de prueba \
             (pk_test_…) para verla.",
            "The checklist looks at what you did in test mode. Log in with your test key (pk_test_…) \
             to see it.",
        ));
    } else {
        let caption = ["Lista antes de cobrar de verdad", "Checklist before real money"];
        let table = visit.table(caption, "Paso, Estado", "Step, State").field("checklist");
        page = page.with(table.rows(steps(visit).await?.map(row)));
    }
    if let Some(at) = visit.services.callers.directory.live_asked_at(visit.who.tenant.number) {
        let asked = visit.say(
            "Ya lo pediste; el operador todavía no responde. Fue el",
            "You asked for it; the operator has not answered yet. It was on",
        );
        page = page.text(format!("{asked} {}.", show::in_caracas(at.unix_ms())));
    }
    if status != LiveStatus::Active && may(visit, Scope::Manage) {
        let label = visit.say("Pedir el modo real", "Ask for live mode");
        let form = view::Form::new("/portal/live", "request-live", label).about(visit.say(
            "El operador recibe tu solicitud y decide. La lista es una ayuda, no un requisito.",
            "The operator gets your request and decides. The list is a help, not a requirement.",
        ));
        page = page.with(form);
    }
    Ok(page)
}

/// Each with what is done of it.
async fn steps(visit: &Here<'_>) -> Result<[(&'static str, bool); 5], Refused> {
    let account = visit.inside.find("/v1/payouts/account").await?;
    let is_verified = account.is_some_and(|account| show::str_of(&account, "status") == "verified");
    let understood = visit.say(
        "Un cobro de prueba que falló, y tu programa lo entendió",
        "A failed test payment that your program understood",
    );
    let account = visit.say("Tu cuenta para recibir pagos, verificada", "Your own payout account, verified");
    let completed = visit.say("Un cobro de prueba completado", "A completed test payment");
    Ok([
        (completed, some(visit, "/v1/payments?status=COMPLETED&limit=1").await?),
        (understood, some(visit, "/v1/payments?status=FAILED&limit=1").await?),
        (visit.say("Una dirección de webhooks", "A webhook address"), some(visit, "/v1/webhooks").await?),
        (account, is_verified),
        (
            visit.say("Un pago de prueba hecho", "A test payout made"),
            some(visit, "/v1/payouts?limit=1").await?,
        ),
    ])
}

/// POST /portal/live: a record of the platform says who asked, for the operators.
pub async fn request(visit: &Here<'_>) -> Result<Shown, Problem> {
    let outcome = visit.post("/v1/pages/live", &json!({})).await;
    visit.acted(outcome, |_| Shown::See("/portal/live?done=asked".to_owned()), page(visit)).await
}
