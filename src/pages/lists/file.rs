//! The file of a list for people: the columns that are chosen, by their words, with times of the list's zone, names in
//! the place of ids, and amounts as a spreadsheet of its separator reads them. Programs have the API's own.

use super::{Asked, Described, head};
use crate::gateway::services::Services;
use crate::language::Language;
use crate::pages::show;
use crate::pages::site::{Shown, Visit};
use api::csv::{Separator, people, text_cell};
use api::problem::Problem;
use domain::values::ids::Id;
use domain::values::time::{Date, Zone};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Of every list, what there is of these, unless columns are chosen.
#[rustfmt::skip]
const COLUMNS: [&str; 43] = [
    "createdAt", "tenantId", "externalRef", "reference", "method", "kind", "merchantName", "usdAmount", "vesAmount",
    "bcvRate", "feeVes", "netVes", "monto", "amountVes", "amountCop", "feeCop", "netCop", "amountUsdt", "networkFeeUsdt",
    "totalUsdt", "sourceCurrency", "sourceAmount", "targetAmountUsdt", "rate", "concepto", "description", "bankCode",
    "bank", "destination", "accountNumber", "network", "address", "bankReference", "txHash", "reason", "status",
    "failureCode", "completedAt", "settledAt", "availableAt", "livemode", "mode", "id",
];

struct Cells {
    language: Language,
    zone: Zone,
    separator: Separator,
    services: Arc<Services>,
    /// The place of each column in the API's file, and its name.
    columns: Vec<(usize, String)>,
}

impl Cells {
    fn cell(&self, name: &str, text: &str) -> String {
        let name = name.rsplit('.').next().unwrap_or(name);
        match name {
            "tenantId" => {
                let known = Id::parse(text).and_then(|id| self.services.callers.directory.tenant(id));
                known.map_or_else(|| text.to_owned(), |tenant| text_cell(&tenant.name).into_owned())
            }
            "status" | "method" | "mode" | "kind" | "type" | "reason" | "reversalType" | "accountType"
            | "failureCode"
                if !text.is_empty() =>
            {
                show::cell(self.language, name, &Value::from(text)).text
            }
            "livemode" => {
                let is_live = text == "true";
                self.language
                    .say(if is_live { "Sí" } else { "No" }, if is_live { "Yes" } else { "No" })
                    .to_owned()
            }
            _ if show::is_money(name) && self.separator == Separator::Semicolon => text.replace('.', ","),
            _ => match show::instant_ms(text).filter(|_| name.ends_with("At")) {
                Some(at) => show::for_spreadsheets(self.zone, at),
                None => text.to_owned(),
            },
        }
    }
}

pub async fn answer<W>(
    visit: &Visit<'_, W>,
    described: &Described,
    asked: &Asked,
    shop: &str,
) -> Result<Shown, Problem> {
    let reply = match visit.inside.download(&asked.of_api(described.api), "text/csv").await {
        Ok(reply) => reply,
        Err(refused) => return visit.shown(Err(refused)),
    };
    let separator = match visit.query.text("separator") {
        "semicolon" => Separator::Semicolon,
        _ => Separator::Comma,
    };
    let names = if asked.names_columns(described) { asked.columns(described) } else { COLUMNS.to_vec() };
    let place = |name: &str| described.columns.iter().position(|known| known == name);
    let columns: Vec<_> =
        names.into_iter().filter_map(|name| Some((place(name)?, name.to_owned()))).collect();
    let header = people::header(columns.iter().map(|(_, name)| head(visit, name).to_owned()), separator);
    // By its mark a spreadsheet that expects semicolons knows the accents.
    let mark = if separator == Separator::Semicolon { "\u{feff}" } else { "" };
    let (language, zone) = (visit.language, described.resource.zone);
    let cells = Cells { language, zone, separator, services: Arc::clone(visit.services), columns };
    let is_first = AtomicBool::new(true);
    let rows = move |piece: &[u8]| {
        let is_first = is_first.swap(false, Ordering::Relaxed);
        let rows = people::rewritten(piece, is_first, cells.separator, |row| {
            let cell = |(at, name): &(usize, String)| cells.cell(name, row.get(*at).unwrap_or_default());
            cells.columns.iter().map(cell).collect()
        });
        if is_first { format!("{mark}{header}{rows}").into_bytes() } else { rows.into_bytes() }
    };
    let [spanish, english] = described.resource.title;
    let period = period(visit.query.text("from"), visit.query.text("to"));
    let missing = visit.inside.missing().map(|missing| match language {
        Language::Spanish => format!("sin particiones {missing}"),
        Language::English => format!("without partitions {missing}"),
    });
    let name = people::file_name(&[
        visit.say(spanish, english),
        shop,
        &period,
        missing.as_deref().unwrap_or_default(),
    ]);
    Ok(Shown::Raw(reply.rewritten(&name, Arc::new(rows))))
}

/// The month, if it is a whole one, the day or the days that a list is of.
fn period(from: &str, to: &str) -> String {
    let civil = |day: &str, later| Some(Date::parse(day).ok()?.plus_days(later).civil());
    let is_month = match (civil(from, 0), civil(to, 0), civil(to, 1)) {
        (Some((year, month, 1)), Some((last_year, last, _)), Some((_, _, 1))) => {
            (year, month) == (last_year, last)
        }
        _ => false,
    };
    match (from, to) {
        _ if is_month => from.get(..7).unwrap_or_default().to_owned(),
        _ if from == to => from.to_owned(),
        _ => format!("{from} {to}"),
    }
}
