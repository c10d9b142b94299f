//! The first page: what there is, what is held until when, and what moved last.

use super::{Here, Made, today};
use crate::language::Language;
use crate::pages::inside::{Refused, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::view::{Block, Link, Page, Plot, Row, Table};
use domain::values::time::{DAY_MS, HOUR_MS, SECOND_MS};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const PAGES_MAX: usize = 5;
const LIMIT: &str = "100";

pub async fn page(visit: &Here<'_>) -> Made {
    let (language, inside) = (visit.language, &visit.inside);
    let mut ledgers = vec![(&LEDGERS[0], inside.get(LEDGERS[0].balance).await?)];
    for ledger in &LEDGERS[1..] {
        ledgers.extend(inside.find(ledger.balance).await?.map(|balance| (ledger, balance)));
    }
    let currencies: Vec<_> = ledgers.iter().map(|(ledger, _)| ledger.currency).collect();
    let mut page =
        Page::new("home", visit.say("Inicio", "Home")).with_all(today::blocks(visit, &currencies).await?);
    for (ledger, balance) in &ledgers {
        let [spanish, english] = ledger.title;
        page = page.heading(visit.say(spanish, english)).with(show::facts(language, balance, ledger.members));
        if ledger.currency == "VES" {
            page.blocks.extend(releases(visit, balance).await?);
        }
    }
    let asked = visit.query.text("currency");
    let of = ledgers.iter().map(|(ledger, _)| *ledger).find(|ledger| ledger.currency == asked);
    let of = of.unwrap_or(&LEDGERS[0]);
    let here = with_query("/portal/home", &[("currency", of.currency)]);
    let (movements, next) = visit.list(&format!("{}/transactions", of.balance), &here, &[], "20").await?;
    page = page.heading(visit.say("Movimientos", "Movements"));
    let link = |currency: &&'static str| Link {
        is_current: *currency == of.currency,
        ..Link::new(*currency, with_query("/portal/home", &[("currency", currency)]))
    };
    if currencies.len() > 1 {
        page = page.with(Block::Links(currencies.iter().map(link).collect()));
    }
    Ok(page.with(movements_table(language, of, &movements).next(next)))
}

async fn releases(visit: &Here<'_>, balance: &Value) -> Result<Vec<Block>, Refused> {
    let Some((hours, is_whole)) = held(visit, balance).await? else {
        return Ok(Vec::new());
    };
    let mut blocks = vec![plot(visit.language, &hours).into()];
    if !is_whole {
        let text = visit.say(
            "Cuenta solo los movimientos más recientes; de los anteriores hay más retenido.",
            "Counts the newest movements only; more is held from earlier ones.",
        );
        blocks.push(Block::Text(text.to_owned()));
    }
    Ok(blocks)
}

struct Ledger {
    currency: &'static str,
    title: [&'static str; 2],
    balance: &'static str,
    amount: &'static str,
    members: &'static [&'static str],
}

#[rustfmt::skip]
const LEDGERS: [Ledger; 3] = [
    Ledger {
        currency: "VES", title: ["Bolívares"; 2], balance: "/v1/balance", amount: "amountVes",
        members: &[
            "availableVes", "heldVes", "nextReleaseAt", "ledgerNetVes", "reserveVes", "convertedVes",
            "sellerAvailableVes", "sellerPendingVes",
        ],
    },
    Ledger {
        currency: "COP", title: ["Pesos colombianos", "Colombian pesos"], balance: "/v1/cop/balance",
        amount: "amountCop", members: &["availableCop", "heldCop", "nextReleaseAt", "ledgerNetCop"],
    },
    Ledger {
        currency: "USDT", title: ["USDT"; 2], balance: "/v1/crypto/balance", amount: "amountUsdt",
        members: &["availableUsdt", "heldUsdt", "pendingPayoutsUsdt", "nextReleaseAt"],
    },
];

