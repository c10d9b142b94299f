//! The table of magic values.

use super::{reference, refused};
use crate::rails::{Order, RailAnswer};
use domain::entities::cop_payment::EXPIRED;
use domain::resources::cop_payments::collect::CANCELED;
use domain::values::card::Card;
use domain::values::money::{Cop, Ves};
use domain::values::time::{MINUTE_MS, Timestamp};
use domain::values::token::Token;
use domain::values::venezuela::MobilePhone;
use uuid::Uuid;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Done,
    /// Giving it back will be refused.
    DoneForGood,
    Refused(Refusal),
    /// Without a word; who asks learns it.
    SilentlyDone,
    SilentlyRefused(Refusal),
    LaterDone,
    LaterRefused(Refusal),
    /// Never arrived. Kept only so that it arrives when it is sent again.
    Lost,
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    TimeOut,
    NoAccount,
    NoFunds,
    WrongIdentity,
    WrongToken,
    NoTransaction,
    ByBank,
    CardDeclined,
    CardFunds,
    CardExpired,
    CardProcessing,
    NoTransfer,
    ByNetwork,
    Rejected,
    Canceled,
    Expired,
    Unavailable,
}

impl Refusal {
    /// The bank's code for it (`docs/contract.md, 21.4, 21.5`).
    pub const fn code(self) -> &'static str {
        match self {
            Refusal::TimeOut => "AB01",
            Refusal::NoAccount => "AC01",
            Refusal::NoFunds => "AM04",
            Refusal::WrongIdentity => "BE01",
            Refusal::WrongToken => "TKCM",
            Refusal::NoTransaction => "12",
            Refusal::ByBank => "41",
            Refusal::CardDeclined => "card_declined",
            Refusal::CardFunds => "insufficient_funds",
            Refusal::CardExpired => "expired_card",
            Refusal::CardProcessing => "processing_error",
            Refusal::NoTransfer => "reference_not_found",
            Refusal::ByNetwork => "network_refused",
            Refusal::Rejected => "rejected",
            Refusal::Canceled => CANCELED,
            Refusal::Expired => EXPIRED,
            Refusal::Unavailable => "processor_unavailable",
        }
    }

    const ALL: [Refusal; 17] = [
        Refusal::TimeOut,
        Refusal::NoAccount,
        Refusal::NoFunds,
        Refusal::WrongIdentity,
        Refusal::WrongToken,
        Refusal::NoTransaction,
        Refusal::ByBank,
        Refusal::CardDeclined,
        Refusal::CardFunds,
        Refusal::CardExpired,
        Refusal::CardProcessing,
        Refusal::NoTransfer,
        Refusal::ByNetwork,
        Refusal::Rejected,
        Refusal::Canceled,
        Refusal::Expired,
        Refusal::Unavailable,
    ];
}

impl Fate {
    pub fn first(self, operation: Uuid) -> RailAnswer {
        match self {
            Fate::Done | Fate::DoneForGood => RailAnswer::done(reference(operation)),
            Fate::Refused(refusal) => refused(refusal),
            Fate::SilentlyDone | Fate::SilentlyRefused(_) | Fate::Lost => RailAnswer::Silent,
            Fate::LaterDone | Fate::LaterRefused(_) | Fate::Open => RailAnswer::Waiting,
        }
    }

    pub fn settled(self, operation: Uuid) -> RailAnswer {
        match self {
            Fate::Done | Fate::DoneForGood | Fate::SilentlyDone | Fate::LaterDone => {
                RailAnswer::done(reference(operation))
            }
            Fate::Refused(refusal) | Fate::SilentlyRefused(refusal) | Fate::LaterRefused(refusal) => {
                refused(refusal)
            }
            Fate::Lost => RailAnswer::NeverReceived,
            Fate::Open => RailAnswer::Waiting,
        }
    }

