//! Amounts, moments and QR codes, as buyers read them.

use crate::checkout::words::Language;
pub(super) use crate::pages::qr::{Drawing, drawing};
use chrono::DateTime;
use domain::values::money::{Cop, Rate, Usd, Usdt, Ves};
use domain::values::time::{Date, HOUR_MS, Timestamp};

/// Caracas has had one offset since 2016, and no summer time.
const CARACAS_MS: i64 = -4 * HOUR_MS;
const BOGOTA_MS: i64 = -5 * HOUR_MS;

pub(super) fn dollars(usd: Usd, language: Language) -> String {
    format!("US$ {}", language.amount(usd.minor(), Usd::DECIMALS))
}

pub(super) fn bolivares(ves: Ves, language: Language) -> String {
    format!("Bs {}", language.amount(ves.minor(), Ves::DECIMALS))
}

pub(super) fn pesos(cop: Cop, language: Language) -> String {
    format!("COP {}", language.amount(cop.minor(), Cop::DECIMALS))
}

pub(super) fn usdt(usdt: Usdt, language: Language) -> String {
    format!("{} USDT", language.amount(usdt.minor(), Usdt::DECIMALS))
}

pub(super) fn rate(rate: Rate, language: Language) -> String {
    priced(rate, "COP", language)
}

pub(super) fn bcv_rate(rate: Rate, language: Language) -> String {
    priced(rate, "Bs", language)
}

fn priced(rate: Rate, unit: &str, language: Language) -> String {
    let short = rate.0.normalize();
    let figure = i64::try_from(short.mantissa())
        .map(|mantissa| language.amount(mantissa, short.scale()))
        .unwrap_or_default();
    format!("US$ 1 = {unit} {figure}")
}

pub(super) fn day(date: Date) -> String {
    let (year, month, day) = date.civil();
    format!("{day:02}/{month:02}/{year:04}")
}

pub(super) fn in_caracas(at: Timestamp) -> String {
    shown(at.plus_ms(CARACAS_MS), "%d/%m/%Y %H:%M")
}

pub(super) fn moment_in_bogota(at: Timestamp) -> String {
    shown(at.plus_ms(BOGOTA_MS), "%d/%m/%Y %H:%M")
}

pub(super) fn in_bogota(at: Timestamp) -> String {
    shown(at.plus_ms(BOGOTA_MS), "%H:%M")
}

fn shown(local: Timestamp, format: &str) -> String {
    DateTime::from_timestamp_millis(local.unix_ms())
        .map(|at| at.format(format).to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_local() {
        let at = Timestamp::from_unix_ms(1_795_226_000_123);
        assert_eq!((in_caracas(at).as_str(), in_bogota(at).as_str()), ("20/11/2026 21:53", "20:53"));
    }
}
