//! The tenant's own payout account.

use crate::cause::Cause;
use crate::codec::stored;
use crate::entities::resource::{Change, Resource};
use crate::entities::verification::{Attempts, MethodStatus};
use crate::index::{Entries, Space};
use crate::values::time::Timestamp;
use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};

stored! {
    /// The phone and bank by which the tenant itself is paid.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OwnPhone {
        0 pub bank: BankCode,
        1 pub phone: MobilePhone,
        2 pub identification: IdentityDocument,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OwnAccount {
        0 pub held: OwnPhone,
        1 pub status: MethodStatus,
        /// Whether real money may be sent to it; a test account receives none.
        2 pub livemode: bool,
        3 pub created_at: Timestamp,
        4 pub updated_at: Timestamp,
        5 pub attempts: Attempts,
    }
}

impl Resource for OwnAccount {
    fn deadline(&self) -> Option<Timestamp> {
        self.status.deadline()
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            entries.name(Space::OwnAccount, "");
        }
        self.status.index(entries);
        if change.cause == Cause::VerificationStarted {
            self.status.index_start(self.held.bank, self.held.phone, entries);
        }
    }
}