    pub fn bytes(self) -> [u8; 2] {
        match self {
            Fate::Done => [0, 0],
            Fate::DoneForGood => [1, 0],
            Fate::Refused(refusal) => [2, refusal as u8],
            Fate::SilentlyDone => [3, 0],
            Fate::SilentlyRefused(refusal) => [4, refusal as u8],
            Fate::LaterDone => [5, 0],
            Fate::LaterRefused(refusal) => [6, refusal as u8],
            Fate::Lost => [7, 0],
            Fate::Open => [8, 0],
        }
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Fate> {
        let &[kind, refusal] = bytes else {
            return None;
        };
        let refusal = *Refusal::ALL.get(usize::from(refusal))?;
        Some(match kind {
            0 => Fate::Done,
            1 => Fate::DoneForGood,
            2 => Fate::Refused(refusal),
            3 => Fate::SilentlyDone,
            4 => Fate::SilentlyRefused(refusal),
            5 => Fate::LaterDone,
            6 => Fate::LaterRefused(refusal),
            7 => Fate::Lost,
            8 => Fate::Open,
            _ => return None,
        })
    }
}

pub fn of<E>(
    order: &Order,
    at: Timestamp,
    original: impl FnOnce(Uuid) -> Result<Option<Fate>, E>,
) -> Result<Fate, E> {
    Ok(match order {
        Order::ChargeC2p { token, .. } => of_token(token.as_ref()),
        Order::Debit { otp, .. } => of_token(otp.as_ref()),
        Order::ReverseC2p { original: charge, .. } => match original((*charge).into())? {
            Some(Fate::Done | Fate::SilentlyDone | Fate::LaterDone) => Fate::Done,
            Some(Fate::DoneForGood) => Fate::Refused(Refusal::ByBank),
            Some(_) | None => Fate::Refused(Refusal::NoTransaction),
        },
        Order::RequestOtp { .. } => Fate::Done,
        Order::Credit { amount, .. } | Order::CreditAccount { amount, .. } => of_amount(*amount),
        Order::MicroDeposit { phone, .. } => of_phone(*phone),
        Order::ChargeCard { card, .. } => of_card(card.as_deref()),
        Order::FindTransfer { reference, .. } => of_reference(reference),
        Order::SendUsdt { address, .. } => of_address(address),
        // No bank is told: the outbox answers by itself.
        Order::PriceUsdt { .. } => Fate::Done,
        Order::CollectCop { .. } => Fate::Open,
        // An instruction is no operation of its own: see `collection.rs`.
        Order::TellCop { .. } => Fate::Refused(Refusal::NoTransaction),
        Order::RefundCop { original: collection, amount, completed_at, .. } => {
            match original((*collection).into())? {
                Some(Fate::Done) => of_refund(*amount, at.since_ms(*completed_at)),
                Some(_) | None => Fate::Refused(Refusal::NoTransaction),
            }
        }
    })
}

fn of_token(token: Option<&Token>) -> Fate {
    match token.map(Token::reveal) {
        Some("99999999") => Fate::Refused(Refusal::NoFunds),
        // A token that the gateway lost in a crash is no token.
        Some("88888888") | None => Fate::Refused(Refusal::WrongToken),
        Some("77777777") => Fate::SilentlyDone,
        Some("66666666") => Fate::SilentlyRefused(Refusal::TimeOut),
        Some("55555555") => Fate::DoneForGood,
        Some(_) => Fate::Done,
    }
}

fn of_amount(amount: Ves) -> Fate {
    match amount.minor() % 100 {
        4 => Fate::Refused(Refusal::NoFunds),
        5 => Fate::LaterDone,
        6 => Fate::LaterRefused(Refusal::NoAccount),
        7 => Fate::Lost,
        _ => Fate::Done,
    }
}

fn of_phone(phone: MobilePhone) -> Fate {
    if phone.last_four() == 1 { Fate::Refused(Refusal::WrongIdentity) } else { Fate::Done }
}

fn of_card(card: Option<&Card>) -> Fate {
    match card.map(|card| card.number.reveal()) {
        Some("4000000000000002") => Fate::Refused(Refusal::CardDeclined),
        Some("4000000000009995") => Fate::Refused(Refusal::CardFunds),
        Some("4000000000000069") => Fate::Refused(Refusal::CardExpired),
        // A card that the gateway lost in a crash is no card.
        Some("4000000000000119") | None => Fate::Refused(Refusal::CardProcessing),
        Some("4000000000000077") => Fate::LaterDone,
        Some("4000000000000341") => Fate::LaterRefused(Refusal::CardProcessing),
        Some(_) => Fate::Done,
    }
}

/// Amounts that end in 503 cannot be refunded in their first minute.
fn of_refund(amount: Cop, since_completion_ms: i64) -> Fate {
    let unavailable = amount.minor() % 1_000 == 503 && since_completion_ms < MINUTE_MS;
    if unavailable { Fate::Refused(Refusal::Unavailable) } else { Fate::Done }
}

/// A reference that ends in 0000 is not there; one that is all zeros has lost them.
fn of_reference(reference: &str) -> Fate {
    if reference == "0" || reference.ends_with("0000") {
        Fate::Refused(Refusal::NoTransfer)
    } else {
        Fate::Done
    }
}

fn of_address(address: &str) -> Fate {
    if address.ends_with('0') { Fate::Refused(Refusal::ByNetwork) } else { Fate::Done }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_survives_the_books() {
        for refusal in Refusal::ALL {
            for fate in [
                Fate::Done,
                Fate::DoneForGood,
                Fate::Refused(refusal),
                Fate::SilentlyDone,
                Fate::SilentlyRefused(refusal),
                Fate::LaterDone,
                Fate::LaterRefused(refusal),
                Fate::Lost,
                Fate::Open,
            ] {
                assert_eq!(Fate::from_bytes(&fate.bytes()), Some(fate));
            }
        }
        for bytes in [&[][..], &[0], &[9, 0], &[2, u8::MAX], &[0, 0, 0]] {
            assert_eq!(Fate::from_bytes(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn the_bytes_of_a_refusal_are_its_place_in_the_list() {
        for (at, refusal) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, at);
        }
    }
}
