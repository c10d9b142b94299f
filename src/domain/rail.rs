//! What is asked of a bank and what it may answer, in the domain's words. The rails speak to banks;
//! this is what they are told and what they tell.

use crate::resources::banks::BankCode;
use crate::resources::cop_payments::Channel;
use crate::resources::crypto::address::Network;
use crate::values::account::AccountNumber;
use crate::values::buyer::Buyer;
use crate::values::card::Card;
use crate::values::date::Date;
use crate::values::identity::IdentityDocument;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency, Usdt, Ves};
use crate::values::phone::MobilePhone;
use crate::values::time::{DAY_MS, Timestamp};
use crate::values::token::Token;

/// The first look at a bank that stayed silent comes so long after the call
/// (`docs/contract.md, 5.11`).
pub const POLL_MS: i64 = 60_000;

/// Looks get rarer, down to one an hour.
const POLL_MS_MAX: i64 = 3_600_000;

/// After an operator's word a bank is asked on for so long whether it agrees.
pub const ASKED_ON_MS: i64 = 7 * DAY_MS;

fn pause_ms(looks: u32) -> i64 {
    (POLL_MS << looks.min(6)).min(POLL_MS_MAX)
}

/// The instant of the next look after `looks` looks.
pub fn next_poll(now: Timestamp, looks: u32) -> Timestamp {
    now.plus_ms(pause_ms(looks))
}

/// The instant of an order that was looked at so often and is looked at next then. A look that was
/// late, because no server ran, makes it seem as much younger.
pub fn sent_at(next_look: Timestamp, looks: u32) -> Timestamp {
    (0..=looks).fold(next_look, |at, look| at.minus_ms(pause_ms(look)))
}

/// The instant of the newest look, if there was one.
pub fn asked_at(next_look: Timestamp, looks: u32) -> Option<Timestamp> {
    (looks > 0).then(|| next_look.minus_ms(pause_ms(looks)))
}

/// The looks at an order that an operator has settled, after the bank's word about it, which is not
/// the opposite; and when the next one is, if the bank has not agreed and there is time until
/// `until`. `None` when the word changes nothing.
pub fn asked_on(
    reply: &RailReply,
    looks: u32,
    until: Timestamp,
    now: Timestamp,
) -> Option<(u32, Option<Timestamp>)> {
    match (&reply.answer, reply.how) {
        (RailAnswer::Done { .. } | RailAnswer::Refused { .. }, _) => Some((looks, None)),
        (RailAnswer::Waiting | RailAnswer::Silent | RailAnswer::NeverReceived, How::Send) => None,
        (RailAnswer::Waiting | RailAnswer::Silent | RailAnswer::NeverReceived, How::Ask) => {
            let looks = looks.saturating_add(1);
            Some((looks, Some(next_poll(now, looks)).filter(|at| *at < until)))
        }
    }
}

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

/// The kind alone: what is in an order is somebody's personal data.
impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind())
    }
}

/// A bank's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RailAnswer {
    /// It is done.
    Done {
        /// The bank's own reference.
        reference: String,
    },
    /// It was not done, and never will be.
    Refused {
        /// The bank's code, such as `AM04`.
        code: String,
    },
    /// Accepted; the result comes later (AC00). Ask.
    Waiting,
    /// No answer in time: it may have been done or not. Ask; do not send again.
    Silent,
    /// The bank knows of no such operation: it may be sent.
    NeverReceived,
}

/// Whether an order is sent or asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Sent, under an operation id that the bank has not seen, or says that it never received.
    Send,
    /// Asked about.
    Ask,
}

/// An effect: what is to be done outside once the record that says so is durable.
pub struct Effect {
    /// The entity that the answer concerns.
    pub entity: EntityId,
    /// Our name for it; the bank answers questions about it.
    pub operation: Id,
    /// The instant of the decision, on the tenant's clock.
    pub at: Timestamp,
    /// Sent or asked about.
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
    /// The bank's answer.
    pub answer: RailAnswer,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_looks_at_an_order_tell_when_it_was_sent(sent in 0_i64..4_000_000_000_000, looks in 0_u32..200) {
            let sent = Timestamp::from_unix_ms(sent);
            let (mut at, mut next) = (sent, sent.plus_ms(POLL_MS));
            for look in 1..=looks {
                at = next;
                next = next_poll(at, look);
            }
            prop_assert_eq!(sent_at(next, looks), sent);
            prop_assert_eq!(asked_at(next, looks), (looks > 0).then_some(at));
        }
    }
}
