//! USDT sent to wallets. Amount and network fee are debited before the network hears of it, and
//! paid back when it, or an operator, says no. A payout above the tenant's limit waits for an
//! operator first (`docs/contract.md, 10.2, 10.3`).

use super::address::{Network, canonical};
use crate::decision::{Draft, Ruling, Turn, differing};
use crate::entity::{Change, Listing, Resource};
use crate::events::EventKind;
use crate::index::{Entries, Space};
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::{Ledger, MovementKind};
use crate::rail::{Effect, How, Order, POLL_MS};
use crate::record::{Cause, Entity, IndexedState};
use crate::refusal::Refusal;
use crate::resources::crypto::CryptoRefusal;
use crate::resources::payouts::lifecycle::{self, Amount, PayoutEnd, RailPayout, Stage, Tries};
use crate::values::external_ref::ExternalRef;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Usdt};
use crate::values::time::Timestamp;
use std::sync::Arc;

/// The operation that sends the money.
pub const SEND: u16 = 1;
/// What a rejection without words says.
pub const REJECTED: &str = "rejected";

/// The status of a payout. The number is its list facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Debited; an operator looks at it first.
    PendingReview = 0,
    /// Debited and sent; the network has not said yes or no.
    Processing = 1,
    /// It arrived.
    Completed = 2,
    /// The network refused it, and the money is back.
    Failed = 3,
    /// An operator refused it, and the money is back.
    Rejected = 4,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 5] =
        [Status::PendingReview, Status::Processing, Status::Completed, Status::Failed, Status::Rejected];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Status::PendingReview => "pending_review",
            Status::Processing => "processing",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Rejected => "rejected",
        }
    }

    /// Whether its money is out of the balance and nowhere else yet.
    const fn is_pending(self) -> bool {
        matches!(self, Status::PendingReview | Status::Processing)
    }
}

/// A payout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CryptoPayout {
    /// The id.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// The status.
    pub status: Status,
    /// The amount that arrives.
    pub amount: Usdt,
    /// The network's fee besides.
    pub fee: Usdt,
    /// The network.
    pub network: Network,
    /// The wallet.
    pub address: String,
    /// The network's name for the transfer.
    pub tx_hash: Option<String>,
    /// The reason of a failure.
    pub failure_code: Option<String>,
    /// How often it was sent: twice at most, the second time when the network says that it never
    /// received it.
    pub sends: u32,
    /// The number of times that the network was asked about it.
    pub looks: u32,
    /// When it is asked next: also whether it agrees with an operator who settled the payout.
    pub next_look: Option<Timestamp>,
    /// The kept answer that the outcome replaces.
    pub kept: Option<Arc<KeepRef>>,
    /// Test payouts move no real money.
    pub livemode: bool,
    /// The instant at which it was debited.
    pub created_at: Timestamp,
    /// When it arrived, failed or was rejected.
    pub settled_at: Option<Timestamp>,
}

impl CryptoPayout {
    /// What leaves the balance.
    pub fn total(&self) -> Usdt {
        self.amount.plus(self.fee).unwrap_or(self.amount)
    }

    /// By how many cents this state changes what is out of the balance and has not arrived.
    pub fn pending_change(&self, indexed: Option<IndexedState>) -> i64 {
        let before = indexed.is_some_and(|indexed| {
            Status::ALL.iter().any(|status| *status as u8 == indexed.facet && status.is_pending())
        });
        (i64::from(self.status.is_pending()) - i64::from(before)) * self.total().minor()
    }

    /// The instants at which it moved money: where its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        std::iter::once(self.created_at).chain(self.settled_at).collect()
    }

    /// Writes the amount and the fee; `sign` −1 takes them from the tenant, 1 gives them back.
    fn post(&self, draft: &mut Draft, sign: i64, amount_kind: MovementKind, fee_kind: MovementKind) {
        let amounts = [
            Amount {
                minor: self.amount.minor(),
                against: Ledger::Rail,
                kind: amount_kind,
                description: "USDT payout",
            },
            Amount {
                minor: self.fee.minor(),
                against: Ledger::Fees,
                kind: fee_kind,
                description: "network fee of a USDT payout",
            },
        ];
        let about = (EntityId::crypto_payout(self.id), &self.external_ref);
        lifecycle::post(draft, about, (Ledger::Tenant, Currency::Usdt), sign, &amounts);
    }
}

