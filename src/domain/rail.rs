//! Orders to banks and their replies, in the domain's words. The rails speak to banks; these are
//! the words that they get and return.

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
    /// The collection is canceled.
    Cancel,
    /// The buyer's SMS code.
    Code(Token),
    /// The buyer pays: only in test mode.
    Paid,
    /// The buyer declines: only in test mode.
    Declined,
}

/// An order to a bank.
pub enum Order {
    /// A charge of a customer with a key that the customer made for it.
    ChargeC2p {
        /// The customer's bank.
        bank: BankCode,
        /// The payer.
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        /// The amount.
        amount: Ves,
        /// The customer's key; gone after a crash, and not needed for a question.
        token: Option<Token>,
    },
    /// The reversal of a whole C2P charge.
    ReverseC2p {
        /// The operation id of the charge.
        original: Id,
        /// The customer's bank.
        bank: BankCode,
        /// The payer.
        debtor: IdentityDocument,
        /// The bank's reference of the charge.
        reference: String,
        /// The amount of the charge.
        amount: Ves,
    },
    /// A request that the bank send its customer a key or code.
    RequestOtp {
        /// The customer's bank.
        bank: BankCode,
        /// The payer.
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        /// The amount that is to be charged.
        amount: Ves,
    },
    /// A debit of a customer with a code that the customer was sent for it.
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
        /// The customer's code; gone after a crash, and not needed for a question.
        otp: Option<Token>,
    },
    /// A payment to a phone.
    Credit {
        /// The receiver's bank.
        bank: BankCode,
        /// The receiver's phone.
        phone: MobilePhone,
        /// The receiver; some banks check it.
        identity: Option<IdentityDocument>,
        /// The amount.
        amount: Ves,
        /// The purpose.
        concept: String,
    },
    /// A payment to an account.
    CreditAccount {
        /// The account.
        account: AccountNumber,
        /// The holder.
        identity: IdentityDocument,
        /// The holder's name.
        name: String,
        /// The amount.
        amount: Ves,
        /// The purpose.
        concept: String,
    },
    /// Two small payments to a phone, whose amounts its owner can then name to prove it.
    MicroDeposit {
        /// The bank of the phone.
        bank: BankCode,
        /// The phone.
        phone: MobilePhone,
        /// The expected owner.
        identity: Option<IdentityDocument>,
        /// The two amounts.
        amounts: (Ves, Ves),
    },
    /// A charge of a card.
    ChargeCard {
        /// The amount.
        amount: Ves,
        /// The card; gone after a crash, and not needed for a question.
        card: Option<Box<Card>>,
    },
    /// A search for a transfer that a customer made to us.
    FindTransfer {
        /// The customer's bank.
        bank: BankCode,
        /// The payer.
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        /// The day of the transfer.
        date: Date,
        /// The digits of its reference that are known, without leading zeros.
        reference: String,
        /// The amount that it must have.
        amount: Ves,
    },
    /// A transfer of USDT to a wallet.
    SendUsdt {
        /// The network.
        network: Network,
        /// The address of the wallet.
        address: String,
        /// The amount that arrives.
        amount: Usdt,
    },
    /// A question for the market price of a USDT: no bank is called and nothing moves, so it may be
    /// asked any number of times.
    PriceUsdt {
        /// The currency of the price.
        currency: Currency,
    },
    /// A collection of pesos from a buyer; it waits until the buyer pays, declines or lets the time
    /// pass.
    CollectCop {
        /// The id of the collection, and its end.
        collection: Collection,
        /// The way in which the buyer pays.
        channel: Channel,
        /// The amount.
        amount: Cop,
        /// The key to which the buyer transfers.
        transfer_key: String,
        /// The buyer's details, as far as the channel needs them.
        buyer: Option<Box<Buyer>>,
    },
    /// An instruction about a collection; may be sent again.
    TellCop {
        /// The collection.
        collection: Collection,
        /// The instruction.
        instruction: Instruction,
    },
    /// A refund of collected pesos, all of them.
    RefundCop {
        /// The operation id of the order to collect.
        original: Id,
        /// The processor's reference of the payment.
        reference: String,
        /// The amount of the payment.
        amount: Cop,
        /// The instant at which it was paid.
        completed_at: Timestamp,
    },
}

impl Order {
    /// The name of the order's kind, for the logs.
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
    /// The order was carried out.
    Done {
        /// The bank's own reference.
        reference: String,
    },
    /// The order was not carried out, and never will be.
    Refused {
        /// The bank's code, such as `AM04`.
        code: String,
    },
    /// The order was accepted; the result comes later (AC00), and is to be asked for.
    Waiting,
    /// No reply came in time: the order may have been carried out or not. It is to be asked about,
    /// and not sent again.
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

/// An effect: something to be done outside, once the record that says so is durable.
pub struct Effect {
    /// The entity that the answer concerns.
    pub entity: EntityId,
    /// Our name for it; the bank answers questions about it.
    pub operation: Id,
    /// The instant of the decision, on the tenant's clock.
    pub at: Timestamp,
    /// Sent or asked about.
    pub how: How,
    /// The order.
    pub order: Order,
}

/// A rail reply: the outcome of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailReply {
    /// The operation.
    pub operation: Id,
    /// Whether the order had been sent or asked about.
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
