//! The languages of what people read, and how amounts are written in each.

use domain::values::money::write_minor;

/// A language of pages and receipts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// The language unless another is asked for.
    #[default]
    Spanish,
    /// `?lang=en`.
    English,
}

impl Language {
    /// The code of the language, as the parameter `lang` has it.
    pub const fn code(self) -> &'static str {
        match self {
            Language::Spanish => "es",
            Language::English => "en",
        }
    }

    /// The language that a query or a form asks for.
    pub fn from_code(code: Option<&str>) -> Language {
        if code == Some("en") { Language::English } else { Language::Spanish }
    }

    /// An amount with groups of three and the language's point: `1.234,50` or `1,234.50`.
    pub fn amount(self, minor: i64, decimals: u32) -> String {
        let mut plain = String::new();
        // Writing to a text does not fail.
        let _ = write_minor(&mut plain, minor, decimals);
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
        let (group, point) = match self {
            Language::Spanish => ('.', ','),
            Language::English => (',', '.'),
        };
        let mut text = String::with_capacity(plain.len() + 6);
        for (at, digit) in whole.chars().enumerate() {
            let after = whole.len() - at;
            if at > 0 && after.is_multiple_of(3) && !text.ends_with('-') {
                text.push(group);
            }
            text.push(digit);
        }
        if !fraction.is_empty() {
            text.push(point);
            text.push_str(fraction);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_people_write_them() {
        for (minor, decimals, spanish, english) in [
            (0, 2, "0,00", "0.00"),
            (99_999, 2, "999,99", "999.99"),
            (123_456_789, 2, "1.234.567,89", "1,234,567.89"),
            (41_000, 0, "41.000", "41,000"),
            (-123_456, 2, "-1.234,56", "-1,234.56"),
            (-12_345, 2, "-123,45", "-123.45"),
        ] {
            assert_eq!(Language::Spanish.amount(minor, decimals), spanish);
            assert_eq!(Language::English.amount(minor, decimals), english);
        }
    }
}
