//! Invariants of every record and of the book after it. Checked before a record is written and when
//! it is replayed, in release builds too; a breach halts the book.

use crate::ledger::book::Book;
use crate::ledger::{Account, Ledger, Posting};
use crate::record::{Cause, Record};
use crate::resources::conversions::spend;
use crate::values::ids::Id;
use crate::values::money::Currency;
use std::collections::BTreeSet;

/// Checks `record` and what `book` became by it; the error names the first thing that is wrong.
pub fn check(book: &Book, record: &Record) -> Result<(), String> {
    sums_to_zero(record)?;
    movements_are_of_the_tenant_or_a_seller(record)?;
    for account in touched(book, record) {
        holds_agree(account)?;
    }
    nothing_is_overdrawn(book, record)
}

fn sums_to_zero(record: &Record) -> Result<(), String> {
    // At most three currencies; a map would cost more than it saves.
    let mut sums = [0_i128; 3];
    for posting in &record.postings {
        if posting.minor == 0 {
            return Err("a posting of nothing".to_owned());
        }
        sums[posting.currency as usize] += i128::from(posting.minor);
    }
    if sums == [0; 3] {
        Ok(())
    } else {
        Err(format!("the postings of {} do not sum to zero: {sums:?}", record.cause.name()))
    }
}

fn movements_are_of_the_tenant_or_a_seller(record: &Record) -> Result<(), String> {
    for posting in &record.postings {
        let owned = matches!(posting.ledger, Ledger::Tenant | Ledger::Seller(_));
        if owned != posting.row.is_some() {
            return Err(format!("a posting to {:?} with the wrong kind of row", posting.ledger));
        }
    }
    if record.holds.iter().any(|change| !matches!(change.ledger, Ledger::Tenant | Ledger::Seller(_))) {
        return Err("a hold on an account that has none".to_owned());
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
fn holds_agree(account: &Account) -> Result<(), String> {
    if account.held < 0 {
        return Err(format!("less than nothing is held: {}", account.held));
    }
    if account.holds.is_empty() != (account.held == 0) {
        return Err(format!("{} is held by {} holds", account.held, account.holds.len()));
    }
    if account.holds.first_key_value().is_some_and(|(_, held)| *held < 0) {
        return Err("a hold of less than nothing".to_owned());
    }
    Ok(())
}

/// Checks that the accounts had the money that the record took. Income to a balance that an
/// operator's correction left below zero may leave it below zero, and is no breach.
fn nothing_is_overdrawn(book: &Book, record: &Record) -> Result<(), String> {
    if !debits(record.cause) {
        return Ok(());
    }
    for posting in record.postings.iter().filter(|posting| posting.minor < 0) {
        match posting.ledger {
            Ledger::Tenant if spend::available(book, posting.currency) < 0 => {
                let (cause, left, currency) =
                    (record.cause.name(), spend::available(book, posting.currency), posting.currency.code());
                return Err(format!("{cause} overdraws the balance: {left} {currency} left"));
            }
            Ledger::Seller(id)
                if book.sellers.get(&id).is_none_or(|seller| seller.account(posting.currency).free() < 0) =>
            {
                return Err(format!("{} overdraws seller {id}", record.cause.name()));
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
        | Cause::OrderBegun
        | Cause::PaymentUnsent => false,
        Cause::CryptoPayoutSigned => false,
    }
}
