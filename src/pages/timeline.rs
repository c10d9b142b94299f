//! Every record of a payment or payout in words, with what the bank was asked and what it answered,
//! its money, and every delivery of its events.

mod bank;

use crate::gateway::services::Services;
use crate::language::Language;
use crate::pages::show;
use crate::pages::site::Visit;
use crate::pages::view::{Block, Form, Link, Step, Tone};
use crate::store::history;
use crate::store::story::{self, Moment, Story, money_of};
use api::problem::Problem;
use domain::cause::Cause;
use domain::entities::Entity;
use domain::entities::webhook::Delivered;
use domain::events::EventKind;
use domain::ledger::{Ledger, Posting};
use domain::resources::cop_payments::codes::{WrongCode, WrongCodes};
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::money::{Currency, write_minor};
use domain::values::time::{Timestamp, Zone};
use std::sync::Arc;

pub struct Timeline {
    pub steps: Vec<Step>,
    pub events: Vec<(Id, EventKind)>,
}

/// A button per event, which sends it again; the site has the act, and goes back to the page.
pub fn resends<W>(visit: &Visit<'_, W>, (page, id): (&str, &str), events: &[(Id, EventKind)]) -> Vec<Block> {
    let form = |(event, kind): &(Id, EventKind)| {
        let label = format!("{} {}", visit.say("Enviar de nuevo", "Send again"), kind.name());
        let form = Form::new(format!("{}/events/{event}/resend", visit.site.base), "resend", label);
        Block::Form(form.id(format!("resend-{event}")).inline().hidden("page", page).hidden("id", id))
    };
    events.iter().map(form).collect()
}

/// What may have a timeline under this id.
pub fn ids(id: Id) -> [EntityId; 5] {
    [
        EntityId::payment(id),
        EntityId::cop_payment(id),
        EntityId::payout(id),
        EntityId::cop_payout(id),
        EntityId::crypto_payout(id),
    ]
}

/// `records_at` is the address below which each record has a page.
pub async fn of(
    services: &Arc<Services>,
    tenant: u64,
    id: &str,
    language: Language,
    records_at: Option<&str>,
) -> Result<Timeline, Problem> {
    let id = Id::parse(id).ok_or_else(Problem::not_found)?;
    let reader = services.engine.reader();
    let mut entity = None;
    for kind in ids(id) {
        if entity.is_none() && history::entity(reader, tenant, kind)?.is_some() {
            entity = Some(kind);
        }
    }
    let entity = entity.ok_or_else(Problem::not_found)?;
    let read = services.read_pool.read(services, tenant, move |services, budget| {
        story::read(services.engine.reader(), tenant, entity, budget)
    });
    let story = read.await?;
    let events = story.events(entity.id).into_iter().map(|(id, _, kind)| (id, kind)).collect();
    let records_at = records_at.map(|at| (at, services.callers.partition));
    Ok(Timeline { steps: steps(language, &story, entity, records_at), events })
}

/// The address of a record's page; of several partitions each has a log of its own.
pub fn record_page(at: &str, seq: u64, partition: u8) -> String {
    match partition {
        0 => format!("{at}/{seq}"),
        partition => format!("{at}/{seq}?partition={partition}"),
    }
}

#[derive(Default)]
struct Before {
    codes: WrongCodes,
    bank: bank::SaidBefore,
}

