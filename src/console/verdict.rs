//! Whether everything works, in words, and if not what does not, and since when; and the live money of today by the
//! way it went. What waits for a person is in the queues.

use super::Here;
use crate::gateway::services::Services;
use crate::language::Language;
use crate::pages::lists::money;
use crate::pages::show::{self, str_of};
use crate::pages::view::{Block, Cell, Note, Row, Tone};
use crate::pages::words::words;
use crate::store::history::{EntityReader, Stored};
use crate::store::read_budget::{ReadBudget, Stopped};
use api::lists::{List, Span, Tenants};
use api::records::Unread;
use domain::entities::means::Method;
use domain::entities::payment::{Status, facet};
use domain::entities::{Entity, crypto_payout, payout};
use domain::values::ids::{Kind, Mode, PLATFORM, tenant_key};
use domain::values::time::{SECOND_MS, Timestamp, Zone};
use serde_json::Value;
use std::collections::BTreeMap;

/// A feed that failed as often in a row does not work.
const FAILURES: u64 = 3;
/// The newest payments and payouts that are summed.
const SUMMED: usize = 2_000;

/// `note` of what `/admin/status` says.
pub fn note(visit: &Here<'_>, status: &Value) -> Note {
    let more = faults(visit.language, status, visit.services.now());
    let (tone, text) = match more.len() {
        0 => (Tone::Good, visit.say("Todo funciona.", "Everything works.")),
        _ => (Tone::Bad, visit.say("No todo funciona:", "Not everything works:")),
    };
    Note { tone, text: text.to_owned(), more }
}

fn faults(language: Language, status: &Value, now: Timestamp) -> Vec<String> {
    let say = |spanish, english| language.say(spanish, english);
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let since = |at: Option<&str>| {
        let at = at.filter(|at| !at.is_empty()).map(show::instant);
        at.map(|at| format!(", {} {at}", say("desde el", "since"))).unwrap_or_default()
    };
    let mut faults = Vec::new();
    for book in status["haltedBooks"].as_array().into_iter().flatten() {
        let name = book["name"].as_str().unwrap_or(str_of(book, "tenantId"));
        faults.push(format!("{} {name}", say("Está detenido el libro de", "The book is halted of")));
    }
    if number(&status["selfCheck"]["breaches"]) > 0 {
        faults.push(
            say(
                "La comprobación encontró libros que no cuadran",
                "The self-check found books that are wrong",
            )
            .to_owned(),
        );
    }
    if status["outbound"] == "past" {
        let text = say(
            "Es una copia restaurada: no llama a los bancos hasta que alguien la ponga al mando",
            "It is a restored copy: it calls no bank until somebody has it take over",
        );
        faults.push(text.to_owned());
    }
    if number(&status["clock"]["stepMs"]) != 0 {
        faults.push(
            say(
                "El reloj de la máquina saltó, y el dinero real espera",
                "The machine's clock jumped, and live money waits",
            )
            .to_owned(),
        );
    }
    let disk = &status["disk"];
    if number(&disk["freeBytes"]) < number(&disk["reserveBytes"]) {
        faults.push(
            say(
                "El disco está casi lleno: no se acepta nada nuevo",
                "The disk is nearly full: nothing new is taken",
            )
            .to_owned(),
        );
    }
    let rails = &status["rails"];
    for rail in rails["live"].as_array().into_iter().flatten() {
        let name = str_of(rail, "name");
        if rail["circuit"] == "open" {
            faults.push(format!(
                "{name} {}{}",
                say("no responde", "does not answer"),
                since(rail["lastOkAt"].as_str())
            ));
        }
        for call in rail["openCalls"].as_array().into_iter().flatten() {
            faults.push(format!("{name} {} {}", say("no hace", "does not do"), show::text(call)));
        }
    }
    for network in rails["networks"].as_array().into_iter().flatten() {
        let name = str_of(network, "network");
        if number(&network["doubtful"]) > 0 {
            let text =
                say("pagos en duda: alguien tiene que mirar", "payouts in doubt: somebody has to look");
            faults.push(format!("{name}: {} {text}", show::text(&network["doubtful"])));
        }
        if let Some(why) = network["waits"].as_str() {
            faults.push(format!(
                "{name}: {} {}",
                say("los pagos esperan por", "payouts wait for"),
                words(language, why)
            ));
        }
    }
    for feed in status["rates"]["feeds"].as_array().into_iter().flatten() {
        if feed["failuresInARow"].as_u64().unwrap_or_default() < FAILURES {
            continue;
        }
        let age =
            feed["ageSeconds"].as_i64().map(|age| now.plus_ms(-age.saturating_mul(SECOND_MS)).to_string());
        let (pair, source) = (str_of(feed, "pair"), str_of(feed, "source"));
        let text = say("no llega la tasa", "the rate does not come in");
        faults.push(format!("{source}: {text} {pair}{}", since(age.as_deref())));
    }
    faults
}

