//! The Venezuelan banks: codes, current names, and the services that each offers.
//!
//! Codes are the keys: names change while codes stay (0169 was Mi Banco, 0175 Bicentenario). The
//! embedded catalogue is the one of a first start; a feed and the operator's changes come on top of
//! it (`banks/edits.rs`).
//!
//! Facts about banks belong here, and how they are edited. Calling a bank does not: that is
//! `src/rails/`.

mod edits;

pub use edits::{BankBook, Edit};

use crate::codec::{named, stored};
use crate::values::text::misleads_in_address;
use crate::values::venezuela::BankCode;
use std::fmt;

pub const NAME_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=120;
const URL_CHARACTERS_MAX: usize = 500;

/// Checks the address of a logo; the error is a message for the caller.
pub fn logo_url(text: &str) -> Result<String, &'static str> {
    // Browsers read `https:,//example.com` as the address of a host named by a comma.
    let is_plain = text.split_once("://").is_some_and(|(scheme, rest)| {
        let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
        is_web && rest.starts_with(|first: char| first.is_alphanumeric() || first == '[')
    });
    let fits = text.chars().count() <= URL_CHARACTERS_MAX
        && is_plain
        && !misleads_in_address(text)
        && url::Url::parse(text).is_ok_and(|url| url.username().is_empty() && url.password().is_none());
    if fits { Ok(text.to_owned()) } else { Err("must be an http or https URL of at most 500 characters") }
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Service {
        /// Charging a customer who gives a key of their bank.
        C2p "C2P",
        PagoMovil "PAGO_MOVIL",
        Debit "DEBIT",
        Credit "CREDIT",
    }
}

impl Service {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

stored! {
    #[derive(Clone, Copy, Default, PartialEq, Eq)]
    pub struct Services(pub(crate) u8);
}

impl Services {
    pub const NONE: Services = Services(0);
    pub const ALL: Services = Services((1 << Service::ALL.len()) - 1);

    pub const fn with(self, service: Service) -> Services {
        Services(self.0 | service.bit())
    }

    pub const fn without(self, service: Service) -> Services {
        Services(self.0 & !service.bit())
    }

    pub const fn contains(self, service: Service) -> bool {
        self.0 & service.bit() != 0
    }

    pub fn iter(self) -> impl Iterator<Item = Service> {
        Service::ALL.into_iter().filter(move |service| self.contains(*service))
    }
}

impl FromIterator<Service> for Services {
    fn from_iter<I: IntoIterator<Item = Service>>(services: I) -> Services {
        services.into_iter().fold(Services::NONE, Services::with)
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Bank {
        0 pub code: BankCode,
        1 pub name: String,
        2 pub services: Services,
        /// The address of its logo; without one the bank is shown by its name.
        3 pub logo_url: Option<String>,
        /// Whether the bank is left out of lists and refused like one without services.
        4 pub hidden: bool,
    }
}

/// Whether the bank sends its customer the key by SMS on our request: only Banco de Venezuela does. With any other
/// bank the customer makes the key.
pub const fn sends_otp(bank: BankCode) -> bool {
    bank.0 == 102
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Catalogue {
        0 pub(crate) banks: Vec<Bank>,
    }
}

impl Catalogue {
    pub fn embedded() -> Catalogue {
        let mut catalogue = Catalogue { banks: Vec::with_capacity(EMBEDDED.len()) };
        for (number, name, services, hidden) in EMBEDDED {
            catalogue.put(Bank {
                code: BankCode(number),
                name: name.to_owned(),
                services,
                logo_url: None,
                hidden,
            });
        }
        catalogue
    }

    /// The bank with this code, hidden or not.
    pub fn get(&self, code: BankCode) -> Option<&Bank> {
        self.position(code).ok().map(|at| &self.banks[at])
    }

    /// Whether the code is a bank's, hidden or not: accounts of it may exist.
    pub fn knows(&self, code: BankCode) -> bool {
        self.position(code).is_ok()
    }

