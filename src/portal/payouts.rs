//! Payouts: the list with the form of one and of a file, one with its timeline, and a batch.

use super::rehearsal::{self, Rehearsed};
use super::{Here, Made, after, agent_of, first, lists, may, own_keys};
use crate::language::Language;
use crate::pages::inside::{Refused, segment};
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::timeline;
use crate::pages::view::{self, Block, Button, Cell, Fact, Input, Kind, Note, Page, Row, Tone};
use api::endpoint::KnownKey;
use api::problem::Problem;
use domain::platform::Scope;
use domain::values::ids::Id;
use serde_json::{Value, json};

pub const HERE: &str = "/portal/payouts";
const PAY: &str = "/portal/payouts/pay";
/// The form of one payout, with what was typed before.
const EDIT: &str = "/portal/payouts/edit";
const API: &str = "/v1/payouts";
const MEMBERS: [&str; 4] = ["merchantId", "monto", "concepto", "externalRef"];
const COLUMNS: [&str; 6] = ["createdAt", "externalRef", "merchantName", "monto", "concepto", "status"];
#[rustfmt::skip]
const FACTS: [&str; 29] = [
    "kind", "externalRef", "monto", "feeVes", "amountCop", "amountUsdt", "networkFeeUsdt", "totalUsdt", "concepto",
    "merchantId", "bankCode", "destination", "bank", "accountType", "accountNumber", "holderName", "documentType",
    "documentNumber", "network", "address", "fromMerchantBalance", "reference", "txHash", "failureCode", "batchId",
    "operationId", "createdAt", "settledAt", "payoutId",
];
const WOULD_BE: [&str; 8] =
    ["monto", "feeVes", "merchantName", "bankCode", "destination", "concepto", "externalRef", "failureCode"];

pub async fn answer(visit: &Here<'_>) -> Result<Shown, Problem> {
    match visit.query.get("format") {
        Some(_) => lists::answer(visit).await,
        None => visit.shown(list(visit).await),
    }
}

pub async fn list(visit: &Here<'_>) -> Made {
    let mut page = lists::page(visit).await?;
    if may(visit, Scope::Payout) {
        // Above the list, which is the last block: its filters have names that the form has too.
        let at = page.blocks.len().saturating_sub(1);
        page.blocks.splice(at..at, [single(visit).await?.into(), upload(visit, None).into()]);
    }
    Ok(page)
}

fn row(visit: &Here<'_>, keys: &[KnownKey], item: &Value) -> Row {
    let mut row = show::row(visit.language, item, &COLUMNS);
    let id = str_of(item, "payoutId");
    if !id.is_empty() {
        row.cells[1].href = Some(format!("/portal/payouts/{id}"));
        row.cells[1].sub = agent_of(visit.services, visit.who.tenant_key, keys, id).unwrap_or_default();
    }
    let (code, said) = (str_of(item, "failureCode"), str_of(item, "error"));
    // A line of a batch that became no payout says why in words.
    let is_refused = !said.is_empty() && id.is_empty();
    row.cells[5].sub = if is_refused {
        show::reason(visit.language, code, said)
    } else {
        show::failure(visit.language, code)
    };
    row
}

async fn single(visit: &Here<'_>) -> Result<view::Form, Refused> {
    let say = |spanish, english| visit.say(spanish, english);
    let sellers = sellers(visit).await?;
    let sellers = sellers.iter().map(|(id, name)| (name.clone(), id.clone())).collect();
    let typed = |name| {
        let texts = [HERE, PAY, EDIT].into_iter().map(|to| visit.typed(to, name));
        texts.fold("", |found, text| if found.is_empty() { text } else { found })
    };
    let input = |name, label: &str| Input::new(name, label).value(typed(name));
    let form = view::Form::new(HERE, "create-payout", say("Revisar y pagar", "Check and pay"))
        .title(say("Pagar a un vendedor", "Pay a seller"))
        .about(say(
            "Primero ves lo que pasaría: no se paga nada hasta que confirmes.",
            "First you see what would happen: nothing is paid until you confirm.",
        ))
        .input(input("merchantId", say("Vendedor", "Seller")).options(sellers).hint(say(
            "Escribe su nombre y elige de la lista, o pega su id.",
            "Type the name and choose from the list, or paste the id.",
        )))
        .input(
            input("monto", say("Monto en bolívares", "Amount in bolívares"))
                .hint(say("Por ejemplo, 1.250,00", "Such as 1,250.00")),
        )
        .input(input("concepto", say("Concepto", "Description")))
        .input(input("externalRef", say("Tu referencia", "Your reference")).hint(say(
            "Única: con la misma no se paga dos veces.",
            "Unique: the same one is not paid twice.",
        )));
    Ok(form)
}

