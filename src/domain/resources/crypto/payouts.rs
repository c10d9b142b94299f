//! USDT sent to wallets. Amount and network fee are debited before the network hears of it, and
//! paid back when it, or an operator, says no. A payout above the tenant's limit waits for an
//! operator first (`docs/contract.md, 10.2, 10.3`).

use super::address::{Network, canonical};
use crate::bank::{ASKED_ON_MS, Answer, Effect, How, Order, POLL_MS, RailReply, asked_on, next_poll};
use crate::decision::{Draft, Outcome, Turn};
use crate::events::EventKind;
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::{Ledger, MovementKind, Posting, Row};
use crate::record::{Cause, Entity, IndexedState};
use crate::refusal::Refusal;
use crate::resources::crypto::CryptoRefusal;
use crate::values::external_ref::ExternalRef;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Usdt};
use crate::values::time::Timestamp;
use bincode::{Decode, Encode};
use std::sync::Arc;

/// The operation that sends the money.
pub const SEND: u16 = 1;
/// What a rejection without words says.
pub const REJECTED: &str = "rejected";

/// Where a payout stands. The number is its list facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
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
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CryptoPayout {
    /// Its name.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// Where it stands.
    pub status: Status,
    /// How much arrives.
    pub amount: Usdt,
    /// What the network takes besides.
    pub fee: Usdt,
    /// The network.
    pub network: Network,
    /// The wallet.
    pub address: String,
    /// The network's name for the transfer.
    pub tx_hash: Option<String>,
    /// Why it failed.
    pub failure_code: Option<String>,
    /// How often it was sent: twice at most, the second time when the network says that it never
    /// received it.
    pub sends: u32,
    /// How often the network was asked about it.
    pub looks: u32,
    /// When it is asked next: also whether it agrees with an operator who settled the payout.
    pub next_look: Option<Timestamp>,
    /// Which kept answer the outcome replaces.
    pub kept: Option<Arc<KeepRef>>,
    /// Test payouts move no real money.
    pub livemode: bool,
    /// When it was debited.
    pub created_at: Timestamp,
    /// When it arrived, failed or was rejected.
    pub settled_at: Option<Timestamp>,
}

impl CryptoPayout {
    /// The byte by which lists are filtered.
    pub const fn facet(&self) -> u8 {
        self.status as u8
    }

    /// When the network is to be asked.
    pub const fn deadline(&self) -> Option<Timestamp> {
        self.next_look
    }

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
}

/// What is asked.
pub struct NewCryptoPayout {
    /// Its name.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// How much is to arrive.
    pub amount: Usdt,
    /// What the network takes besides.
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
) -> Outcome {
    match (command, payout) {
        (Command::Pay(new), None) => create(book, *new, keep, turn),
        (Command::Pay(new), Some(payout)) => repeat(payout, &new),
        (Command::Review(verdict), Some(payout)) => review(payout, verdict, keep, turn),
        (Command::Review(_), None) => Outcome::refuse(Refusal::NotFound),
    }
}

/// The reference is known: the same payout is answered again, another is a conflict. A fee that was
/// changed meanwhile makes no difference.
pub fn repeat(payout: &CryptoPayout, again: &NewCryptoPayout) -> Outcome {
    let differs: Vec<&'static str> = [
        ("amountUsdt", payout.amount != again.amount),
        ("address", canonical(&payout.address) != canonical(&again.address)),
        ("network", payout.network != again.network),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect();
    if differs.is_empty() {
        Outcome::unchanged()
    } else {
        Outcome::refuse(Refusal::ExternalRefConflict { existing: payout.id, differs })
    }
}