    /// Whether `service` can be used with this bank now.
    pub fn offers(&self, code: BankCode, service: Service) -> bool {
        self.get(code).is_some_and(|bank| !bank.hidden && bank.services.contains(service))
    }

    pub fn shown(&self) -> impl Iterator<Item = &Bank> {
        self.banks.iter().filter(|bank| !bank.hidden)
    }

    pub fn all(&self) -> &[Bank] {
        &self.banks
    }

    pub fn put(&mut self, bank: Bank) {
        match self.position(bank.code) {
            Ok(at) => self.banks[at] = bank,
            Err(at) => self.banks.insert(at, bank),
        }
    }

    fn position(&self, code: BankCode) -> Result<usize, usize> {
        self.banks.binary_search_by_key(&code, |bank| bank.code)
    }
}

const NO_C2P: Services = Services::ALL.without(Service::C2p);
const CREDIT: Services = Services::NONE.with(Service::Credit);

/// The embedded banks: code, current name, services, hidden.
///
/// Banks that take C2P are those of a payer list in production (2025). That each of them also takes
/// pago móvil, immediate debit and immediate credit is a choice: all three run over the same
/// interbank network, and the operator can correct a bank at any time. Further choices: N58 (0178)
/// is in name lists but not in the C2P list; Citibank (0190) is in one old list, so it is only paid
/// to; the central bank (0001) is nobody's payer bank and has no service, and BOD (0116) became part of
/// BNC in 2022: both are known for earlier records and statements, hidden, and refused for anything new.
const EMBEDDED: [(u16, &str, Services, bool); 30] = [
    (1, "Banco Central de Venezuela", Services::NONE, true),
    (102, "Banco de Venezuela", Services::ALL, false),
    (104, "Venezolano de Crédito", Services::ALL, false),
    (105, "Mercantil", Services::ALL, false),
    (108, "BBVA Provincial", Services::ALL, false),
    (114, "Bancaribe", Services::ALL, false),
    (115, "Banco Exterior", Services::ALL, false),
    (116, "Banco Occidental de Descuento (BOD)", Services::NONE, true),
    (128, "Banco Caroní", Services::ALL, false),
    (134, "Banesco", Services::ALL, false),
    (137, "Banco Sofitasa", Services::ALL, false),
    (138, "Banco Plaza", Services::ALL, false),
    (146, "Bangente", Services::ALL, false),
    (151, "BFC Banco Fondo Común", Services::ALL, false),
    (156, "100% Banco", Services::ALL, false),
    (157, "DelSur", Services::ALL, false),
    (163, "Banco del Tesoro", Services::ALL, false),
    (166, "Banco Agrícola de Venezuela", Services::ALL, false),
    (168, "Bancrecer", Services::ALL, false),
    (169, "R4, Banco Microfinanciero", Services::ALL, false),
    (171, "Banco Activo", Services::ALL, false),
    (172, "Bancamiga", Services::ALL, false),
    (173, "Banco Internacional de Desarrollo", Services::ALL, false),
    (174, "Banplus", Services::ALL, false),
    (175, "Banco Digital de los Trabajadores", Services::ALL, false),
    (177, "Banfanb", Services::ALL, false),
    (178, "N58 Banco Digital", NO_C2P, false),
    (190, "Citibank", CREDIT, false),
    (191, "Banco Nacional de Crédito (BNC)", Services::ALL, false),
    (601, "Instituto Municipal de Crédito Popular", Services::ALL, false),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn code(number: u16) -> BankCode {
        BankCode::from_number(i64::from(number)).expect("a code")
    }

    #[test]
    fn codes_read_and_written() {
        for (text, number) in [("0134", 134), ("0001", 1), ("0601", 601), ("9999", 9999)] {
            let read = BankCode::parse(text).expect(text);
            assert_eq!((read.number(), read.to_string().as_str()), (number, text));
            assert_eq!(BankCode::from_number(i64::from(number)), Ok(read));
        }
        for text in ["", "134", "00134", "0000", "O134", " 134", "+134", "-134", "０134"] {
            assert!(BankCode::parse(text).is_err(), "{text}");
        }
        for number in [0, -134, 10_000, i64::MAX, i64::MIN] {
            assert!(BankCode::from_number(number).is_err(), "{number}");
        }
    }

    #[test]
    fn the_embedded_catalogue_is_sorted_and_whole() {
        let catalogue = Catalogue::embedded();
        assert_eq!(catalogue.all().len(), 30);
        assert!(catalogue.all().is_sorted_by_key(|bank| bank.code));
        assert!(catalogue.all().iter().all(|bank| !bank.name.is_empty() && bank.logo_url.is_none()));
        assert_eq!(catalogue.shown().count(), 28);
        assert!(catalogue.shown().all(|bank| bank.services != Services::NONE));
    }

    #[test]
    fn who_takes_c2p() {
        let catalogue = Catalogue::embedded();
        for bank in [
            102, 104, 105, 108, 114, 115, 128, 134, 137, 138, 146, 151, 156, 157, 163, 166, 168, 169, 171,
            172, 173, 174, 175, 177, 191, 601,
        ] {
            assert!(catalogue.offers(code(bank), Service::C2p), "{bank}");
        }
        for bank in [1, 116, 178, 190, 9999] {
            assert!(!catalogue.offers(code(bank), Service::C2p), "{bank}");
        }
    }

    #[test]
    fn banks_out_of_business_are_known_but_offer_nothing() {
        let catalogue = Catalogue::embedded();
        for bank in [1, 116] {
            assert!(catalogue.knows(code(bank)));
            assert!(Service::ALL.into_iter().all(|service| !catalogue.offers(code(bank), service)));
        }
        assert!(!catalogue.knows(code(9999)));
        assert!(
            catalogue.offers(code(178), Service::PagoMovil) && catalogue.offers(code(190), Service::Credit)
        );
    }

    #[test]
    fn one_bank_sends_an_sms() {
        let senders: Vec<u16> = Catalogue::embedded()
            .all()
            .iter()
            .filter(|bank| sends_otp(bank.code))
            .map(|bank| bank.code.number())
            .collect();
        assert_eq!(senders, [102]);
    }

    #[test]
    fn a_hidden_bank_offers_nothing_and_a_new_one_takes_its_place_in_order() {
        let mut catalogue = Catalogue::embedded();
        let hidden = Bank { hidden: true, ..catalogue.get(code(134)).expect("Banesco").clone() };
        catalogue.put(hidden);
        assert!(!catalogue.offers(code(134), Service::C2p) && catalogue.knows(code(134)));
        catalogue.put(Bank {
            code: code(120),
            name: "Nuevo".to_owned(),
            services: CREDIT,
            logo_url: None,
            hidden: false,
        });
        assert!(catalogue.all().is_sorted_by_key(|bank| bank.code));
        assert_eq!(catalogue.all().len(), 31);
    }

    #[test]
    fn a_logo_is_at_an_address_of_the_web_in_its_plain_form() {
        for good in ["https://example.com/a.png", "HTTP://[::1]/a", "https://ñ.example/?a#b"] {
            assert_eq!(logo_url(good), Ok(good.to_owned()));
        }
        for bad in [
            "",
            "https:example.com",
            "https:,//example.com",
            "https:///example.com",
            "https://\\example.com",
            "https://user@example.com",
            "https://exa\nmple.com",
            "javascript:alert(1)",
            "javascript://example.com",
        ] {
            assert!(logo_url(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn services_are_a_set() {
        let some: Services = [Service::Credit, Service::C2p, Service::Credit].into_iter().collect();
        assert_eq!(some.iter().map(Service::name).collect::<Vec<_>>(), ["C2P", "CREDIT"]);
        assert_eq!(Services::ALL.iter().count(), 4);
        assert_eq!(Service::from_name("PAGO_MOVIL"), Some(Service::PagoMovil));
        assert_eq!(Service::from_name("pago_movil"), None);
    }
}
