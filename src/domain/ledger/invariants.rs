//! Invariants of every record and of the book after it. Checked before a record is written and when
//! it is replayed, in release builds too; a breach halts the book.

use crate::ledger::book::Book;
use crate::ledger::{Account, Ledger, Posting};
use crate::record::{Cause, Record};
use crate::resources::conversions::spend;
use crate::values::ids::Id;
use crate::values::money::Currency;
use std::collections::BTreeSet;

/// The invariant that a record or the book after it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// A posting moves no money.
    #[error("a posting of nothing")]
    EmptyPosting,
    /// The two sides of the double entry differ.
    #[error("the postings of {} do not sum to zero: {sums:?}", cause.name())]
    Unbalanced {
        /// The cause of the record.
        cause: Cause,
        /// The sums, per currency.
        sums: [i128; 3],
    },
    /// A movement is missing, or belongs to nobody who sees it.
    #[error("a posting to {ledger:?} with the wrong kind of row")]
    WrongRow {
        /// The ledger of the posting.
        ledger: Ledger,
    },
    /// A hold is on a ledger without holds.
    #[error("a hold on an account that has none")]
    HoldWithoutAccount,
    /// The running total of the holds is negative.
    #[error("less than nothing is held: {held}")]
    HeldBelowZero {
        /// The running total.
        held: i64,
    },
    /// The running total and the holds do not agree.
    #[error("{held} is held by {holds} holds")]
    HoldsDisagree {
        /// The running total.
        held: i64,
        /// The number of holds.
        holds: usize,
    },
    /// A hold is negative.
    #[error("a hold of less than nothing")]
    HoldBelowZero,
    /// A debit takes more than the tenant's balance had.
    #[error("{} overdraws the balance: {left} {} left", cause.name(), currency.code())]
    Overdrawn {
        /// The cause of the record.
        cause: Cause,
        /// The available balance after it.
        left: i64,
        /// The currency.
        currency: Currency,
    },
    /// A debit takes more than a seller's balance had.
    #[error("{} overdraws seller {seller}", cause.name())]
    SellerOverdrawn {
        /// The cause of the record.
        cause: Cause,
        /// The seller.
        seller: Id,
    },
}

/// Checks `record` and what `book` became by it; the error names the first thing that is wrong.
pub fn check(book: &Book, record: &Record) -> Result<(), Breach> {
    sums_to_zero(record)?;
    movements_are_of_the_tenant_or_a_seller(record)?;
    for account in touched(book, record) {
        holds_agree(account)?;
    }
    nothing_is_overdrawn(book, record)
}

fn sums_to_zero(record: &Record) -> Result<(), Breach> {
    // At most three currencies; a map would cost more than it saves.
    let mut sums = [0_i128; 3];
    for posting in &record.postings {
        if posting.minor == 0 {
            return Err(Breach::EmptyPosting);
        }
        sums[posting.currency as usize] += i128::from(posting.minor);
    }
    if sums == [0; 3] { Ok(()) } else { Err(Breach::Unbalanced { cause: record.cause, sums }) }
}

fn movements_are_of_the_tenant_or_a_seller(record: &Record) -> Result<(), Breach> {
    for posting in &record.postings {
        let owned = matches!(posting.ledger, Ledger::Tenant | Ledger::Seller(_));
        if owned != posting.row.is_some() {
            return Err(Breach::WrongRow { ledger: posting.ledger });
        }
    }
    if record.holds.iter().any(|change| !matches!(change.ledger, Ledger::Tenant | Ledger::Seller(_))) {
        return Err(Breach::HoldWithoutAccount);
    }
    Ok(())
}

/// The accounts that the record changed.
fn touched<'a>(book: &'a Book, record: &Record) -> impl Iterator<Item = &'a Account> {
    let currencies: BTreeSet<_> = record
        .postings
        .iter()
        .filter(|posting| posting.ledger == Ledger::Tenant)
        .map(|posting| posting.currency)
        .collect();
    let seller = |posting: &Posting| {
        if let Ledger::Seller(id) = posting.ledger { Some((id, posting.currency)) } else { None }
    };
    let sellers: BTreeSet<(Id, Currency)> = record.postings.iter().filter_map(seller).collect();
    let own = currencies.into_iter().map(|currency| book.account(currency));
    own.chain(sellers.into_iter().filter_map(|(id, currency)| Some(book.sellers.get(&id)?.account(currency))))
}

