//! Payouts in bolívares of every kind: to merchants, to phones, to accounts. All are debited before
//! the order goes to the bank, and credited again when the bank refuses (`docs/contract.md, 7.8`).
//!
//! Requests, batches and the life of a payout belong here; the life serves payouts in USDT too. The
//! rules of those do not (`crypto`), nor payouts in pesos (`cop_payouts`), nor banks' calls.

use crate::cause::Cause;
use crate::codec::stored;
use crate::decision::{Draft, Rules, Ruling, Turn, differing};
use crate::entities::payout::{CREDIT, Destination, Payout, PayoutKind, Status};
use crate::events::EventKind;
use crate::kept::KeepRef;
use crate::ledger::book::{Book, Seller, SellerMethod};
use crate::ledger::{Ledger, MovementKind};
use crate::rail::{Effect, How, Operation, Order, RailReply, Service};
use crate::refusal::{MerchantRefusal, PayoutRefusal, Refusal};
use crate::trace::{OrderState, Trace};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Ves};
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use crate::values::venezuela::{AccountNumber, BankCode, IdentityDocument, MobilePhone};
use lifecycle::{Amount, Payout as _};
use std::sync::Arc;

pub mod batch;
pub mod lifecycle;

impl Payout {
    /// Posts the amount and the fee; `sign` −1 takes them from the payer, 1 gives them back.
    fn post(&self, draft: &mut Draft, sign: i64, amount_kind: MovementKind, fee_kind: MovementKind) {
        let description = self.concept.as_str();
        let amounts = [
            Amount { minor: self.amount.minor(), against: Ledger::Rail, kind: amount_kind, description },
            Amount { minor: self.fee.minor(), against: Ledger::Fees, kind: fee_kind, description },
        ];
        let about = (EntityId::payout(self.id), &self.external_ref);
        lifecycle::post(draft, about, (self.payer(), Currency::Ves), sign, &amounts);
    }
}

impl Rules for Payout {
    fn on_rail_reply(&self, _: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
        lifecycle::on_rail_reply(self, reply, turn)
    }

    fn on_deadline(&self, _: &Book, turn: &Turn<'_>) -> Ruling {
        lifecycle::deadline(self, turn)
    }

    fn on_begin(&self, turn: &Turn<'_>) -> Ruling {
        lifecycle::begin(self, turn)
    }

    /// Payouts of a batch are sent by the batch's record.
    fn wants(&self, _: &Order) -> bool {
        self.is_unsent()
    }

    fn unanswered(&self) -> Vec<Operation> {
        (self.status == Status::Pending).then(|| self.as_operation()).into_iter().collect()
    }

    fn contradiction(&self, _: Timestamp) -> Option<Operation> {
        self.is_contradicted().then(|| self.as_operation())
    }

    fn trace_mut(&mut self, operation: u16) -> Option<&mut Trace> {
        self.order.of_mut(operation)
    }

    fn ask_on(&mut self, _: u16, turn: &Turn<'_>) {
        self.order.ask_on(turn);
    }
}

impl lifecycle::Payout for Payout {
    fn is_sent(&self) -> bool {
        self.status == Status::Pending
    }

    fn order(&self) -> &OrderState {
        &self.order
    }

    fn order_mut(&mut self) -> &mut OrderState {
        &mut self.order
    }

    fn words_mut(&mut self) -> (&mut Option<String>, &mut Option<String>) {
        (&mut self.reference, &mut self.failure_code)
    }

    fn end(&mut self, is_completed: bool, now: Timestamp) -> (Cause, EventKind, Option<Arc<KeepRef>>) {
        self.settled_at = Some(now);
        let (status, cause, event) = match is_completed {
            true => (Status::Completed, Cause::PayoutCompleted, EventKind::PayoutCompleted),
            false => (Status::Failed, Cause::PayoutFailed, EventKind::PayoutFailed),
        };
        self.status = status;
        (cause, event, self.kept.take())
    }

    fn give_back(&self, draft: &mut Draft) {
        self.post(draft, 1, MovementKind::PayoutReversal, MovementKind::PayoutReversal);
    }

    fn call(&self, how: How, turn: &Turn<'_>) -> Effect {
        self.order.call(EntityId::payout(self.id), CREDIT, how, turn.now, self.instruction())
    }
}

