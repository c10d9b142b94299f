//! Payouts in bolívares: debited before the bank hears of them, paid back when the bank says no (`contract.md`, section 7).

use crate::domain::bank::{Answer, Effect, Heard, How, Order, POLL_MS, next_poll};
use crate::domain::banks::BankCode;
use crate::domain::book::{Book, Seller, SellerMethod};
use crate::domain::decision::{Draft, Outcome, Turn};
use crate::domain::events::EventKind;
use crate::domain::external_ref::ExternalRef;
use crate::domain::identity::IdentityDocument;
use crate::domain::ids::{EntityId, Id};
use crate::domain::kept::KeepRef;
use crate::domain::ledger::{Ledger, MovementKind, Posting, Row};
use crate::domain::money::{Currency, Ves};
use crate::domain::phone::MobilePhone;
use crate::domain::record::{Cause, Entity};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use bincode::{Decode, Encode};
use std::sync::Arc;

/// The operation that sends a payout's money.
pub const CREDIT: u16 = 1;

/// Where a payout stands. The number is its list facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[repr(u8)]
pub enum Status {
    /// Debited; the bank has not said yes or no.
    Pending = 0,
    /// It arrived.
    Completed = 1,
    /// It did not, and the money is back.
    Failed = 2,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 3] = [Status::Pending, Status::Completed, Status::Failed];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Completed => "completed",
            Status::Failed => "failed",
        }
    }
}

/// What a payout was asked for as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum PayoutKind {
    /// To a merchant.
    Merchant,
}

impl PayoutKind {
    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            PayoutKind::Merchant => "merchant",
        }
    }
}

/// A payout.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Payout {
    /// Its name.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// What it was asked for as.
    pub kind: PayoutKind,
    /// Where it stands.
    pub status: Status,
    /// How much arrives.
    pub amount: Ves,
    /// What it costs besides.
    pub fee: Ves,
    /// What for.
    pub concept: String,
    /// The merchant.
    pub merchant: Option<Id>,
    /// Its name then.
    pub merchant_name: String,
    /// The payout method.
    pub method: Option<Id>,
    /// Whether the tenant named the method.
    pub method_named: bool,
    /// The receiver's bank.
    pub bank: BankCode,
    /// The receiver's phone.
    pub phone: MobilePhone,
    /// Who receives.
    pub identification: Option<IdentityDocument>,
    /// Whether the seller's balance paid it.
    pub from_merchant_balance: bool,
    /// The bank's reference.
    pub reference: Option<String>,
    /// The bank's code when it failed.
    pub failure_code: Option<String>,
    /// How often it was sent: twice at most, the second time when the bank says that it never received it.
    pub sends: u32,
    /// How often the bank was asked about it.
    pub looks: u32,
    /// When it is asked next.
    pub next_look: Option<Timestamp>,
    /// Which kept answer the outcome replaces.
    pub kept: Option<Arc<KeepRef>>,
    /// Test payouts move no real money.
    pub livemode: bool,
    /// When it was debited.
    pub created_at: Timestamp,
    /// When the bank said yes or no.
    pub settled_at: Option<Timestamp>,
}

impl Payout {
    /// The byte by which lists are filtered.
    pub fn facet(&self) -> u8 {
        self.status as u8
    }

    /// When the bank is to be asked.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.next_look
    }

    /// The operation that the bank is working on.
    pub fn operation(&self) -> Option<Id> {
        (self.status == Status::Pending).then(|| self.id.operation(CREDIT))
    }

    /// The instants at which it moved money: where its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        std::iter::once(self.created_at).chain(self.settled_at).collect()
    }
}

/// What is asked.
pub struct NewPayout {
    /// Its name.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// The merchant.
    pub merchant: Id,
    /// The method; `None` is the merchant's default.
    pub method: Option<Id>,
    /// How much.
    pub amount: Ves,
    /// What for.
    pub concept: String,
    /// Whether the seller's available balance pays.
    pub from_merchant_balance: bool,
}

