//! The past, from the log: a tenant as it was at a moment, and one record with all that happened to what it is about.
//! Both are read on the threads of long reads, and end when nobody waits for them.

use super::{Here, Made, path};
use crate::admin;
use crate::pages::inside::with_query;
use crate::pages::show;
use crate::pages::timeline;
use crate::pages::view::{Block, Cell, Fact, Form, Input, Link, Note, Page, Row, Tone};
use crate::pages::words::words;
use crate::recovery::earlier_state::{self, EarlierState, NotShown, TAKES_MAX};
use crate::recovery::moment::{self, When};
use crate::store::described::{entity, kept, mode, postings};
use crate::store::history;
use crate::store::story::{self, Story, money_of};
use api::problem::Problem;
use api::tenants::settings;
use api::{balance, crypto};
use domain::ledger::balance as sums;
use domain::ledger::sellers;
use domain::platform::audit::AuditEntry;
use domain::record::Record;
use domain::resources::crypto as usdt;
use domain::values::ids::{EntityId, Id, Mode, PLATFORM, is_live, tenant_key};
use domain::values::time::{Timestamp, Zone};
use serde_json::Value;
use std::time::Instant;

/// Of sellers and holds, as many as a page shows.
const SHOWN_MAX: usize = 100;

const VES: [&str; 9] = [
    "ledgerNetVes",
    "reserveVes",
    "heldVes",
    "nextReleaseAt",
    "availableVes",
    "convertedVes",
    "platformAvailableVes",
    "sellerPendingVes",
    "sellerAvailableVes",
];
const COP: [&str; 4] = ["ledgerNetCop", "heldCop", "nextReleaseAt", "availableCop"];
const SELLER: [&str; 9] = [
    "externalRef",
    "pendingVes",
    "availableVes",
    "pendingCop",
    "availableCop",
    "pendingUsdt",
    "availableUsdt",
    "nextReleaseAt",
    "merchantId",
];
const HOLD: [&str; 4] = ["amount", "currency", "availableAt", "merchantId"];

/// The form that leads to a tenant's past.
pub fn form(visit: &Here<'_>, tenant: &str) -> Form {
    let say = |spanish, english| visit.say(spanish, english);
    let modes = [("live", say("Real", "Live")), ("test", say("Prueba", "Test"))];
    let hint = say(
        "Un registro del log, o fecha y hora de Caracas en el reloj de la cuenta: 21/11/2026 14:30.",
        "A record of the log, or a day and time of Caracas on the account's clock: 21/11/2026 14:30.",
    );
    Form::query(path("/console/tenants", tenant, "past"), "past", say("Ver", "Show"))
        .title(say("Cómo estaba", "As it was"))
        .input(Input::new("when", say("Momento", "Moment")).hint(hint).value(visit.query.text("when")))
        .input(Input::choice("mode", say("Modo", "Mode"), modes, visit.query.text("mode")))
}

/// A sequence, a time as in RFC 3339, or one as pages write it.
fn when(text: &str) -> Option<When> {
    let text = text.trim();
    When::parse(text).ok().or_else(|| {
        let written = |form: &str| chrono::NaiveDateTime::parse_from_str(text, form).ok();
        let local = written("%d/%m/%Y %H:%M:%S").or_else(|| written("%d/%m/%Y %H:%M"))?;
        let unix_ms = local.and_utc().timestamp_millis().checked_sub(Zone::Caracas.offset_ms())?;
        Some(When::Time(Timestamp::from_unix_ms(unix_ms)))
    })
}

