//! The log of requests: what a request id did, for thirty days.

use super::{Here, Made};
use crate::pages::inside::segment;
use crate::pages::show;
use crate::pages::view::{Form, Input, Page};

const FACTS: [&str; 9] = ["requestId", "at", "method", "route", "status", "error", "keyId", "ms", "entityId"];

pub async fn page(visit: &Here<'_>) -> Made {
    let asked = visit.query.text("requestId");
    let form = Form::query("/portal/requests", "find-request", visit.say("Buscar", "Find"))
        .about(visit.say(
            "Cada respuesta de la API trae X-Request-Id. Durante 30 días puedes buscarlo aquí para ver qué \
             pidió tu programa y qué se le respondió.",
            "Every answer of the API carries X-Request-Id. For 30 days you can look it up here to see what \
             your program asked and what it was answered.",
        ))
        .input(Input::new("requestId", "X-Request-Id").value(asked));
    let page = Page::new("requests", visit.say("Solicitudes", "Requests")).with(form);
    if asked.is_empty() {
        return Ok(page);
    }
    match visit.inside.get(&format!("/v1/requests/{}", segment(asked))).await {
        Ok(found) => {
            let facts = show::facts(visit.language, &found, &FACTS);
            Ok(page.with(facts))
        }
        Err(refused) if refused.status == 404 => {
            let none = visit.say(
                "Tu llave no hizo esta solicitud, o fue hace más de 30 días.",
                "Your key did not make this request, or it was made more than 30 days ago.",
            );
            Ok(page.text(none))
        }
        Err(refused) => Err(refused),
    }
}
