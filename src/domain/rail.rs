//! Orders to banks and their replies, in the domain's words. The rails speak to banks; these are
//! the words that they get and return.

use crate::codec::named;
use crate::refusal::Refusal;
use crate::trace::{BankWord, POLL_MS, Polling, RailId, Said, Trace};
use crate::values::address::Network;
use crate::values::card::Card;
use crate::values::colombia::{Buyer, Channel};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency, Usdt, Ves, write_minor};
use crate::values::time::{Date, Timestamp};
use crate::values::token::{StepToken, Token};
use crate::values::venezuela::{AccountNumber, BankCode, IdentityDocument, MobilePhone};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    pub original: Id,
    pub amount: Cop,
    /// The instant up to which the buyer can pay, on the tenant's clock.
    pub expires_at: Timestamp,
}

/// A message to the processor of pesos about a collection. It answers how the collection stands
/// then.
pub enum Instruction {
    Cancel,
    /// The buyer is to be sent an SMS code: told once in the life of a collection.
    SendCode,
    Code(Token),
    /// The buyer pays: only in test mode.
    Paid,
    /// The buyer declines: only in test mode.
    Declined,
}

pub enum Order {
    /// A charge of a customer with a key that the customer made for it.
    ChargeC2p {
        bank: BankCode,
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        amount: Ves,
        /// The customer's key; gone after a crash, and not needed for a question.
        token: Option<Token>,
    },
    ReverseC2p {
        original: Id,
        bank: BankCode,
        debtor: IdentityDocument,
        reference: String,
        amount: Ves,
    },
    RequestOtp {
        bank: BankCode,
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        amount: Ves,
    },
    /// A debit of a customer with a code that the customer was sent for it.
    Debit {
        bank: BankCode,
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        name: String,
        amount: Ves,
        concept: String,
        /// The customer's code; gone after a crash, and not needed for a question.
        otp: Option<Token>,
    },
    Credit {
        bank: BankCode,
        phone: MobilePhone,
        identity: Option<IdentityDocument>,
        amount: Ves,
        concept: String,
    },
    CreditAccount {
        account: AccountNumber,
        identity: IdentityDocument,
        name: String,
        amount: Ves,
        concept: String,
    },
    /// Two small payments to a phone, whose amounts its owner can then name to prove it.
    MicroDeposit {
        bank: BankCode,
        phone: MobilePhone,
        identity: Option<IdentityDocument>,
        amounts: (Ves, Ves),
    },
    ChargeCard {
        amount: Ves,
        /// The card; gone after a crash, and not needed for a question.
        card: Option<Arc<Card>>,
    },
    /// A search for a transfer that a customer made to us.
    FindTransfer {
        bank: BankCode,
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        date: Date,
        /// The digits of its reference that are known, without leading zeros.
        reference: String,
        amount: Ves,
    },
    SendUsdt {
        network: Network,
        address: String,
        amount: Usdt,
    },
    /// A question for the market price of a USDT: no bank is called and nothing moves, so it may be
    /// asked any number of times.
    PriceUsdt {
        currency: Currency,
    },
    /// A collection of pesos from a buyer; it waits until the buyer pays, declines or lets the time
    /// pass.
    CollectCop {
        collection: Collection,
        channel: Channel,
        amount: Cop,
        transfer_key: String,
        buyer: Option<Box<Buyer>>,
        /// Whether it was paid, so that the question is about that payment alone: another under the same
        /// name says nothing of it.
        is_paid: bool,
    },
    /// An instruction about a collection; may be sent again.
    TellCop {
        collection: Collection,
        rail_id: Option<RailId>,
        /// The token that it takes, where the processor gave one with its last answer.
        token: Option<StepToken>,
        instruction: Instruction,
    },
    RefundCop {
        original: Id,
        reference: String,
        amount: Cop,
        completed_at: Timestamp,
    },
}

