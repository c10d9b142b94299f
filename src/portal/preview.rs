//! Payouts by file: what the file says and what would come of it, line by line, before anything is
//! paid; then the good lines as one batch. The preview pays nothing and keeps nothing: the good
//! lines travel in the form that confirms them, and with them the name of their batch. It is made of the lines, and of how many
//! batches of these very lines there were before the preview: those had paid none of them, or they
//! would not be good. So a form pays once however often it is sent, and a file that was refused can
//! be paid another time.

use super::rehearsal::{self, Rehearsed};
use super::{Here, after, may, payouts};
use crate::gateway::services::Services;
use crate::language::Language;
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Cell, Fact, Link, Note, Page, Row, Table, Tone, Writing};
use crate::pages::words::words;
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::csv::file::{File, NoFile, RowFault};
use api::payouts::batches::{ITEMS_MAX, item_faults};
use api::problem::{BadField, Problem};
use api::wire::json;
use domain::entities::Entity;
use domain::entities::merchant::Merchant;
use domain::index::Space;
use domain::platform::Scope;
use domain::values::ids::{EntityId, Id};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

const API: &str = "/v1/payouts/batch";
const COLUMNS: [&str; 4] = ["externalRef", "merchantId", "monto", "concepto"];
/// More than a batch takes, so that all bad lines are named.
const LINES_MAX: usize = 5_000;

struct Line {
    number: u64,
    cells: [String; 4],
    name: String,
    fault: Option<String>,
    /// What the bank would say against a line that is good.
    warning: String,
}

type Known = (Option<String>, Option<String>);

#[derive(Clone)]
struct Checking {
    tenant: u64,
    language: Language,
    csrf: String,
    /// Whether the key may read. One that may not is told what is wrong in the file itself: whose a
    /// merchant is and which references were used is in nothing that it may ask for.
    reads: bool,
}

pub async fn page(visit: &Here<'_>) -> Result<Shown, Problem> {
    if !may(visit, Scope::Payout) {
        return Err(Problem::scope_missing(Scope::Payout.name()));
    }
    let tenant = visit.who.tenant_key;
    let checking = Checking {
        tenant,
        language: visit.language,
        csrf: visit.csrf.clone(),
        reads: may(visit, Scope::Read),
    };
    let read_pool = &visit.services.read_pool;
    // Thousands of lines, with a look at the log for each.
    let checked = match visit.file.clone() {
        Some(file) => {
            let checking = checking.clone();
            let read =
                move |services: &Services, budget: &ReadBudget| checking.check(services, &file, budget);
            read_pool.read_long(visit.services, tenant, read).await?
        }
        None => Err(visit.say("Elige un archivo.", "Choose a file.").to_owned()),
    };
    let bare = |why| {
        let page = Page::new("payouts", visit.say("Pagar por archivo", "Pay by file"));
        page.with(payouts::upload(visit, why))
    };
    let mut lines = match checked {
        Ok(lines) => lines,
        Err(why) => return Ok(Shown::Page(Page { code: 400, ..bare(Some(why)).status("error") })),
    };
    let good: Vec<Value> = good(&lines).map(item).collect();
    let mut rehearsed = None;
    if checking.reads && !good.is_empty() {
        let name = uuid::Uuid::new_v4().to_string();
        let body = json!({ "externalRef": name, "items": good });
        match Rehearsed::of(visit, API, &body, &name).await {
            Ok(shown) => rehearsed = Some(shown),
            Err(refused) => return visit.failed(Ok(bare(None)), &refused),
        }
    }
    if let Some(rehearsed) = &rehearsed {
        checking.judge_rehearsed(&mut lines, rehearsed);
    }
    let write = move |services: &Services, _: &ReadBudget| -> Result<Page, Stopped> {
        let items = Value::Array(self::good(&lines).map(item).collect()).to_string();
        let name = checking.batch_name(services, &items)?;
        Ok(checking.shown(&lines, items, name, rehearsed.as_ref()))
    };
    Ok(Shown::Page(read_pool.read_long(visit.services, tenant, write).await?))
}

fn good(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|line| line.fault.is_none())
}

impl Checking {
    /// Or why the file cannot be read at all.
    fn check(
        &self,
        services: &Services,
        file: &[u8],
        budget: &ReadBudget,
    ) -> Result<Result<Vec<Line>, String>, Stopped> {
        let (file, mut lines) = match lines(self.language, file) {
            Ok(read) => read,
            Err(why) => return Ok(Err(why)),
        };
        self.judge(services, &file, &mut lines, budget)?;
        Ok(Ok(lines))
    }

    /// By what would become of each good line in a batch of them all. One that would be no payout is not sent.
    fn judge_rehearsed(&self, lines: &mut [Line], rehearsed: &Rehearsed) {
        let good = lines.iter_mut().filter(|line| line.fault.is_none());
        for (line, item) in good.zip(items(&rehearsed.body)) {
            let code = str_of(item, "failureCode");
            if item["payoutId"].is_null() {
                line.fault = Some(show::reason(self.language, code, str_of(item, "error")));
            } else if str_of(item, "status") == "failed" {
                let refuses = self.language.say("el banco lo rechazaría", "the bank would refuse it");
                line.warning = format!("{refuses} ({code})");
            }
        }
    }

