//! The signature of a webhook, explained on the very bytes of an event, so that a receiver's own
//! code can be held against it.

use super::Here;
use crate::pages::view::{Block, Code};
use crate::store::history;
use crate::webhooks::Tenants as _;
use api::events::{TenantMode, envelope};
use api::problem::Problem;
use domain::entities::Entity;
use domain::entities::webhook::Signature;
use domain::values::ids::{EntityId, Id};
use domain::values::time::SECOND_MS;

/// None where there is no event.
pub fn explained(visit: &Here<'_>, webhook: &str, event: &str) -> Result<Vec<Block>, Problem> {
    let (services, tenant) = (visit.services, visit.who.tenant_key);
    let reader = services.engine.reader();
    let (Some(webhook), Some(id)) = (Id::parse(webhook), Id::parse(event)) else { return Ok(Vec::new()) };
    let endpoint = history::entity(reader, tenant, EntityId::webhook(webhook))?;
    let Some(Entity::Webhook(endpoint)) = endpoint.as_deref() else { return Ok(Vec::new()) };
    let Some(key) = history::newest_event_key(reader, tenant, id.number())? else { return Ok(Vec::new()) };
    let value = reader.index_get(&key).map_err(history::Unreadable::from)?.unwrap_or_default();
    let read = history::record(reader, history::seq(&value)?)?;
    let mode = TenantMode { tenant: visit.who.tenant.id, livemode: visit.who.livemode() };
    let place = (0..read.record.events.len()).find(|n| read.record.event_id(read.time, *n) == id);
    let Some(body) = place.and_then(|n| envelope(&read.record, read.time, n, mode)) else {
        return Ok(Vec::new());
    };
    let signing = services.signing(tenant, endpoint);
    let seconds = (read.time.unix_ms() / SECOND_MS).to_string();
    let text = String::from_utf8_lossy(&body).into_owned();
    let (own, standard) = (signing.sign(&seconds, &body), signing.sign_standard(event, &seconds, &body));
    let own_form = match endpoint.signature {
        Signature::Hex => visit.say(
            "HMAC-SHA256 del cuerpo solo, en hexadecimal; la llave es el secreto entero como texto",
            "HMAC-SHA256 of the body alone, in hex; the key is the whole secret as text",
        ),
        Signature::Timestamped => visit.say(
            "t es el segundo del envío, y cada v1 es el HMAC-SHA256, en hexadecimal, de «segundo.cuerpo» con \
             un secreto que firma; la llave es el secreto entero como texto",
            "t is the second of sending, and each v1 is the HMAC-SHA256, in hex, of \"second.body\" by a \
             secret that signs; the key is the whole secret as text",
        ),
    };
    let copy = visit.say("Copiar", "Copy");
    let code = |spanish, english, field, text: String| {
        Block::Code(Code { label: visit.say(spanish, english).to_owned(), field, text, copy })
    };
    Ok(vec![
        Block::Heading(visit.say("La firma, sobre los bytes que se \
            enviaron", "The signature, on the bytes that were sent").to_owned()),
        Block::Text(
            visit.say(
                "Verifica antes de leer: toma el cuerpo tal como llegó, sin volver a escribirlo; fírmalo con \
                 tu secreto y compara. Rechaza lo que tenga más de cinco minutos, y procesa cada \
                 webhook-id una sola vez.",
                "Verify before you read: take the body as it came, without writing it anew; sign it with \
                 your secret and compare. Refuse what is older than five minutes, and process each \
                 webhook-id once.",
            ).to_owned(),
        ),
        code("1. El cuerpo, byte por byte", "1. The body, byte by byte", "body", text.clone()),
        code("2. Lo que se firma: webhook-id . webhook-timestamp . \
            cuerpo", "2. What is signed: webhook-id . webhook-timestamp . \
                body", "signed", format!("{event}.{seconds}.{text}")),
        code("3. webhook-signature: HMAC-SHA256 en base64; la llave son los bytes de la base64 que sigue a \
            whsec_", "3. webhook-signature: HMAC-SHA256 in base64; the key is the bytes of the base64 after \
                whsec_", "signature", standard),
        Block::Code(Code { label: format!("{}: {own_form}", services.webhooks.signature_header()), field: "svcSignature", text: own, copy }),
        Block::Text(visit.say("webhook-timestamp es aquí el segundo del evento; en cada envío es el segundo \
            en que \
            sale.", "webhook-timestamp is the second of the event here; in each delivery it is the second of \
                sending.").to_owned()),
    ])
}
