//! What is asked of a bank and what it may answer, in the domain's words. The rails speak to banks;
//! this is what they are told and what they tell.

use crate::resources::banks::BankCode;
use crate::resources::cop_payments::Channel;
use crate::resources::crypto::address::Network;
use crate::trace::{POLL_MS, Polling, RailId, Said};
use crate::values::account::AccountNumber;
use crate::values::buyer::Buyer;
use crate::values::card::Card;
use crate::values::date::Date;
use crate::values::identity::IdentityDocument;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency, Usdt, Ves};
use crate::values::phone::MobilePhone;
use crate::values::time::Timestamp;
use crate::values::token::Token;

/// What the processor of pesos knows a collection by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    /// The operation id of the order to collect.
    pub original: Id,
    /// Until when the buyer can pay, on the tenant's clock.
    pub expires_at: Timestamp,
}

/// What the processor of pesos is told about a collection. It answers how the collection stands
/// then.
pub enum Instruction {
    /// It is called off.
    Cancel,
    /// The buyer's SMS code.
    Code(Token),
    /// The buyer pays: only test mode can say so.
    Paid,
    /// The buyer declines: only test mode can say so.
    Declined,
}

/// An order to a bank.
pub enum Order {
    /// Take money from a customer who made a key for it.
    ChargeC2p {
        /// The customer's bank.
        bank: BankCode,
        /// The payer.
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        /// The amount.
        amount: Ves,
        /// The customer's key; gone after a crash, and not needed to ask.
        token: Option<Token>,
    },
    /// Give back a whole C2P charge.
    ReverseC2p {
        /// The operation id of the charge.
        original: Id,
        /// The customer's bank.
        bank: BankCode,
        /// The payer.
        debtor: IdentityDocument,
        /// The bank's reference of the charge.
        reference: String,
        /// How much it was.
        amount: Ves,
    },
    /// Have the bank send its customer a key or code.
    RequestOtp {
        /// The customer's bank.
        bank: BankCode,
        /// The payer.
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        /// The amount that it will be.
        amount: Ves,
    },
    /// Take money from a customer who was sent a code for it.
    Debit {
        /// The customer's bank.
        bank: BankCode,
        /// The payer.
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        /// The customer's name.
        name: String,
        /// The amount.
        amount: Ves,
        /// The purpose.
        concept: String,
        /// The customer's code; gone after a crash, and not needed to ask.
        otp: Option<Token>,
    },
    /// Pay to a phone.
    Credit {
        /// The bank of who is paid.
        bank: BankCode,
        /// The phone that is paid.
        phone: MobilePhone,
        /// Who is paid; some banks check it.
        identity: Option<IdentityDocument>,
        /// The amount.
        amount: Ves,
        /// The purpose.
        concept: String,
    },
    /// Pay to an account.
    CreditAccount {
        /// The account that is paid.
        account: AccountNumber,
        /// Whose it is.
        identity: IdentityDocument,
        /// The holder's name.
        name: String,
        /// The amount.
        amount: Ves,
        /// The purpose.
        concept: String,
    },
    /// Pay two small amounts to a phone, so that its owner can prove to see them.
    MicroDeposit {
        /// The bank of the phone.
        bank: BankCode,
        /// The phone that is proved.
        phone: MobilePhone,
        /// Whose it should be.
        identity: Option<IdentityDocument>,
        /// The two amounts.
        amounts: (Ves, Ves),
    },
    /// Take money from a card.
    ChargeCard {
        /// The amount.
        amount: Ves,
        /// The card; gone after a crash, and not needed to ask.
        card: Option<Box<Card>>,
    },
    /// Look for a transfer that a customer made to us.
    FindTransfer {
        /// The customer's bank.
        bank: BankCode,
        /// The payer.
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        /// The day of the transfer.
        date: Date,
        /// What is known of its reference, without leading zeros.
        reference: String,
        /// How much it must be.
        amount: Ves,
    },
    /// Send USDT to a wallet.
    SendUsdt {
        /// Over which network.
        network: Network,
        /// To which wallet.
        address: String,
        /// The amount that arrives.
        amount: Usdt,
    },
    /// Say what the market asks for a USDT now: no bank is told, nothing moves, and it may be asked
    /// as often as one likes.
    PriceUsdt {
        /// In what.
        currency: Currency,
    },
    /// Collect pesos from a buyer; waits until the buyer pays, declines or lets the time pass.
    CollectCop {
        /// Its name and its end.
        collection: Collection,
        /// The way in which the buyer pays.
        channel: Channel,
        /// The amount.
        amount: Cop,
        /// The key to which the buyer transfers.
        transfer_key: String,
        /// Who pays, as far as the channel needs it.
        buyer: Option<Box<Buyer>>,
    },
    /// Something about a collection; may be told again.
    TellCop {
        /// Which.
        collection: Collection,
        /// What.
        instruction: Instruction,
    },
    /// Give collected pesos back, all of them.
    RefundCop {
        /// The operation id of the order to collect.
        original: Id,
        /// The processor's reference of the payment.
        reference: String,
        /// How much it was.
        amount: Cop,
        /// The instant at which it was paid.
        completed_at: Timestamp,
    },
}