    fn batch_name(&self, services: &Services, items: &str) -> Result<String, Stopped> {
        let digest: [u8; 32] = Sha256::digest(items.as_bytes()).into();
        let first = format!("portal-{}", hex::encode(&digest[..12]));
        let (mut name, mut number) = (first.clone(), 1_u64);
        while history::named(services.engine.reader(), self.tenant, Space::Batch, &name)?.is_some() {
            number += 1;
            name = format!("{first}-{number}");
        }
        Ok(name)
    }

    fn judge(
        &self,
        services: &Services,
        file: &File,
        lines: &mut [Line],
        budget: &ReadBudget,
    ) -> Result<(), Stopped> {
        let banks = services.banks.now();
        let (mut seen, mut good) = (HashSet::new(), 0);
        for line in lines {
            budget.spend()?;
            let (unpayable, used) = if self.reads { self.known(services, file, line)? } else { (None, None) };
            if line.fault.is_none() {
                let faults = item_faults(&item(line).to_string(), &banks);
                let say = |bad: &BadField| {
                    let column = COLUMNS.iter().position(|name| *name == bad.field);
                    let name = column.map_or(&*bad.field, |column| file.name(column));
                    format!("{name}: {}", show::fault(self.language, &bad.message))
                };
                line.fault = Some(faults.iter().map(say).collect::<Vec<_>>().join("; "))
                    .filter(|text| !text.is_empty());
            }
            let twice = || {
                let why = self.language.say("está dos veces en el archivo", "is in the file twice");
                (!seen.insert(line.cells[0].clone())).then(|| of(file, 0, why))
            };
            if line.fault.is_none() {
                line.fault = unpayable.or_else(twice).or(used);
            }
            if line.fault.is_none() {
                good += 1;
                if good > ITEMS_MAX {
                    let full = ("un lote lleva hasta 1.000 pagos", "a batch takes up to 1,000 payouts");
                    line.fault = Some(self.language.say(full.0, full.1).to_owned());
                }
            }
        }
        Ok(())
    }

    /// Why the seller can't be paid, and whether the reference was used.
    fn known(&self, services: &Services, file: &File, line: &mut Line) -> Result<Known, Stopped> {
        let reader = services.engine.reader();
        let merchant = Id::parse(&line.cells[1]).map(EntityId::merchant);
        let merchant = merchant.map(|id| history::entity(reader, self.tenant, id)).transpose()?.flatten();
        let merchant = match merchant.as_deref() {
            Some(Entity::Merchant(merchant)) => Some(merchant),
            _ => None,
        };
        line.name = merchant.map(|merchant| merchant.name.to_string()).unwrap_or_default();
        let is_used = history::named(reader, self.tenant, Space::Payout, &line.cells[0])?.is_some();
        let used = self
            .language
            .say("ya hay un pago con esta referencia", "there is a payout under this reference already");
        let unpayable = self.unpayable(merchant).map(|why| of(file, 1, why));
        Ok((unpayable, is_used.then(|| of(file, 0, used))))
    }

