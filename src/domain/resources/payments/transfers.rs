//! Transfers that payers made, as a payment knows them: the names under which a transfer can pay
//! once, and the data that a notice of it must share (`docs/contract.md, 5.8, 18.6`).

use super::charge::NewCharge;
use super::{Means, Payment, Status};
use crate::entity::{Change, Resource};
use crate::index::{Entries, Space};
use crate::resources::notices::{Guess, Traits};
use crate::values::bank::BankCode;
use crate::values::date::Date;
use crate::values::money::Ves;

impl Means {
    /// The name under which a transfer is searched for: its bank, its day and the digits that the
    /// payer gave; `None` for means that are no transfer.
    pub fn transfer(&self) -> Option<String> {
        match self {
            Means::Transfer { debtor, date, reference } => {
                Some(transfer_name(debtor.bank, *date, without_zeros(reference)))
            }
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Usdt { .. } => None,
        }
    }

    /// The data that the notice of a transfer of this amount must share with it.
    fn notice_traits(&self, amount: Ves) -> Option<Traits> {
        match self {
            Means::Transfer { debtor, date, .. } => {
                Some(Traits { bank: debtor.bank, day: *date, phone: debtor.phone, amount })
            }
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Usdt { .. } => None,
        }
    }
}

impl NewCharge {
    /// The data that a notice of the transfer must share with the charge; `None` while it has no amount
    /// in bolívares.
    pub fn notice_traits(&self) -> Option<Traits> {
        self.means.notice_traits(self.price.at(self.rate?).ok()?.ves)
    }
}

impl Payment {
    /// The name under which a found transfer can pay once: with the bank's reference instead of the
    /// digits that the payer gave.
    pub fn found_transfer(&self) -> Option<String> {
        let full = self.bank_reference.as_deref()?;
        match &self.means {
            Means::Transfer { debtor, date, .. } => {
                Some(transfer_name(debtor.bank, *date, without_zeros(full)))
            }
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Usdt { .. } => None,
        }
    }

    /// The name under which the payment's transfer is searched for.
    pub fn transfer(&self) -> Option<String> {
        self.means.transfer()
    }

    /// The data that a notice of the payment's transfer must share with the payment.
    pub fn notice_traits(&self) -> Option<Traits> {
        self.means.notice_traits(self.ves)
    }

    /// Whether the payment waits for the notice of a transfer with other data than these, and so is not what
    /// such a transfer pays, though it has the name.
    pub fn awaits_another(&self, traits: Option<&Traits>) -> bool {
        self.status == Status::Pending && self.notice_traits().as_ref() != traits
    }

    /// Writes the names of a transfer. It is taken when it is first searched for, and free again
    /// when it was not found. Once found, its name has the bank's reference: the digits that the
    /// payer gave may be those of another transfer too.
    ///
    /// A payment that was found may have taken the name of one that waited for another payer or amount;
    /// when that one fails, the name is free although its transfer has paid. The claim of the notice
    /// tells then that it has (`docs/contract.md, 18.6`).
    pub(super) fn transfer_entries(&self, change: Change, entries: &mut Entries<'_>) {
        let Some(transfer) = self.transfer() else { return };
        if let (true, Means::Transfer { reference, .. }, Some(traits)) =
            (self.livemode, &self.means, self.notice_traits())
        {
            let is_decided = change.indexed.is_some_and(|indexed| indexed.facet != self.facet());
            let reference = without_zeros(reference);
            match (change.indexed, self.status) {
                (None, Status::Pending) => {
                    entries.await_notice(&traits);
                    // Before it is looked for, so that many who guess at once know of each other.
                    entries.guess(&traits, reference, Some(Guess::Waiting));
                }
                (Some(_), Status::Completed) if is_decided => {
                    entries.await_no_notice(&traits);
                    entries.guess(&traits, reference, None);
                }
                (Some(_), Status::Failed) if is_decided => {
                    entries.await_no_notice(&traits);
                    entries.guess(&traits, reference, Some(Guess::Wrong));
                }
                _ => {}
            }
        }
        match (change.indexed, self.status) {
            (None, _) => entries.name(Space::Transfer, &transfer),
            // Once: a later record of it must not take the name from the attempt that has it now.
            (Some(indexed), Status::Failed) if indexed.facet != self.facet() => {
                entries.free(Space::Transfer, &transfer);
            }
            (Some(indexed), Status::Completed) if indexed.facet != self.facet() => {
                if let Some(found) = self.found_transfer().filter(|found| *found != transfer) {
                    entries.free(Space::Transfer, &transfer);
                    entries.name(Space::Transfer, &found);
                }
            }
            (Some(_), _) => {}
        }
    }
}

/// The reference of a transfer without leading zeros, which carry no information.
pub fn without_zeros(reference: &str) -> &str {
    let digits = reference.trim_start_matches('0');
    if digits.is_empty() && !reference.is_empty() { "0" } else { digits }
}

/// The name under which a transfer can pay once.
pub fn transfer_name(bank: BankCode, date: Date, reference: &str) -> String {
    format!("{bank} {} {reference}", date.days())
}