impl Order {
    /// The name of its kind, for the logs; the service of the rails that it takes, if any rail is asked; and the
    /// bank of the other side.
    const fn facts(&self) -> (&'static str, Option<Service>, Option<BankCode>) {
        match self {
            Order::ChargeC2p { bank, .. } => ("charge_c2p", Some(Service::C2p), Some(*bank)),
            Order::ReverseC2p { bank, .. } => ("reverse_c2p", Some(Service::C2p), Some(*bank)),
            // Whoever debits has the codes sent.
            Order::RequestOtp { bank, .. } => ("request_otp", Some(Service::Debit), Some(*bank)),
            Order::Debit { bank, .. } => ("debit", Some(Service::Debit), Some(*bank)),
            Order::Credit { bank, .. } => ("credit", Some(Service::Payouts), Some(*bank)),
            Order::CreditAccount { account, .. } => {
                ("credit_account", Some(Service::Payouts), Some(account.bank()))
            }
            Order::MicroDeposit { bank, .. } => ("micro_deposit", Some(Service::MicroDeposits), Some(*bank)),
            Order::ChargeCard { .. } => ("charge_card", Some(Service::Card), None),
            Order::FindTransfer { bank, .. } => ("find_transfer", Some(Service::PagoMovil), Some(*bank)),
            Order::SendUsdt { network, .. } => ("send_usdt", Some(Service::Usdt(*network)), None),
            Order::PriceUsdt { .. } => ("price_usdt", None, None),
            Order::CollectCop { .. } => (BankCall::COLLECT_COP.kind, Some(Service::Cop), None),
            Order::TellCop { .. } => ("tell_cop", Some(Service::Cop), None),
            Order::RefundCop { .. } => ("refund_cop", Some(Service::Cop), None),
        }
    }

    pub const fn kind(&self) -> &'static str {
        self.facts().0
    }

    /// The kind of the operation that it begins, if operators see one.
    pub const fn operation(&self) -> Option<OperationKind> {
        Some(match self {
            Order::ChargeC2p { .. } => OperationKind::C2p,
            Order::ReverseC2p { .. } => OperationKind::C2pReversal,
            Order::Debit { .. } => OperationKind::Debit,
            Order::ChargeCard { .. } => OperationKind::Card,
            Order::Credit { .. } | Order::CreditAccount { .. } => OperationKind::Payout,
            Order::MicroDeposit { .. } => OperationKind::MicroDeposit,
            Order::CollectCop { .. } => OperationKind::CopPayment,
            Order::RefundCop { .. } => OperationKind::CopRefund,
            Order::SendUsdt { .. } => OperationKind::CryptoPayout,
            Order::RequestOtp { .. }
            | Order::FindTransfer { .. }
            | Order::TellCop { .. }
            | Order::PriceUsdt { .. } => return None,
        })
    }

    /// The amount in minor units; none of a question for a price. Of two payments it is their sum.
    pub fn amount(&self) -> Option<(i64, Currency)> {
        Some(match self {
            Order::ChargeC2p { amount, .. }
            | Order::ReverseC2p { amount, .. }
            | Order::RequestOtp { amount, .. }
            | Order::Debit { amount, .. }
            | Order::Credit { amount, .. }
            | Order::CreditAccount { amount, .. }
            | Order::ChargeCard { amount, .. }
            | Order::FindTransfer { amount, .. } => (amount.minor(), Currency::Ves),
            Order::MicroDeposit { amounts: (first, second), .. } => {
                (first.minor().saturating_add(second.minor()), Currency::Ves)
            }
            Order::SendUsdt { amount, .. } => (amount.minor(), Currency::Usdt),
            Order::CollectCop { amount, .. } | Order::RefundCop { amount, .. } => {
                (amount.minor(), Currency::Cop)
            }
            Order::TellCop { collection, .. } => (collection.amount.minor(), Currency::Cop),
            Order::PriceUsdt { .. } => return None,
        })
    }

    pub const fn service(&self) -> Option<Service> {
        self.facts().1
    }

    pub const fn bank_call(&self) -> BankCall {
        let (kind, _, bank) = self.facts();
        BankCall { kind, bank }
    }
}

/// The kind alone: what is in an order is somebody's personal data.
impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind())
    }
}

/// A call to a bank: one bank that takes long to say anything, or one call that does not work there, says
/// nothing of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BankCall {
    pub kind: &'static str,
    pub bank: Option<BankCode>,
}

impl BankCall {
    pub const COLLECT_COP: BankCall = BankCall { kind: "collect_cop", bank: None };
}

