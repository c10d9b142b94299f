//! Payouts by file: what the file says, line by line, before anything is paid; then the good lines as
//! one batch.
//!
//! The preview pays nothing and keeps nothing: the good lines travel in the form that confirms them,
//! and with them the name of their batch. It is made of the lines, and of how many batches of these very
//! lines there were before the preview: those had paid none of them, or they would not be good. So a
//! form pays once however often it is sent, and a file that was refused can be paid another time.

use super::{Here, Portal, failed_page, may, payouts};
use crate::http::listen::Answer;
use crate::pages::form::Form;
use crate::pages::language::Language;
use crate::pages::show;
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Cell, Note, Page, Row, Table, Tone};
use crate::pages::words::words;
use crate::store::history;
use api::csv::file::{File, NoFile, RowFault};
use api::payouts::batches::{ITEMS_MAX, item_faults};
use api::problem::{BadField, Problem};
use bytes::Bytes;
use domain::index::Space;
use domain::platform::Scope;
use domain::record::Entity;
use domain::resources::merchants::Merchant;
use domain::values::ids::{EntityId, Id};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// The columns of a file, as the API calls them.
const COLUMNS: [&str; 4] = ["externalRef", "merchantId", "monto", "concepto"];
/// Lines of a file that are looked at: more than a batch takes, so that all bad ones are named.
const LINES_MAX: usize = 5_000;

/// A line of a file.
struct Line {
    number: u64,
    cells: [String; 4],
    /// The seller's name, if there is the seller.
    name: String,
    /// The errors in it.
    fault: Option<String>,
}

/// POST /portal/payouts/preview
pub async fn page<G: Answer>(
    portal: &Portal<G>,
    visit: &Here<'_, G>,
    file: Option<Bytes>,
) -> Result<Shown, Problem> {
    if !may(visit, Scope::Payout) {
        return Err(Problem::scope_missing(Scope::Payout.name()));
    }
    let chosen = file.ok_or_else(|| visit.say("Elige un archivo.", "Choose a file.").to_owned());
    let (file, mut lines) = match chosen.and_then(|bytes| lines(visit, &bytes)) {
        Ok(read) => read,
        Err(why) => {
            let mut page =
                Page::new("payouts", visit.say("Pagar por archivo", "Pay by file")).status("error");
            page.code = 400;
            return Ok(Shown::Page(page.with(payouts::upload(visit, Some(why)))));
        }
    };
    judge(portal, visit, &file, &mut lines)?;
    let good: Vec<Value> = lines.iter().filter(|line| line.fault.is_none()).map(item).collect();
    let items = Value::Array(good).to_string();
    let name = batch_name(portal, visit, &items)?;
    Ok(Shown::Page(shown(visit, &lines, items, name)))
}

/// The reference of the next batch of these lines.
fn batch_name<G: Answer>(portal: &Portal<G>, visit: &Here<'_, G>, items: &str) -> Result<String, Problem> {
    let (reader, tenant) = (portal.services.engine.reader(), visit.who.tenant_key);
    let digest: [u8; 32] = Sha256::digest(items.as_bytes()).into();
    let first = format!("portal-{}", hex::encode(&digest[..12]));
    let (mut name, mut number) = (first.clone(), 1_u64);
    while history::named(reader, tenant, Space::Batch, &name)?.is_some() {
        number += 1;
        name = format!("{first}-{number}");
    }
    Ok(name)
}