impl Order {
    /// What kind of order it is, for the logs.
    pub const fn kind(&self) -> &'static str {
        match self {
            Order::ChargeC2p { .. } => "charge_c2p",
            Order::ReverseC2p { .. } => "reverse_c2p",
            Order::RequestOtp { .. } => "request_otp",
            Order::Debit { .. } => "debit",
            Order::Credit { .. } => "credit",
            Order::CreditAccount { .. } => "credit_account",
            Order::MicroDeposit { .. } => "micro_deposit",
            Order::ChargeCard { .. } => "charge_card",
            Order::FindTransfer { .. } => "find_transfer",
            Order::SendUsdt { .. } => "send_usdt",
            Order::PriceUsdt { .. } => "price_usdt",
            Order::CollectCop { .. } => "collect_cop",
            Order::TellCop { .. } => "tell_cop",
            Order::RefundCop { .. } => "refund_cop",
        }
    }
}

impl Order {
    /// What of the rails it takes; `None` of what no rail is asked.
    pub const fn service(&self) -> Option<Service> {
        Some(match self {
            Order::ChargeC2p { .. } | Order::ReverseC2p { .. } => Service::C2p,
            // Whoever debits has the codes sent.
            Order::RequestOtp { .. } | Order::Debit { .. } => Service::Debit,
            Order::Credit { .. } | Order::CreditAccount { .. } => Service::Payouts,
            Order::MicroDeposit { .. } => Service::MicroDeposits,
            Order::ChargeCard { .. } => Service::Card,
            Order::FindTransfer { .. } => Service::PagoMovil,
            Order::SendUsdt { network, .. } => Service::Usdt(*network),
            Order::CollectCop { .. } | Order::TellCop { .. } | Order::RefundCop { .. } => Service::Cop,
            Order::PriceUsdt { .. } => return None,
        })
    }
}

/// The kind alone: what is in an order is somebody's personal data.
impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind())
    }
}

/// A rail's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RailAnswer {
    /// It is done.
    Done {
        /// The rail's own reference, if it gave one.
        reference: Option<String>,
    },
    /// It was not done, and never will be.
    Refused {
        /// Our code for it, such as `AM04`.
        code: String,
    },
    /// Accepted; the result comes later (AC00). Ask.
    Waiting,
    /// No answer in time: it may have been done or not. Ask; do not send again.
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
    /// Done, under this reference.
    pub fn done(reference: impl Into<String>) -> RailAnswer {
        RailAnswer::Done { reference: Some(reference.into()) }
    }

    /// Refused with this code.
    pub fn refused(code: impl Into<String>) -> RailAnswer {
        RailAnswer::Refused { code: code.into() }
    }
}

/// What an effect asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The order is sent, under an operation id that the rail has not seen, or says that it never
    /// received.
    Send,
    /// It is asked about.
    Ask,
    /// It waits for its turn: the rail's queue has it, and says when a record may say that it is sent.
    Offer,
}

/// An effect: what is to be done outside once the record that says so is durable.
pub struct Effect {
    /// The entity that the answer concerns.
    pub entity: EntityId,
    /// Our name for it; the rail answers questions about it.
    pub operation: Id,
    /// The rail's name for it, as far as it is known.
    pub rail_id: Option<RailId>,
    /// The instant of the decision, on the tenant's clock; of an order that waits for its turn, the
    /// instant at which it was accepted.
    pub at: Timestamp,
    /// Sent, asked about or queued.
    pub how: How,
    /// What.
    pub order: Order,
}

/// A rail reply: what came of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailReply {
    /// The operation.
    pub operation: Id,
    /// Whether it had been sent or asked about.
    pub how: How,
    /// The rail's answer.
    pub answer: RailAnswer,
    /// What it said besides.
    pub said: Said,
}

impl RailReply {
    /// An answer and nothing besides.
    pub fn plain(operation: Id, how: How, answer: RailAnswer) -> RailReply {
        RailReply { operation, how, answer, said: Said::default() }
    }
}

/// An order that found no connection is worth another try after so long.
pub const UNSENT_RETRY_SECONDS: u32 = 5;

/// What tenants have done by rails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Charges with a key of the payer's bank, and their reversal.
    C2p,
    /// Immediate debits.
    Debit,
    /// Cards.
    Card,
    /// Transfers that are looked for.
    PagoMovil,
    /// Payouts in bolívares.
    Payouts,
    /// The two amounts that prove a phone.
    MicroDeposits,
    /// Collections of pesos and their refunds.
    Cop,
    /// USDT over a network.
    Usdt(Network),
}

/// Whether a service can be had now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It can.
    Served,
    /// There is a rail for it that must not be called now; it is worth trying again after so long.
    Unavailable {
        /// For `Retry-After`.
        retry_after_seconds: u32,
    },
    /// No rail serves it.
    NotConfigured,
}

/// What the rules know of the rails: an input of each turn, like the time.
pub trait Rails: Send + Sync + std::fmt::Debug {
    /// Whether a service can be had now, in this mode.
    fn availability(&self, livemode: bool, service: Service) -> Availability;

    /// The largest amount in bolívares that a service takes, in this mode.
    fn amount_max(&self, livemode: bool, service: Service) -> Option<Ves>;

    /// When the looks of a mode come.
    fn polling(&self, livemode: bool) -> Polling;
}

/// The rails of a server without live ones: test mode has all.
#[derive(Clone, Copy, Debug)]
pub struct TestModeAlone;

impl Rails for TestModeAlone {
    fn availability(&self, livemode: bool, _: Service) -> Availability {
        if livemode { Availability::NotConfigured } else { Availability::Served }
    }

    fn amount_max(&self, _: bool, _: Service) -> Option<Ves> {
        None
    }

    fn polling(&self, livemode: bool) -> Polling {
        if livemode { Polling::Live(POLL_MS) } else { Polling::Test }
    }
}
