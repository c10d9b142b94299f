//! USDT sent to wallets. The amount and the network's fee are debited before the order goes to the
//! network, and credited again when the network or an operator refuses. A payout above the tenant's
//! limit waits for an operator first (`docs/contract.md, 10.2, 10.3`).

use super::transfers::Signing;
use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Rules, Ruling, Turn, repeated};
use crate::entities::crypto_payout::{CryptoPayout, SEND, Status, Transfer};
use crate::entities::mandate_approval::{Member, Subject};
use crate::events::EventKind;
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::spending::Drawn;
use crate::ledger::{Ledger, MovementKind};
use crate::platform::mandate::Payee;
use crate::rail::{Effect, How, Operation, Order, RailReply, Service};
use crate::refusal::{CryptoRefusal, Refusal};
use crate::resources::payouts::lifecycle::{self, Payout as _, PayoutEnd};
use crate::trace::{OrderState, Said, Trace};
use crate::values::address::{Network, canonical};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Usdt};
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use std::sync::Arc;

/// The reason of a rejection without one.
pub const REJECTED: &str = "rejected";

impl Rules for CryptoPayout {
    lifecycle::payout_rules!(Status::Processing);

    fn contradiction(&self, _: Timestamp) -> Option<Operation> {
        let operation = self.as_operation();
        // Operators refuse payouts too, and their code is not the network's word.
        Some(Operation { code: operation.code.filter(|_| self.status != Status::Failed), ..operation })
    }
}

impl lifecycle::Payout for CryptoPayout {
    fn at_rail_mut(&mut self) -> (&mut OrderState, &mut Option<String>, &mut Option<String>) {
        (&mut self.order, &mut self.tx_hash, &mut self.failure_code)
    }

    fn end(&mut self, is_completed: bool, now: Timestamp) -> (Cause, EventKind, Option<Arc<KeepRef>>) {
        self.settled_at = Some(now);
        self.status = match (is_completed, self.status) {
            (true, _) => Status::Completed,
            // A payout that was never sent was refused by an operator.
            (false, Status::PendingReview) => Status::Rejected,
            (false, _) => Status::Failed,
        };
        let (cause, event) = match is_completed {
            true => (Cause::CryptoPayoutCompleted, EventKind::CryptoPayoutCompleted),
            false => (Cause::CryptoPayoutFailed, EventKind::CryptoPayoutFailed),
        };
        (cause, event, self.kept.take())
    }

    fn post(&self, draft: &mut Draft, sign: i64, [amount, fee]: [MovementKind; 2]) {
        let about = (EntityId::crypto_payout(self.id), &self.external_ref, (Ledger::Tenant, Currency::Usdt));
        let amounts = [
            (self.amount.minor(), Ledger::Rail, amount, "USDT payout"),
            (self.fee.minor(), Ledger::Fees, fee, "network fee of a USDT payout"),
        ];
        lifecycle::post(draft, about, sign, &amounts);
    }

    fn drawn(&self) -> (&Drawn, Currency, i64) {
        (&self.drawn, Currency::Usdt, self.total().minor())
    }

    fn call(&self, how: How, turn: &Turn<'_>) -> Effect {
        let (network, address, amount) = (self.network, self.address.clone(), self.amount);
        let order = Order::SendUsdt { network, address, amount };
        self.order.call(EntityId::crypto_payout(self.id), SEND, how, turn.now, order)
    }
}

pub struct NewCryptoPayout {
    pub id: Id,
    pub external_ref: ExternalRef,
    pub amount: Usdt,
    /// The network's fee, on top of the amount.
    pub fee: Usdt,
    pub network: Network,
    pub address: String,
}

impl NewCryptoPayout {
    /// What a payout asks for, for the time that it waits for an approval.
    pub fn subject(&self) -> Subject {
        let members = vec![
            Member::of("amountUsdt", &self.amount),
            Member::of("address", &canonical(&self.address)),
            Member::of("network", &self.network),
        ];
        Subject::named("usdt payout", &self.external_ref, members)
    }
}

pub enum Command {
    /// A request for a payout; the entity is the payout with its reference, if there is one.
    Pay(Box<NewCryptoPayout>),
    Review(Verdict),
    /// A signed transaction, which is broadcast once it is recorded.
    Sign(Box<Signing>),
}

