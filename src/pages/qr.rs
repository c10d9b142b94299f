//! QR codes, as drawings that stand in a page itself.

use qrcode::{Color, EcLevel, QrCode};
use std::fmt::Write as _;

/// ISO/IEC 18004.
const QUIET: usize = 4;

pub struct Drawing {
    pub path: String,
    /// Light modules included.
    pub side: usize,
}

pub fn drawing(text: &str) -> Drawing {
    // A code of the largest version holds some 2,300 bytes; an address has 42, a transfer key 20.
    let Ok(code) = QrCode::with_error_correction_level(text, EcLevel::M) else {
        unreachable!("a short text fits into a QR code")
    };
    let width = code.width();
    let mut path = String::with_capacity(8 * width * width);
    for (at, _) in code.to_colors().iter().enumerate().filter(|(_, color)| **color == Color::Dark) {
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
}