/// The names of the fields in which a repeat differs from the payout on its reference (`contract.md`, section 1, "Same payload").
fn differs(payout: &Payout, again: &NewPayout) -> Vec<&'static str> {
    let method_differs = match again.method {
        Some(method) => payout.method != Some(method),
        None => payout.method_named,
    };
    [
        ("merchantId", payout.merchant != Some(again.merchant)),
        ("payoutMethodId", method_differs),
        ("monto", payout.amount != again.amount),
        ("concepto", payout.concept != again.concept),
        ("fromMerchantBalance", payout.from_merchant_balance != again.from_merchant_balance),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect()
}

/// The reference is known: the same payout is answered again, another is a conflict.
pub fn repeat(payout: &Payout, again: &NewPayout) -> Outcome {
    let differs = differs(payout, again);
    if differs.is_empty() { Outcome::unchanged() } else { Outcome::refuse(Refusal::ExternalRefConflict { existing: payout.id, differs }) }
}

/// Debits it and has the bank pay it. The order of the refusals is `contract.md`, section 17, "Order of checks".
pub fn create(book: &Book, new: NewPayout, kept: Option<Arc<KeepRef>>, turn: &Turn) -> Outcome {
    let Some(seller) = book.sellers.get(&new.merchant) else { return Outcome::refuse(Refusal::NotFound) };
    let method = match method(seller, new.method) {
        Ok(method) => method,
        Err(refusal) => return Outcome::refuse(refusal),
    };
    if !seller.active {
        return Outcome::refuse(Refusal::MerchantInactive);
    }
    if !turn.has_rail {
        return Outcome::refuse(Refusal::RailNotConfigured);
    }
    let fee = book.sheet.settings.fees.payout;
    let Some(total) = new.amount.plus(fee) else { return Outcome::refuse(Refusal::AmountOverflow) };
    let spendable = if new.from_merchant_balance { seller.account.free() } else { book.available_ves() };
    if total.minor() > spendable {
        return Outcome::refuse(Refusal::InsufficientBalance { available: Ves::from_minor(spendable) });
    }
    let payout = Payout {
        id: new.id,
        external_ref: new.external_ref,
        kind: PayoutKind::Merchant,
        status: Status::Pending,
        amount: new.amount,
        fee,
        concept: new.concept,
        merchant: Some(new.merchant),
        merchant_name: seller.name.clone(),
        method: Some(method.id),
        method_named: new.method.is_some(),
        bank: method.bank,
        phone: method.phone,
        identification: seller.identification,
        from_merchant_balance: new.from_merchant_balance,
        reference: None,
        failure_code: None,
        sends: 1,
        looks: 0,
        next_look: Some(turn.now.plus_ms(POLL_MS)),
        kept,
        livemode: turn.livemode,
        created_at: turn.now,
        settled_at: None,
    };
    let mut draft = Draft::new(Cause::PayoutCreated);
    post(&mut draft, &payout, -1, MovementKind::Payout, MovementKind::PayoutFee);
    let effect = order(&payout, How::Send, turn);
    draft.create(Entity::Payout(payout));
    Outcome::write_then(draft, vec![effect])
}

fn method(seller: &Seller, named: Option<Id>) -> Result<&SellerMethod, Refusal> {
    let method = match named {
        Some(id) => seller.methods.iter().find(|method| method.id == id).ok_or(Refusal::NotFound)?,
        None => seller.methods.iter().find(|method| Some(method.id) == seller.default_method).ok_or(Refusal::PayoutMethodNotVerified)?,
    };
    if method.verified { Ok(method) } else { Err(Refusal::PayoutMethodNotVerified) }
}

