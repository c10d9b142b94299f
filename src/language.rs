//! The two languages of what people read, and how figures are written in each.

use domain::values::money::write_minor;
use hyper::header::{ACCEPT_LANGUAGE, HeaderMap};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    Spanish,
    /// `?lang=en`.
    English,
}

impl Language {
    pub const fn code(self) -> &'static str {
        match self {
            Language::Spanish => "es",
            Language::English => "en",
        }
    }

    pub fn from_code(code: Option<&str>) -> Language {
        if code == Some("en") { Language::English } else { Language::Spanish }
    }

    /// The language that a browser wants most, by `Accept-Language` (RFC 9110, section 12.5.4).
    pub fn accepted(headers: &HeaderMap) -> Language {
        let values = headers.get_all(ACCEPT_LANGUAGE).into_iter().filter_map(|value| value.to_str().ok());
        let ranges: Vec<&str> = values.flat_map(|value| value.split(',')).collect();
        let weight = |code: &str| {
            let of = |range: &&str| {
                let mut parts = range.split(';').map(str::trim);
                let name = parts.next()?.split('-').next()?.to_ascii_lowercase();
                let q = parts.find_map(|part| part.strip_prefix("q=")).unwrap_or("1");
                // Texts of equal form have the order of their numbers: 0.8 and 1.
                (name == code).then(|| format!("{q:0<5.5}"))
            };
            ranges.iter().filter_map(of).max().unwrap_or_default()
        };
        if weight("en") > weight("es") { Language::English } else { Language::Spanish }
    }

    pub const fn say<'a>(self, spanish: &'a str, english: &'a str) -> &'a str {
        match self {
            Language::Spanish => spanish,
            Language::English => english,
        }
    }

    pub fn link(self, path: &str) -> String {
        if self == Language::Spanish || !path.starts_with('/') {
            return path.to_owned();
        }
        let (path, fragment) = path.split_once('#').map_or((path, None), |(path, at)| (path, Some(at)));
        let mark = if path.contains('?') { '&' } else { '?' };
        let fragment = fragment.map(|at| format!("#{at}")).unwrap_or_default();
        format!("{path}{mark}lang={}{fragment}", self.code())
    }

    /// An amount with groups of three and the language's point: `1.234,50` or `1,234.50`.
    pub fn amount(self, minor: i64, decimals: u32) -> String {
        let mut plain = String::new();
        let _ = write_minor(&mut plain, minor, decimals);
        self.figure(&plain)
    }

    /// A plain decimal number in the same form. What is no number stays as it is.
    pub fn figure(self, plain: &str) -> String {
        let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if digits.is_empty() || !is_number(digits) || !is_number(fraction) {
            return plain.to_owned();
        }
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

    /// The plain decimal number of an amount as somebody typed it, with as many decimals. What can be read in two
    /// ways, or in none, stays as it is, to be refused.
    pub fn typed(self, text: &str, decimals: usize) -> String {
        let Some(plain) = self.read(text, decimals) else { return text.to_owned() };
        if decimals == 0 {
            return plain;
        }
        let (whole, fraction) = plain.split_once('.').unwrap_or((plain.as_str(), ""));
        format!("{whole}.{fraction:0<decimals$}")
    }

    /// The plain decimal number of an amount or a price as somebody typed it, with the decimals that were typed, this
    /// many at most: `1.250,00`, `1250,5` and `1250` in Spanish, `1,250.00` in English, and in both what a program
    /// writes, `1250.00`. None of what can be read in two ways, or in none: `4,100` in Spanish and `4.100` in English
    /// are a thousand times as much in the other language.
    pub fn read(self, text: &str, decimals: usize) -> Option<String> {
        let (group, point) = match self {
            Language::Spanish => ('.', ','),
            Language::English => (',', '.'),
        };
        let bare: String = text.chars().filter(|sign| !sign.is_whitespace()).collect();
        let (sign, digits) = bare.strip_prefix('-').map_or(("", bare.as_str()), |rest| ("-", rest));
        if may_divide(digits, point) {
            return None;
        }
        let (whole, fraction) = parts(digits, group, point, decimals).or_else(|| {
            // The other sign is the point where it cannot divide thousands.
            let is_point = digits.contains(group) && !may_divide(digits, group);
            parts(digits, point, group, decimals).filter(|_| is_point)
        })?;
        Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
    }
}

/// Whether the first of a sign can be one that divides thousands, as in `4,100`: it cannot in `0,025`, `4,1` and
/// `4100,500`.
fn may_divide(text: &str, sign: char) -> bool {
    text.split_once(sign).is_some_and(|(whole, rest)| {
        (1..=3).contains(&whole.len()) && !whole.starts_with('0') && rest.len() == 3
    })
}