pub fn decide(book: &Book, payout: Option<&CryptoPayout>, command: Command, turn: &Turn<'_>) -> Ruled {
    match (command, payout) {
        (Command::Pay(new), None) => create(book, *new, turn),
        // A network fee that was changed meanwhile makes no difference.
        (Command::Pay(again), Some(payout)) => {
            let fields = [
                ("amountUsdt", payout.amount != again.amount),
                ("address", canonical(&payout.address) != canonical(&again.address)),
                ("network", payout.network != again.network),
            ];
            repeated(payout.id, fields)
        }
        (Command::Review(verdict), Some(payout)) => review(payout, verdict, turn),
        (Command::Sign(signing), Some(payout)) => Ok(sign(payout, *signing, turn)),
        (Command::Review(_) | Command::Sign(_), None) => Err(Refusal::NotFound),
    }
}

/// Debits a payout, and sends it to the network or leaves it to an operator's review. Refusals are
/// in the order of `docs/contract.md, 1.12`.
fn create(book: &Book, new: NewCryptoPayout, turn: &Turn) -> Ruled {
    let settings = &book.tenant_settings.settings;
    if !settings.usdt_enabled {
        return Err(CryptoRefusal::NotEnabled.into());
    }
    if turn.terms(Service::Usdt(new.network), None).may_queue().is_err() {
        return Err(CryptoRefusal::NetworkNotConfigured.into());
    }
    let total = new.amount.plus(new.fee).ok_or(Refusal::AmountOverflow)?;
    let to = canonical(&new.address);
    let is_payee = |payee: &Payee| matches!(payee, Payee::Wallet(named) if **named == *to);
    let drawn = turn.may_pay(book, &[], (Currency::Usdt, total.minor()), is_payee)?;
    let available = Usdt::from_minor(book.account(Currency::Usdt).free());
    if total > available {
        return Err(CryptoRefusal::InsufficientBalance { available }.into());
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
        order: if review { OrderState::default() } else { OrderState::first(SEND, turn.livemode, turn) },
        // Under review the first answer stays the kept one: nobody waits that long.
        kept: turn.keep.clone().filter(|_| !review),
        livemode: turn.livemode,
        created_at: turn.now,
        settled_at: None,
        transfer: None,
        drawn,
    };
    let mut draft = Draft::new(Cause::CryptoPayoutCreated);
    payout.post(&mut draft, -1, [MovementKind::Payout, MovementKind::PayoutFee]);
    draft.spend(&payout.drawn, Currency::Usdt, total.minor());
    let effects = if review { Vec::new() } else { vec![first_call(&payout, turn)] };
    draft.create(payout);
    Ok(Ruling::write_then(draft, effects))
}

fn first_call(payout: &CryptoPayout, turn: &Turn) -> Effect {
    payout.call(if payout.order.trace.is_queued() { How::Offer } else { How::Send }, turn)
}

pub enum Verdict {
    Approve,
    Reject(String),
}

fn review(payout: &CryptoPayout, verdict: Verdict, turn: &Turn) -> Ruled {
    if payout.status != Status::PendingReview {
        return Err(CryptoRefusal::NotPendingReview.into());
    }
    if let Verdict::Reject(reason) = verdict {
        return Ok(lifecycle::settle(payout, PayoutEnd::Failed(reason), &Said::default(), turn));
    }
    if turn.terms(Service::Usdt(payout.network), None).may_queue().is_err() {
        return Err(CryptoRefusal::NetworkNotConfigured.into());
    }
    let approved = CryptoPayout {
        status: Status::Processing,
        kept: turn.keep.clone(),
        order: OrderState::first(SEND, turn.livemode, turn),
        ..payout.clone()
    };
    let effect = first_call(&approved, turn);
    Ok(Ruling::write_then(Draft::changed(Cause::CryptoPayoutApproved, payout, approved), vec![effect]))
}

/// The ruling on a signed transaction. It is recorded for a payout on its way alone, the first with
/// whatever nonce, the others in its place; without a record nothing may be broadcast.
fn sign(payout: &CryptoPayout, signing: Signing, turn: &Turn<'_>) -> Ruling {
    if payout.status != Status::Processing || !payout.livemode {
        return Ruling::unchanged();
    }
    let signed = match payout.transfer.as_deref() {
        None => Some(Transfer::begun(signing, turn.now)),
        Some(transfer) => transfer.replaced(signing, turn.now),
    };
    let Some(transfer) = signed else { return Ruling::unchanged() };
    let is_first = payout.transfer.is_none();
    let mut signed = CryptoPayout { transfer: Some(Box::new(transfer)), ..payout.clone() };
    if is_first {
        signed.order.trace = Trace::sent(turn.now);
        signed.order.next_look = Some(turn.first_look());
    }
    Ruling::write(Draft::changed(Cause::CryptoPayoutSigned, payout, signed))
}