    fn unpayable(&self, merchant: Option<&Merchant>) -> Option<&'static str> {
        let say = |spanish, english| Some(self.language.say(spanish, english));
        let Some(merchant) = merchant else {
            return say("no hay un vendedor con este id", "there is no seller with this id");
        };
        if !merchant.active {
            return say("el vendedor está inactivo", "the seller is inactive");
        }
        let method = merchant.default_method.and_then(|id| merchant.method(id));
        if method.is_some_and(|method| method.status.is_verified()) {
            return None;
        }
        say(
            "el vendedor no tiene verificado el teléfono al que se le paga",
            "the phone at which the seller is paid is not verified",
        )
    }

    fn shown(&self, lines: &[Line], items: String, batch: String, rehearsed: Option<&Rehearsed>) -> Page {
        let language = self.language;
        let count = good(lines).count();
        let total = language.amount(rehearsal::total(good(lines).map(|line| line.cells[2].as_str())), 2);
        let bad = lines.len() - count;
        let mut page = Page::new("payouts", language.say("Revisa antes de pagar", "Check before you pay"));
        let summary = summary(language, count, &total, bad);
        page = page.with(Note::new(
            match (count, bad) {
                (0, _) => Tone::Bad,
                (_, 0) => Tone::Good,
                _ => Tone::Plain,
            },
            summary,
        ));
        if count > 0 {
            if let Some(rehearsed) = rehearsed {
                let paid = show::items(&rehearsed.body).iter().filter(|item| !item["payoutId"].is_null());
                let fees = language.amount(rehearsal::total(paid.map(|item| str_of(item, "feeVes"))), 2);
                let fact = |name, text| Fact::new(name, words(language, name), Cell::text(text));
                let mut facts = vec![fact("monto", total.clone())];
                if !rehearsed.would_wait() {
                    facts.push(fact("feeVes", fees));
                }
                page = page.with(facts).with_all(rehearsed.blocks(language));
            }
            let verb = match rehearsed.is_some_and(Rehearsed::would_wait) {
                true => language.say("Pedir aprobación para pagar", "Ask for approval to pay"),
                false => language.say("Pagar", "Pay"),
            };
            let label = format!("{verb} {count} {} Bs {total}", language.say("por", "for"));
            let about =
                language.say("Los renglones con error no se pagan.", "Lines with an error are not paid.");
            let mut form = view::Form::new("/portal/payouts/confirm", "confirm", label)
                .about(about)
                .hidden("items", items)
                .hidden("externalRef", batch);
            // Percent-encoding would make it three times as long.
            form.is_upload = true;
            page.blocks.push(form.into());
        }
        let back = language.say("Volver y elegir otro archivo", "Go back and choose another file");
        page = page.with(vec![Link::new(back, payouts::HERE)]);
        let row = |line: &Line| {
            let [reference, merchant, amount, concept] = line.cells.clone();
            let (state, why) = match &line.fault {
                Some(fault) => ("bad", fault),
                None => ("ok", &line.warning),
            };
            Row::new([
                Cell::figure(line.number.to_string()),
                Cell::code(reference),
                Cell::code(merchant).with_sub(line.name.clone()),
                // What cannot be read is shown as it was written.
                Cell::figure(if line.fault.is_none() { language.figure(&amount) } else { amount }),
                Cell::text(concept),
                Cell::state(state, words(language, state)).with_sub(why),
            ])
            .status(state)
        };
        // A row is to be found in the file, whose columns are not renamed.
        let (number, state) = (language.say("Renglón", "Line"), language.say("Estado", "State"));
        let heads = [number, "externalRef", "merchantId", "monto", "concepto", state];
        let table = Table {
            caption: language.say("Lo que dice el archivo", "What the file says").to_owned(),
            field: Some("preview"),
            heads: heads.map(str::to_owned).into(),
            rows: lines.iter().map(row).collect(),
            ..Table::default()
        };
        // Written here, as it is as long as the file.
        let writing = Writing { language, csrf: &self.csrf, refresh: None };
        let table = [Block::Table(table)];
        let written = view::html(&table, &writing).map(Block::Written);
        page.blocks.extend(written.map_or(Vec::from(table), |written| vec![written]));
        page
    }
}

fn lines(language: Language, bytes: &[u8]) -> Result<(File, Vec<Line>), String> {
    let say = |spanish: &str, english: &str| language.say(spanish, english).to_owned();
    let columns = || {
        say(
            "El primer renglón tiene que nombrar las columnas externalRef, merchantId, monto, concepto, cada \
             una una sola vez.",
            "The first line has to name the columns externalRef, merchantId, monto, concepto, each once.",
        )
    };
    let file = File::read(bytes, &COLUMNS).map_err(|no_file| match (no_file, language) {
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
        let mut cells = [0, 1, 2, 3].map(|column| file.cell(&row, column).to_owned());
        cells[2] = amount(&cells[2]);
        lines.push(Line { number: row.number, cells, name: String::new(), fault, warning: String::new() });
    }
    if lines.is_empty() {
        return Err(say("El archivo no tiene renglones.", "The file has no lines."));
    }
    Ok((file, lines))
}

/// An amount as the API writes it. Nobody knows the language of a file's amounts, so what is another one in another
/// language, as `1.250`, stays as it is, to be refused.
fn amount(typed: &str) -> String {
    let [spanish, english] = [Language::Spanish, Language::English].map(|language| language.read(typed, 2));
    match spanish {
        Some(read) if english.as_ref() == Some(&read) => Language::Spanish.typed(typed, 2),
        _ => typed.to_owned(),
    }
}

fn of(file: &File, column: usize, message: &str) -> String {
    format!("{}: {message}", file.name(column))
}

fn item(line: &Line) -> Value {
    let [reference, merchant, amount, concept] = &line.cells;
    json!({ "externalRef": reference, "merchantId": merchant, "monto": amount, "concepto": concept })
}

fn summary(language: Language, good: usize, total: &str, bad: usize) -> String {
    match language {
        Language::Spanish => {
            let lines = if good == 1 { "renglón bueno" } else { "renglones buenos" };
            format!("{good} {lines} por Bs {total}; {bad} con error. Todavía no se pagó nada.")
        }
        Language::English => {
            let (lines, in_all) = if good == 1 { ("line", "") } else { ("lines", " in all") };
            format!(
                "{good} good {lines}, Bs {total}{in_all}; {bad} with an error. Nothing has been paid yet."
            )
        }
    }
}

pub async fn confirm(visit: &Here<'_>) -> Result<Shown, Problem> {
    let items: Value = json::value(visit.form.text("items")).unwrap_or_default();
    let body = json!({ "externalRef": visit.form.text("externalRef"), "items": items });
    let outcome = visit.post(API, &body).await;
    let to = |batch: &Value| {
        Shown::See(format!("/portal/payouts/batch?id={}&done=batch", str_of(batch, "batchId")))
    };
    visit.acted(outcome, |answer| after(answer, payouts::HERE, to), payouts::list(visit)).await
}
