//! Amounts, moments and QR codes, as people read them.

use crate::checkout::words::Language;
use chrono::DateTime;
use domain::values::money::{Cop, Rate, Usd, Usdt, Ves};
use domain::values::time::{HOUR_MS, Timestamp};
use qrcode::{Color, EcLevel, QrCode};
use std::fmt::Write as _;

/// Caracas has had one offset since 2016, and no summer time.
const CARACAS_MS: i64 = -4 * HOUR_MS;
/// Bogotá has none either.
const BOGOTA_MS: i64 = -5 * HOUR_MS;
/// Light modules around a QR code (ISO/IEC 18004).
const QUIET: usize = 4;

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

/// The price of a dollar in pesos, in words.
pub(super) fn rate(rate: Rate, language: Language) -> String {
    let short = rate.0.normalize();
    let figure = i64::try_from(short.mantissa())
        .map(|mantissa| language.amount(mantissa, short.scale()))
        .unwrap_or_default();
    format!("US$ 1 = COP {figure}")
}

/// An instant as a buyer in Venezuela reads it.
pub(super) fn in_caracas(at: Timestamp) -> String {
    shown(at.plus_ms(CARACAS_MS), "%d/%m/%Y %H:%M")
}

/// An hour as a buyer in Colombia reads it.
pub(super) fn in_bogota(at: Timestamp) -> String {
    shown(at.plus_ms(BOGOTA_MS), "%H:%M")
}

fn shown(local: Timestamp, format: &str) -> String {
    DateTime::from_timestamp_millis(local.unix_ms())
        .map(|at| at.format(format).to_string())
        .unwrap_or_default()
}

/// A QR code, as the path of a drawing of so many units along its side.
pub(super) struct Drawing {
    pub(super) path: String,
    pub(super) side: usize,
}

/// The QR code of a short text.
pub(super) fn drawing(text: &str) -> Drawing {
    // A code of the largest version holds some 2,300 bytes; an address has 42, a transfer key 20.
    let Ok(code) = QrCode::with_error_correction_level(text, EcLevel::M) else {
        unreachable!("a short text fits into a QR code")
    };
    let width = code.width();
    let mut path = String::with_capacity(8 * width * width);
    for (at, _) in code.to_colors().iter().enumerate().filter(|(_, color)| **color == Color::Dark) {
        // Writing to a text does not fail.
        let _ = write!(path, "M{} {}h1v1h-1z", at % width + QUIET, at / width + QUIET);
    }
    Drawing { path, side: width + 2 * QUIET }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_the_modules_of_the_code() {
        let text = "TXYZabcdefghijkmnopqrstuvwxyz12345";
        let code = QrCode::with_error_correction_level(text, EcLevel::M).expect("a code");
        let drawing = drawing(text);
        assert_eq!(drawing.side, code.width() + 8);
        let dark = code.to_colors().into_iter().filter(|color| *color == Color::Dark).count();
        assert_eq!(drawing.path.matches('M').count(), dark);
        assert!(drawing.path.starts_with("M4 4h1v1h-1z"), "the finder pattern begins in the corner");
    }

    #[test]
    fn moments_are_local() {
        let at = Timestamp::from_unix_ms(1_795_226_000_123);
        assert_eq!((in_caracas(at).as_str(), in_bogota(at).as_str()), ("20/11/2026 21:53", "20:53"));
    }
}
