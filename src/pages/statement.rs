//! A statement on a page: which currency and days are asked for, the days as a table, and a plot of
//! the closing balance.

use crate::gateway::services::Services;
use crate::language::Language;
use crate::pages::form::Form;
use crate::pages::inside::with_query;
use crate::pages::show::{self, str_of};
use crate::pages::view::{self, Block, Input, Kind, Link, Plot, Row};
use chrono::NaiveDate;
use domain::values::time::{DAY_MS, SECOND_MS, Timestamp};
use domain::view::{Query, View};
use serde_json::Value;

/// Those that are zero on every day are left out.
#[rustfmt::skip]
const COLUMNS: [&str; 15] = [
    "date", "opening", "payments", "fees", "platformFees", "sellerTransfers", "reversals", "chargebacks", "payouts",
    "payoutReversals", "conversions", "deposits", "adjustments", "closing", "movements",
];
/// Unless others are asked for.
const DAYS: i64 = 30;

/// A test clock may be ahead. Of a book that is halted the server's time.
pub async fn present(services: &Services, tenant_key: u64) -> Timestamp {
    match services.engine.view(tenant_key, Query::Clock).await {
        Ok(View::Clock(now)) => now,
        _ => services.now(),
    }
}

pub struct Asked {
    language: Language,
    currency: String,
    from: String,
    to: String,
    mode: String,
}

impl Asked {
    /// The last thirty days in bolívares, by the clock of whom they are of, unless the address says
    /// otherwise.
    pub fn read(query: &Form, language: Language, now: Timestamp) -> Asked {
        let now_ms = now.unix_ms();
        let or = |name: &str, other: String| query.filled(name).map_or(other, str::to_owned);
        Asked {
            language,
            currency: or("currency", "VES".to_owned()),
            from: or("from", show::day_in_caracas(now_ms - (DAYS - 1) * DAY_MS)),
            to: or("to", show::day_in_caracas(now_ms)),
            mode: query.text("mode").to_owned(),
        }
    }

    /// `None` where the days are in their order.
    pub fn fault(&self) -> Option<&'static str> {
        // Days as the API writes them are in the order of their texts.
        (self.from > self.to).then(|| {
            self.language.say(
                "El día «Desde» es posterior a «Hasta». Cámbialos.",
                "The day \"From\" is after the day \"To\". Change them.",
            )
        })
    }

    pub fn parameters(&self) -> [(&str, &str); 4] {
        [("currency", &self.currency), ("from", &self.from), ("to", &self.to), ("mode", &self.mode)]
    }

    /// `kept` are parameters that stay.
    pub fn form(&self, to: &str, kept: &[(&'static str, &str)]) -> view::Form {
        let say = |spanish, english| self.language.say(spanish, english);
        let currencies =
            [("VES", say("Bolívares", "Bolívares")), ("COP", say("Pesos", "Pesos")), ("USDT", "USDT")];
        let mut form = view::Form::query(to, "show-statement", say("Ver", "Show"))
            .input(Input::choice("currency", say("Moneda", "Currency"), currencies, &*self.currency))
            .input(Input::new("from", say("Desde", "From")).kind(Kind::Date).value(&*self.from))
            .input(Input::new("to", say("Hasta", "To")).kind(Kind::Date).value(&*self.to));
        for (name, value) in kept.iter().filter(|(_, value)| !value.is_empty()) {
            form = form.hidden(name, *value);
        }
        form
    }

    pub fn download(&self, to: &str) -> Vec<Link> {
        let say = |spanish, english| self.language.say(spanish, english);
        vec![Link::new(say("Descargar CSV", "Download CSV"), with_query(to, &self.parameters()))]
    }
}

pub fn blocks(language: Language, statement: &Value) -> Vec<Block> {
    let days = statement["days"].as_array().map_or(&[][..], Vec::as_slice);
    let is_zero = |value: &Value| show::text(value).bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-'));
    let is_shown = |name: &&str| {
        matches!(*name, "date" | "opening" | "closing") || days.iter().any(|day| !is_zero(&day[*name]))
    };
    let names: Vec<&str> = COLUMNS.into_iter().filter(is_shown).collect();
    let row = |day: &Value| {
        let cells = names.iter().map(|name| {
            let cell = show::cell(language, name, &day[*name]);
            let plain = show::text(&day[*name]);
            if *name == "date" { cell } else { view::Cell::figure(language.figure(&plain)) }
        });
        Row::new(cells.collect::<Vec<_>>())
    };
    let caption = format!("{} · {}", str_of(statement, "currency"), str_of(statement, "timezone"));
    let table = show::table(language, caption, &names).rows(days.iter().rev().map(row));
    let at = |day: &Value| {
        let date = str_of(day, "date");
        let start = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?.and_hms_opt(12, 0, 0)?.and_utc();
        Some((start.timestamp_millis() / SECOND_MS, show::day(date)))
    };
    let plot = Plot {
        label: language.say("Saldo al final de cada día", "Balance at the end of each day").to_owned(),
        heads: vec![language.say("Día", "Day").to_owned(), language.say("Saldo", "Balance").to_owned()],
        at: days.iter().filter_map(at).collect(),
        series: vec![days.iter().map(|day| str_of(day, "closing").to_owned()).collect()],
        is_bars: false,
        table: language.say("Ver como tabla", "Show as a table"),
    };
    let zone = if str_of(statement, "timezone") == "America/Bogota" {
        language.say(
            "Cada día va de medianoche a medianoche en Bogotá (UTC−5).",
            "Each day goes from midnight to midnight in Bogotá (UTC−5).",
        )
    } else {
        language.say(
            "Cada día va de medianoche a medianoche en Caracas (UTC−4).",
            "Each day goes from midnight to midnight in Caracas (UTC−4).",
        )
    };
    vec![plot.into(), Block::Text(zone.to_owned()), table.into()]
}