impl std::fmt::Display for BankCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.bank {
            Some(bank) => write!(f, "{} {bank}", self.kind),
            None => f.write_str(self.kind),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RailAnswer {
    Done {
        /// The rail's own reference, if it gave one.
        reference: Option<String>,
    },
    /// The order was not carried out, and never will be.
    Refused {
        /// The failure code, ours, such as `AM04`.
        code: String,
    },
    /// The order was accepted; the result comes later (AC00), and is to be asked for.
    Waiting,
    /// No reply came in time: the order may have been carried out or not. It is to be asked about,
    /// and not sent again.
    Silent,
    /// Nobody can tell what became of it, and the rail cannot be asked about it.
    Unaskable,
    /// The rail knows of no such operation: it may be sent.
    NeverReceived,
    /// No connection was ever opened: nothing of it has left this machine, and it may be sent later.
    NotSent,
    /// Nobody could be asked now: that is no look.
    NotAsked,
}

impl RailAnswer {
    pub fn done(reference: impl Into<String>) -> RailAnswer {
        RailAnswer::Done { reference: Some(reference.into()) }
    }

    pub fn refused(code: impl Into<String>) -> RailAnswer {
        RailAnswer::Refused { code: code.into() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The order is sent, under an operation id that the rail has not seen, or says that it never
    /// received.
    Send,
    Ask,
    /// The order waits for its turn: the rail's queue has it, and says when a record may say that
    /// it is sent.
    Offer,
}

/// An effect: something to be done outside, once the record that says so is durable.
pub struct Effect {
    pub entity: EntityId,
    /// The name of the order, ours, under which the rail answers questions about it.
    pub operation: Id,
    /// The rail's name for it, as far as it is known.
    pub rail_id: Option<RailId>,
    /// The instant of the decision, on the tenant's clock.
    pub at: Timestamp,
    pub how: How,
    pub order: Order,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailReply {
    pub operation: Id,
    /// The way in which the order had been done: sent, or asked about.
    pub how: How,
    pub answer: RailAnswer,
    pub said: Said,
}

impl RailReply {
    pub fn plain(operation: Id, how: How, answer: RailAnswer) -> RailReply {
        RailReply { operation, how, answer, said: Said::default() }
    }
}

/// An order that found no connection is worth another try after so long.
pub const UNSENT_RETRY_SECONDS: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Charges with a key of the payer's bank, and their reversal.
    C2p,
    Debit,
    Card,
    PagoMovil,
    Payouts,
    MicroDeposits,
    Cop,
    Usdt(Network),
}

impl Service {
    /// The name, for operators: of a service that tenants collect by, that of the method.
    pub const fn name(self) -> &'static str {
        match self {
            Service::C2p => "C2P",
            Service::Debit => "DEBIT",
            Service::Card => "VPOS",
            Service::PagoMovil => "PAGO_MOVIL",
            Service::Payouts => "PAYOUTS",
            Service::MicroDeposits => "MICRO_DEPOSITS",
            Service::Cop => "COP",
            Service::Usdt(Network::Trc20) => "USDT_TRC20",
            Service::Usdt(Network::Erc20) => "USDT_ERC20",
            Service::Usdt(Network::Bep20) => "USDT_BEP20",
            Service::Usdt(Network::Polygon) => "USDT_POLYGON",
        }
    }
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OperationKind {
        C2p "c2p",
        C2pReversal "c2p_reversal",
        Debit "debit",
        Card "card",
        Payout "payout",
        MicroDeposit "micro_deposit",
        CopPayment "cop_payment",
        CopRefund "cop_refund",
        CryptoPayout "crypto_payout",
    }
}

impl OperationKind {
    /// Whether money comes by it, and is not paid.
    pub const fn brings_money(self) -> bool {
        match self {
            OperationKind::C2p | OperationKind::Debit | OperationKind::Card | OperationKind::CopPayment => {
                true
            }
            OperationKind::C2pReversal
            | OperationKind::Payout
            | OperationKind::MicroDeposit
            | OperationKind::CopRefund
            | OperationKind::CryptoPayout => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Payment(Id),
    Payout(Id),
    PayoutMethod(Id),
    PayoutAccount,
    CryptoPayout(Id),
}

impl Subject {
    pub const TYPES: [&str; 4] = ["payment", "payout", "payout_method", "crypto_payout"];

    pub const fn name(self) -> &'static str {
        match self {
            Subject::Payment(_) => "payment",
            Subject::Payout(_) => "payout",
            Subject::PayoutMethod(_) | Subject::PayoutAccount => "payout_method",
            Subject::CryptoPayout(_) => "crypto_payout",
        }
    }

    /// The id of the subject; `None` of the own account, which is known by its tenant's.
    pub const fn id(self) -> Option<Id> {
        match self {
            Subject::Payment(id)
            | Subject::Payout(id)
            | Subject::PayoutMethod(id)
            | Subject::CryptoPayout(id) => Some(id),
            Subject::PayoutAccount => None,
        }
    }
}

/// An operation with a bank, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub id: Id,
    pub kind: OperationKind,
    pub service: Service,
    pub subject: Subject,
    pub minor: i64,
    pub currency: Currency,
    /// The instant at which it was sent, or at which it began to wait for its turn.
    pub sent_at: Timestamp,
    pub asked_at: Option<Timestamp>,
    pub asks: u32,
    /// Whether it waits for its turn: nothing of it has left this machine.
    pub is_queued: bool,
    /// Whether nobody but an operator can decide about it, however new it is.
    pub is_operators: bool,
    /// With which code of ours the bank refused it.
    pub code: Option<String>,
    pub word: Option<BankWord>,
    pub reference: Option<String>,
}

impl Operation {
    /// An operation that this is the trace of; without one it began at `since`.
    pub fn of(
        id: Id,
        (kind, service, subject): (OperationKind, Service, Subject),
        (minor, currency): (i64, Currency),
        trace: Option<&Trace>,
        since: Timestamp,
    ) -> Operation {
        Operation {
            id,
            kind,
            service,
            subject,
            minor,
            currency,
            sent_at: trace.and_then(|trace| trace.sent_at).unwrap_or(since),
            asked_at: trace.and_then(|trace| trace.asked_at),
            asks: trace.map_or(0, |trace| trace.asks),
            is_queued: false,
            is_operators: trace.is_some_and(Trace::is_ambiguous),
            code: None,
            word: trace.and_then(|trace| trace.word.as_deref().cloned()),
            reference: None,
        }
    }

