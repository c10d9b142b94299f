//! The fate of an order to R4: magic values (docs/contract.md, 4.5), else unknown banks and
//! accounts, else success.
//!
//! Promises: the same order has the same fate. It must not know the books.

use super::books::Outcome;
use super::calls::Call;
use super::fields::text;
use crate::amount;
use serde_json::{Map, Value};

/// Banks of the catalogue that take part (docs/contract.md, 21.2).
const BANKS: [&str; 27] = [
    "0102", "0104", "0105", "0108", "0114", "0115", "0128", "0134", "0137", "0138", "0146", "0151", "0156",
    "0157", "0163", "0166", "0168", "0169", "0171", "0172", "0173", "0174", "0175", "0177", "0178", "0191",
    "0601",
];

/// The outcome of an order at the bank, and what the bank says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The order is done, and the answer says so.
    Done,
    /// The order is done, and cannot be annulled.
    Irreversible,
    /// The order is refused with a code.
    Refused(&'static str),
    /// The order comes to this outcome, with that code; the answer is a code that tells nothing.
    Unsaid(Outcome, &'static str, &'static str),
    /// The order comes to this outcome, with that code, and nothing is answered.
    Silent(Outcome, &'static str),
    /// The call is lost: nothing is done and nothing answered.
    Lost,
    /// The order waits; asked about, it comes to this outcome, with that code.
    Pending(Outcome, &'static str),
}

/// The fate of an order.
pub fn of(call: &Call, fields: &Map<String, Value>) -> Fate {
    let magic = match call.name {
        "MBc2p" => c2p(text(fields, "Otp")),
        "DebitoInmediato" => debit(text(fields, "OTP")),
        "GenerarOtp" => None,
        "MBvuelto" => {
            same_phone(text(fields, "TelefonoDestino"), "56").or_else(|| change(text(fields, "Monto")))
        }
        _ => same_phone(text(fields, "Telefono"), "BE01").or_else(|| credit(text(fields, "Monto"))),
    };
    unknown_place(call, fields).or(magic).unwrap_or(Fate::Done)
}

/// The code for an unknown bank, or for an account whose check digits are wrong.
fn unknown_place(call: &Call, fields: &Map<String, Value>) -> Option<Fate> {
    let (bank, account) = (text(fields, "Banco"), text(fields, "Cuenta"));
    let is_account = account.is_empty() || (BANKS.contains(&&account[..4]) && has_check_digits(account));
    let is_bank = bank.is_empty() || BANKS.contains(&bank);
    match (is_bank, is_account) {
        (false, _) => Some(Fate::Refused(if call.simf { "RC08" } else { "92" })),
        (true, false) => Some(Fate::Refused("AC01")),
        (true, true) => None,
    }
}

fn c2p(otp: &str) -> Option<Fate> {
    match otp {
        "99999999" => Some(Fate::Refused("51")),
        "88888888" => Some(Fate::Refused("15")),
        "77777777" => Some(Fate::Silent(Outcome::Done, "00")),
        "66666666" => Some(Fate::Silent(Outcome::Refused, "05")),
        "55555555" => Some(Fate::Irreversible),
        _ => None,
    }
}

fn debit(otp: &str) -> Option<Fate> {
    match otp {
        "99999999" => Some(Fate::Refused("AM04")),
        "88888888" => Some(Fate::Refused("TKCM")),
        "77777777" => Some(Fate::Pending(Outcome::Done, "ACCP")),
        "66666666" => Some(Fate::Pending(Outcome::Refused, "AB01")),
        _ => None,
    }
}

/// The code for a phone that is not the one of the document.
fn same_phone(phone: &str, code: &'static str) -> Option<Fate> {
    phone.ends_with("0001").then_some(Fate::Refused(code))
}

/// The fate of an order by MBvuelto, which has no id to ask by: an outcome that is not said at once
/// is never known.
fn change(monto: &str) -> Option<Fate> {
    match magic_cents(monto) {
        4 => Some(Fate::Refused("51")),
        5 => Some(Fate::Unsaid(Outcome::Done, "00", "87")),
        6 => Some(Fate::Unsaid(Outcome::Refused, "41", "05")),
        7 => Some(Fate::Lost),
        _ => None,
    }
}

fn credit(monto: &str) -> Option<Fate> {
    match magic_cents(monto) {
        4 => Some(Fate::Refused("AM04")),
        5 => Some(Fate::Pending(Outcome::Done, "ACCP")),
        6 => Some(Fate::Pending(Outcome::Refused, "AC01")),
        7 => Some(Fate::Lost),
        _ => None,
    }
}

/// The cents of an amount if they are magic: not below one bolívar, because micro-deposits are
/// random amounts of that size.
fn magic_cents(monto: &str) -> u64 {
    amount::cents(monto).filter(|cents| *cents >= 100).map_or(0, |cents| cents % 100)
}

/// Whether the check digits of an account of 20 digits are right (docs/contract.md, 21.6).
fn has_check_digits(account: &str) -> bool {
    const WEIGHTS: [u32; 14] = [3, 2, 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2];
    let digit = |digits: &str| {
        let weighed = digits.bytes().zip(WEIGHTS).map(|(byte, weight)| u32::from(byte - b'0') * weight);
        match 11 - weighed.sum::<u32>() % 11 {
            10 => 0,
            11 => 1,
            digit => digit,
        }
    };
    let (place, check, number) = (&account[..8], &account[8..10], &account[10..]);
    check == format!("{}{}", digit(place), digit(&format!("{}{number}", &account[4..8])))
}
