//! Calls that are only rehearsed (`Dry-Run: true`, `docs/contract.md, 1.17`): the header, and the answer, which shows
//! what the call would answer, post, hold, tell and ask of banks.

use crate::balance::movements::show_movement;
use crate::endpoint::shown;
use crate::events::{self, TenantMode};
use crate::problem::BadField;
use crate::value::shown_amount;
use crate::{balance, crypto};
use domain::ledger::balance::{balance as in_bolivares, cop_balance};
use domain::ledger::book::Book;
use domain::ledger::{Ledger, sellers};
use domain::record::Record;
use domain::resources::crypto::balance as in_usdt;
use domain::values::ids::Id;
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use hyper::header::{HeaderMap, HeaderName};

pub const NAME: &str = "Dry-Run";
pub const VALUES: &str = "must be true or false";
pub const DRY_RUN: HeaderName = HeaderName::from_static("dry-run");

/// Whether a call asks to be rehearsed. Whatever is bad about it, the call is not to be made.
pub fn is_asked(headers: &HeaderMap) -> Result<bool, BadField> {
    let mut sent = headers.get_all(DRY_RUN).iter();
    match (sent.next().map(|value| value.as_bytes()), sent.next()) {
        (None | Some(b"false"), None) => Ok(false),
        (Some(b"true"), None) => Ok(true),
        _ => Err(BadField::new(NAME, VALUES)),
    }
}

/// The books of one account in one mode after what was rehearsed, and the records of that, oldest first.
pub struct Rehearsed<'a> {
    pub of: TenantMode,
    pub book: &'a Book,
    pub now: Timestamp,
    pub records: &'a [(Record, Timestamp)],
}

impl Rehearsed<'_> {
    fn postings(&self) -> impl DoubleEndedIterator<Item = (&Record, Timestamp, usize)> {
        self.records
            .iter()
            .flat_map(|(record, time)| (0..record.postings.len()).map(move |n| (record, *time, n)))
    }

    /// Newest first, as lists have them.
    pub fn movements(&self) -> Vec<Vec<u8>> {
        let newest = self.postings().rev();
        newest
            .filter_map(|(record, time, n)| show_movement(self.of.livemode, record, time, n, self.now))
            .collect()
    }

    /// Oldest first, as their list has them.
    pub fn events(&self) -> Vec<Vec<u8>> {
        let numbered = self
            .records
            .iter()
            .flat_map(|(record, time)| (0..record.events.len()).map(move |n| (record, *time, n)));
        numbered.filter_map(|(record, time, n)| events::show(record, time, n, self.of)).collect()
    }

    /// What is held that was not before, and still is.
    pub fn holds(&self) -> Vec<Vec<u8>> {
        let mut held: Vec<(Currency, Ledger, Id, Option<Timestamp>, i64)> = Vec::new();
        for change in self.records.iter().flat_map(|(record, _)| &record.holds) {
            let of = (change.currency, change.ledger, change.hold, change.release_at.instant());
            match held.iter_mut().find(|known| (known.0, known.1, known.2, known.3) == of) {
                Some(known) => known.4 += change.minor,
                None => held.push((of.0, of.1, of.2, of.3, change.minor)),
            }
        }
        let lasts = |at: Option<Timestamp>| at.is_none_or(|at| at > self.now);
        let held = held.into_iter().filter(|(.., at, minor)| *minor > 0 && lasts(*at));
        held.map(|(currency, _, _, at, minor)| show_hold(currency, minor, at)).collect()
    }

    /// That of the account which moves; of several the account's own, and its first currency.
    pub fn balance(&self) -> Vec<u8> {
        let rows =
            || self.postings().map(|(record, _, n)| &record.postings[n]).filter(|one| one.row.is_some());
        let own = rows().find(|posting| posting.ledger == Ledger::Tenant).map(|posting| posting.currency);
        let seller = rows().find_map(|posting| match posting.ledger {
            Ledger::Seller(seller) => sellers::balance(self.book, seller),
            _ => None,
        });
        let livemode = self.of.livemode;
        match (own, seller) {
            (Some(Currency::Cop), _) => balance::show_cop(&cop_balance(self.book), livemode),
            (Some(Currency::Usdt), _) => crypto::show_balance(&in_usdt(self.book), livemode),
            (None, Some(seller)) => balance::show_seller(&seller, livemode),
            (Some(Currency::Ves), _) | (None, None) => balance::show(&in_bolivares(self.book), livemode),
        }
    }
}

shown! {
    fn show_hold(currency: Currency, minor: i64, at: Option<Timestamp>), hold_schema, 128 {
        plain "currency" = currency.code(), currency();
        text "amount" = &shown_amount(currency, minor), text();
        maybe plain "availableAt" = at, instant().about("Null where a bank's decision ends it.");
    }
}

shown! {
    pub fn show_order(rail: &str, kind: &str, minor: i64, currency: Currency), order_schema, 128 {
        text "rail" = rail, text();
        text "kind" = kind, text().about("As operators see operations: `c2p`, `payout` …");
        text "amount" = &shown_amount(currency, minor), text();
        plain "currency" = currency.code(), currency();
    }
}

shown! {
    pub fn show(status: u16, body: &[u8], balance: &[u8], happened: Happened), schema, 4096 {
        boolean "dryRun" = true, boolean();
        number "status" = status, integer().about("The status that the call would have.");
        json "body" = if body.is_empty() { b"null".as_slice() } else { body },
            anything().about("The body that it would have. Ids, times, keys and secrets in it are those of the rehearsal.");
        list "movements" = happened.movements,
            list(anything()).about("As `GET /v1/balance/transactions` and its kin list them.");
        json "balance" = balance,
            anything().about("As the `GET` of the balance that would move, or `/v1/balance`, would show it.");
        list "holds" = happened.holds, list(hold_schema()).about("What would be held anew.");
        list "events" = happened.events, list(anything()).about("As `GET /v1/events` lists them.");
        list "orders" = happened.orders, list(order_schema()).about("What banks and networks would be told.");
    }
}

/// Empty where nothing would happen.
#[derive(Default)]
pub struct Happened {
    pub movements: Vec<Vec<u8>>,
    pub holds: Vec<Vec<u8>>,
    pub events: Vec<Vec<u8>>,
    pub orders: Vec<Vec<u8>>,
}

pub const NO_BALANCE: &[u8] = b"null";

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn a_call_is_rehearsed_or_made_or_refused() {
        let read = |sent: &[&'static str]| {
            let mut headers = HeaderMap::new();
            sent.iter().for_each(|value| _ = headers.append(DRY_RUN, HeaderValue::from_static(value)));
            is_asked(&headers).map_err(|bad| bad.field)
        };
        assert_eq!((read(&[]), read(&["false"]), read(&["true"])), (Ok(false), Ok(false), Ok(true)));
        for bad in [&[""][..], &["True"], &["1"], &["true", "true"], &["true, false"]] {
            assert_eq!(read(bad), Err(NAME.into()), "{bad:?}");
        }
    }
}