pub async fn tenant(visit: &Here<'_>) -> Made {
    let id = Id::parse(visit.id()).ok_or_else(Problem::not_found)?;
    let known = visit.services.callers.directory.tenant(id).ok_or_else(Problem::not_found)?;
    let page = Page::new("past", format!("{}: {}", visit.say("Cómo estaba", "As it was"), known.name));
    let back = Link::new(known.name.to_string(), path("/console/tenants", visit.id(), ""));
    let page = page.with(vec![back]).with(form(visit, visit.id()));
    let mode = if visit.query.text("mode") == "live" { Mode::Live } else { Mode::Test };
    let Some(when) = when(visit.query.text("when")) else {
        let note = visit.say(
            "Escribe el número de un registro, o una fecha y hora.",
            "Type the number of a record, or a day and time.",
        );
        let is_asked = !visit.query.text("when").is_empty();
        return Ok(if is_asked { page.failed(400, Note::new(Tone::Bad, note)) } else { page.text(note) });
    };
    let key = tenant_key(known.number, mode);
    let read = visit.services.read_pool.read_long(visit.services, PLATFORM, move |services, budget| {
        match earlier_state::mode(services.engine.reader(), key, when, budget, Instant::now() + TAKES_MAX) {
            Err(NotShown::Stopped(stopped)) => Err(stopped),
            read => Ok(read),
        }
    });
    match read.await? {
        Ok(then) => Ok(page.with_all(of_then(visit, id, mode, &then))),
        Err(why) => {
            let (code, why) = not_shown(visit, &why);
            Ok(page.failed(code, Note::new(Tone::Bad, why)))
        }
    }
}

fn not_shown(visit: &Here<'_>, why: &NotShown) -> (u16, String) {
    let say = |spanish, english| visit.say(spanish, english).to_owned();
    match why {
        NotShown::Ends(last) => {
            (400, format!("{} {last}.", say("El log termina en el registro", "The log ends at record")))
        }
        NotShown::IsToCome => (400, say("Ese momento todavía no llega.", "This moment is still to come.")),
        NotShown::NothingYet => (
            404,
            say(
                "En ese momento la cuenta todavía no tenía nada, o sus datos de prueba empezaron de nuevo después.",
                "At that moment the account had nothing yet, or its test data began anew later.",
            ),
        ),
        NotShown::TooFar | NotShown::Stopped(_) => {
            let words = say(
                "Está demasiado lejos de una instantánea para esta página. En el servidor:",
                "It is too far from a snapshot for this page. On the server:",
            );
            let (when, id) = (visit.query.text("when"), visit.id());
            (503, format!("{words} pasarela wal at {when} --tenant {id}"))
        }
    }
}

fn value(shown: Vec<u8>) -> Value {
    serde_json::from_slice(&shown).unwrap_or_default()
}

fn of_then(
    visit: &Here<'_>,
    tenant: Id,
    mode: Mode,
    EarlierState { seq, now, book }: &EarlierState,
) -> Vec<Block> {
    let (language, livemode) = (visit.language, mode == Mode::Live);
    let named =
        |name: &'static str, value: &Value| show::fact(language, &serde_json::json!({ name: value }), name);
    let mut facts = vec![
        Fact::new("seq", visit.say("Después del registro", "After record"), record_cell(visit, *seq)),
        Fact::new("at", visit.say("Reloj de la cuenta", "The account's clock"), {
            Cell::whole(show::in_caracas(now.unix_ms()))
        }),
        named("mode", &mode.name().into()),
        named("tenantId", &tenant.to_string().into()),
    ];
    facts.extend(show::facts(language, &value(balance::show(&sums::balance(book), livemode)), &VES));
    let mut blocks = vec![Block::Facts(facts)];
    let pesos = value(balance::show_cop(&sums::cop_balance(book), livemode));
    blocks.push(Block::Heading(visit.say("Pesos", "Pesos").to_owned()));
    blocks.push(Block::Facts(show::facts(language, &pesos, &COP)));
    let dollars = value(crypto::show_balance(&usdt::balance(book), livemode));
    let names: Vec<&str> = dollars.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let names: Vec<&str> =
        names.into_iter().filter(|name| !["livemode", "balanceHoldHours", "held"].contains(name)).collect();
    blocks.push(Block::Heading("USDT".to_owned()));
    blocks.push(Block::Facts(show::facts(language, &dollars, &names)));

    let held = moment::holds(book).map(value).take(SHOWN_MAX + 1).collect::<Vec<_>>();
    blocks.push(Block::Heading(visit.say("Retenciones", "Holds").to_owned()));
    blocks.extend(listed(visit, visit.say("Lo que estaba retenido", "What was held"), &HOLD, held));
    let known = book.sellers.iter().filter_map(|(id, _)| sellers::balance(book, *id));
    let known =
        known.map(|seller| value(balance::show_seller(&seller, livemode))).take(SHOWN_MAX + 1).collect();
    blocks.push(Block::Heading(visit.say("Vendedores", "Sellers").to_owned()));
    blocks.extend(listed(visit, visit.say("Lo que se les debía", "What they were owed"), &SELLER, known));

    let settings = value(settings::show(&book.tenant_settings.settings));
    let settings = serde_json::to_string_pretty(&settings).unwrap_or_default();
    blocks.push(Block::Code(visit.code("settings", ["Ajustes", "Settings"], settings)));
    blocks
}

