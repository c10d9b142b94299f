//! Payouts in bolívares of every kind: to merchants, to phones, to accounts. All are debited before
//! the order goes to the bank, and credited again when the bank refuses (`docs/contract.md, 7.8`).
//!
//! Requests, batches and the life of a payout belong here; the life serves payouts in USDT too. The
//! rules of those do not (`crypto`), nor payouts in pesos (`cop_payouts`), nor banks' calls.

use crate::cause::Cause;
use crate::codec::stored;
use crate::decision::{Draft, Ruled, Rules, Ruling, Turn, differing};
use crate::entities::mandate_approval::{Member, Subject};
use crate::entities::payout::{CREDIT, Destination, Payout, PayoutKind, Status};
use crate::events::EventKind;
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::spending::{Drawn, Spending};
use crate::ledger::{Ledger, MovementKind};
use crate::platform::mandate::Payee;
use crate::rail::{Effect, How, Operation, Order, RailReply, Service};
use crate::refusal::{MerchantRefusal, PayoutRefusal, Refusal};
use crate::trace::OrderState;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Ves};
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use crate::values::venezuela::{AccountNumber, BankCode, IdentityDocument, MobilePhone};
use lifecycle::Payout as _;
use std::sync::Arc;

pub mod batch;
pub mod lifecycle;

impl Rules for Payout {
    lifecycle::payout_rules!(Status::Pending);

    /// Payouts of a batch are sent by the batch's record.
    fn wants(&self, _: &Order) -> bool {
        self.is_unsent()
    }

    fn contradiction(&self, _: Timestamp) -> Option<Operation> {
        self.is_contradicted().then(|| self.as_operation())
    }
}