stored! {
    #[derive(Clone, Copy)]
    pub struct PhoneHolder {
        0 pub bank: BankCode,
        1 pub phone: MobilePhone,
        2 pub identity: IdentityDocument,
    }

    #[derive(Clone)]
    pub enum Receiver {
        0 Merchant {
            0 merchant: Id,
            1 method: Option<Id>,
            2 from_balance: bool,
        },
        1 Credit(PhoneHolder),
        2 Change { 0 to: PhoneHolder, 1 payment: Option<Id> },
        3 Account { 0 account: AccountNumber, 1 identity: IdentityDocument, 2 name: String },
        4 Own,
    }
}

impl PhoneHolder {
    const fn destination(self) -> Destination {
        Destination::Phone { bank: self.bank, phone: self.phone, identity: Some(self.identity) }
    }
}

impl Receiver {
    pub const fn kind(&self) -> PayoutKind {
        match self {
            Receiver::Merchant { .. } => PayoutKind::Merchant,
            Receiver::Credit(_) => PayoutKind::Credit,
            Receiver::Change { .. } => PayoutKind::Change,
            Receiver::Account { .. } => PayoutKind::Account,
            Receiver::Own => PayoutKind::Instant,
        }
    }
}

pub struct NewPayout {
    pub id: Id,
    pub external_ref: ExternalRef,
    pub receiver: Receiver,
    pub amount: Ves,
    pub concept: String,
}

/// The names of the fields in which a repeat differs from the payout with its reference
/// (`docs/contract.md, 1.7`).
fn differs(book: &Book, payout: &Payout, again: &NewPayout) -> Vec<&'static str> {
    let to_phone = |to: &PhoneHolder| {
        let (bank, phone, identity) = match payout.destination {
            Destination::Phone { bank, phone, identity } => (Some(bank), Some(phone), identity),
            Destination::Account { .. } => (None, None, None),
        };
        [
            ("banco", bank != Some(to.bank)),
            ("telefono", phone != Some(to.phone)),
            ("cedula", identity != Some(to.identity)),
        ]
    };
    let mut fields = vec![("kind", payout.kind != again.receiver.kind())];
    match &again.receiver {
        Receiver::Merchant { merchant, method, from_balance } => {
            let method_differs = match method {
                Some(method) => payout.method != Some(*method),
                // An unnamed method means the default: the one at the time, or the current one if
                // the first request named it.
                None => {
                    payout.method_named
                        && payout.method
                            != book.sellers.get(merchant).and_then(|seller| seller.default_method)
                }
            };
            fields.extend([
                ("merchantId", payout.merchant != Some(*merchant)),
                ("payoutMethodId", method_differs),
                ("fromMerchantBalance", payout.from_merchant_balance != *from_balance),
            ]);
        }
        Receiver::Credit(to) => fields.extend(to_phone(to)),
        Receiver::Change { to, payment } => {
            fields.extend(to_phone(to));
            fields.push(("paymentId", payout.payment != *payment));
        }
        Receiver::Own => {}
        Receiver::Account { account, identity, name } => {
            let (paid, whose, called) = match &payout.destination {
                Destination::Account { account, identity, name } => {
                    (Some(account), Some(identity), Some(name))
                }
                Destination::Phone { .. } => (None, None, None),
            };
            fields.extend([
                ("cuenta", paid != Some(account)),
                ("cedula", whose != Some(identity)),
                ("nombre", called != Some(name)),
            ]);
        }
    }
    // The tenant's own account at the time is not part of the request.
    fields.extend([("monto", payout.amount != again.amount), ("concepto", payout.concept != again.concept)]);
    differing(fields)
}

fn conflict(book: &Book, payout: &Payout, again: &NewPayout) -> Option<Refusal> {
    let differs = differs(book, payout, again);
    if !differs.is_empty() && !is_known(book, &again.receiver) {
        return Some(Refusal::NotFound);
    }
    (!differs.is_empty()).then_some(Refusal::ExternalRefConflict { existing: payout.id, differs })
}

fn is_known(book: &Book, receiver: &Receiver) -> bool {
    let Receiver::Merchant { merchant, method, .. } = receiver else { return true };
    let has =
        |seller: &Seller| method.is_none_or(|named| seller.methods.iter().any(|method| method.id == named));
    book.sellers.get(merchant).is_some_and(|seller| has(seller))
}