fn steps(language: Language, story: &Story, entity: EntityId, records_at: Option<(&str, u8)>) -> Vec<Step> {
    let mut before = Before::default();
    let mut step = |moment| of_moment(language, moment, entity, &mut before, records_at);
    let records = story.moments.iter().map(|moment| (moment.time, moment.seq, step(moment)));
    let after = story.moments.last().map_or(0, |moment| moment.seq);
    let deliveries = story.deliveries.iter().enumerate().map(|(n, (url, at, delivered))| {
        (*at, after + 1 + n as u64, of_delivery(language, url, (zone_of(entity), *at), delivered))
    });
    let mut all: Vec<(Timestamp, u64, Step)> = records.chain(deliveries).collect();
    all.sort_by_key(|(at, seq, _)| (*at, *seq));
    let mut steps: Vec<Step> = all.into_iter().map(|(.., step)| step).collect();
    let left_out = |spanish, english| Step {
        when: "…".to_owned(),
        what: language.say(spanish, english).to_owned(),
        more: Vec::new(),
        tone: Tone::Plain,
        link: None,
    };
    if !story.is_whole {
        let older = left_out(
            "Lo anterior es muy antiguo; el operador lo ve con «pasarela wal explain».",
            "Earlier steps are too old to show; the operator sees them with \"pasarela wal explain\".",
        );
        steps.insert(0, older);
    }
    if !story.has_all_deliveries {
        steps.push(left_out(
            "Hubo más entregas de webhooks que las que se miran aquí; están en la lista de entregas.",
            "There were more deliveries of webhooks than are looked at here; the list of deliveries has \
             them.",
        ));
    }
    steps
}

fn zone_of(entity: EntityId) -> Zone {
    match entity.kind {
        Kind::CopPayment | Kind::CopPayout => Zone::Bogota,
        _ => Zone::Caracas,
    }
}

fn of_moment(
    language: Language,
    moment: &Moment,
    entity: EntityId,
    before: &mut Before,
    records_at: Option<(&str, u8)>,
) -> Step {
    let cause = moment.record.cause;
    let state = moment.record.entity(entity).map(|state| &**state);
    let wrong_code = match state {
        Some(Entity::CopPayment(payment)) => before.codes.next(cause, payment),
        _ => None,
    };
    let of_bank = before.bank.next(language, &moment.record, entity);
    let (spanish, english, tone) = match (of_bank.what, words(cause)) {
        (Some((spanish, english)), (.., tone)) => (spanish, english, tone),
        (None, words) => words,
    };
    let (what, tone) = match wrong_code {
        Some(wrong_code) => (of_wrong_code(language, wrong_code), Tone::Bad),
        None => (language.say(spanish, english).to_owned(), tone),
    };
    let mut more = of_bank.lines;
    if let Some(operation) = bank::operation(cause, entity.id, state) {
        let label = language.say("Operación con el banco:", "Operation with the bank:");
        more.insert(0, format!("{label} {operation}"));
    }
    let money = money_of(&moment.record, moment.time, entity.id);
    let lines = money
        .into_iter()
        .filter(|posting| posting.row.is_some())
        .filter_map(|posting| money_line(language, posting, records_at.is_none()));
    more.extend(lines);
    let events: Vec<&str> = moment
        .record
        .events
        .iter()
        .filter(|event| event.subject.is_some_and(|subject| subject.id == entity.id))
        .map(|event| event.kind.name())
        .collect();
    if !events.is_empty() {
        let label = if events.len() == 1 { ["Evento:", "Event:"] } else { ["Eventos:", "Events:"] };
        more.push(format!("{} {}", language.say(label[0], label[1]), events.join(", ")));
    }
    let record =
        format!("{} {} · {}", language.say("Registro", "Record"), moment.seq, moment.record.cause.name());
    let link = match records_at {
        Some((place, partition)) => Some(Link::new(record, record_page(place, moment.seq, partition))),
        None => {
            more.push(record);
            None
        }
    };
    Step { when: show::in_zone(zone_of(entity), moment.time.unix_ms()), what, more, tone, link }
}

/// Without the code, which nobody keeps.
fn of_wrong_code(language: Language, WrongCode { nth, of, is_void }: WrongCode) -> String {
    match (language, is_void) {
        (Language::Spanish, false) => format!("Código equivocado: {nth} de {of}"),
        (Language::English, false) => format!("Wrong code: {nth} of {of}"),
        (Language::Spanish, true) => format!("Código equivocado: {nth} de {of}. El intento queda anulado"),
        (Language::English, true) => format!("Wrong code: {nth} of {of}. The attempt is void"),
    }
}