/// What a way of money took in or paid out today: how often, and how much.
type Ways = BTreeMap<(bool, &'static str, &'static str), (usize, i64)>;

/// Live money of today, of all tenants, by the way it went.
pub async fn money_today(visit: &Here<'_>) -> Result<Vec<Block>, crate::pages::inside::Refused> {
    let services = visit.services;
    let from = services.now().date_in(Zone::Caracas).start_in(Zone::Caracas);
    let tenants = services.callers.own_tenants();
    let keys: Vec<u64> = tenants.iter().map(|tenant| tenant_key(tenant.number, Mode::Live)).collect();
    let read = move |services: &Services, budget: &ReadBudget| ways(services, &keys, from, budget);
    let (ways, is_whole) = services.read_pool.read_long(services, PLATFORM, read).await?;
    let row = |((is_in, way, currency), (count, minor)): (&(bool, &str, &str), &(usize, i64))| {
        let direction = if *is_in { visit.say("Entró", "Came in") } else { visit.say("Salió", "Went out") };
        Row::new([
            Cell::text(words(visit.language, way)),
            Cell::text(direction),
            Cell::figure(visit.language.figure(&count.to_string())),
            Cell::figure(money(visit.language, *minor, currency)),
        ])
    };
    let caption = ["Dinero real de hoy", "Live money of today"];
    let table = visit.table(caption, "Vía, Sentido, Cuántos, Monto", "Way, Direction, Count, Amount");
    let mut table = table.field("money").rows(ways.iter().rev().map(row));
    table.none =
        visit.say("Hoy todavía no se movió dinero real.", "No live money has moved today.").to_owned();
    let mut blocks = vec![Block::Heading(visit.say(caption[0], caption[1]).to_owned()), table.into()];
    if !is_whole {
        let text = visit.say(
            "Suma solo los 2.000 cobros y los 2.000 pagos más recientes.",
            "Sums the newest 2,000 payments and 2,000 payouts only.",
        );
        blocks.push(Block::Text(text.to_owned()));
    }
    Ok(blocks)
}

fn ways(
    services: &Services,
    keys: &[u64],
    from: Timestamp,
    budget: &ReadBudget,
) -> Result<(Ways, bool), Stopped> {
    let payments = Method::ALL.map(|method| match method {
        Method::Cop => (Kind::CopPayment, Status::Completed as u8),
        method => (Kind::Payment, facet(method, Status::Completed)),
    });
    let payouts = [
        (Kind::Payout, payout::Status::Completed as u8),
        (Kind::CopPayout, payout::Status::Completed as u8),
        (Kind::CryptoPayout, crypto_payout::Status::Completed as u8),
    ];
    let log = services.engine.reader();
    let newest = EntityReader::of(log);
    let entity = &|tenant, id| Ok(newest.entity(tenant, id)?);
    let tenants = Tenants { keys, entity, wanted: &|_| Ok(true), show: &|_, _| None };
    let (mut ways, mut is_whole) = (Ways::new(), true);
    for (is_in, listed) in [(true, payments.to_vec()), (false, payouts.to_vec())] {
        let list = List::of(listed, Span::since(from), Box::new(|_| true));
        let stored = Stored::of(log, PLATFORM).within(budget);
        let each = &mut |entity: &Entity| {
            let Some((minor, currency)) = entity.amount() else { return };
            let sum = ways.entry((is_in, way(entity), currency)).or_default();
            *sum = (sum.0 + 1, sum.1.saturating_add(minor));
        };
        let seen = list.each(&stored, &tenants, SUMMED, each);
        is_whole &= seen.map_err(|unread| match unread {
            Unread::Stopped(stopped) => stopped,
            Unread::Problem(problem) => Stopped::Unreadable(problem.message.to_string()),
        })?;
    }
    Ok((ways, is_whole))
}

fn way(entity: &Entity) -> &'static str {
    match entity {
        Entity::Payment(payment) => payment.method().name(),
        Entity::CopPayment(_) => Method::Cop.name(),
        Entity::CopPayout(_) => "cop_payout",
        Entity::CryptoPayout(payout) => payout.network.name(),
        Entity::Payout(payout) => payout.kind.name(),
        _ => "other",
    }
}