impl lifecycle::Payout for Payout {
    fn at_rail_mut(&mut self) -> (&mut OrderState, &mut Option<String>, &mut Option<String>) {
        (&mut self.order, &mut self.reference, &mut self.failure_code)
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

    fn post(&self, draft: &mut Draft, sign: i64, [amount, fee]: [MovementKind; 2]) {
        let about = (EntityId::payout(self.id), &self.external_ref, (self.payer(), Currency::Ves));
        let words = self.concept.as_str();
        let amounts = [
            (self.amount.minor(), Ledger::Rail, amount, words),
            (self.fee.minor(), Ledger::Fees, fee, words),
        ];
        lifecycle::post(draft, about, sign, &amounts);
    }

    fn drawn(&self) -> (&Drawn, Currency, i64) {
        (&self.drawn, Currency::Ves, self.total().unwrap_or(self.amount).minor())
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

    /// Where the account's own data lead it now, if they do and not the call.
    pub fn leads_to(&self, book: &Book) -> Option<Destination> {
        match self {
            Receiver::Merchant { merchant, method, .. } => {
                let seller = book.sellers.get(merchant)?;
                let named = method.or(seller.default_method);
                let to = seller.methods.iter().find(|method| Some(method.id) == named)?;
                Some(Destination::Phone { bank: to.bank, phone: to.phone, identity: seller.identification })
            }
            Receiver::Own => book.own.map(|(own, _)| Destination::Phone {
                bank: own.bank,
                phone: own.phone,
                identity: Some(own.identification),
            }),
            Receiver::Credit(_) | Receiver::Change { .. } | Receiver::Account { .. } => None,
        }
    }
}

#[derive(Clone)]
pub struct NewPayout {
    pub id: Id,
    pub external_ref: ExternalRef,
    pub receiver: Receiver,
    pub amount: Ves,
    pub concept: String,
}

impl NewPayout {
    /// What a payout asks for, for the time that it waits for an approval.
    pub fn subject(&self) -> Subject {
        let mut members = vec![Member::of("kind", &self.receiver.kind())];
        let mut phone = |to: &PhoneHolder| {
            members.extend([
                Member::of("banco", &to.bank),
                Member::of("telefono", &to.phone),
                Member::of("cedula", &to.identity),
            ]);
        };
        match &self.receiver {
            Receiver::Credit(to) => phone(to),
            Receiver::Change { to, payment } => {
                phone(to);
                members.push(Member::of("paymentId", payment));
            }
            Receiver::Merchant { merchant, method, from_balance } => members.extend([
                Member::of("merchantId", merchant),
                Member::of("payoutMethodId", method),
                Member::of("fromMerchantBalance", from_balance),
            ]),
            Receiver::Account { account, identity, name } => members.extend([
                Member::of("cuenta", account),
                Member::of("cedula", identity),
                Member::of("nombre", name),
            ]),
            Receiver::Own => {}
        }
        members.extend([Member::of("monto", &self.amount), Member::of("concepto", &self.concept)]);
        Subject::named("payout", &self.external_ref, members)
    }
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

/// Refuses another payout under a known reference.
fn same(book: &Book, payout: &Payout, again: &NewPayout) -> Result<(), Refusal> {
    let differs = differs(book, payout, again);
    if differs.is_empty() {
        return Ok(());
    }
    if let Receiver::Merchant { merchant, method, .. } = again.receiver {
        let seller = book.sellers.get(&merchant).ok_or(Refusal::NotFound)?;
        if method.is_some_and(|named| seller.methods.iter().all(|method| method.id != named)) {
            return Err(Refusal::NotFound);
        }
    }
    Err(Refusal::ExternalRefConflict { existing: payout.id, differs })
}

/// Debits a payout and has the bank pay it. Under a known reference, a repeat of the same payout gets the same
/// answer, and another one is a conflict.
pub fn decide(book: &Book, known: Option<&Payout>, new: Box<NewPayout>, turn: &Turn<'_>) -> Ruled {
    if let Some(payout) = known {
        same(book, payout, &new)?;
        return Ok(Ruling::unchanged());
    }
    let mut payout = prepare(book, *new, &[], turn)?;
    payout.kept.clone_from(&turn.keep);
    let spendable = match payout.payer() {
        Ledger::Seller(merchant) => match book.sellers.get(&merchant) {
            Some(seller) => seller.account(Currency::Ves).free(),
            None => book.spendable(Currency::Ves),
        },
        _ => book.spendable(Currency::Ves),
    };
    afford(&payout, spendable)?;
    let mut draft = Draft::new(Cause::PayoutCreated);
    let effect = debit(&mut draft, payout, turn);
    Ok(Ruling::write_then(draft, vec![effect]))
}

/// The rest of `spendable` after the payout and its fee; a refusal if it does not suffice.
fn afford(payout: &Payout, spendable: i64) -> Result<i64, Refusal> {
    let total = payout.total().ok_or(Refusal::AmountOverflow)?;
    match spendable.checked_sub(total.minor()) {
        Some(left) if left >= 0 => Ok(left),
        _ => Err(Refusal::InsufficientBalance { available: Ves::from_minor(spendable) }),
    }
}

/// Writes the debit of a new payout; returns the order to the bank.
fn debit(draft: &mut Draft, payout: Payout, turn: &Turn) -> Effect {
    payout.post(draft, -1, [MovementKind::Payout, MovementKind::PayoutFee]);
    let (drawn, currency, total) = payout.drawn();
    draft.spend(drawn, currency, total);
    let how = if payout.order.trace.is_queued() { How::Offer } else { How::Send };
    let effect = payout.call(how, turn);
    draft.create(payout);
    effect
}

/// Whether a mandate's payee is who gets a payout: a merchant by its id alone, anybody else by phone or account.
fn is_payee(payee: &Payee, merchant: Option<Id>, destination: &Destination) -> bool {
    match (payee, destination) {
        (Payee::Merchant(id), _) => merchant == Some(*id),
        (Payee::Phone(named), Destination::Phone { phone, .. }) => merchant.is_none() && named == phone,
        (Payee::Account(named), Destination::Account { account, .. }) => named == account,
        (Payee::Phone(_) | Payee::Account(_) | Payee::Wallet(_), _) => false,
    }
}

/// The requested payout, with every check but the one of the balance. Refusals are in the order of
/// `docs/contract.md, 1.12`. `taken` is what the same call has taken out of its mandate by now.
fn prepare(book: &Book, new: NewPayout, taken: &[Spending], turn: &Turn) -> Result<Payout, Refusal> {
    let kind = new.receiver.kind();
    let (mut merchant, mut merchant_name, mut method, mut payment) = (None, None, None, None);
    let (mut method_named, mut from_merchant_balance) = (false, false);
    let destination = match new.receiver {
        Receiver::Merchant { merchant: id, method: wanted, from_balance } => {
            let seller = book.sellers.get(&id).ok_or(Refusal::NotFound)?;
            let named = if wanted.is_some() { wanted } else { seller.default_method };
            let found = seller.methods.iter().find(|method| Some(method.id) == named);
            let to = match found {
                Some(method) if method.verified => method,
                None if wanted.is_some() => return Err(Refusal::NotFound),
                Some(_) | None => return Err(PayoutRefusal::MethodNotVerified.into()),
            };
            if !seller.active {
                return Err(MerchantRefusal::Inactive.into());
            }
            (merchant, merchant_name, method) = (Some(id), Some(seller.name.clone()), Some(to.id));
            (method_named, from_merchant_balance) = (wanted.is_some(), from_balance);
            Destination::Phone { bank: to.bank, phone: to.phone, identity: seller.identification }
        }
        Receiver::Credit(to) => to.destination(),
        Receiver::Change { to, payment: of } => {
            payment = of;
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
    let fee = book.tenant_settings.settings.fees.payout;
    let total = new.amount.plus(fee).ok_or(Refusal::AmountOverflow)?;
    let sum = (Currency::Ves, total.minor());
    let drawn = turn.may_pay(book, taken, sum, |payee| is_payee(payee, merchant, &destination))?;
    Ok(Payout {
        id: new.id,
        external_ref: new.external_ref,
        kind,
        status: Status::Pending,
        amount: new.amount,
        fee,
        concept: new.concept,
        merchant,
        merchant_name,
        method,
        method_named,
        payment,
        batch: None,
        destination,
        from_merchant_balance,
        reference: None,
        failure_code: None,
        order: OrderState::first(CREDIT, turn.livemode, turn),
        drawn,
        kept: None,
        livemode: turn.livemode,
        created_at: turn.now,
        settled_at: None,
    })
}