/// The lines of a file, or why it cannot be read at all.
fn lines<G: Answer>(visit: &Here<'_, G>, bytes: &[u8]) -> Result<(File, Vec<Line>), String> {
    let say = |spanish: &str, english: &str| visit.language.say(spanish, english).to_owned();
    let columns = || {
        say(
            "El primer renglón tiene que nombrar las columnas externalRef, merchantId, monto, concepto, cada \
             una una sola vez.",
            "The first line has to name the columns externalRef, merchantId, monto, concepto, each once.",
        )
    };
    let file = File::read(bytes, &COLUMNS).map_err(|no_file| match (no_file, visit.language) {
        (NoFile::NoText, _) => say(
            "No es un CSV. Guárdalo desde tu hoja de cálculo como «CSV».",
            "This is not a CSV file. Save it from your spreadsheet as \"CSV\".",
        ),
        (NoFile::Empty, _) => columns(),
        (NoFile::OpenQuote(line), Language::Spanish) => {
            format!("El renglón {line} abre unas comillas que no se cierran.")
        }
        (NoFile::OpenQuote(line), Language::English) => {
            format!("Line {line} opens a quote that is never closed.")
        }
    })?;
    if !file.bad_columns(&COLUMNS).is_empty() {
        return Err(columns());
    }
    let mut lines = Vec::new();
    for row in file.rows() {
        if lines.len() == LINES_MAX {
            return Err(say("El archivo tiene demasiados renglones.", "The file has too many lines."));
        }
        let fault = row.fault.map(|fault| match fault {
            RowFault::Width => say(
                "no tiene el mismo número de celdas que el encabezado",
                "does not have the same number of cells as the header",
            ),
            RowFault::Quotes => say(
                "dentro de una celda entre comillas, cada comilla va dos veces",
                "has a quote inside a quoted cell that is not there twice",
            ),
        });
        let cells = [0, 1, 2, 3].map(|column| file.cell(&row, column).to_owned());
        lines.push(Line { number: row.number, cells, name: String::new(), fault });
    }
    if lines.is_empty() {
        return Err(say("El archivo no tiene renglones.", "The file has no lines."));
    }
    Ok((file, lines))
}

/// Finds what is wrong with each line: as the API reads it, and by what is there.
fn judge<G: Answer>(
    portal: &Portal<G>,
    visit: &Here<'_, G>,
    file: &File,
    lines: &mut [Line],
) -> Result<(), Problem> {
    let of = |column: usize, message: &str| format!("{}: {message}", file.name(column));
    let (services, tenant) = (&portal.services, visit.who.tenant_key);
    let (reader, banks) = (services.engine.reader(), services.banks.now());
    let (mut seen, mut good) = (HashSet::new(), 0);
    for line in lines {
        let merchant = Id::parse(&line.cells[1]).map(EntityId::merchant);
        let merchant = merchant.map(|id| history::entity(reader, tenant, id)).transpose()?.flatten();
        let merchant = match merchant.as_deref() {
            Some(Entity::Merchant(merchant)) => Some(merchant),
            _ => None,
        };
        line.name = merchant.map(|merchant| merchant.name.to_string()).unwrap_or_default();
        if line.fault.is_none() {
            let faults = item_faults(&item(line).to_string(), &banks);
            let say = |bad: &BadField| {
                let column = COLUMNS.iter().position(|name| *name == bad.field);
                let name = column.map_or(&*bad.field, |column| file.name(column));
                format!("{name}: {}", show::fault(visit.language, &bad.message))
            };
            line.fault =
                Some(faults.iter().map(say).collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty());
        }
        let reference = &line.cells[0];
        if line.fault.is_none() {
            line.fault = unpayable(visit, merchant).map(|why| of(1, why));
        }
        if line.fault.is_none() && !seen.insert(reference.clone()) {
            line.fault = Some(of(0, visit.say("está dos veces en el archivo", "is in the file twice")));
        }
        if line.fault.is_none() && history::named(reader, tenant, Space::Payout, reference)?.is_some() {
            let why = visit
                .say("ya hay un pago con esta referencia", "there is a payout under this reference already");
            line.fault = Some(of(0, why));
        }
        if line.fault.is_none() {
            good += 1;
            if good > ITEMS_MAX {
                line.fault = Some(
                    visit
                        .say("un lote lleva hasta 1.000 pagos", "a batch takes up to 1,000 payouts")
                        .to_owned(),
                );
            }
        }
    }
    Ok(())
}