/// At most as many as a page shows, with a word about the others.
fn listed(visit: &Here<'_>, caption: &str, names: &[&str], found: Vec<Value>) -> Vec<Block> {
    let is_cut = found.len() > SHOWN_MAX;
    let rows = found.iter().take(SHOWN_MAX).map(|item| show::row(visit.language, item, names));
    let heads = names.iter().map(|name| visit.label(name));
    let table = show::headed(visit.language, caption, heads).rows(rows);
    let more = visit.say(
        "Hay más; «pasarela wal at» los muestra todos.",
        "There are more; \"pasarela wal at\" shows all of them.",
    );
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(is_cut.then(|| Block::Text(more.to_owned())));
    blocks
}

fn record_cell(visit: &Here<'_>, seq: u64) -> Cell {
    Cell::text(seq.to_string()).to(record_page(visit, seq))
}

/// Of this partition's log.
fn record_page(visit: &Here<'_>, seq: u64) -> String {
    timeline::record_page("/console/records", seq, visit.services.callers.partition)
}

pub async fn record(visit: &Here<'_>) -> Made {
    let reader = visit.services.engine.reader();
    let seq: u64 = visit.id().parse().map_err(|_| Problem::not_found())?;
    if seq == 0 || seq > reader.last_seq() {
        return Err(Problem::not_found().into());
    }
    let read = history::record(reader, seq).map_err(Problem::from)?;
    let title = format!("{} {seq}", visit.say("Registro", "Record"));
    let mut page = Page::new("record", title).with(facts(visit, seq, &read));
    let mut links = Vec::new();
    let beside = |label, seq: u64| Link::new(label, record_page(visit, seq));
    if seq > 1 {
        links.push(beside(visit.say("El anterior", "The one before"), seq - 1));
    }
    if seq < reader.last_seq() {
        links.push(beside(visit.say("El siguiente", "The next one"), seq + 1));
    }
    let owner = admin::tenant_of(&visit.services.callers, read.tenant).filter(|_| read.tenant != PLATFORM);
    if let Some(tenant) = owner {
        let place = path("/console/tenants", &tenant.to_string(), "past");
        let as_it_was = with_query(&place, &[("when", &seq.to_string()), ("mode", mode(read.tenant))]);
        links.push(Link::new(visit.say("Cómo quedó la cuenta", "The account after it"), as_it_was));
    }
    page = page.with(links);
    let Some(id) = about(&read.record).filter(|_| read.tenant != PLATFORM) else { return Ok(page) };
    let key = read.tenant;
    let story = visit.services.read_pool.read_long(visit.services, PLATFORM, move |services, budget| {
        story::read(services.engine.reader(), key, id, budget)
    });
    Ok(explained(visit, page, id, &story.await?))
}

/// What the record is about first of all, as commands name it.
fn about(record: &Record) -> Option<EntityId> {
    let written = record.entities.first().map(|written| written.state.id());
    written.or(record.removed.first().map(|(id, _)| *id))
}

