//! Statements: a line for each day of an account, with what moved on it by columns
//! (`docs/contract.md, 20.5`).
//!
//! The question and the form of its answer belong here. The days are the ledger's
//! (`src/domain/ledger/days.rs`), and their rows are read in `src/store/`.

use crate::endpoint::{Context, Handler, chapter, endpoints, run};
use crate::fields::{Got, Invalid, Kind as _, gather, read};
use crate::merchants;
use crate::openapi::operation::Operation;
use crate::openapi::{kinds, schema};
use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Reply;
use crate::writer::Object;
use domain::ledger::Ledger;
use domain::ledger::days::{Column, Line, zone};
use domain::values::money::{Currency, write_sum};
use domain::values::time::{Date, Zone};

pub(crate) const CHAPTER: &str = "Statements";

pub const DAYS_MAX: i32 = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    pub ledger: Ledger,
    pub currency: Currency,
    pub from: Date,
    pub to: Date,
}

pub const CURRENCIES: [(&str, Currency); 3] =
    [("VES", Currency::Ves), ("COP", Currency::Cop), ("USDT", Currency::Usdt)];
const CURRENCIES_OF_SELLERS: [(&str, Currency); 2] = [("VES", Currency::Ves), ("COP", Currency::Cop)];

/// Reads the parameters of a statement of this ledger.
pub fn ask(query: &mut Query<'_>, ledger: Ledger, currencies: &[(&'static str, Currency)]) -> Got<Ask> {
    gather!(query {
        required currency = "currency", kinds::one_of(currencies);
        required from = "from", kinds::day().about("The first day.");
        required to = "to", kinds::day().about("The last day; 400 days at most. Days to come are left out.");
    } check {
        if let (Some(from), Some(to)) = (from.peek(), to.peek())
            && to.days() - from.days() >= DAYS_MAX
        {
            query.bad("from", format!("must be at most {DAYS_MAX} days before the end of to"));
        }
    } => Ask { ledger, currency, from, to })
}

chapter! { CHAPTER, "What moved on each day. Days are those of Caracas, and of Bogotá for pesos; midnight \
    belongs to the new day. `opening` and all columns add up to `closing`, which is the next day's \
    `opening`. Holds and the reserve are not in it.", {
        with schemas();
    }
    READ = run!(statement, Ledger::Tenant, &CURRENCIES), "A statement by days" => {
        with |operation| answers(operation, &CURRENCIES);
    };
}

endpoints! { merchants::CHAPTER;
    READ_SELLER = run!(read_seller), "A merchant's statement by days" => {
        with |operation| answers(operation, &CURRENCIES_OF_SELLERS);
    };
}

async fn read_seller(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let seller = Ledger::Seller(cx.id("id")?);
    statement(cx, seller, &CURRENCIES_OF_SELLERS).await
}

fn answers(operation: Operation, currencies: &[(&'static str, Currency)]) -> Operation {
    answers_statement(operation.query(|query| asked(query, Ledger::Tenant, currencies)))
}

fn asked(
    mut query: Query<'_>,
    ledger: Ledger,
    currencies: &[(&'static str, Currency)],
) -> Result<Ask, Invalid> {
    Ok(read!(query { got ask = ask(&mut query, ledger, currencies); } => ask))
}

async fn statement(
    cx: &mut Context<'_>,
    ledger: Ledger,
    currencies: &[(&'static str, Currency)],
) -> Result<Reply, Problem> {
    let Ask { currency, from, to, .. } = cx.asked(|query| asked(query, ledger, currencies))?;
    let lines = cx.server()?.statement(ledger, currency, (from, to)).await?;
    Ok(Reply::json(200, show(currency, &lines)))
}

pub fn show(currency: Currency, lines: &[Line]) -> Vec<u8> {
    Object::with_capacity(128 + lines.len() * 384)
        .plain("currency", currency.code())
        .plain("timezone", timezone(currency))
        .list("days", lines.iter().map(|line| show_day(line, currency)))
        .end()
}

/// The name of the zone by whose midnight the days of a currency begin.
pub const fn timezone(currency: Currency) -> &'static str {
    match zone(currency) {
        Zone::Caracas => "America/Caracas",
        Zone::Bogota => "America/Bogota",
        Zone::Utc => "Etc/UTC",
    }
}

fn show_day(line: &Line, currency: Currency) -> Vec<u8> {
    let begun = Object::with_capacity(384).plain("date", line.day.date);
    let begun = begun.plain("opening", amount(line.opening, currency));
    let moved = Column::ALL
        .into_iter()
        .fold(begun, |day, column| day.plain(column.name(), amount(line.day.sum(column), currency)));
    moved.plain("closing", amount(line.closing(), currency)).number("movements", line.day.movements).end()
}

pub(super) fn day_schema() -> schema::Schema {
    let begun = schema::object()
        .member("date", schema::text().format("date"))
        .member("opening", sum().about("The balance when the day began."));
    let moved = Column::ALL
        .into_iter()
        .fold(begun, |day, column| day.member(column.name(), sum().about(words(column))));
    moved
        .member("closing", sum().about("`opening` and all columns: the next day's `opening`."))
        .member("movements", schema::integer().at_least("0"))
}

fn amount(minor: i128, currency: Currency) -> String {
    let mut text = String::with_capacity(16);
    let _ = write_sum(&mut text, minor, currency.decimals());
    text
}

pub fn answers_statement(operation: Operation) -> Operation {
    operation.answers(200, "Statement", "A line for every day, empty ones too, oldest first")
}

fn sum() -> schema::Schema {
    schema::text().pattern(r"^-?(0|[1-9][0-9]*)(\.[0-9]{2})?$")
}

const fn words(column: Column) -> &'static str {
    match column {
        Column::Payments => "Sales. Signed like all columns; negative is money out.",
        Column::Fees => "Fees of sales, less those that came back.",
        Column::PlatformFees => "The operator's shares of sales through links.",
        Column::SellerTransfers => "Sellers' shares of sales, less those that came back.",
        Column::Reversals => "Sales that were given back.",
        Column::Chargebacks => {
            "Card sales that banks took back, fees of that, and what won disputes returned."
        }
        Column::Payouts => "Money sent out, and its fees.",
        Column::PayoutReversals => "Payouts that failed, with their fees.",
        Column::Conversions => "Money that became USDT, less what was canceled.",
        Column::Deposits => "USDT received.",
        Column::Adjustments => "The operator's corrections, and test money.",
    }
}

pub fn schemas() -> Vec<(&'static str, schema::Schema)> {
    vec![
        (
            "Statement",
            schema::object()
                .member("currency", schema::one_of(CURRENCIES.map(|(name, _)| name)))
                .member("timezone", schema::one_of(["America/Caracas", "America/Bogota"]))
                .member("days", schema::list(schema::named("StatementDay")))
                .example(
                    r#"{"currency":"VES","timezone":"America/Caracas","days":[{"date":"2026-11-21",
            "opening":"0.00","payments":"2100.00","fees":"-31.50","platformFees":"0.00",
            "sellerTransfers":"0.00","reversals":"0.00","chargebacks":"0.00",
            "payouts":"-500.00","payoutReversals":"0.00","conversions":"0.00",
            "deposits":"0.00","adjustments":"0.00","closing":"1568.50","movements":3}]}"#,
                ),
        ),
        ("StatementDay", day_schema()),
    ]
}