/// Debits a payout and has the bank pay it. Under a known reference, a repeat of the same payout gets the same
/// answer, and another one is a conflict.
pub fn decide(book: &Book, known: Option<&Payout>, new: Box<NewPayout>, turn: &Turn<'_>) -> Ruling {
    if let Some(payout) = known {
        return conflict(book, payout, &new).map_or_else(Ruling::unchanged, Ruling::refuse);
    }
    let mut payout = match prepare(book, *new, turn) {
        Ok(payout) => payout,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    payout.kept.clone_from(&turn.keep);
    let spendable = match payout.payer() {
        Ledger::Seller(merchant) => match book.sellers.get(&merchant) {
            Some(seller) => seller.account(Currency::Ves).free(),
            None => book.spendable(Currency::Ves),
        },
        _ => book.spendable(Currency::Ves),
    };
    if let Err(refusal) = afford(&payout, spendable) {
        return Ruling::refuse(refusal);
    }
    let mut draft = Draft::new(Cause::PayoutCreated);
    let effect = debit(&mut draft, payout, turn);
    Ruling::write_then(draft, vec![effect])
}

/// The rest of `spendable` after the payout and its fee; a refusal if it does not suffice.
fn afford(payout: &Payout, spendable: i64) -> Result<i64, Refusal> {
    let total = payout.amount.plus(payout.fee).ok_or(Refusal::AmountOverflow)?;
    match spendable.checked_sub(total.minor()) {
        Some(left) if left >= 0 => Ok(left),
        _ => Err(Refusal::InsufficientBalance { available: Ves::from_minor(spendable) }),
    }
}

/// Writes the debit of a new payout; returns the order to the bank.
fn debit(draft: &mut Draft, payout: Payout, turn: &Turn) -> Effect {
    payout.post(draft, -1, MovementKind::Payout, MovementKind::PayoutFee);
    let how = if payout.order.trace.is_queued() { How::Offer } else { How::Send };
    let effect = payout.call(how, turn);
    draft.create(payout);
    effect
}

/// The requested payout, with every check but the one of the balance. Refusals are in the order of
/// `docs/contract.md, 1.12`.
fn prepare(book: &Book, new: NewPayout, turn: &Turn) -> Result<Payout, Refusal> {
    let kind = new.receiver.kind();
    let mut to_merchant = None;
    let mut change_of = None;
    let destination = match new.receiver {
        Receiver::Merchant { merchant, method: wanted, from_balance } => {
            let seller = book.sellers.get(&merchant).ok_or(Refusal::NotFound)?;
            let method = method(seller, wanted)?;
            if !seller.active {
                return Err(MerchantRefusal::Inactive.into());
            }
            to_merchant = Some((merchant, seller.name.clone(), method.id, wanted.is_some(), from_balance));
            Destination::Phone { bank: method.bank, phone: method.phone, identity: seller.identification }
        }
        Receiver::Credit(to) => to.destination(),
        Receiver::Change { to, payment } => {
            change_of = payment;
            to.destination()
        }
        Receiver::Own => match book.own {
            Some((own, true)) => {
                PhoneHolder { bank: own.bank, phone: own.phone, identity: own.identification }.destination()
            }
            Some((_, false)) | None => return Err(PayoutRefusal::AccountNotVerified.into()),
        },
        Receiver::Account { account, identity, name } => Destination::Account { account, identity, name },
    };
    let terms = turn.terms(Service::Payouts, None);
    terms.may_queue()?;
    terms.carries(new.amount, "monto")?;
    let mut payout = Payout {
        id: new.id,
        external_ref: new.external_ref,
        kind,
        status: Status::Pending,
        amount: new.amount,
        fee: book.tenant_settings.settings.fees.payout,
        concept: new.concept,
        merchant: None,
        merchant_name: None,
        method: None,
        method_named: false,
        payment: change_of,
        batch: None,
        destination,
        from_merchant_balance: false,
        reference: None,
        failure_code: None,
        order: OrderState::begun(CREDIT, turn),
        kept: None,
        livemode: turn.livemode,
        created_at: turn.now,
        settled_at: None,
    };
    if let Some((merchant, name, method, is_named, from_balance)) = to_merchant {
        (payout.merchant, payout.merchant_name, payout.method) = (Some(merchant), Some(name), Some(method));
        (payout.method_named, payout.from_merchant_balance) = (is_named, from_balance);
    }
    Ok(payout)
}

fn method(seller: &Seller, named: Option<Id>) -> Result<&SellerMethod, Refusal> {
    let method = match named {
        Some(id) => seller.methods.iter().find(|method| method.id == id).ok_or(Refusal::NotFound)?,
        None => seller
            .methods
            .iter()
            .find(|method| Some(method.id) == seller.default_method)
            .ok_or(PayoutRefusal::MethodNotVerified)?,
    };
    if method.verified { Ok(method) } else { Err(PayoutRefusal::MethodNotVerified.into()) }
}
