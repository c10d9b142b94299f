//! The mandate of a key as callers write it and see it (`docs/contract.md, 3.11`).

use crate::fields::{Fields, Invalid, Kind, body, kind, read};
use crate::openapi::schema::Schema;
use crate::openapi::{kinds, schema, values};
use crate::value::{Bad, Value, shown_amount};
use crate::writer::{Object, text};
use domain::platform::mandate::{Limit, Limits, Mandate, PAYEES_MAX, Payee};
use domain::values::address::{Network, canonical};
use domain::values::ids::Id;
use domain::values::money::Currency;
use domain::values::venezuela::{AccountNumber, MobilePhone};

const AGENT_MAX: usize = 64;

/// A mandate; whose spending it counts is filled in where it is given to a key.
pub fn mandate<'a>() -> impl Kind<'a, Mandate> {
    kind(|value: Value<'a>| Ok(read_mandate(Fields::of(value)?)?), || schema::named("Mandate"))
}

pub fn schema() -> Schema {
    body(read_mandate)
}

fn read_mandate(mut fields: Fields<'_>) -> Result<Mandate, Invalid> {
    Ok(read!(fields {
        optional agent = "agent", kinds::trimmed(1..=AGENT_MAX).about("Who holds the key.")
            => agent.map(|agent| agent.into_owned().into_boxed_str());
        optional per_call = "perCall", limits("The most that goes out in one call, by currency.");
        optional per_day = "perDay", limits("The most on a day in Caracas.");
        optional per_month = "perMonth", limits("The most in a month in Caracas.");
        optional payees = "payees", payees() => payees.unwrap_or_default();
        optional approval_above = "approvalAbove",
            limits("A call that takes out more waits for an approval: by currency; none does of one that is not named.");
    } => Mandate { id: Id::from_bytes([0; 16]), agent, per_call, per_day, per_month, payees, approval_above }))
}

fn limits<'a>(words: &'static str) -> impl Kind<'a, Limits> {
    let read = |value: Value<'a>| Ok(read_limits(Fields::of(value)?)?);
    kind(read, || body(read_limits)).about(words)
}

fn read_limits(mut fields: Fields<'_>) -> Result<Limits, Invalid> {
    let pesos = kinds::integer(0..=Currency::Cop.amount_minor_max());
    Ok(read!(fields {
        optional ves = "VES", kinds::cents();
        optional cop = "COP", pesos;
        optional usdt = "USDT", kinds::cents();
    } => {
        let all = [(Currency::Ves, ves), (Currency::Cop, cop), (Currency::Usdt, usdt)];
        Limits(all.into_iter().filter_map(|(currency, minor)| Some((currency, minor?))).collect())
    }))
}

fn payees<'a>() -> impl Kind<'a, Vec<Payee>> {
    let payee = || kind(|value: Value<'a>| value.text_as(read_payee), schema::text);
    kinds::list(0..=PAYEES_MAX, payee).about(
        "Who may be paid: ids of merchants, accounts, phones, wallets. All that the account may pay, if it is empty or \
         missing.",
    )
}

/// Reads a payee in whichever spelling: what is written between digits of phones and accounts makes no difference.
fn read_payee(written: &str) -> Result<Payee, Bad> {
    let written = written.trim();
    if let Some(id) = Id::parse(written) {
        return Ok(Payee::Merchant(id));
    }
    if [Network::Trc20, Network::Erc20].into_iter().any(|network| network.check(written).is_ok()) {
        return Ok(Payee::Wallet(canonical(written).into()));
    }
    let digits: String =
        written.chars().filter(|digit| !matches!(digit, ' ' | '-' | '.' | '(' | ')')).collect();
    if let Ok(phone) = MobilePhone::parse(&digits) {
        return Ok(Payee::Phone(phone));
    }
    match AccountNumber::parse(&digits, |_| true) {
        Ok(account) => Ok(Payee::Account(account)),
        Err(_) => {
            Err(Bad::from("must be the id of a merchant, an account, a phone or the address of a wallet"))
        }
    }
}

pub fn show(mandate: &Mandate) -> Vec<u8> {
    let mut object = Object::with_capacity(256);
    if let Some(agent) = mandate.agent.as_deref() {
        object = object.text("agent", agent);
    }
    for (limit, limits) in [
        (Limit::PerCall, &mandate.per_call),
        (Limit::PerDay, &mandate.per_day),
        (Limit::PerMonth, &mandate.per_month),
    ] {
        if let Some(limits) = limits {
            object = object.json(limit.name(), show_limits(limits));
        }
    }
    if !mandate.payees.is_empty() {
        object = object.list("payees", mandate.payees.iter().map(show_payee));
    }
    if let Some(limits) = &mandate.approval_above {
        object = object.json("approvalAbove", show_limits(limits));
    }
    object.end()
}

fn show_payee(payee: &Payee) -> Vec<u8> {
    match payee {
        Payee::Merchant(id) => text(&id.to_string()),
        Payee::Account(account) => text(&account.clear().to_string()),
        Payee::Phone(phone) => text(&phone.clear().to_string()),
        Payee::Wallet(address) => text(address),
    }
}

fn show_limits(limits: &Limits) -> Vec<u8> {
    show_amounts(limits.0.iter().map(|(currency, minor)| (*currency, *minor)))
}

/// Amounts by currency, in minor units.
pub fn show_amounts(amounts: impl IntoIterator<Item = (Currency, i64)>) -> Vec<u8> {
    let mut object = Object::new();
    for (currency, minor) in amounts {
        let amount = shown_amount(currency, minor);
        object = match currency {
            Currency::Cop => object.number(currency.code(), amount),
            Currency::Ves | Currency::Usdt => object.text(currency.code(), amount),
        };
    }
    object.end()
}

/// What is left of each limit, by its name.
pub fn show_remaining(remaining: &[(Limit, Limits)]) -> Vec<u8> {
    let mut object = Object::new();
    for (limit, limits) in remaining {
        object = object.json(limit.name(), show_limits(limits));
    }
    object.end()
}

/// Amounts by currency.
pub fn amounts() -> Schema {
    schema::object()
        .optional("VES", values::ves())
        .optional("COP", schema::integer())
        .optional("USDT", values::ves())
}

pub fn remaining_schema() -> Schema {
    schema::object()
        .optional("perDay", amounts())
        .optional("perMonth", amounts())
        .about("What its mandate lets out today and this month; not there without one.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payees_are_known_in_whichever_spelling() {
        let merchant = "01930a4b-5c6d-7e8f-9012-3456789a0000";
        let shown = |written: &str| {
            let payee = read_payee(written).expect("a payee");
            String::from_utf8(show_payee(&payee)).expect("UTF-8")
        };
        for (written, known) in [
            (merchant, merchant),
            ("01930A4B-5C6D-7E8F-9012-3456789A0000", merchant),
            ("04141234567", "04141234567"),
            ("+58 414-123.45.67", "04141234567"),
            ("584141234567", "04141234567"),
            ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"),
            ("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
        ] {
            assert_eq!(shown(written), format!("\"{known}\""));
        }
        for nobody in
            ["", "Maria", "0414123456", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed", "01020000000000000000"]
        {
            assert!(read_payee(nobody).is_err(), "{nobody}");
        }
    }
}