/// The reason why a seller can't be paid, as far as it is known before.
fn unpayable<G: Answer>(visit: &Here<'_, G>, merchant: Option<&Merchant>) -> Option<&'static str> {
    let Some(merchant) = merchant else {
        return Some(visit.say("no hay un vendedor con este id", "there is no seller with this id"));
    };
    if !merchant.active {
        return Some(visit.say("el vendedor está inactivo", "the seller is inactive"));
    }
    let method = merchant.default_method.and_then(|id| merchant.method(id));
    let is_proved = method.is_some_and(|method| method.status.is_verified());
    (!is_proved).then(|| {
        visit.say(
            "el vendedor no tiene verificado el teléfono al que se le paga",
            "the phone at which the seller is paid is not verified",
        )
    })
}

/// A line as an item of a batch.
fn item(line: &Line) -> Value {
    let [reference, merchant, amount, concept] = &line.cells;
    json!({ "externalRef": reference, "merchantId": merchant, "monto": amount, "concepto": concept })
}

fn shown<G: Answer>(visit: &Here<'_, G>, lines: &[Line], items: String, batch: String) -> Page {
    let language = visit.language;
    let good: Vec<&Line> = lines.iter().filter(|line| line.fault.is_none()).collect();
    let total: i64 = good.iter().filter_map(|line| hundredths(&line.cells[2])).fold(0, i64::saturating_add);
    let total = language.amount(total, 2);
    let bad = lines.len() - good.len();
    let mut page = Page::new("payouts", visit.say("Revisa antes de pagar", "Check before you pay"));
    let summary = summary(language, good.len(), &total, bad);
    page.blocks.push(Block::Note(Note::new(if bad == 0 { Tone::Good } else { Tone::Plain }, summary)));
    if !good.is_empty() {
        let label = match language {
            Language::Spanish => format!("Pagar {} por Bs {total}", good.len()),
            Language::English => format!("Pay {} for Bs {total}", good.len()),
        };
        let about = visit.say("Los renglones con error no se pagan.", "Lines with an error are not paid.");
        let mut form = view::Form::new("/portal/payouts/confirm", "confirm", label)
            .about(about)
            .hidden("items", items)
            .hidden("externalRef", batch);
        // Percent-encoding would make it three times as long.
        form.is_upload = true;
        page.blocks.push(form.into());
    }
    let heads_es = ["línea", "externalRef", "merchantId", "monto", "concepto", "estado"];
    let heads_en = ["line", "externalRef", "merchantId", "monto", "concepto", "state"];
    let heads = if language == Language::Spanish { heads_es } else { heads_en };
    let row = |line: &Line| {
        let [reference, merchant, amount, concept] = line.cells.clone();
        let state = if line.fault.is_some() { "bad" } else { "ok" };
        let state_cell = Cell::state(state, words(language, state).to_owned());
        let cells = vec![
            Cell::code(reference),
            Cell::code(merchant).with_sub(line.name.clone()),
            Cell::figure(amount),
            Cell::text(concept),
            state_cell.with_sub(line.fault.clone().unwrap_or_default()),
        ];
        let number = usize::try_from(line.number).unwrap_or_default();
        payouts::numbered(number, cells).status(state)
    };
    let rows: Vec<Row> = lines.iter().map(row).collect();
    let table = Table {
        caption: visit.say("Lo que dice el archivo", "What the file says").to_owned(),
        field: Some("preview"),
        heads: heads.iter().map(|head| (*head).to_owned()).collect(),
        rows,
        ..Table::default()
    };
    page.with(table)
}

/// The counts of a file in a sentence.
fn summary(language: Language, good: usize, total: &str, bad: usize) -> String {
    match (language, good) {
        (Language::Spanish, 1) => {
            format!("1 renglón bueno por Bs {total}; {bad} con error. Todavía no se pagó nada.")
        }
        (Language::Spanish, good) => {
            format!("{good} renglones buenos por Bs {total}; {bad} con error. Todavía no se pagó nada.")
        }
        (Language::English, 1) => {
            format!("1 good line, Bs {total}; {bad} with an error. Nothing has been paid yet.")
        }
        (Language::English, good) => {
            format!("{good} good lines, Bs {total} in all; {bad} with an error. Nothing has been paid yet.")
        }
    }
}

fn hundredths(text: &str) -> Option<i64> {
    text.replacen('.', "", 1).parse().ok()
}

/// POST /portal/payouts/confirm
pub async fn confirm<G: Answer>(visit: &Here<'_, G>, form: &Form) -> Result<Shown, Problem> {
    let items: Value = serde_json::from_str(form.text("items")).unwrap_or_default();
    let body = json!({ "externalRef": form.text("externalRef"), "items": items });
    match visit.inside.post("/v1/payouts/batch", &body, form.text("once")).await {
        Ok(batch) => {
            let id = show::str_of(&batch, "batchId");
            Ok(Shown::See(format!("/portal/payouts/batch?id={id}&done=batch")))
        }
        Err(refused) => failed_page(visit.language, payouts::list(visit, None).await, &refused),
    }
}