/// To the tenant itself its balance is its own.
fn money_line(language: Language, posting: &Posting, is_own: bool) -> Option<String> {
    let owner = match posting.ledger {
        Ledger::Tenant if is_own => language.say("tu saldo", "your balance"),
        Ledger::Tenant => language.say("comercio", "tenant"),
        Ledger::Seller(_) => language.say("vendedor", "seller"),
        Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => return None,
    };
    let mut amount = String::new();
    write_minor(&mut amount, posting.minor, posting.currency.decimals()).ok()?;
    let kind = posting.row.as_ref().map(|row| row.kind.name()).unwrap_or_default();
    let kind = if posting.currency == Currency::Cop && kind == "reversal" { "refund" } else { kind };
    let kind = crate::pages::words::words(language, kind);
    Some(format!("{kind}: {} {} ({owner})", language.figure(&amount), posting.currency.code()))
}

fn of_delivery(language: Language, url: &str, (zone, at): (Zone, Timestamp), delivered: &Delivered) -> Step {
    let arrived = delivered.error.is_none();
    let what = match (arrived, delivered.http_status) {
        (true, _) => language.say("El webhook llegó", "The webhook arrived"),
        (false, Some(_)) => language.say(
            "El webhook llegó, y su servidor no lo aceptó",
            "The webhook arrived, and its server did not accept it",
        ),
        (false, None) => language.say("El webhook no llegó", "The webhook did not arrive"),
    };
    let mut more = vec![format!("{} → {url}", delivered.event.kind.name())];
    if let Some(status) = delivered.http_status {
        more.push(format!("HTTP {status}, {} ms", delivered.latency_ms));
    }
    let why = delivered.error.as_deref().filter(|_| delivered.http_status.is_none());
    more.extend(why.map(|why| show::undelivered(language, why)));
    let tone = if arrived { Tone::Good } else { Tone::Bad };
    Step { when: show::in_zone(zone, at.unix_ms()), what: what.to_owned(), more, tone, link: None }
}

