//! Merchants and their payout methods.

use crate::cause::Cause;
use crate::codec::{named, stored};
use crate::entities::resource::{Change, Resource};
use crate::entities::verification::{Attempts, MethodStatus};
use crate::index::{Entries, Space, Trait};
use crate::values::ids::Id;
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};

named! {
    /// The status of a merchant; derived from its methods. The number is part of list facets.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// The merchant has no method yet.
        Shell = 0 "shell",
        Unverified = 1 "unverified",
        Verified = 2 "verified",
        /// The bank rejected the merchant's last method.
        Rejected = 3 "rejected",
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PayoutMethod {
        0 pub id: Id,
        1 pub bank: BankCode,
        2 pub phone: MobilePhone,
        3 pub status: MethodStatus,
        4 pub created_at: Timestamp,
        5 pub attempts: Attempts,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Merchant {
        0 pub id: Id,
        1 pub external_ref: ExternalRef,
        2 pub name: String,
        3 pub identification: Option<IdentityDocument>,
        4 pub contact_email: Option<String>,
        5 pub contact_phone: Option<MobilePhone>,
        6 pub active: bool,
        /// Whether the bank rejected the last method.
        7 pub rejected: bool,
        8 pub methods: Vec<PayoutMethod>,
        /// The method that is used when none is named.
        9 pub default_method: Option<Id>,
        /// Whether real money may be paid to it; a test merchant is paid none.
        10 pub livemode: bool,
        11 pub created_at: Timestamp,
        12 pub updated_at: Timestamp,
    }
}

impl Merchant {
    pub fn status(&self) -> Status {
        if self.methods.iter().any(|method| method.status.is_verified()) {
            Status::Verified
        } else if !self.methods.is_empty() {
            Status::Unverified
        } else if self.rejected {
            Status::Rejected
        } else {
            Status::Shell
        }
    }

    pub fn method(&self, id: Id) -> Option<&PayoutMethod> {
        self.methods.iter().find(|method| method.id == id)
    }

    pub(crate) fn changed(&self, now: Timestamp, change: impl FnOnce(&mut Merchant)) -> Merchant {
        let mut changed = Merchant { updated_at: now, ..self.clone() };
        change(&mut changed);
        changed
    }

    /// Removes a method. If it was the default, the oldest verified method becomes the default,
    /// else the oldest.
    pub(crate) fn drop_method(&mut self, id: Id) {
        self.methods.retain(|method| method.id != id);
        if self.default_method == Some(id) {
            let verified = self.methods.iter().find(|method| method.status.is_verified());
            self.default_method = verified.or(self.methods.first()).map(|method| method.id);
        }
    }
}

impl Resource for Merchant {
    fn facet(&self) -> u8 {
        facet(self.status(), self.active)
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.methods.iter().filter_map(|method| method.status.deadline()).min()
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            entries.name(Space::Merchant, &self.external_ref);
        }
        if matches!(change.cause, Cause::MerchantCreated | Cause::MerchantChanged) {
            entries.found_by_person(self.identification, self.contact_phone);
            for method in &self.methods {
                entries.found_by_person(None, Some(method.phone));
                entries.found_by(Trait::PartId, Some(&method.id.to_string()));
            }
        }
        for method in &self.methods {
            method.status.index(entries);
        }
        if change.cause == Cause::VerificationStarted {
            for method in &self.methods {
                method.status.index_start(method.bank, method.phone, entries);
            }
        }
    }
}

/// The byte by which lists of merchants are filtered: the status, and whether they are active.
pub const fn facet(status: Status, active: bool) -> u8 {
    (status as u8) << 1 | active as u8
}