/// Both sides of the amount and of the fee; `sign` −1 takes them from the balance that pays, 1 gives them back.
fn post(draft: &mut Draft, payout: &Payout, sign: i64, amount_kind: MovementKind, fee_kind: MovementKind) {
    let payer = match (payout.from_merchant_balance, payout.merchant) {
        (true, Some(merchant)) => Ledger::Seller(merchant),
        _ => Ledger::Tenant,
    };
    for (amount, against, kind) in [(payout.amount, Ledger::Rail, amount_kind), (payout.fee, Ledger::Fees, fee_kind)] {
        let row = Row {
            kind,
            subject: Some(EntityId::payout(payout.id)),
            chargeback: None,
            external_ref: Some(payout.external_ref.clone()),
            description: payout.concept.clone(),
            available_at: None,
        };
        draft.post(Posting { ledger: payer, currency: Currency::Ves, minor: sign * amount.minor(), row: Some(Box::new(row)) });
        draft.post(Posting { ledger: against, currency: Currency::Ves, minor: -sign * amount.minor(), row: None });
    }
}

fn order(payout: &Payout, how: How, turn: &Turn) -> Effect {
    Effect {
        entity: EntityId::payout(payout.id),
        operation: payout.id.operation(CREDIT),
        at: turn.now,
        how,
        order: Order::Credit {
            bank: payout.bank,
            phone: payout.phone,
            identity: payout.identification,
            amount: payout.amount,
            concept: payout.concept.clone(),
        },
    }
}

/// The bank is to be asked.
pub fn deadline(payout: &Payout, turn: &Turn) -> Outcome {
    match payout.status {
        Status::Pending => Outcome::effects(vec![order(payout, How::Ask, turn)]),
        Status::Completed | Status::Failed => Outcome::unchanged(),
    }
}

/// What the bank says. A second answer finds the payout settled and changes nothing.
pub fn heard(payout: &Payout, heard: Heard, turn: &Turn) -> Outcome {
    if payout.status != Status::Pending {
        return Outcome::unchanged();
    }
    match (heard.answer, heard.how) {
        (Answer::Done { reference }, _) => completed(payout, reference, turn),
        (Answer::Refused { code }, _) => failed(payout, code, turn),
        (Answer::Waiting | Answer::Silent, How::Send) => Outcome::unchanged(),
        (Answer::NeverReceived, _) if payout.sends < 2 => {
            let again = Payout { sends: payout.sends + 1, next_look: Some(turn.now.plus_ms(POLL_MS)), ..payout.clone() };
            let effect = order(&again, How::Send, turn);
            let mut draft = Draft::new(Cause::BankAsked);
            draft.change(payout, Entity::Payout(again));
            Outcome::write_then(draft, vec![effect])
        }
        // Twice sent and never received: the bank is not reachable, and says itself that nothing was paid.
        (Answer::NeverReceived, _) => failed(payout, "AB07".to_owned(), turn),
        (Answer::Waiting | Answer::Silent, How::Ask) => {
            let looks = payout.looks + 1;
            let later = Payout { looks, next_look: Some(next_poll(turn.now, looks)), ..payout.clone() };
            let mut draft = Draft::new(Cause::BankAsked);
            draft.change(payout, Entity::Payout(later));
            Outcome::write(draft)
        }
    }
}

fn completed(payout: &Payout, reference: String, turn: &Turn) -> Outcome {
    let completed = Payout { status: Status::Completed, reference: Some(reference), next_look: None, kept: None, settled_at: Some(turn.now), ..payout.clone() };
    let mut draft = Draft::new(Cause::PayoutCompleted);
    draft.change(payout, Entity::Payout(completed));
    draft.event(EventKind::PayoutCompleted, EntityId::payout(payout.id));
    draft.replace_kept(payout.kept.clone());
    Outcome::write(draft)
}

fn failed(payout: &Payout, code: String, turn: &Turn) -> Outcome {
    let failed = Payout { status: Status::Failed, failure_code: Some(code), next_look: None, kept: None, settled_at: Some(turn.now), ..payout.clone() };
    let mut draft = Draft::new(Cause::PayoutFailed);
    post(&mut draft, payout, 1, MovementKind::PayoutReversal, MovementKind::PayoutReversal);
    draft.change(payout, Entity::Payout(failed));
    draft.event(EventKind::PayoutFailed, EntityId::payout(payout.id));
    draft.replace_kept(payout.kept.clone());
    Outcome::write(draft)
}
