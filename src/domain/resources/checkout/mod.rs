//! Hosted checkout: a session says what is to be paid, and never changes. The payments made for it
//! show whether it is paid (`docs/contract.md, 12.4, 12.5`).
//!
//! No other place stores that a session is paid, so none can miss the completion of a payment: a
//! session is paid once, and stays paid. Attempts in bolívares (C2P, card, Pago Móvil) are one chain
//! under the session's name, of which only the newest can be charged, and none after one that
//! completed. An attempt in pesos
//! begins when the one before it is over. USDT can come at any time; one entity counts the deposits
//! of a session. Money that comes although the session is paid is a payment like any other.
//!
//! Sessions, and the attempts that they allow, belong here. The rules of a payment do not: they
//! are those of its resource. Pages and their words are in `src/checkout/`.

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::cop_payment::CopPayment;
use crate::entities::deposit_address::{DepositAddress, Till};
use crate::entities::payment::{Payment, Phase, Status as PaymentStatus};
use crate::entities::session::Session;
use crate::ledger::book::Book;
use crate::refusal::{CheckoutRefusal, PaymentRefusal, Refusal};
use crate::resources::conversions::price::with_four_decimals;
use crate::resources::cop_payments::{AMOUNT_MAX as COP_MAX, AMOUNT_MIN as COP_MIN};
use crate::values::ids::Id;
use crate::values::money::{Cop, Rate, Usd};
use crate::values::time::{DAY_MS, Timestamp};
use rust_decimal::Decimal;

/// The time for which a session can be paid, in milliseconds.
pub const SESSION_MS: i64 = DAY_MS;

/// Opens a session; its mode and its instants are filled in.
pub fn decide(_: &Book, known: Option<&Session>, new: Box<Session>, turn: &Turn<'_>) -> Ruled {
    // A session never changes.
    if known.is_some() {
        return Err(Refusal::NotFound);
    }
    let (created_at, expires_at) = (turn.now, turn.now.plus_ms(SESSION_MS));
    let session = Session { livemode: turn.livemode, created_at, expires_at, ..*new };
    Ok(Ruling::write(Draft::created(Cause::SessionOpened, session)))
}

/// The status of a session, derived from its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Open,
    /// A bank has the charge, or the processor the code, and its outcome is open.
    Processing,
    /// The session was paid, by the payment with this id.
    Paid(Id),
    Expired,
}

impl Status {
    /// The name in the API: for a tenant, a session that is being charged is still open.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Open | Status::Processing => "open",
            Status::Paid(_) => "paid",
            Status::Expired => "expired",
        }
    }

    /// The payment by which the session was paid.
    pub const fn payment(self) -> Option<Id> {
        if let Status::Paid(payment) = self { Some(payment) } else { None }
    }

    /// Checks whether an attempt may begin now.
    pub fn may_begin(self) -> Result<(), Refusal> {
        match self {
            Status::Open => Ok(()),
            Status::Processing => Err(PaymentRefusal::ChargeInProgress.into()),
            Status::Paid(_) => Err(CheckoutRefusal::SessionPaid.into()),
            Status::Expired => Err(CheckoutRefusal::SessionExpired.into()),
        }
    }
}

/// The attempts to pay a session: the newest in each currency, as only that one can have brought
/// money. An attempt in bolívares or in pesos begins when the one before it is over and has not paid;
/// deposits in USDT, whatever the network, are counted in one place.
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    /// The newest attempt in bolívares: by C2P, card or Pago Móvil.
    pub bolivares: Option<Payment>,
    pub cop: Option<CopPayment>,
    pub usdt: Option<DepositAddress>,
}

impl Attempts {
    /// The payment that completed first, which is the one of the session. When two ways are paid at
    /// once, both payments are the tenant's.
    fn paid(&self) -> Option<Id> {
        let bolivares = self.bolivares.as_ref().and_then(|payment| Some((payment.completed_at?, payment.id)));
        let cop = self.cop.as_ref().and_then(|payment| Some((payment.completed_at?, payment.id)));
        let usdt = self.till().and_then(|till| till.paid);
        [bolivares, cop, usdt].into_iter().flatten().min().map(|(_, id)| id)
    }

    /// The status of a session. A charge that is at a bank or the processor when the session
    /// expires is still waited for, and money that comes later pays the session all the same.
    pub fn standing(&self, session: &Session, now: Timestamp) -> Status {
        if let Some(payment) = self.paid() {
            return Status::Paid(payment);
        }
        let charging = self.bolivares.as_ref().is_some_and(|payment| {
            payment.status == PaymentStatus::Pending && matches!(payment.phase, Phase::Charging)
        });
        // The processor has the buyer's code, or an order to cancel, and has not answered: nothing
        // else can begin before it has.
        let telling = self
            .pending_cop()
            .and_then(|payment| payment.phase.waiting())
            .is_some_and(|waiting| waiting.telling.is_some());
        // A live processor lets nothing expire: what is there may still be paid.
        let at_live =
            now >= session.expires_at && self.pending_cop().is_some_and(|payment| payment.live.is_some());
        match charging || telling || at_live {
            true => Status::Processing,
            false if now >= session.expires_at => Status::Expired,
            false => Status::Open,
        }
    }

    pub fn pending_cop(&self) -> Option<&CopPayment> {
        self.cop.as_ref().filter(|payment| payment.status == PaymentStatus::Pending)
    }

    /// The pending attempt in bolívares: an intent, unless a bank works on it.
    pub fn pending_intent(&self) -> Option<&Payment> {
        self.bolivares.as_ref().filter(|payment| payment.status == PaymentStatus::Pending)
    }

    /// The attempt that began last, by a bank or in pesos.
    pub fn newest(&self) -> Option<Id> {
        let bolivares = self.bolivares.as_ref().map(|payment| (payment.created_at, payment.id));
        let cop = self.cop.as_ref().map(|payment| (payment.created_at, payment.id));
        bolivares.max(cop).map(|(_, id)| id)
    }

    pub fn till(&self) -> Option<&Till> {
        self.usdt.as_ref().and_then(|address| address.till.as_deref())
    }
}

/// The factor on the market rate of pesos in a checkout (`docs/contract.md, 12.7`).
const COP_MARGIN: Decimal = Decimal::from_parts(1_025, 0, 0, false, 3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPesos {
    pub market_rate: Rate,
    /// The price of a dollar for the buyer, in pesos.
    pub rate: Rate,
    pub total: Cop,
}

impl InPesos {
    /// The price of `usd` in pesos: the market rate with the margin, rounded to four decimals, and
    /// the total rounded up to whole pesos. `None` if the total exceeds what can be collected, or a
    /// figure overflows.
    pub fn of(usd: Usd, market_rate: Rate) -> Option<InPesos> {
        let rate = Rate(with_four_decimals(market_rate.0.checked_mul(COP_MARGIN)?));
        let total = Cop::ceiled(usd.decimal().checked_mul(rate.0)?)?;
        (total <= COP_MAX).then_some(InPesos { market_rate, rate, total })
    }

    /// Whether the total is less than can be collected.
    pub fn is_too_little(&self) -> bool {
        self.total < COP_MIN
    }
}

#[cfg(test)]
mod tests;