/// The digits before and after the point, where those before are in groups of three, or in none.
fn parts(text: &str, group: char, point: char, decimals: usize) -> Option<(String, &str)> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = text.split_once(point).map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    if fraction.is_some_and(|fraction| !is_number(fraction) || fraction.len() > decimals) {
        return None;
    }
    let mut groups = whole.split(group);
    let first = groups.next().filter(|first| is_number(first))?;
    let others: Vec<&str> = groups.collect();
    let are_groups = others.iter().all(|other| is_number(other) && other.len() == 3);
    let is_sound = if others.is_empty() {
        first == "0" || !first.starts_with('0')
    } else {
        are_groups && first.len() <= 3 && !first.starts_with('0')
    };
    is_sound.then(|| (format!("{first}{}", others.concat()), fraction.unwrap_or_default()))
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

    #[test]
    fn what_is_no_number_stays_as_it_is() {
        for text in ["", "-", "abc", "1e9", "1.2.3", "=1+1"] {
            assert_eq!(Language::Spanish.figure(text), text);
        }
    }

    #[test]
    fn amounts_are_read_as_people_type_them() {
        for (typed, spanish, english) in [
            ("1.250,00", "1250.00", "1250.00"),
            ("1,250.00", "1250.00", "1250.00"),
            ("1250,5", "1250.50", "1250.50"),
            ("1250.5", "1250.50", "1250.50"),
            ("1250.00", "1250.00", "1250.00"),
            ("1250", "1250.00", "1250.00"),
            ("1.250", "1250.00", "1.250"),
            ("1,250", "1,250", "1250.00"),
            ("1.234.567,8", "1234567.80", "1234567.80"),
            ("-1.250,00", "-1250.00", "-1250.00"),
            (" 1 250,00 ", "1250.00", "1250.00"),
            ("0.250", "0.250", "0.250"),
            ("1.25.000", "1.25.000", "1.25.000"),
            ("12,345", "12,345", "12345.00"),
            ("1.", "1.", "1."),
            (",5", ",5", ",5"),
            ("1e3", "1e3", "1e3"),
            ("", "", ""),
        ] {
            assert_eq!(Language::Spanish.typed(typed, 2), spanish, "{typed} in Spanish");
            assert_eq!(Language::English.typed(typed, 2), english, "{typed} in English");
        }
        for (typed, spanish, english) in [
            ("4.100", Some("4100"), None),
            ("4,100", None, Some("4100")),
            ("0,025", Some("0.025"), Some("0.025")),
            ("0.025", Some("0.025"), Some("0.025")),
            ("1.250,5", Some("1250.5"), Some("1250.5")),
            ("1.250,500", Some("1250.500"), Some("1250.500")),
            ("4,1000", Some("4.1000"), Some("4.1000")),
            ("4100.00", Some("4100.00"), Some("4100.00")),
            ("245,5", Some("245.5"), Some("245.5")),
            ("4100,125", Some("4100.125"), Some("4100.125")),
            ("04.100", None, None),
            ("1.25.000", None, None),
            ("4,123456789", None, None),
            ("1e3", None, None),
        ] {
            assert_eq!(Language::Spanish.read(typed, 8).as_deref(), spanish, "the price {typed} in Spanish");
            assert_eq!(Language::English.read(typed, 8).as_deref(), english, "the price {typed} in English");
        }
        assert_eq!(Language::Spanish.typed("50.000", 0), "50000");
        assert_eq!(Language::Spanish.typed("50.000,5", 0), "50.000,5");
    }

    #[test]
    fn browsers_say_which_language_they_want() {
        for (sent, wanted) in [
            ("", Language::Spanish),
            ("fr-FR,fr;q=0.9", Language::Spanish),
            ("en", Language::English),
            ("en-US,en;q=0.9,es;q=0.8", Language::English),
            ("es-VE, en;q=0.9", Language::Spanish),
            ("en;q=0.7,ES;q=0.75", Language::Spanish),
            ("fr, en;q=0.5", Language::English),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_LANGUAGE, sent.parse().expect("a header value"));
            assert_eq!(Language::accepted(&headers), wanted, "{sent}");
        }
        assert_eq!(Language::accepted(&HeaderMap::new()), Language::Spanish);
    }

    #[test]
    fn links_keep_the_language() {
        let english = Language::English;
        assert_eq!(Language::Spanish.link("/portal/home"), "/portal/home");
        assert_eq!(english.link("/portal/home"), "/portal/home?lang=en");
        assert_eq!(english.link("/portal/payments?limit=5#x"), "/portal/payments?limit=5&lang=en#x");
        assert_eq!(english.link("https://shop.example/"), "https://shop.example/");
    }
}