    pub fn amount(&self) -> String {
        let mut amount = String::new();
        // Writing into text does not fail.
        let _ = write_minor(&mut amount, self.minor, self.currency.decimals());
        amount
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    Served,
    /// There is a rail for it that must not be called now; it is worth trying again after so long.
    Unavailable {
        retry_after_seconds: u32,
    },
    NotConfigured,
}

/// The terms on which a rail serves an order now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    pub availability: Availability,
    pub amount_max: Option<Ves>,
}

impl Terms {
    /// The refusal of something that the rail would have to be called for at once.
    pub fn may_send(&self) -> Result<(), Refusal> {
        match self.availability {
            Availability::Unavailable { retry_after_seconds } => {
                Err(Refusal::RailUnavailable { retry_after_seconds })
            }
            Availability::Served | Availability::NotConfigured => self.may_queue(),
        }
    }

    /// The refusal of something that could wait for its rail.
    pub fn may_queue(&self) -> Result<(), Refusal> {
        match self.availability {
            Availability::Served | Availability::Unavailable { .. } => Ok(()),
            Availability::NotConfigured => Err(Refusal::RailNotConfigured),
        }
    }

    /// The refusal of an amount that the rail cannot carry, which stands in `field`.
    pub fn carries(&self, amount: Ves, field: &'static str) -> Result<(), Refusal> {
        match self.amount_max {
            Some(max) if amount > max => {
                Err(Refusal::Invalid { field, message: "is more than the bank can carry at once" })
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The rails as far as the rules know them: an input of each turn, like the time.
pub trait Rails: Send + Sync + std::fmt::Debug {
    /// The terms of a service now, in this mode, by a call to a bank or whichever.
    fn terms(&self, livemode: bool, service: Service, call: Option<BankCall>) -> Terms;

    fn polling(&self, livemode: bool) -> Polling;
}

/// The rails of a server without live ones: test mode has all.
#[derive(Clone, Copy, Debug)]
pub struct TestModeAlone;

impl Rails for TestModeAlone {
    fn terms(&self, livemode: bool, _: Service, _: Option<BankCall>) -> Terms {
        let availability = if livemode { Availability::NotConfigured } else { Availability::Served };
        Terms { availability, amount_max: None }
    }

    fn polling(&self, livemode: bool) -> Polling {
        if livemode { Polling::Live(POLL_MS) } else { Polling::Test }
    }
}
