//! What a record says, in the words of commands and pages.

use domain::ledger::{Ledger, Posting};
use domain::platform::{Act, PlatformChange};
use domain::record::{Answer, Record};
use domain::values::ids::{PLATFORM, is_live};
use domain::values::money::{Currency, write_minor};

pub fn mode(tenant: u64) -> &'static str {
    match tenant {
        PLATFORM => "platform",
        tenant if is_live(tenant) => "live",
        _ => "test",
    }
}

pub fn entity(record: &Record) -> Option<String> {
    let written = record.entities.first().map(|written| written.state.id());
    written
        .or(record.removed.first().map(|(id, _)| *id))
        .map(|id| format!("{id:?}"))
        .or_else(|| record.platform.as_deref().map(changed))
}

fn changed(change: &PlatformChange) -> String {
    match change {
        PlatformChange::Tenant(tenant)
        | PlatformChange::Opened { tenant, .. }
        | PlatformChange::TestAccountOpened { tenant, .. } => {
            format!("tenant {}", tenant.id)
        }
        PlatformChange::Key(key) => format!("key {}", key.id),
        PlatformChange::Bank(code, _) => format!("bank {code}"),
        PlatformChange::Banks(_) => "catalogue of banks".to_owned(),
        PlatformChange::Searched(searched) => format!("blocks of {} to {}", searched.name(), searched.last),
        PlatformChange::SearchEnded { payment, .. } => format!("end of the search of payment {payment}"),
        PlatformChange::Beside(entries) => format!("{} entries beside the log", entries.len()),
        PlatformChange::LiveAsked(number) => format!("live mode, asked for by tenant number {number}"),
        PlatformChange::TestAccountsUsed(used) => format!("use of {} test accounts", used.len()),
        PlatformChange::TestAccountDeleted(number) => {
            format!("the test account of tenant number {number}, deleted")
        }
        PlatformChange::Acted(Act::BackedUp { directory, seq }) => format!("backup {directory} up to {seq}"),
        PlatformChange::Acted(Act::TookOver { made_by, seq }) => {
            format!("took over what {made_by} made, up to {seq}")
        }
        PlatformChange::Operator(operator) => format!("operator {}", operator.id),
        PlatformChange::Moved { tenant, from } => {
            format!("tenant {}, moved from partition {from} to {}", tenant.id, tenant.partition)
        }
        PlatformChange::Followed(followed) => format!("followed partition 0 up to {}", followed.seq),
    }
}

pub fn amount(minor: i64, currency: Currency) -> String {
    let mut amount = String::new();
    let _ = write_minor(&mut amount, minor, currency.decimals());
    amount
}

pub fn owner(ledger: Ledger) -> String {
    match ledger {
        Ledger::Tenant => "tenant".to_owned(),
        Ledger::Seller(id) => format!("seller {id}"),
        Ledger::Fees => "fees".to_owned(),
        Ledger::Rail => "rail".to_owned(),
        Ledger::Operator => "operator".to_owned(),
        Ledger::Exchange => "exchange".to_owned(),
    }
}

/// Whose, how much, and of what kind where it is a movement.
pub fn postings<'a>(postings: impl IntoIterator<Item = &'a Posting>) -> Vec<String> {
    let shown = postings.into_iter().map(|posting| {
        let kind = posting.row.as_ref().map(|row| format!(" {}", row.kind.name())).unwrap_or_default();
        format!(
            "{} {} {}{kind}",
            owner(posting.ledger),
            amount(posting.minor, posting.currency),
            posting.currency.code()
        )
    });
    shown.collect()
}

/// What a record keeps for an Idempotency-Key, in words.
pub fn kept(record: &Record) -> Option<String> {
    Some(match &record.kept.as_ref()?.answer {
        Answer::Record { .. } => "answer".to_owned(),
        Answer::Refused(refusal) => api::refusals::problem(refusal).code.to_owned(),
        Answer::Bytes(status, _) => status.to_string(),
        Answer::Void => "nothing".to_owned(),
    })
}
