//! Batches of payouts.

use crate::codec::stored;
use crate::entities::resource::{Change, Resource};
use crate::index::{Entries, Space};
use crate::values::ids::Id;
use crate::values::money::Ves;
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ItemEnd {
        /// The item is this payout, which may be older than the batch.
        0 Payout(Id),
        /// The item was refused, and is no payout.
        1 Refused {
            /// The item's reference, if it had a valid one.
            0 external_ref: Option<String>,
            1 code: String,
            2 error: String,
            /// What was asked for, of an item that is valid.
            3 asked: Option<Asked>,
        },
    }

    /// What a refused item of a batch asked for.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Asked {
        /// The merchant that was to be paid, if it was one.
        0 pub merchant: Option<Id>,
        1 pub method: Option<Id>,
        2 pub amount: Ves,
        3 pub concept: String,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Batch {
        0 pub id: Id,
        1 pub external_ref: ExternalRef,
        /// A keyed hash of the request, by which a repeat is recognised.
        2 pub mark: [u8; 16],
        3 pub items: Vec<ItemEnd>,
        /// Whether real money moves; a test batch moves none.
        4 pub livemode: bool,
        5 pub created_at: Timestamp,
    }
}

impl Resource for Batch {
    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            entries.name(Space::Batch, &self.external_ref);
        }
    }
}