fn movements_table(language: Language, of: &Ledger, movements: &Value) -> Table {
    let names = ["createdAt", "type", of.amount, "externalRef", "availableAt"];
    let caption = language.say("Movimientos, primero los más recientes", "Movements, newest first");
    let row = |item: &Value| {
        let mut cells = names.map(|name| show::member(language, item, name));
        let (payment, payout) = (str_of(item, "paymentId"), str_of(item, "payoutId"));
        if !payment.is_empty() {
            cells[3].href = Some(format!("/portal/payments/{payment}"));
        } else if !payout.is_empty() {
            cells[3].href = Some(format!("/portal/payouts/{payout}"));
        }
        Row::new(cells)
    };
    show::table(language, caption, &names).rows(items(movements).iter().map(row))
}

type Held = (BTreeMap<i64, i64>, bool);

/// The walk ends with what is older than anything held: a movement is held for a day at most. A page may have nothing
/// but payouts, and what is held behind them.
async fn held(visit: &Here<'_>, balance: &Value) -> Result<Option<Held>, Refused> {
    let Some(first_ms) = show::instant_ms(str_of(balance, "nextReleaseAt")) else { return Ok(None) };
    let (mut hours, mut cursor) = (BTreeMap::new(), String::new());
    // What was reversed is held no more; its reversal is newer, so it was met before.
    let mut reversed = BTreeSet::new();
    for _ in 0..PAGES_MAX {
        let path = with_query("/v1/balance/transactions", &[("limit", LIMIT), ("cursor", &cursor)]);
        let movements = visit.inside.get(&path).await?;
        for item in items(&movements) {
            if str_of(item, "type") == "reversal" {
                reversed.insert(str_of(item, "paymentId").to_owned());
            }
            if reversed.contains(str_of(item, "paymentId")) {
                continue;
            }
            let Some(at) = show::instant_ms(str_of(item, "availableAt")).filter(|at| *at >= first_ms) else {
                continue;
            };
            let Some(minor) = minor(str_of(item, "amountVes")) else { continue };
            let hour: &mut i64 = hours.entry(at - at.rem_euclid(HOUR_MS)).or_default();
            *hour = hour.saturating_add(minor);
        }
        let oldest = items(&movements).last().and_then(|item| show::instant_ms(str_of(item, "createdAt")));
        match movements["nextCursor"].as_str() {
            Some(next) if oldest.is_some_and(|at| at >= first_ms - DAY_MS) => cursor = next.to_owned(),
            _ => return Ok(Some((hours, true))),
        }
    }
    Ok(Some((hours, false)))
}

fn minor(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.')?;
    (fraction.len() == 2).then(|| format!("{whole}{fraction}").parse().ok())?
}

fn plot(language: Language, held: &BTreeMap<i64, i64>) -> Plot {
    let plain = |minor: &i64| {
        let mut text = String::new();
        // Writing to a text does not fail.
        let _ = domain::values::money::write_minor(&mut text, *minor, 2);
        text
    };
    Plot {
        label: language
            .say("Retenido, por hora en que se libera (Bs)", "Held, by the hour of its release (Bs)")
            .to_owned(),
        heads: vec![
            language.say("Se libera desde (Caracas)", "Released from (Caracas)").to_owned(),
            language.say("Bolívares", "Bolívares").to_owned(),
        ],
        at: held.keys().map(|at| (at / SECOND_MS, show::in_caracas(*at))).collect(),
        series: vec![held.values().map(plain).collect()],
        is_bars: true,
        bands: Vec::new(),
        table: language.say("Ver como tabla", "Show as a table"),
    }
}

#[cfg(test)]
mod tests {
    use super::minor;

    #[test]
    fn amounts_are_read_exactly() {
        assert_eq!(minor("1234.50"), Some(123_450));
        assert_eq!(minor("-0.05"), Some(-5));
        assert_eq!((minor("1.5"), minor("x"), minor("")), (None, None, None));
    }
}