/// Checks that the running total agrees with the holds, as far as that can be said without adding
/// all of them up (`pasarela wal verify` does).
fn holds_agree(account: &Account) -> Result<(), Breach> {
    if account.held < 0 {
        return Err(Breach::HeldBelowZero { held: account.held });
    }
    if account.holds.is_empty() != (account.held == 0) {
        return Err(Breach::HoldsDisagree { held: account.held, holds: account.holds.len() });
    }
    if account.holds.first_key_value().is_some_and(|(_, held)| *held < 0) {
        return Err(Breach::HoldBelowZero);
    }
    Ok(())
}

/// Checks that the accounts had the money that the record took. Income to a balance that an
/// operator's correction left below zero may leave it below zero, and is no breach.
fn nothing_is_overdrawn(book: &Book, record: &Record) -> Result<(), Breach> {
    if !debits(record.cause) {
        return Ok(());
    }
    for posting in record.postings.iter().filter(|posting| posting.minor < 0) {
        match posting.ledger {
            Ledger::Tenant if spend::available(book, posting.currency) < 0 => {
                let (cause, currency) = (record.cause, posting.currency);
                return Err(Breach::Overdrawn { cause, left: spend::available(book, currency), currency });
            }
            Ledger::Seller(id)
                if book.sellers.get(&id).is_none_or(|seller| seller.account(posting.currency).free() < 0) =>
            {
                return Err(Breach::SellerOverdrawn { cause: record.cause, seller: id });
            }
            Ledger::Tenant
            | Ledger::Seller(_)
            | Ledger::Fees
            | Ledger::Rail
            | Ledger::Operator
            | Ledger::Exchange => {}
        }
    }
    Ok(())
}

/// Whether records of this cause take money at a caller's request, for which the balance must
/// suffice. Banks' and operators' debits may leave a balance below zero.
const fn debits(cause: Cause) -> bool {
    match cause {
        Cause::PayoutCreated
        | Cause::BatchCreated
        | Cause::ConversionAccepted
        | Cause::CryptoPayoutCreated
        | Cause::CopPayoutCreated => true,
        Cause::PaymentRequested
        | Cause::PaymentCharging
        | Cause::PaymentCompleted
        | Cause::PaymentFailed
        | Cause::PaymentCanceled
        | Cause::ReversalBegun
        | Cause::ReversalRefused
        | Cause::PaymentReversed
        | Cause::BankAsked
        | Cause::PayoutCompleted
        | Cause::PayoutFailed
        | Cause::MerchantCreated
        | Cause::MerchantChanged
        | Cause::MerchantDeleted
        | Cause::Funded
        | Cause::Adjusted
        | Cause::ClockMoved
        | Cause::TenantSettingsChanged
        | Cause::PlatformChanged
        | Cause::RefusalKept
        | Cause::AnswerKept
        | Cause::BatchAnswered
        | Cause::ChargebackOpened
        | Cause::ChargebackClosed
        | Cause::OtpRequested
        | Cause::OtpSettled
        | Cause::SellerReleased
        | Cause::OwnAccountChanged
        | Cause::ProductCreated
        | Cause::ProductChanged
        | Cause::ProductDeleted
        | Cause::LinkCreated
        | Cause::LinkDeleted
        | Cause::SessionOpened
        | Cause::ConversionQuoted
        | Cause::ConversionCompleted
        | Cause::ConversionCanceled
        | Cause::ConversionTried
        | Cause::ConversionDropped
        | Cause::CryptoPayoutApproved
        | Cause::CryptoPayoutCompleted
        | Cause::CryptoPayoutFailed
        | Cause::DepositAddressMade
        | Cause::CryptoDeposited
        | Cause::CopPaymentRequested
        | Cause::CopPaymentInstructed
        | Cause::CopPaymentCompleted
        | Cause::CopPaymentFailed
        | Cause::CopPaymentCanceled
        | Cause::CopRefundBegun
        | Cause::CopRefundRefused
        | Cause::CopPaymentRefunded
        | Cause::CopPayoutCompleted
        | Cause::CopPayoutFailed
        | Cause::WebhookCreated
        | Cause::WebhookChanged
        | Cause::WebhookDeleted
        | Cause::WebhookProgress
        | Cause::EventResent
        | Cause::OperatorActed
        | Cause::OperationContradicted
        | Cause::NoticeReceived
        | Cause::NoticeClaimed
        | Cause::ApprovalAsked
        | Cause::ApprovalDecided
        | Cause::DepositBooked
        | Cause::OrderBegun
        | Cause::PaymentUnsent
        | Cause::CopPaymentUnsent
        | Cause::CryptoPayoutSigned => false,
    }
}
