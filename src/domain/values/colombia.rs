//! The way in which a buyer pays pesos, and what is known of the buyer: mobile phone and identity document
//! (`docs/contract.md, 1.5`).
//!
//! Both are personal data: they have no Display, their Debug is masked, and whoever shows one in clear says so by
//! calling `clear`.

use crate::codec::stored;
use crate::values::time::MINUTE_MS;
use std::fmt;

stored! {
    /// The way in which the buyer pays.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Channel {
        /// The buyer scans a QR code, or pastes the transfer key that it shows.
        0 Qr "qr",
        1 Push "push",
        /// The buyer types a code that came by SMS.
        2 Sms "sms",
    }
}

impl Channel {
    /// The time that the buyer has, in milliseconds (`docs/contract.md, 11.3`).
    pub const fn lifetime_ms(self) -> i64 {
        match self {
            Channel::Qr => 15 * MINUTE_MS,
            Channel::Push | Channel::Sms => 5 * MINUTE_MS,
        }
    }

    /// The documents by which its buyer may be known. The processor of live mode sends codes to
    /// holders of a cédula alone (`docs/contract.md, 18.4, 21.10`).
    pub const fn documents(self, livemode: bool) -> &'static [DocumentType] {
        match (self, livemode) {
            (Channel::Sms, true) => &[DocumentType::Cc],
            (Channel::Sms, false) => &[DocumentType::Cc, DocumentType::Ce, DocumentType::Ti],
            (Channel::Qr | Channel::Push, _) => &DocumentType::ALL,
        }
    }
}

const PHONE_EXPECTED: &str = "must be a Colombian mobile phone: 10 digits that start with 3, with or without +57, for example 3001234567";
const NUMBER_EXPECTED: &str = "must have 3 to 20 letters, digits or dashes";

stored! {
    /// A Colombian mobile phone: ten digits, the first a 3.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct ColombianPhone(pub(crate) u64);
}

impl ColombianPhone {
    /// Reads a phone, with or without `+57` before it; the error is a message for the caller.
    pub fn parse(text: &str) -> Result<ColombianPhone, &'static str> {
        let national = text.strip_prefix("+57").unwrap_or(text);
        let fits = national.len() == 10
            && national.starts_with('3')
            && national.bytes().all(|byte| byte.is_ascii_digit());
        if fits {
            national.parse().map(ColombianPhone).map_err(|_| PHONE_EXPECTED)
        } else {
            Err(PHONE_EXPECTED)
        }
    }

    /// The phone unmasked, as used in the country: `3001234567`. Only for the processor.
    pub fn clear(self) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "{}", self.0))
    }

    /// The phone masked to its prefix and last four digits: `300***4567`.
    pub fn masked(self) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "{}***{:04}", self.0 / 10_000_000, self.0 % 10_000))
    }
}

stored! {
    /// The kinds of Colombian identity documents.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum DocumentType {
        0 Cc "CC",
        1 Ce "CE",
        2 Ti "TI",
        3 Nit "NIT",
        4 Pp "PP",
    }

    /// The number of a document, as it was sent.
    #[derive(Clone, PartialEq, Eq, Hash)]
    pub struct DocumentNumber(pub(crate) Box<str>);
}

impl DocumentNumber {
    /// Reads a number of 3 to 20 letters, digits or dashes; the error is a message for the caller.
    pub fn parse(text: &str) -> Result<DocumentNumber, &'static str> {
        let fits = (3..=20).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if fits { Ok(DocumentNumber(Box::from(text))) } else { Err(NUMBER_EXPECTED) }
    }

    /// The number unmasked. Only for the processor.
    pub fn clear(&self) -> &str {
        &self.0
    }

    /// The number masked to its last three characters: `***678`.
    pub fn masked(&self) -> impl fmt::Display {
        let tail = self.0.len().saturating_sub(3);
        fmt::from_fn(move |f| write!(f, "***{}", &self.0[tail..]))
    }
}

stored! {
    /// The details of a payer that are known; a QR code needs none of them.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Buyer {
        0 pub email: Option<String>,
        /// The phone that is pushed or sent a code.
        1 pub phone: Option<ColombianPhone>,
        2 pub document_type: Option<DocumentType>,
        3 pub document_number: Option<DocumentNumber>,
    }
}

debug_as! { ColombianPhone DocumentNumber: it => it.masked() }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_with_and_without_the_country() {
        for given in ["3001234567", "+573001234567"] {
            let phone = ColombianPhone::parse(given).expect(given);
            assert_eq!(
                (phone.clear().to_string(), phone.masked().to_string()),
                ("3001234567".to_owned(), "300***4567".to_owned())
            );
            assert_eq!(format!("{phone:?}"), "300***4567");
        }
        assert_eq!(
            ColombianPhone::parse("3200000007").map(|phone| phone.masked().to_string()),
            Ok("320***0007".to_owned())
        );
    }

    #[test]
    fn what_is_no_colombian_mobile_phone() {
        for given in [
            "",
            "300123456",
            "30012345678",
            "2001234567",
            "573001234567",
            "+583001234567",
            "+5773001234567",
            " 3001234567",
            "300123456a",
            "300 123456",
            "３００１２",
        ] {
            assert_eq!(ColombianPhone::parse(given), Err(PHONE_EXPECTED), "{given}");
        }
    }

    #[test]
    fn numbers_of_documents() {
        for (given, masked) in [
            ("123", "***123"),
            ("1020304050", "***050"),
            ("901458652-7", "***2-7"),
            ("AB-12345678901234567", "***567"),
        ] {
            let number = DocumentNumber::parse(given).expect(given);
            assert_eq!(
                (number.clear(), number.masked().to_string(), format!("{number:?}")),
                (given, masked.to_owned(), masked.to_owned())
            );
        }
        for given in ["", "12", "123456789012345678901", "12 34", "12.345.678", "ñ123", "１２３"] {
            assert_eq!(DocumentNumber::parse(given), Err(NUMBER_EXPECTED), "{given}");
        }
    }
}