#[rustfmt::skip]
pub const fn words(cause: Cause) -> (&'static str, &'static str, Tone) {
    use Tone::{Bad, Good, Plain};
    match cause {
        Cause::PaymentRequested => ("Se pidió el cobro", "The payment was requested", Plain),
        Cause::PaymentCharging => ("Se envió el cobro al banco", "The charge was sent to the bank", Plain),
        Cause::PaymentCompleted => ("El banco dijo que cobró: el dinero entró", "The bank confirmed it: the money came in", Good),
        Cause::PaymentFailed => ("El banco lo rechazó: no se cobró nada", "The bank refused: nothing was charged", Bad),
        Cause::PaymentCanceled => ("Se canceló o venció: no se cobró nada", "It was canceled or expired: nothing was charged", Plain),
        Cause::ReversalBegun => ("Se apartó el dinero y se le pidió el reverso al banco",
            "Money was set aside and the bank was asked for the reversal", Plain),
        Cause::ReversalRefused => ("El banco rechazó el reverso: el dinero volvió al saldo",
            "The bank refused the reversal: the money went back to the balance", Bad),
        Cause::PaymentReversed => ("El banco lo reversó: el dinero volvió al pagador",
            "The bank reversed it: the money went back to the payer", Good),
        Cause::BankAsked => ("Se le preguntó al banco", "The bank was asked", Plain),
        Cause::PayoutCreated | Cause::CopPayoutCreated | Cause::CryptoPayoutCreated => ("Se ordenó el pago y se debitó del saldo", "The payout was ordered and debited", Plain),
        Cause::BatchCreated => ("Se ordenó con un lote y se debitó del saldo", "It was ordered in a batch and debited", Plain),
        Cause::PayoutCompleted | Cause::CopPayoutCompleted | Cause::CryptoPayoutCompleted => ("El pago llegó", "The payout arrived", Good),
        Cause::PayoutFailed | Cause::CopPayoutFailed | Cause::CryptoPayoutFailed => ("El pago falló: el dinero volvió al saldo", "The payout failed: the money came back", Bad),
        Cause::CryptoPayoutApproved => ("Un operador lo aprobó", "An operator approved it", Plain),
        Cause::CryptoPayoutSigned => ("Se firmó la transacción y se envió a la red", "The transaction was signed and sent to the network", Plain),
        Cause::ChargebackOpened => ("El banco abrió un contracargo", "The bank opened a chargeback", Bad),
        Cause::ChargebackClosed => ("El contracargo se decidió", "The chargeback was decided", Plain),
        Cause::OtpRequested => ("Se le pidió al banco que enviara la clave", "The bank was asked to send the code", Plain),
        Cause::OtpSettled => ("El banco respondió por la clave", "The bank answered about the code", Plain),
        Cause::CopPaymentRequested => ("Se pidió el cobro en pesos", "The payment in pesos was requested", Plain),
        Cause::CopPaymentInstructed => ("Se actualizó el cobro con el procesador", "The payment was updated with the processor", Plain),
        Cause::CopPaymentCompleted => ("Los pesos llegaron", "The pesos arrived", Good),
        Cause::CopPaymentFailed => ("El cobro en pesos falló", "The payment in pesos failed", Bad),
        Cause::CopPaymentCanceled => ("El cobro en pesos se canceló", "The payment in pesos was canceled", Plain),
        Cause::CopRefundBegun => ("Se apartó el dinero y se pidió el reintegro", "Money was set aside and the refund was asked for", Plain),
        Cause::CopRefundRefused => ("El procesador no hizo el reintegro", "The processor did not make the refund", Bad),
        Cause::CopPaymentRefunded => ("Se reintegró al comprador", "It was refunded to the buyer", Good),
        Cause::OperationContradicted => ("El banco contradijo lo que había dicho", "The bank contradicted what it had said", Bad),
        Cause::NoticeReceived => ("Un banco avisó que entró dinero", "A bank reported that money arrived", Plain),
        Cause::NoticeClaimed => ("Un aviso del banco lo verificó", "A notice of the bank verified it", Good),
        Cause::OrderBegun => ("Llegó su turno: se envió al banco", "Its turn came: it was sent to the bank", Plain),
        Cause::PaymentUnsent | Cause::CopPaymentUnsent => ("No hubo conexión: no se envió nada", "There was no connection: nothing was sent", Bad),
        Cause::DepositBooked => ("El extracto mostró un microdepósito", "The statement showed a micro-deposit", Plain),
        Cause::CryptoDeposited => ("Llegaron USDT", "USDT arrived", Good),
        Cause::OperatorActed => ("Un operador intervino", "An operator acted", Plain),
        Cause::SellerReleased => ("Se liberó dinero del vendedor", "Money of the seller was released", Plain),
        Cause::ConversionAccepted | Cause::ConversionTried | Cause::ConversionCompleted => ("Se convirtió", "It was converted", Plain),
        Cause::WebhookProgress | Cause::WebhookDue | Cause::EventResent => ("Se registraron entregas de webhooks", "Deliveries of webhooks were recorded", Plain),
        // Of the others none changes a payment or a payout, or it changes nothing that its reader would ask for.
        _ => ("Cambió", "It changed", Plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_to_whatever_has_a_timeline_has_words() {
        let names = ids(Id::from_bytes([0; 16])).map(|id| id.kind.name().replace(' ', "_"));
        let own = |cause: &Cause| {
            cause.name().split_once('.').is_some_and(|(of, _)| names.iter().any(|name| name == of))
        };
        let causes: Vec<Cause> = Cause::ALL.into_iter().filter(own).collect();
        assert!(causes.len() > 20, "these are the causes: {causes:?}");
        for cause in causes {
            assert_ne!(words(cause).1, "It changed", "{}", cause.name());
        }
    }
}
