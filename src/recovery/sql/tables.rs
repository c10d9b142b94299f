//! The tables of the state, from what the API describes: a table has the members that its things are shown by, so a new
//! member is a column without a line here. What is in them is in [`super::load`].

use crate::recovery::condition::pick;
use api::checkout::sessions;
use api::endpoint::shown;
use api::openapi::schema::Schema;
use api::products::links;
use api::{
    balance, chargebacks, conversions, cop_payments, crypto, events, members, merchants, payments, payouts,
    products, tenants, webhooks,
};
use domain::record::Record;
use domain::values::ids::EntityId;
use domain::values::time::Timestamp;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

/// What a table has, besides the tenant and the mode.
struct Described {
    name: &'static str,
    about: &'static str,
    /// All that its rows may be shown by.
    schemas: fn() -> Vec<Schema>,
    currency: CurrencyOf,
}

#[derive(Clone, Copy, PartialEq)]
enum CurrencyOf {
    /// There is none but those in the names of amounts.
    Nothing,
    /// Every row says its own, and has one amount.
    Row,
    /// A row that does not say its own has this one.
    Mostly(&'static str),
    /// Another column says it as well.
    Column(&'static str),
}

use CurrencyOf::{Column as Like, Mostly, Nothing, Row};

macro_rules! tables {
    ($($name:ident, $currency:expr, $about:literal, [$($schema:expr),+];)*) => {
        const TABLES: &[Described] = &[$(Described {
            name: stringify!($name),
            about: $about,
            schemas: || vec![$($schema),+],
            currency: $currency,
        }),*];
    };
}

tables! {
    tenants, Nothing, "Accounts. They have no mode.", [tenants::tenant_schema()];
    keys, Nothing, "API keys, also revoked ones. When one was used last is in no record.", [tenants::keys::key_schema()];
    payments, Mostly("VES"), "What `GET /v1/payments` lists: in bolívares, pesos and USDT.", [payments::payment()];
    payouts, Mostly("VES"), "What `GET /v1/payouts` and `/v1/cop/payouts` list.",
        [payouts::payout(), cop_payments::payouts::schema()];
    merchants, Nothing, "Sellers.", [merchants::merchant()];
    payout_methods, Nothing, "Those of sellers.", [method_schema()];
    conversions, Like("source_currency"), "Accepted quotes. `currency` is that of the source.", [conversions::schema()];
    cop_payments, Nothing, "What `GET /v1/cop/payments/:id` shows: payments in pesos, which `payments` has too.",
        [cop_payments::payment()];
    crypto_payouts, Mostly("USDT"), "USDT to wallets.", [crypto::payout_schema()];
    deposits, Nothing, "USDT and USDC that came to addresses of customers.", [crypto::deposit_schema()];
    chargebacks, Mostly("VES"), "Of card payments.", [chargebacks::schema()];
    products, Nothing, "What tenants sell.", [products::schema()];
    links, Nothing, "Payment links.", [links::schema()];
    sessions, Nothing, "Checkout sessions.", [sessions::schema()];
    webhooks, Nothing, "Endpoints for events.", [webhooks::schema()];
    approvals, Nothing, "Calls of keys with a mandate that waited for an approval. One whose key was revoked is still \
        `awaiting_approval` here until its time is over.", [tenants::approvals::approval_schema()];
    movements, Row, "What the lists of movements have, in all currencies; those of sellers have a `merchant_id`.",
        [balance::movement()];
    holds, Row, "What is held at that instant. `merchant_id` is null of what is the tenant's own, `available_at` of what a \
        bank is to decide.", [balance::hold_schema()];
    events, Nothing, "What `GET /v1/events` lists.", [events::schema()];
    records, Nothing, "Every record of the log. Those of the platform have no tenant.", [record_schema()];
}

fn method_schema() -> Schema {
    merchants::method_schema().member("merchantId", api::openapi::values::uuid())
}

shown! {
    pub fn show_record(seq: u64, time: Timestamp, record: &Record), record_schema, 256 [
        let written = record.entities.first().map(|written| written.state.id());
        let of: Option<EntityId> = written.or(record.removed.first().map(|(id, _)| *id));
    ] {
        number "seq" = seq, integer();
        plain "time" = time, instant();
        plain "type" = record.cause.name(), text();
        maybe plain "entityKind" = of.map(|of| of.kind.name()), text();
        maybe plain "entityId" = of.map(|of| of.id), uuid();
        maybe text "operator" = record.audit.as_ref().map(ToString::to_string), text();
    }
}

pub struct Table {
    pub name: &'static str,
    pub about: &'static str,
    pub columns: Vec<Column>,
    /// The column of each member.
    places: HashMap<&'static str, usize>,
    currency: CurrencyOf,
}

pub struct Column {
    pub name: String,
    pub has: Has,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    Text,
    Integer,
    /// 0 or 1.
    Boolean,
    Json,
    /// Minor units.
    Money(Unit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Of a currency with two decimals.
    Cents,
    Pesos,
    /// Of the currency that the row says.
    OfRow,
}

const MINOR: &str = "_minor";
const CURRENCY: &str = "currency";

pub fn all() -> Vec<Table> {
    TABLES.iter().map(Table::of).collect()
}

/// What of a row is to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'v> {
    Null,
    Integer(i64),
    Text(Cow<'v, str>),
}

impl Table {
    fn of(described: &Described) -> Table {
        let Described { name, about, schemas, currency } = *described;
        let column = |name: &str, has| Column { name: name.to_owned(), has };
        let mut columns = vec![column("tenant_id", Has::Text), column("mode", Has::Text)];
        let mut places = HashMap::from([("tenantId", TENANT_ID), ("mode", MODE)]);
        if matches!(currency, Mostly(_) | Like(_)) {
            places.insert(CURRENCY, columns.len());
            columns.push(column(CURRENCY, Has::Text));
        }
        for schema in schemas() {
            for (member, is) in schema.typed_members() {
                let has = Has::of(member, is);
                let name = match has {
                    Has::Money(_) if currency == Row => format!("amount{MINOR}"),
                    Has::Money(_) => format!("{}{MINOR}", snake(member)),
                    _ => snake(member),
                };
                let has = if currency == Row && matches!(has, Has::Money(_)) {
                    Has::Money(Unit::OfRow)
                } else {
                    has
                };
                let known = columns.iter().position(|column| column.name == name);
                let place = known.unwrap_or_else(|| {
                    columns.push(Column { name, has });
                    columns.len() - 1
                });
                places.entry(member).or_insert(place);
            }
        }
        Table { name, about, columns, places, currency }
    }

    /// A row of what is shown, with the tenant and the mode that it has.
    pub fn row<'v>(&self, shown: &'v [u8], whose: [&'v str; 2]) -> Result<Vec<Cell<'v>>, String> {
        let mut values: Vec<Option<Cow<'v, str>>> = vec![None; self.columns.len()];
        pick(shown, &|name| self.places.get(name).copied(), &mut values);
        for (place, text) in [TENANT_ID, MODE].into_iter().zip(whose) {
            if !text.is_empty() {
                values[place] = Some(Cow::Borrowed(text));
            }
        }
        match self.currency {
            Mostly(code) if values[self.places[CURRENCY]].is_none() => {
                values[self.places[CURRENCY]] = Some(Cow::Borrowed(code));
            }
            Like(other) => {
                let other = self.columns.iter().position(|column| column.name == other);
                values[self.places[CURRENCY]] = other.and_then(|other| values[other].clone());
            }
            _ => {}
        }
        let is_pesos =
            self.places.get(CURRENCY).is_some_and(|place| values[*place].as_deref() == Some("COP"));
        let cells = self.columns.iter().zip(values).map(|(column, value)| {
            let Some(value) = value else { return Ok(Cell::Null) };
            let integer = match column.has {
                Has::Text | Has::Json => return Ok(Cell::Text(value)),
                Has::Boolean => Some(i64::from(value == "true")),
                Has::Integer => value.parse().ok(),
                Has::Money(Unit::Pesos) => minor(&value, 0),
                Has::Money(Unit::OfRow) if is_pesos => minor(&value, 0),
                Has::Money(_) => minor(&value, 2),
            };
            let wrong =
                || format!("{}.{} is shown as {value}, which is no such number", self.name, column.name);
            integer.map(Cell::Integer).ok_or_else(wrong)
        });
        cells.collect()
    }

    pub fn make(&self) -> String {
        let columns = self.columns.iter().map(|column| format!("\"{}\" {}", column.name, column.has.sql()));
        format!("CREATE TABLE \"{}\" ({});", self.name, columns.collect::<Vec<_>>().join(", "))
    }

    /// Its view, in which money is written with the decimals of its currency.
    pub fn make_view(&self) -> String {
        let columns = self.columns.iter().map(|Column { name, has }| {
            let Has::Money(unit) = has else { return format!("\"{name}\"") };
            let sign = format!("CASE WHEN \"{name}\" < 0 THEN '-' ELSE '' END");
            let cents = format!("printf('%s%d.%02d', {sign}, abs(\"{name}\" / 100), abs(\"{name}\" % 100))");
            let written = match unit {
                Unit::Pesos => format!("\"{name}\""),
                Unit::Cents => format!("CASE WHEN \"{name}\" IS NOT NULL THEN {cents} END"),
                Unit::OfRow => format!(
                    "CASE WHEN \"{name}\" IS NULL THEN NULL WHEN \"{CURRENCY}\" = 'COP' \
                     THEN CAST(\"{name}\" AS TEXT) ELSE {cents} END"
                ),
            };
            format!("{written} AS \"{}\"", name.strip_suffix(MINOR).unwrap_or(name))
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        format!("CREATE VIEW \"{0}_decimal\" AS SELECT {columns} FROM \"{0}\";", self.name)
    }

    pub fn insert(&self) -> String {
        format!("INSERT INTO \"{}\" VALUES ({})", self.name, vec!["?"; self.columns.len()].join(", "))
    }
}

const TENANT_ID: usize = 0;
const MODE: usize = 1;

impl Has {
    fn of(member: &str, is: Option<&str>) -> Has {
        match is {
            Some("array" | "object") => Has::Json,
            Some("boolean") => Has::Boolean,
            _ if members::is_amount(member) => Has::Money(Unit::of(member)),
            Some("integer") => Has::Integer,
            // Rates and percentages are no floats.
            _ => Has::Text,
        }
    }

    const fn sql(self) -> &'static str {
        match self {
            Has::Text | Has::Json => "TEXT",
            Has::Integer | Has::Boolean | Has::Money(_) => "INTEGER",
        }
    }
}

impl Unit {
    fn of(member: &str) -> Unit {
        let member = member.to_ascii_lowercase();
        match member.contains("cop") {
            true => Unit::Pesos,
            false if ["ves", "usd", "monto"].iter().any(|code| member.contains(code)) => Unit::Cents,
            false => Unit::OfRow,
        }
    }
}

/// An amount as it is shown, in minor units; none of what is finer.
fn minor(shown: &str, decimals: usize) -> Option<i64> {
    let (whole, fraction) = shown.split_once('.').unwrap_or((shown, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > decimals || !whole.ends_with(|last: char| last.is_ascii_digit()) {
        return None;
    }
    format!("{whole}{fraction:0<decimals$}").parse().ok()
}

fn snake(member: &str) -> String {
    let mut name = String::with_capacity(member.len() + 4);
    for character in member.chars() {
        if character.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}

const INTRODUCTION: &str = "\
# The tables of `pasarela wal sql`

<!-- Made from the descriptions of the API: GOLDEN=write cargo test --test golden -->

`pasarela wal sql \"SELECT …\"` asks the whole state, as it is or, with `--at SEQ` or `--at TIME`, as it was, by the SQL
of [SQLite](https://sqlite.org/lang_select.html). These are its tables; `--out FILE.sqlite` keeps them.

- Columns are the members that the API shows, in snake case; what the API leaves out is null. Texts (times, rates) are
  as it writes them: times are in UTC and sort as text.
- Every table has `tenant_id` and `mode` (`live`, `test`), null of what is no tenant's or in no mode.
- Money is an integer of minor units, `…_minor`: cents, of pesos whole pesos. Where an amount's name has no currency,
  `currency` says it.
- Each table has a view, `payments_decimal` and so on, which writes money with its decimals, without `_minor`: for
  reading. These are texts but for pesos, so compare and sum the integers of the table.
- 0 is false and 1 is true. Lists and objects are JSON: `json_extract(settings, '$.reserveVes')`, `json_each(events)`.
- Secrets are in no column, and what was deleted is in no row but those of `records`.
";

/// The documentation of the tables.
pub fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for Table { name, about, columns, .. } in all() {
        let _ = write!(page, "\n## {name}\n\n{}\n\n", wrapped("", about));
        for (words, is) in [
            ("Text", (|has| has == Has::Text) as fn(Has) -> bool),
            ("Money", |has| matches!(has, Has::Money(_))),
            ("Integers", |has| has == Has::Integer),
            ("0 or 1", |has| has == Has::Boolean),
            ("JSON", |has| has == Has::Json),
        ] {
            let names: Vec<String> = columns
                .iter()
                .filter(|column| is(column.has))
                .map(|column| format!("`{}`", column.name))
                .collect();
            if !names.is_empty() {
                let _ = writeln!(page, "{}", wrapped("- ", &format!("{words}: {}", names.join(", "))));
            }
        }
    }
    page
}

/// In lines that fit the documentation.
fn wrapped(before: &str, words: &str) -> String {
    const WIDTH: usize = 118;
    let mut lines = String::from(before);
    let mut width = before.len();
    for (n, word) in words.split_whitespace().enumerate() {
        let long = word.chars().count();
        if n > 0 && width + 1 + long > WIDTH {
            let _ = write!(lines, "\n{:before$}", "", before = before.len());
            width = before.len();
        } else if n > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += long;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_minor_units_of_their_currency() {
        for (shown, decimals, expected) in [
            ("12.34", 2, Some(1_234)),
            ("-0.05", 2, Some(-5)),
            ("10", 2, Some(1_000)),
            ("10.5", 2, Some(1_050)),
            ("0.00", 2, Some(0)),
            ("50000", 0, Some(50_000)),
            ("50000.00", 0, Some(50_000)),
            ("1.001", 2, None),
            ("1.5", 0, None),
            ("92233720368547758.08", 2, None),
            ("1e3", 2, None),
            (".5", 2, None),
            ("", 2, None),
        ] {
            assert_eq!(minor(shown, decimals), expected, "{shown}");
        }
        for (member, unit) in [
            ("usdAmount", Unit::Cents),
            ("monto", Unit::Cents),
            ("sourceAmountVes", Unit::Cents),
            ("targetAmountUsdt", Unit::Cents),
            ("applicationFeeCop", Unit::Pesos),
            ("sourceAmount", Unit::OfRow),
            ("amount", Unit::OfRow),
        ] {
            assert_eq!(Has::of(member, None), Has::Money(unit), "{member}");
        }
        // An amount without a currency in its name needs one beside it.
        for table in all() {
            let needs = table.columns.iter().any(|column| column.has == Has::Money(Unit::OfRow));
            assert!(!needs || table.places.contains_key(CURRENCY), "{}", table.name);
        }
    }

    #[test]
    fn a_row_has_what_is_shown_and_what_is_not_is_null() {
        let tables = all();
        let table = |name: &str| tables.iter().find(|table| table.name == name).expect("a table");
        let row = |name: &str, shown: &'static str| {
            let table = table(name);
            let cells = table.row(shown.as_bytes(), ["t", "test"]).expect("a row");
            let named = table.columns.iter().map(|column| column.name.as_str()).zip(cells);
            named.filter(|(_, cell)| *cell != Cell::Null).collect::<HashMap<_, _>>()
        };
        let text = |text: &'static str| Cell::Text(Cow::Borrowed(text));
        let with = |more: Vec<(&'static str, Cell<'static>)>| {
            let whose = [("tenant_id", text("t")), ("mode", text("test"))];
            whose.into_iter().chain(more).collect::<HashMap<_, _>>()
        };
        assert_eq!(
            row(
                "payments",
                r#"{"id":"a","vesAmount":10.5,"bcvRate":210.25,"livemode":false,"chargebacks":[]}"#
            ),
            with(vec![
                ("id", text("a")),
                ("ves_amount_minor", Cell::Integer(1_050)),
                ("bcv_rate", text("210.25")),
                ("livemode", Cell::Integer(0)),
                ("chargebacks", text("[]")),
                ("currency", text("VES")),
            ])
        );
        let pesos = r#"{"sourceCurrency":"COP","sourceAmount":"50000","sourceAmountVes":null}"#;
        assert_eq!(
            row("conversions", pesos),
            with(vec![
                ("source_currency", text("COP")),
                ("currency", text("COP")),
                ("source_amount_minor", Cell::Integer(50_000)),
            ])
        );
        assert_eq!(
            row("movements", r#"{"amountUsdt":"-1.20","currency":"USDT"}"#),
            with(vec![("amount_minor", Cell::Integer(-120)), ("currency", text("USDT"))])
        );
        assert!(table("payments").row(br#"{"vesAmount":1.001}"#, ["t", "test"]).is_err());
    }
}
