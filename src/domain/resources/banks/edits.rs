//! The catalogue of banks as the operator keeps it: the list of a feed, and on top of it the
//! operator's changes, which no refresh undoes (`docs/contract.md, 14.5`).

use super::{Bank, Catalogue, Services};
use crate::codec::stored;
use crate::values::time::Timestamp;
use crate::values::venezuela::BankCode;
use std::collections::BTreeMap;

stored! {
    /// The operator's changes of a bank; fields that are `None` stay as the feed has them.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Edit {
        /// Whether the bank is left out of lists and refused.
        0 pub hidden: Option<bool>,
        1 pub name: Option<String>,
        2 pub services: Option<Services>,
        /// The address of the logo; `Some(None)` removes it.
        3 pub logo_url: Option<Option<String>>,
    }
}

impl Edit {
    /// The changes of both, of which `later` counts where they differ.
    pub fn then(&self, later: Edit) -> Edit {
        Edit {
            hidden: later.hidden.or(self.hidden),
            name: later.name.or_else(|| self.name.clone()),
            services: later.services.or(self.services),
            logo_url: later.logo_url.or_else(|| self.logo_url.clone()),
        }
    }

    pub fn on(&self, bank: &Bank) -> Bank {
        Bank {
            code: bank.code,
            name: self.name.clone().unwrap_or_else(|| bank.name.clone()),
            services: self.services.unwrap_or(bank.services),
            logo_url: self.logo_url.clone().unwrap_or_else(|| bank.logo_url.clone()),
            hidden: self.hidden.unwrap_or(bank.hidden),
        }
    }
}

impl Catalogue {
    /// The catalogue after a feed's list. Listed banks are as the feed says; a bank that is not
    /// listed stays without services, because earlier records name it.
    pub fn refreshed(&self, feed: &[Bank]) -> Catalogue {
        let mut refreshed = self.clone();
        for bank in &mut refreshed.banks {
            bank.services = Services::NONE;
        }
        for listed in feed {
            let hidden = self.get(listed.code).is_some_and(|bank| bank.hidden);
            refreshed.put(Bank { hidden, ..listed.clone() });
        }
        refreshed
    }
}

stored! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct BankBook {
        /// The catalogue of the last refresh; the embedded one before the first.
        0 pub listed: Option<Catalogue>,
        1 pub refreshed_at: Option<Timestamp>,
        2 pub edits: BTreeMap<BankCode, Edit>,
    }
}

impl BankBook {
    pub fn listed(&self) -> Catalogue {
        self.listed.clone().unwrap_or_else(Catalogue::embedded)
    }

    pub fn catalogue(&self) -> Catalogue {
        let mut catalogue = self.listed();
        for (code, edit) in &self.edits {
            if let Some(bank) = catalogue.get(*code).map(|bank| edit.on(bank)) {
                catalogue.put(bank);
            }
        }
        catalogue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::banks::Service;

    fn code(number: i64) -> BankCode {
        BankCode::from_number(number).expect("a code")
    }

    fn listed(number: i64, name: &str, services: &[Service]) -> Bank {
        Bank {
            code: code(number),
            name: name.to_owned(),
            services: services.iter().copied().collect(),
            logo_url: None,
            hidden: false,
        }
    }

    #[test]
    fn what_a_feed_no_longer_lists_stays_without_services() {
        let first = Catalogue::embedded().refreshed(&[
            listed(134, "Banesco, S. A.", &[Service::C2p]),
            listed(199, "Nuevo", &[Service::Credit]),
        ]);
        assert_eq!(first.all().len(), 31);
        assert_eq!(first.get(code(134)).map(|bank| bank.name.as_str()), Some("Banesco, S. A."));
        assert!(first.offers(code(134), Service::C2p) && !first.offers(code(134), Service::Debit));
        assert!(
            first.knows(code(102))
                && Service::ALL.into_iter().all(|service| !first.offers(code(102), service))
        );
        let second = first.refreshed(&[
            listed(102, "Banco de Venezuela", &Service::ALL),
            listed(116, "BOD", &Service::ALL),
        ]);
        assert!(second.knows(code(199)) && !second.offers(code(199), Service::Credit));
        assert!(second.offers(code(102), Service::C2p));
        assert!(!second.offers(code(116), Service::C2p), "what was hidden stays hidden");
    }

    #[test]
    fn the_operators_changes_survive_a_refresh() {
        let mut book = BankBook::default();
        let hide = Edit { hidden: Some(true), ..Edit::default() };
        let rename = Edit {
            name: Some("BDV".to_owned()),
            logo_url: Some(Some("https://logo.example.com/bdv.png".to_owned())),
            ..Edit::default()
        };
        book.edits.insert(code(134), hide.clone());
        book.edits.insert(
            code(102),
            rename.then(Edit { services: Some(Services::NONE.with(Service::Debit)), ..Edit::default() }),
        );
        for listed_now in [
            None,
            Some(
                Catalogue::embedded()
                    .refreshed(&[listed(134, "Otro", &Service::ALL), listed(102, "Otro", &Service::ALL)]),
            ),
        ] {
            book.listed = listed_now;
            let catalogue = book.catalogue();
            assert!(!catalogue.offers(code(134), Service::C2p) && catalogue.knows(code(134)));
            let bank = catalogue.get(code(102)).expect("it is there");
            assert_eq!(
                (bank.name.as_str(), bank.services.iter().collect::<Vec<_>>(), bank.logo_url.is_some()),
                ("BDV", vec![Service::Debit], true)
            );
        }
        let shown_again = hide.then(Edit { hidden: Some(false), ..Edit::default() });
        book.edits.insert(code(134), shown_again);
        assert!(book.catalogue().offers(code(134), Service::C2p));
        let without_logo = rename.then(Edit { logo_url: Some(None), ..Edit::default() });
        assert_eq!(without_logo.on(&Catalogue::embedded().all()[1]).logo_url, None);
    }
}