pub fn upload(visit: &Here<'_>, error: Option<String>) -> view::Form {
    view::Form::new("/portal/payouts/preview", "preview", visit.say("Revisar", "Check"))
        .title(visit.say("Pagar por archivo", "Pay by file"))
        .about(visit.say(
            "CSV con las columnas externalRef (tu referencia), merchantId (el id del vendedor), monto, concepto; hasta \
             1.000 renglones. Los montos, como 1.250,00 o 1250.00. Primero se revisa: no se paga nada hasta que confirmes.",
            "CSV with the columns externalRef (your reference), merchantId (the seller's id), monto, concepto; up to 1,000 \
             lines. Amounts as 1,250.00 or 1250.00. It is checked first: nothing is paid until you confirm.",
        ))
        .input(Input::new("file", visit.say("Archivo", "File")).kind(Kind::File))
        .error(error)
}

/// Ids and names of the newest sellers; with their reference where others have the name.
async fn sellers(visit: &Here<'_>) -> Result<Vec<(String, String)>, Refused> {
    let found = visit.inside.get("/v1/merchants?limit=100").await?;
    let named = |name: &str| items(&found).iter().filter(|item| str_of(item, "name") == name).count();
    let of = |item: &Value| {
        let (id, name) = (str_of(item, "merchantId"), str_of(item, "name"));
        let shared = format!("{name} · {}", str_of(item, "externalRef"));
        (id.to_owned(), if named(name) > 1 { shared } else { name.to_owned() })
    };
    Ok(items(&found).iter().map(of).collect())
}

/// What the form has, with its amount as the API writes it, and the id of a seller who was named.
async fn asked(visit: &Here<'_>) -> Value {
    let mut body = visit.form.members(&MEMBERS);
    body["monto"] = visit.language.typed(visit.form.text("monto"), 2).into();
    let seller = visit.form.text("merchantId");
    if Id::parse(seller).is_none() {
        // A key that may not read knows no names.
        let known = sellers(visit).await.unwrap_or_default();
        if let Some((id, _)) = known.into_iter().find(|(_, name)| name == seller) {
            body["merchantId"] = id.into();
        }
    }
    body
}

/// What the payout would do: the page between its form and the deed.
pub async fn review(visit: &Here<'_>) -> Result<Shown, Problem> {
    let body = asked(visit).await;
    Ok(match Rehearsed::of(visit, API, &body, visit.form.text("once")).await {
        // Pressed again after it was paid.
        Ok(rehearsed) if rehearsed.is_done() => paid(&rehearsed.body),
        Ok(rehearsed) => Shown::Page(confirmation(visit, &body, &rehearsed)),
        Err(refused) => return visit.failed(list(visit).await, &refused),
    })
}

fn confirmation(visit: &Here<'_>, asked: &Value, rehearsed: &Rehearsed) -> Page {
    let language = visit.language;
    // What would wait has no payout to show yet.
    let (facts, verb) = if rehearsed.would_wait() {
        (visit.facts(asked, &MEMBERS), visit.say("Pedir aprobación para pagar", "Ask for approval to pay"))
    } else {
        (visit.facts(&rehearsed.body, &WOULD_BE), visit.say("Pagar", "Pay"))
    };
    let label = format!("{verb} Bs {}", language.figure(str_of(asked, "monto")));
    let back = visit.say("Volver y cambiar", "Go back and change");
    let form = view::Form::new(PAY, "confirm", label).once(visit.form.text("once"));
    let form = MEMBERS.into_iter().fold(form, |form, name| form.hidden(name, str_of(asked, name)));
    Page::new("payouts", visit.say("Revisa antes de pagar", "Check before you pay"))
        .with(Note::new(Tone::Plain, rehearsal::nothing_yet(language)))
        .with(facts)
        .with_all(rehearsed.blocks(language))
        .with(form.button(Button::quiet("back", back, EDIT.to_owned())))
}

pub async fn edit(visit: &Here<'_>) -> Result<Shown, Problem> {
    visit.shown(list(visit).await)
}

fn paid(payout: &Value) -> Shown {
    Shown::See(format!("{HERE}/{}?done=payout", str_of(payout, "payoutId")))
}

pub async fn create(visit: &Here<'_>) -> Result<Shown, Problem> {
    let outcome = visit.post(API, &asked(visit).await).await;
    visit.acted(outcome, |answer| after(answer, HERE, paid), list(visit)).await
}

pub async fn one(visit: &Here<'_>) -> Made {
    let (language, id) = (visit.language, visit.id());
    let payout = first(visit, &["/v1/payouts", "/v1/cop/payouts", "/v1/crypto/payouts"], id).await?;
    let timeline = timeline::of(visit.services, visit.who.tenant_key, id, language, None).await?;
    let mut facts = visit.facts(&payout, &FACTS);
    let (mut steps, label) = (timeline.steps, visit.say("Agente", "Agent"));
    if let Some(agent) = agent_of(visit.services, visit.who.tenant_key, &own_keys(visit).await?, id) {
        if let Some(ordered) = steps.first_mut() {
            ordered.more.push(format!("{label}: {agent}"));
        }
        facts.push(Fact::new("agent", label, Cell::text(agent)));
    }
    let live = [
        Block::Facts(facts),
        Block::Heading(visit.say("Qué pasó", "What happened").to_owned()),
        Block::Timeline(steps),
    ];
    let title = format!("{} {}", visit.say("Pago", "Payout"), str_of(&payout, "externalRef"));
    let page = Page::new("payout", title).status(str_of(&payout, "status")).maybe(visit.done());
    let page = page.with(show::headline(language, &payout)).live(&live, &visit.writing())?;
    let may_send = may(visit, Scope::Manage);
    Ok(page.with_all(
        may_send.then(|| timeline::resends(visit, ("payouts", id), &timeline.events)).into_iter().flatten(),
    ))
}

