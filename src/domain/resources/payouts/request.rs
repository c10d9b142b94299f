//! Requests for payouts: the command, the comparison with a repeat, the checks, and the debit.

use super::lifecycle::{RailPayout, Tries};
use crate::cause::Cause;
use crate::codec::stored;
use crate::decision::{Draft, Ruling, Turn, differing};
use crate::entities::Entity;
use crate::entities::payout::{Destination, Payout, PayoutKind, Status};
use crate::ledger::MovementKind;
use crate::ledger::book::{Book, Seller, SellerMethod};
use crate::rail::{Effect, Service};
use crate::refusal::{MerchantRefusal, PayoutRefusal, Refusal};
use crate::values::ids::Id;
use crate::values::money::{Currency, Ves};
use crate::values::text::ExternalRef;
use crate::values::venezuela::{AccountNumber, BankCode, IdentityDocument, MobilePhone};

stored! {
    /// A person with a phone at a bank.
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
            /// The payout method; `None` is the merchant's default.
            1 method: Option<Id>,
            2 from_balance: bool,
        },
        1 Credit(PhoneHolder),
        2 Change { 0 to: PhoneHolder, 1 payment: Option<Id> },
        3 Account { 0 account: AccountNumber, 1 identity: IdentityDocument, 2 name: String },
        4 Own,
    }
}

impl Receiver {
    /// The kind of a payout to this receiver.
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

/// The ruling on a known reference: a repeat of the same payout gets the same answer, another one
/// is a conflict.
pub(super) fn repeat(book: &Book, payout: &Payout, again: &NewPayout) -> Ruling {
    match conflict(book, payout, again) {
        None => Ruling::unchanged(),
        Some(refusal) => Ruling::refuse(refusal),
    }
}

pub(super) fn conflict(book: &Book, payout: &Payout, again: &NewPayout) -> Option<Refusal> {
    let differs = differs(book, payout, again);
    if !differs.is_empty() && !is_known(book, &again.receiver) {
        return Some(Refusal::NotFound);
    }
    (!differs.is_empty()).then_some(Refusal::ExternalRefConflict { existing: payout.id, differs })
}

/// Whether the named merchant and method exist.
fn is_known(book: &Book, receiver: &Receiver) -> bool {
    let Receiver::Merchant { merchant, method, .. } = receiver else { return true };
    let has =
        |seller: &Seller| method.is_none_or(|named| seller.methods.iter().any(|method| method.id == named));
    book.sellers.get(merchant).is_some_and(|seller| has(seller))
}

pub enum Command {
    /// A request for a payout; the entity is the payout with its reference, if there is one.
    Pay(Box<NewPayout>),
}

pub fn decide(book: &Book, payout: Option<&Payout>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, payout) {
        (Command::Pay(new), None) => create(book, *new, turn),
        (Command::Pay(new), Some(payout)) => repeat(book, payout, &new),
    }
}

/// Debits a payout and has the bank pay it.
pub(super) fn create(book: &Book, new: NewPayout, turn: &Turn) -> Ruling {
    let payout = match prepare(book, new, turn) {
        Ok(payout) => Payout { kept: turn.keep.clone(), ..payout },
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let spendable = match (payout.from_merchant_balance, payout.merchant.and_then(|id| book.sellers.get(&id)))
    {
        (true, Some(seller)) => seller.account(Currency::Ves).free(),
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
pub(super) fn afford(payout: &Payout, spendable: i64) -> Result<i64, Refusal> {
    let total = payout.amount.plus(payout.fee).ok_or(Refusal::AmountOverflow)?;
    match spendable.checked_sub(total.minor()) {
        Some(left) if left >= 0 => Ok(left),
        _ => Err(Refusal::InsufficientBalance { available: Ves::from_minor(spendable) }),
    }
}

/// Writes the debit of a new payout; returns the order to the bank.
pub(super) fn debit(draft: &mut Draft, payout: Payout, turn: &Turn) -> Effect {
    payout.post(draft, -1, MovementKind::Payout, MovementKind::PayoutFee);
    let effect = payout.order(payout.tries().how(), turn);
    draft.create(Entity::Payout(payout));
    effect
}

/// The requested payout, with every check but the one of the balance. Refusals are in the order of
/// `docs/contract.md, 1.12`.
pub(super) fn prepare(book: &Book, new: NewPayout, turn: &Turn) -> Result<Payout, Refusal> {
    let kind = new.receiver.kind();
    let receiving = receiving(book, new.receiver)?;
    let terms = turn.terms(Service::Payouts, None);
    terms.may_queue()?;
    terms.carries(new.amount, "monto")?;
    let Tries { sends, looks, next_look, trace } = Tries::begun(turn);
    Ok(Payout {
        id: new.id,
        external_ref: new.external_ref,
        kind,
        status: Status::Pending,
        amount: new.amount,
        fee: book.tenant_settings.settings.fees.payout,
        concept: new.concept,
        merchant: receiving.merchant.as_ref().map(|(id, _)| *id),
        merchant_name: receiving.merchant.map(|(_, name)| name),
        method: receiving.method,
        method_named: receiving.method_named,
        payment: receiving.payment,
        batch: None,
        destination: receiving.destination,
        from_merchant_balance: receiving.from_merchant_balance,
        reference: None,
        failure_code: None,
        sends,
        looks,
        next_look,
        kept: None,
        livemode: turn.livemode,
        created_at: turn.now,
        settled_at: None,
        trace,
    })
}

/// The receiver of a payout, as its book knows it.
struct Receiving {
    destination: Destination,
    merchant: Option<(Id, String)>,
    method: Option<Id>,
    method_named: bool,
    from_merchant_balance: bool,
    payment: Option<Id>,
}

impl From<Destination> for Receiving {
    fn from(destination: Destination) -> Receiving {
        Receiving {
            destination,
            merchant: None,
            method: None,
            method_named: false,
            from_merchant_balance: false,
            payment: None,
        }
    }
}

/// Looks up where the money goes.
fn receiving(book: &Book, receiver: Receiver) -> Result<Receiving, Refusal> {
    let to_phone =
        |to: PhoneHolder| Destination::Phone { bank: to.bank, phone: to.phone, identity: Some(to.identity) };
    Ok(match receiver {
        Receiver::Merchant { merchant, method: wanted, from_balance } => {
            let seller = book.sellers.get(&merchant).ok_or(Refusal::NotFound)?;
            let method = method(seller, wanted)?;
            if !seller.active {
                return Err(MerchantRefusal::Inactive.into());
            }
            let destination = Destination::Phone {
                bank: method.bank,
                phone: method.phone,
                identity: seller.identification,
            };
            Receiving {
                merchant: Some((merchant, seller.name.clone())),
                method: Some(method.id),
                method_named: wanted.is_some(),
                from_merchant_balance: from_balance,
                ..destination.into()
            }
        }
        Receiver::Credit(to) => to_phone(to).into(),
        Receiver::Change { to, payment } => Receiving { payment, ..to_phone(to).into() },
        Receiver::Own => match book.own {
            Some((own, true)) => {
                Destination::Phone { bank: own.bank, phone: own.phone, identity: Some(own.identification) }
                    .into()
            }
            Some((_, false)) | None => return Err(PayoutRefusal::AccountNotVerified.into()),
        },
        Receiver::Account { account, identity, name } => {
            Destination::Account { account, identity, name }.into()
        }
    })
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