impl Resource for CryptoPayout {
    fn entity_id(&self) -> EntityId {
        EntityId::crypto_payout(self.id)
    }

    fn facet(&self) -> u8 {
        self.status as u8
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.next_look
    }

    fn external_ref(&self) -> Option<&str> {
        Some(&self.external_ref)
    }

    fn listing(&self, _facet: u8) -> Listing {
        Listing::ForOperatorsToo
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new() {
            entries.name(Space::CryptoPayout, &self.external_ref);
            entries.id_among_all(Space::CryptoPayout);
        }
    }
}

impl lifecycle::Payout for CryptoPayout {
    fn into_entity(self) -> Entity {
        Entity::CryptoPayout(self)
    }

    fn end(&self, end: &PayoutEnd) -> (Cause, EventKind) {
        match end {
            PayoutEnd::Completed(_) => (Cause::CryptoPayoutCompleted, EventKind::CryptoPayoutCompleted),
            PayoutEnd::Failed(_) => (Cause::CryptoPayoutFailed, EventKind::CryptoPayoutFailed),
        }
    }

    fn give_back(&self, draft: &mut Draft) {
        self.post(draft, 1, MovementKind::PayoutReversal, MovementKind::PayoutReversal);
    }

    fn kept(&self) -> Option<Arc<KeepRef>> {
        self.kept.clone()
    }

    fn settled(&self, end: PayoutEnd, now: Timestamp) -> CryptoPayout {
        let (status, tx_hash, failure_code) = match end {
            PayoutEnd::Completed(hash) => (Status::Completed, Some(hash), self.failure_code.clone()),
            // One that was never sent was refused by an operator.
            PayoutEnd::Failed(code) if self.status == Status::PendingReview => {
                (Status::Rejected, self.tx_hash.clone(), Some(code))
            }
            PayoutEnd::Failed(code) => (Status::Failed, self.tx_hash.clone(), Some(code)),
        };
        let (next_look, kept, settled_at) = (None, None, Some(now));
        CryptoPayout { status, tx_hash, failure_code, next_look, kept, settled_at, ..self.clone() }
    }
}

impl RailPayout for CryptoPayout {
    fn stage(&self) -> Stage {
        match self.status {
            Status::PendingReview | Status::Rejected => Stage::Unsent,
            Status::Processing => Stage::Sent,
            Status::Completed => Stage::Completed,
            Status::Failed => Stage::Failed,
        }
    }

    fn tries(&self) -> Tries {
        Tries { sends: self.sends, looks: self.looks, next_look: self.next_look }
    }

    fn tried(&self, Tries { sends, looks, next_look }: Tries) -> CryptoPayout {
        CryptoPayout { sends, looks, next_look, ..self.clone() }
    }

    fn since(&self) -> Timestamp {
        self.settled_at.unwrap_or(self.created_at)
    }

    fn order(&self, how: How, turn: &Turn<'_>) -> Effect {
        let order =
            Order::SendUsdt { network: self.network, address: self.address.clone(), amount: self.amount };
        Effect {
            entity: EntityId::crypto_payout(self.id),
            operation: self.id.operation(SEND),
            at: turn.now,
            how,
            order,
        }
    }

    fn contradicted(&self, word: PayoutEnd) -> Option<CryptoPayout> {
        match word {
            PayoutEnd::Completed(hash) if self.tx_hash.is_none() => {
                Some(CryptoPayout { tx_hash: Some(hash), next_look: None, ..self.clone() })
            }
            PayoutEnd::Failed(code) if self.failure_code.is_none() => {
                Some(CryptoPayout { failure_code: Some(code), next_look: None, ..self.clone() })
            }
            PayoutEnd::Completed(_) | PayoutEnd::Failed(_) => None,
        }
    }
}

/// The request.
pub struct NewCryptoPayout {
    /// The id.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// How much is to arrive.
    pub amount: Usdt,
    /// The network's fee besides.
    pub fee: Usdt,
    /// The network.
    pub network: Network,
    /// The wallet, which the network can send to.
    pub address: String,
}

/// A command to a payout in USDT.
pub enum Command {
    /// A new one; the payout is the one on its reference, if there is one.
    Pay(Box<NewCryptoPayout>),
    /// An operator has looked at it.
    Review(Verdict),
}