pub async fn batch(visit: &Here<'_>) -> Made {
    let batch = visit.inside.get(&format!("/v1/payouts/batch/{}", segment(visit.query.text("id")))).await?;
    let lines = batch["items"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |state: &str| lines.iter().filter(|item| str_of(item, "status") == state).count();
    let counts = json!({ "externalRef": batch["externalRef"], "completed": of("completed"), "pending": of("pending"), "failed": of("failed") });
    let facts = show::facts(visit.language, &counts, &["externalRef", "completed", "pending", "failed"]);
    let caption = visit.say("Renglones del lote", "Lines of the batch");
    let keys = own_keys(visit).await?;
    let rows = lines.iter().map(|item| row(visit, &keys, item));
    let table = show::table(visit.language, caption, &COLUMNS).rows(rows);
    let live = [Block::Facts(facts), Block::Table(table)];
    let note = (visit.query.get("done") == Some("batch")).then(|| outcome(visit.language, lines));
    let page = Page::new("payouts", visit.say("Lote de pagos", "Batch of payouts")).maybe(note);
    Ok(page.live(&live, &visit.writing())?)
}

/// Lines that were refused have no payout, so their references are still free.
fn outcome(language: Language, lines: &[Value]) -> Note {
    let (mut pending, mut refused, mut returned) = (0, 0, 0);
    for item in lines {
        match (str_of(item, "status"), str_of(item, "payoutId")) {
            ("failed", "") => refused += 1,
            ("failed", _) => returned += 1,
            ("completed", _) => {}
            _ => pending += 1,
        }
    }
    let (all, made) = (lines.len(), lines.len() - refused - returned);
    let tone = match (made == all, pending) {
        (true, 0) => Tone::Good,
        (true, _) => Tone::Plain,
        (false, _) => Tone::Bad,
    };
    let mut note = Note::new(tone, counted(language, all, made, made - pending));
    let more = [
        (
            refused,
            "Abajo está el motivo de cada renglón. Cuando lo resuelvas, sube otra vez el mismo archivo: lo \
             que ya se pagó no se paga de nuevo.",
            "The reason of each line is below. Once it is mended, upload the same file again: what was paid \
             is not paid again.",
        ),
        (
            returned,
            "Lo que el banco no pagó volvió a tu saldo. Para pagarlo de nuevo, dale otra referencia.",
            "What the bank did not pay is back in your balance. To pay it again, give it another reference.",
        ),
        (
            pending,
            "De lo demás el banco todavía no dijo cómo quedó. No lo pagues de nuevo.",
            "Of the rest the bank has not said yet how it ended. Do not pay it again.",
        ),
    ];
    let said = more.into_iter().filter(|(count, ..)| *count > 0);
    note.more.extend(said.map(|(_, spanish, english)| language.say(spanish, english).to_owned()));
    note
}

fn counted(language: Language, all: usize, made: usize, paid: usize) -> String {
    let lines =
        language.say(if all == 1 { "renglón" } else { "renglones" }, if all == 1 { "line" } else { "lines" });
    match (language, made, paid) {
        (Language::Spanish, _, paid) if paid == all => {
            "El lote se pagó una sola vez. Abajo está cada renglón.".to_owned()
        }
        (Language::English, _, paid) if paid == all => {
            "The batch was paid, once. Every line is below.".to_owned()
        }
        (Language::Spanish, 0, _) => format!("No se pagó nada: 0 de {all} {lines}."),
        (Language::English, 0, _) => format!("Nothing was paid: 0 of {all} {lines}."),
        (Language::Spanish, made, 1) if made == paid => format!("Se pagó 1 de {all} {lines}."),
        (Language::Spanish, made, paid) if made == paid => format!("Se pagaron {paid} de {all} {lines}."),
        (Language::English, made, paid) if made == paid => format!("Paid: {paid} of {all} {lines}."),
        (Language::Spanish, ..) => {
            format!(
                "El lote se ordenó una sola vez: {made} de {all} {lines}, y {paid} ya con respuesta del \
                 banco."
            )
        }
        (Language::English, ..) => {
            format!(
                "The batch was ordered, once: {made} of {all} {lines}; the bank has answered {paid} of them."
            )
        }
    }
}