/// Debits it and has the network send it, or an operator look at it. The order of the refusals is
/// `docs/contract.md, 1.12`.
pub fn create(book: &Book, new: NewCryptoPayout, kept: Option<Arc<KeepRef>>, turn: &Turn) -> Outcome {
    let settings = &book.tenant_settings.settings;
    if !settings.usdt_enabled {
        return Outcome::refuse(CryptoRefusal::NotEnabled);
    }
    if !turn.has_rail {
        return Outcome::refuse(CryptoRefusal::NetworkNotConfigured);
    }
    let available = Usdt::from_minor(book.account(Currency::Usdt).free());
    match new.amount.plus(new.fee) {
        None => return Outcome::refuse(Refusal::AmountOverflow),
        Some(total) if total > available => {
            return Outcome::refuse(CryptoRefusal::InsufficientBalance { available });
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
    post(&mut draft, &payout, -1, MovementKind::Payout, MovementKind::PayoutFee);
    let effects = if review { Vec::new() } else { vec![order(&payout, How::Send, turn)] };
    draft.create(Entity::CryptoPayout(payout));
    Outcome::write_then(draft, effects)
}

/// Both sides of the amount and of the fee; `sign` −1 takes them from the tenant, 1 gives them
/// back.
fn post(
    draft: &mut Draft,
    payout: &CryptoPayout,
    sign: i64,
    amount_kind: MovementKind,
    fee_kind: MovementKind,
) {
    let currency = Currency::Usdt;
    for (amount, against, kind, description) in [
        (payout.amount, Ledger::Rail, amount_kind, "USDT payout"),
        (payout.fee, Ledger::Fees, fee_kind, "network fee of a USDT payout"),
    ] {
        let row = Row {
            kind,
            subject: Some(EntityId::crypto_payout(payout.id)),
            chargeback: None,
            external_ref: Some(payout.external_ref.clone()),
            description: description.to_owned(),
            available_at: None,
        };
        draft.post(Posting {
            ledger: Ledger::Tenant,
            currency,
            minor: sign * amount.minor(),
            row: Some(Box::new(row)),
        });
        draft.post(Posting { ledger: against, currency, minor: -sign * amount.minor(), row: None });
    }
}

fn order(payout: &CryptoPayout, how: How, turn: &Turn) -> Effect {
    let order =
        Order::SendUsdt { network: payout.network, address: payout.address.clone(), amount: payout.amount };
    Effect {
        entity: EntityId::crypto_payout(payout.id),
        operation: payout.id.operation(SEND),
        at: turn.now,
        how,
        order,
    }
}

/// What an operator says about a payout under review.
pub enum Verdict {
    /// Send it.
    Approve,
    /// Do not, for this reason.
    Reject(String),
}

/// An operator has looked at it.
pub fn review(payout: &CryptoPayout, verdict: Verdict, kept: Option<Arc<KeepRef>>, turn: &Turn) -> Outcome {
    if payout.status != Status::PendingReview {
        return Outcome::refuse(CryptoRefusal::NotPendingReview);
    }
    match verdict {
        Verdict::Reject(reason) => returned(payout, Status::Rejected, reason, turn),
        Verdict::Approve if !turn.has_rail => Outcome::refuse(CryptoRefusal::NetworkNotConfigured),
        Verdict::Approve => {
            let approved = CryptoPayout {
                status: Status::Processing,
                sends: 1,
                next_look: Some(turn.now.plus_ms(POLL_MS)),
                kept,
                ..payout.clone()
            };
            let effect = order(&approved, How::Send, turn);
            let mut draft = Draft::new(Cause::CryptoPayoutApproved);
            draft.change(payout, Entity::CryptoPayout(approved));
            Outcome::write_then(draft, vec![effect])
        }
    }
}

/// The network is to be asked.
pub fn deadline(payout: &CryptoPayout, turn: &Turn) -> Outcome {
    match payout.next_look {
        Some(_) => Outcome::effects(vec![order(payout, How::Ask, turn)]),
        None => Outcome::unchanged(),
    }
}

/// What the network says. A second answer finds the payout settled and moves no money; the opposite
/// of the first is written down.
pub fn on_rail_reply(payout: &CryptoPayout, reply: RailReply, turn: &Turn) -> Outcome {
    if payout.status != Status::Processing {
        return contradicted(payout, reply, turn);
    }
    match (reply.answer, reply.how) {
        (Answer::Done { reference }, _) => completed(payout, reference, turn),
        (Answer::Refused { code }, _) => returned(payout, Status::Failed, code, turn),
        (Answer::NeverReceived, _) if payout.sends < 2 => {
            let again = CryptoPayout {
                sends: payout.sends + 1,
                next_look: Some(turn.now.plus_ms(POLL_MS)),
                ..payout.clone()
            };
            let effect = order(&again, How::Send, turn);
            let mut draft = Draft::new(Cause::BankAsked);
            draft.change(payout, Entity::CryptoPayout(again));
            Outcome::write_then(draft, vec![effect])
        }
        (Answer::Waiting | Answer::Silent | Answer::NeverReceived, How::Send) => Outcome::unchanged(),
        // Sent twice: the second transfer may still be on its way, so the USDT stay set aside until
        // the network says what became of it.
        (Answer::Waiting | Answer::Silent | Answer::NeverReceived, How::Ask) => {
            let looks = payout.looks + 1;
            let later = CryptoPayout { looks, next_look: Some(next_poll(turn.now, looks)), ..payout.clone() };
            let mut draft = Draft::new(Cause::BankAsked);
            draft.change(payout, Entity::CryptoPayout(later));
            Outcome::write(draft)
        }
    }
}

/// What the network says of a payout that is settled.
fn contradicted(payout: &CryptoPayout, reply: RailReply, turn: &Turn) -> Outcome {
    let said = match (payout.status, &reply.answer) {
        (Status::Failed, Answer::Done { reference }) if payout.tx_hash.is_none() => {
            CryptoPayout { tx_hash: Some(reference.clone()), next_look: None, ..payout.clone() }
        }
        (Status::Completed, Answer::Refused { code }) if payout.failure_code.is_none() => {
            CryptoPayout { failure_code: Some(code.clone()), next_look: None, ..payout.clone() }
        }
        _ => return agreed(payout, &reply, turn),
    };
    let mut draft = Draft::new(Cause::OperationContradicted);
    draft.change(payout, Entity::CryptoPayout(said));
    Outcome::write(draft)
}

/// What is said of a payout that an operator has settled, if it is not the opposite.
fn agreed(payout: &CryptoPayout, reply: &RailReply, turn: &Turn) -> Outcome {
    let until = payout.settled_at.unwrap_or(payout.created_at).plus_ms(ASKED_ON_MS);
    let asked_on = payout.next_look.and_then(|_| asked_on(reply, payout.looks, until, turn.now));
    let Some((looks, next_look)) = asked_on else { return Outcome::unchanged() };
    let mut draft = Draft::new(Cause::BankAsked);
    draft.change(payout, Entity::CryptoPayout(CryptoPayout { looks, next_look, ..payout.clone() }));
    Outcome::write(draft)
}

fn completed(payout: &CryptoPayout, tx_hash: String, turn: &Turn) -> Outcome {
    let completed = CryptoPayout {
        status: Status::Completed,
        tx_hash: Some(tx_hash),
        next_look: None,
        kept: None,
        settled_at: Some(turn.now),
        ..payout.clone()
    };
    let mut draft = Draft::new(Cause::CryptoPayoutCompleted);
    draft.change(payout, Entity::CryptoPayout(completed));
    draft.event(EventKind::CryptoPayoutCompleted, EntityId::crypto_payout(payout.id));
    draft.replace_kept(payout.kept.clone());
    Outcome::write(draft)
}

/// It was not sent, and the money goes back.
fn returned(payout: &CryptoPayout, status: Status, code: String, turn: &Turn) -> Outcome {
    let returned = CryptoPayout {
        status,
        failure_code: Some(code),
        next_look: None,
        kept: None,
        settled_at: Some(turn.now),
        ..payout.clone()
    };
    let mut draft = Draft::new(Cause::CryptoPayoutFailed);
    post(&mut draft, payout, 1, MovementKind::PayoutReversal, MovementKind::PayoutReversal);
    draft.change(payout, Entity::CryptoPayout(returned));
    draft.event(EventKind::CryptoPayoutFailed, EntityId::crypto_payout(payout.id));
    draft.replace_kept(payout.kept.clone());
    Outcome::write(draft)
}
