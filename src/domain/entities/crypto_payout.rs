//! USDT payouts and their transactions.

use crate::cause::Cause;
use crate::codec::stored;
use crate::entities::resource::{Change, IndexedState, Listing, Resource};
use crate::index::{Entries, Space, Trait, searched_hash};
use crate::kept::KeepRef;
use crate::ledger::spending::Drawn;
use crate::rail::{Operation, OperationKind, Service, Subject};
use crate::trace::OrderState;
use crate::values::address::Network;
use crate::values::ids::Id;
use crate::values::money::{Currency, Usdt};
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use std::sync::Arc;

pub const SEND: u16 = 1;

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// The payout is debited; an operator reviews it first.
        0 PendingReview "pending_review",
        /// The payout is debited and sent; its outcome on the network is open.
        1 Processing "processing",
        2 Completed "completed",
        /// The network refused the payout, and the money is back.
        3 Failed "failed",
        /// An operator refused the payout, and the money is back.
        4 Rejected "rejected",
    }
}

impl Status {
    /// Whether the money has left the balance and has not arrived.
    pub const fn is_pending(self) -> bool {
        matches!(self, Status::PendingReview | Status::Processing)
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CryptoPayout {
        0 pub id: Id,
        1 pub external_ref: ExternalRef,
        2 pub status: Status,
        3 pub amount: Usdt,
        /// The network's fee, on top of the amount.
        4 pub fee: Usdt,
        5 pub network: Network,
        6 pub address: String,
        7 pub tx_hash: Option<String>,
        8 pub failure_code: Option<String>,
        /// The kept answer that the outcome replaces.
        9 pub kept: Option<Arc<KeepRef>>,
        /// Whether real money moves; a test payout moves none.
        10 pub livemode: bool,
        11 pub created_at: Timestamp,
        12 pub settled_at: Option<Timestamp>,
        13 pub order: OrderState,
        /// The transactions, where the gateway itself makes them: in live mode, once one is signed.
        14 pub transfer: Option<Box<Transfer>>,
        15 pub drawn: Drawn = since 8 else Drawn::NONE,
    }
}

impl CryptoPayout {
    pub(crate) fn as_operation(&self) -> Operation {
        let subject = Subject::CryptoPayout(self.id);
        let what = (OperationKind::CryptoPayout, Service::Usdt(self.network), subject);
        let (sum, trace) = ((self.amount.minor(), Currency::Usdt), &self.order.trace);
        Operation {
            is_queued: self.status == Status::Processing && trace.is_queued(),
            is_operators: false,
            code: self.failure_code.clone(),
            reference: self.tx_hash.clone(),
            // It may have waited for an operator first.
            ..Operation::of(self.id.operation(SEND), what, sum, Some(trace), self.created_at)
        }
    }

    pub fn total(&self) -> Usdt {
        self.amount.plus(self.fee).unwrap_or(self.amount)
    }

    /// The change, in cents, of the sum of pending payouts by this state, compared with the one
    /// before.
    pub fn pending_change(&self, indexed: Option<IndexedState>) -> i64 {
        let before = indexed.is_some_and(|indexed| {
            Status::ALL.iter().any(|status| *status as u8 == indexed.facet && status.is_pending())
        });
        (i64::from(self.status.is_pending()) - i64::from(before)) * self.total().minor()
    }

    /// The instants at which it moved money, by which its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        std::iter::once(self.created_at).chain(self.settled_at).collect()
    }
}

impl Resource for CryptoPayout {
    fn facet(&self) -> u8 {
        self.status as u8
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.order.next_look
    }

    fn listing(&self, _facet: u8) -> Listing {
        // An account's test data begins anew without a look at what there is, so nobody else lists it.
        if self.livemode { Listing::ForOperatorsToo } else { Listing::ById }
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            entries.name(Space::CryptoPayout, &self.external_ref);
            entries.id_among_all(Space::CryptoPayout);
        }
        if let Some(transfer) = self.transfer.as_ref().filter(|_| change.cause == Cause::CryptoPayoutSigned) {
            let nonce = Transfer::nonce_name(transfer.chain_id, &transfer.wallet, transfer.nonce);
            entries.name_among_all(Space::WalletNonce, &nonce);
        }
        if self.status == Status::Completed && change.is_moved {
            let tx_hash = self.tx_hash.as_deref().map(searched_hash);
            entries.found_by(Trait::TxHash, tx_hash.as_deref());
        }
    }
}

pub type Hash = [u8; 32];

stored! {
    /// The transactions of a payout, all of the same nonce.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Transfer {
        0 pub chain_id: u64,
        1 pub wallet: [u8; 20],
        2 pub nonce: u64,
        /// The newest block when the nonce was taken: none before can have used it.
        3 pub since_block: u64,
        /// The signed transactions, oldest first; at least one.
        4 pub attempts: Vec<Attempt>,
        5 pub raw: Vec<u8>,
    }

    /// The price that one transaction pays for a unit of gas, in wei.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Fees {
        0 pub tip: u64,
        1 pub max: u64,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Attempt {
        0 pub hash: Hash,
        1 pub fees: Fees,
        2 pub at: Timestamp,
    }
}

impl Transfer {
    pub fn nonce_name(chain_id: u64, wallet: &[u8; 20], nonce: u64) -> String {
        format!("{chain_id} {} {nonce}", hex::encode(wallet))
    }

    pub fn newest(&self) -> Option<&Attempt> {
        self.attempts.last()
    }
}