fn facts(visit: &Here<'_>, seq: u64, read: &history::Read) -> Vec<Fact> {
    let history::Read { record, time, tenant } = read;
    let owner = admin::tenant_of(&visit.services.callers, *tenant).filter(|_| *tenant != PLATFORM);
    let owner = owner.map(|id| Cell::code(id.to_string()).to(format!("/console/tenants/{id}")));
    let events: Vec<&str> = record.events.iter().map(|event| event.kind.name()).collect();
    let lines = |lines: Vec<String>| (!lines.is_empty()).then(|| Cell::text(lines.join(", ")));
    let mode = (*tenant != PLATFORM).then(|| if is_live(*tenant) { "live" } else { "test" });
    let label = |spanish, english| visit.say(spanish, english);
    let all = [
        ("seq", label("Registro", "Record"), Some(Cell::text(seq.to_string()))),
        ("at", label("Cuándo", "When"), Some(Cell::whole(show::in_caracas(time.unix_ms())))),
        ("tenantId", words(visit.language, "tenantId"), owner),
        (
            "mode",
            words(visit.language, "mode"),
            mode.map(|mode| Cell::state(mode, words(visit.language, mode))),
        ),
        ("type", label("Qué pasó", "What happened"), Some(Cell::code(record.cause.name()))),
        ("entity", label("De qué", "Of what"), entity(record).map(Cell::text)),
        ("postings", label("Dinero", "Money"), lines(postings(&record.postings))),
        ("events", label("Eventos", "Events"), lines(events.into_iter().map(str::to_owned).collect())),
        ("kept", label("Respuesta guardada", "Kept answer"), kept(record).map(Cell::text)),
        ("operator", label("Quién", "Who"), record.audit.as_ref().map(|act| who(visit, act))),
    ];
    let there = all.into_iter().filter_map(|(name, label, cell)| Some(Fact::new(name, label, cell?)));
    there.collect()
}

/// Whoever acted, from where, and by what act.
fn who(visit: &Here<'_>, act: &AuditEntry) -> Cell {
    let said = [&*act.operator.name, words(visit.language, &act.action)].join(": ");
    let consent = act.consent.as_ref();
    let consent = consent.map(|by| format!("{} {}", visit.say("lo aprobó", "approved by"), by.by.name));
    let with = [act.agent.as_deref(), act.peer.as_deref(), act.target.as_deref(), consent.as_deref()];
    Cell::text(said).with_sub(with.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

fn explained(visit: &Here<'_>, page: Page, id: EntityId, story: &Story) -> Page {
    let row = |moment: &story::Moment| {
        let (spanish, english, tone) = timeline::words(moment.record.cause);
        let mut what = Cell::text(visit.say(spanish, english)).with_sub(moment.record.cause.name());
        if tone == Tone::Plain && english == "It changed" {
            what = Cell::code(moment.record.cause.name());
        }
        let money = postings(money_of(&moment.record, moment.time, id.id)).join(", ");
        let who = moment.record.audit.as_ref().map(|act| who(visit, act)).unwrap_or_default();
        let when = Cell::whole(show::in_caracas(moment.time.unix_ms()));
        Row::new([record_cell(visit, moment.seq), when, what, Cell::text(money), who])
    };
    let table = visit
        .table(
            ["Todo lo que le pasó", "All that happened to it"],
            "Registro, Cuándo, Qué pasó, Dinero, Quién",
            "Record, When, What happened, Money, Who",
        )
        .rows(story.moments.iter().map(row))
        .field("explained");
    let page = page.heading(format!("{id:?}")).with(table);
    if story.is_whole {
        return page;
    }
    page.text(visit.say(
        "Lo anterior es muy antiguo; se ve con «pasarela wal explain» en el servidor.",
        "Earlier records are too old to show; \"pasarela wal explain\" on the server has them.",
    ))
}