/// The ruling on a command.
pub fn decide(
    book: &Book,
    payout: Option<&CryptoPayout>,
    command: Command,
    keep: Option<Arc<KeepRef>>,
    turn: &Turn<'_>,
) -> Ruling {
    match (command, payout) {
        (Command::Pay(new), None) => create(book, *new, keep, turn),
        (Command::Pay(new), Some(payout)) => repeat(payout, &new),
        (Command::Review(verdict), Some(payout)) => review(payout, verdict, keep, turn),
        (Command::Review(_), None) => Ruling::refuse(Refusal::NotFound),
    }
}

/// The reference is known: the same payout is answered again, another is a conflict. A fee that was
/// changed meanwhile makes no difference.
pub fn repeat(payout: &CryptoPayout, again: &NewCryptoPayout) -> Ruling {
    let fields = [
        ("amountUsdt", payout.amount != again.amount),
        ("address", canonical(&payout.address) != canonical(&again.address)),
        ("network", payout.network != again.network),
    ];
    Ruling::repeated(payout.id, differing(fields))
}

/// Debits it and has the network send it, or an operator look at it. The order of the refusals is
/// `docs/contract.md, 1.12`.
pub fn create(book: &Book, new: NewCryptoPayout, kept: Option<Arc<KeepRef>>, turn: &Turn) -> Ruling {
    let settings = &book.tenant_settings.settings;
    if !settings.usdt_enabled {
        return Ruling::refuse(CryptoRefusal::NotEnabled);
    }
    if !turn.has_rail {
        return Ruling::refuse(CryptoRefusal::NetworkNotConfigured);
    }
    let available = Usdt::from_minor(book.account(Currency::Usdt).free());
    match new.amount.plus(new.fee) {
        None => return Ruling::refuse(Refusal::AmountOverflow),
        Some(total) if total > available => {
            return Ruling::refuse(CryptoRefusal::InsufficientBalance { available });
        }
        Some(_) => {}
    }
    let review = new.amount > settings.usdt_payout_auto_limit;
    let payout = CryptoPayout {
        id: new.id,
        external_ref: new.external_ref,
        status: if review { Status::PendingReview } else { Status::Processing },
        amount: new.amount,
        fee: new.fee,
        network: new.network,
        address: new.address,
        tx_hash: None,
        failure_code: None,
        sends: u32::from(!review),
        looks: 0,
        next_look: (!review).then(|| turn.now.plus_ms(POLL_MS)),
        // Under review the first answer stays the answer: nobody waits so long.
        kept: kept.filter(|_| !review),
        livemode: turn.livemode,
        created_at: turn.now,
        settled_at: None,
    };
    let mut draft = Draft::new(Cause::CryptoPayoutCreated);
    payout.post(&mut draft, -1, MovementKind::Payout, MovementKind::PayoutFee);
    let effects = if review { Vec::new() } else { vec![payout.order(How::Send, turn)] };
    draft.create(Entity::CryptoPayout(payout));
    Ruling::write_then(draft, effects)
}

/// An operator's verdict on a payout under review.
pub enum Verdict {
    /// Send it.
    Approve,
    /// Do not, for this reason.
    Reject(String),
}

/// An operator has looked at it.
pub fn review(payout: &CryptoPayout, verdict: Verdict, kept: Option<Arc<KeepRef>>, turn: &Turn) -> Ruling {
    if payout.status != Status::PendingReview {
        return Ruling::refuse(CryptoRefusal::NotPendingReview);
    }
    match verdict {
        Verdict::Reject(reason) => lifecycle::settle(payout, PayoutEnd::Failed(reason), turn),
        Verdict::Approve if !turn.has_rail => Ruling::refuse(CryptoRefusal::NetworkNotConfigured),
        Verdict::Approve => {
            let approved = CryptoPayout {
                status: Status::Processing,
                sends: 1,
                next_look: Some(turn.now.plus_ms(POLL_MS)),
                kept,
                ..payout.clone()
            };
            let effect = approved.order(How::Send, turn);
            let mut draft = Draft::new(Cause::CryptoPayoutApproved);
            draft.change(payout, Entity::CryptoPayout(approved));
            Ruling::write_then(draft, vec![effect])
        }
    }
}
