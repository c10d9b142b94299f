//! Entries of ours that a bank's statement should show: what went over its rail.

use domain::entities::cop_payment::CopPayment;
use domain::entities::means::Means;
use domain::entities::payment::{Payment, Status};
use domain::entities::payout::{Destination, Payout};
use domain::entities::verification::{Booked, Deposits, MethodStatus};
use domain::entities::{Entity, payout};
use domain::rail::Service;
use domain::resources::operations::{Operation, Subject};
use domain::resources::verification::booked::open_deposits;
use domain::trace::shown;
use domain::values::ids::Id;
use domain::values::money::{Currency, Ves};
use domain::values::time::{Date, Timestamp, Zone};
use domain::values::venezuela::{BankCode, MobilePhone};
use std::iter;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    Credit,
    Debit,
}

impl Side {
    pub const fn name(self) -> &'static str {
        match self {
            Side::Credit => "credit",
            Side::Debit => "debit",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: &'static str,
    pub id: Id,
    pub tenant_key: u64,
    pub service: Service,
    pub cents: i64,
    pub currency: Currency,
    pub side: Side,
    pub reference: Option<String>,
    pub day: Date,
    pub created_at: Timestamp,
    /// Of the other side: ten digits, without the leading zero.
    pub phone: Option<u64>,
    /// Of the other side: four digits.
    pub bank: Option<u16>,
}

pub const fn zone(currency: Currency) -> Zone {
    match currency {
        Currency::Cop => Zone::Bogota,
        Currency::Ves | Currency::Usdt => Zone::Caracas,
    }
}

/// `None` of what has fewer than ten digits, such as a masked phone.
pub fn phone_digits(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(|character| !" +-().".contains(*character)).collect();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.get(digits.len().checked_sub(10)?..)?.parse().ok()
}

/// A bank's text may begin with its code; `None` of a name.
pub fn bank_digits(text: &str) -> Option<u16> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    if (3..=4).contains(&digits.len()) { digits.parse().ok() } else { None }
}

pub fn completed(tenant_key: u64, entity: &Entity) -> Vec<Entry> {
    match entity {
        Entity::Payment(payment) => of_payment(tenant_key, payment),
        Entity::CopPayment(payment) => of_cop_payment(tenant_key, payment),
        Entity::Payout(payout) => of_payout(tenant_key, payout),
        _ => proved(entity).flat_map(|(status, side)| of_deposits(tenant_key, status, side)).collect(),
    }
}

/// Of an operation that its bank has not answered: of micro-deposits each that no statement has
/// shown, as the bank books them one by one; none if it has no amount in hundredths.
pub fn open(tenant_key: u64, entity: &Entity, operation: &Operation) -> Vec<Entry> {
    if matches!(operation.subject, Subject::PayoutMethod(_) | Subject::PayoutAccount) {
        let side = proved(entity).find(|(status, _)| status.waits_for(operation.id)).map(|(_, side)| side);
        let (Some(side), Some((Deposits { amounts, .. }, booked))) =
            (side, open_deposits(entity, operation.id))
        else {
            return Vec::new();
        };
        let one = |(amount, reference): (Ves, Option<String>)| match reference {
            Some(_) => None,
            None => of_operation(tenant_key, operation, amount.minor(), side),
        };
        return [(amounts.0, booked.first), (amounts.1, booked.second)].into_iter().filter_map(one).collect();
    }
    of_operation(tenant_key, operation, operation.minor, other_side(entity)).into_iter().collect()
}

fn of_operation(tenant_key: u64, operation: &Operation, minor: i64, other_side: OtherSide) -> Option<Entry> {
    let side = if operation.kind.brings_money() { Side::Credit } else { Side::Debit };
    let of = (tenant_key, "operation", operation.id);
    let amount = (cents(minor, operation.currency)?, operation.currency);
    Some(entry(of, operation.service, amount, side, operation.sent_at, other_side))
}

/// Without a reference, and as old as it is.
fn entry(
    (tenant_key, kind, id): (u64, &'static str, Id),
    service: Service,
    (cents, currency): (i64, Currency),
    side: Side,
    at: Timestamp,
    (phone, bank): OtherSide,
) -> Entry {
    let (reference, day) = (None, at.date_in(zone(currency)));
    Entry {
        kind,
        id,
        tenant_key,
        service,
        cents,
        currency,
        side,
        reference,
        day,
        created_at: at,
        phone,
        bank,
    }
}

fn cents(minor: i64, currency: Currency) -> Option<i64> {
    match currency {
        Currency::Ves => Some(minor),
        Currency::Cop => minor.checked_mul(100),
        Currency::Usdt => None,
    }
}

type OtherSide = (Option<u64>, Option<u16>);

fn other_side(entity: &Entity) -> OtherSide {
    match entity {
        Entity::Payment(payment) => payer(payment),
        Entity::Payout(payout) => receiver(payout),
        _ => (None, None),
    }
}

fn proved(entity: &Entity) -> Box<dyn Iterator<Item = (&MethodStatus, OtherSide)> + '_> {
    match entity {
        Entity::Merchant(merchant) => {
            Box::new(merchant.methods.iter().map(|method| (&method.status, side(method.bank, method.phone))))
        }
        Entity::OwnAccount(account) => {
            Box::new(iter::once((&account.status, side(account.held.bank, account.held.phone))))
        }
        _ => Box::new(iter::empty()),
    }
}

fn side(bank: BankCode, phone: MobilePhone) -> OtherSide {
    (phone_digits(&phone.clear().to_string()), bank_digits(&bank.to_string()))
}

fn payer(payment: &Payment) -> OtherSide {
    payment.debtor().map_or((None, None), |debtor| side(debtor.bank, debtor.phone))
}

fn receiver(payout: &Payout) -> OtherSide {
    let bank = payout.destination.bank();
    match &payout.destination {
        Destination::Phone { phone, .. } => side(bank, *phone),
        Destination::Account { .. } => (None, bank_digits(&bank.to_string())),
    }
}

fn of_payment(tenant_key: u64, payment: &Payment) -> Vec<Entry> {
    let is_done = matches!(payment.status, Status::Completed | Status::Reversed);
    if !is_done || matches!(payment.means, Means::Usdt { .. }) {
        return Vec::new();
    }
    let charged_at = payment.order.trace.sent_at.filter(|_| payment.reversals == 0);
    let charged_at = charged_at.or(payment.completed_at).unwrap_or(payment.created_at);
    let (of, amount) = ((tenant_key, "payment", payment.id), (payment.ves.minor(), Currency::Ves));
    let service = payment.means.method().service();
    let mut charge = entry(of, service, amount, Side::Credit, charged_at, payer(payment));
    charge.reference = shown(&payment.bank_reference).map(str::to_owned);
    charge.created_at = payment.created_at;
    if let Means::Transfer { date, .. } = &payment.means {
        // The payer made it, and told of it later.
        charge.day = *date;
    }
    if payment.status == Status::Completed {
        return vec![charge];
    }
    let reversed_at = payment.order.trace.sent_at.or(payment.reversed_at).unwrap_or(payment.created_at);
    let cents = charge.cents;
    reversed(charge, cents, shown(&payment.reversal_ref), reversed_at)
}

fn reversed(charge: Entry, cents: i64, reference: Option<&str>, at: Timestamp) -> Vec<Entry> {
    let reversal = Entry {
        kind: "reversal",
        cents,
        side: Side::Debit,
        reference: reference.map(str::to_owned),
        day: at.date_in(zone(charge.currency)),
        created_at: at,
        ..charge.clone()
    };
    vec![charge, reversal]
}

fn of_cop_payment(tenant_key: u64, payment: &CopPayment) -> Vec<Entry> {
    if !matches!(payment.status, Status::Completed | Status::Reversed) {
        return Vec::new();
    }
    let charged_at = payment.order.trace.sent_at.filter(|_| payment.refunds == 0);
    let charged_at = charged_at.or(payment.completed_at).unwrap_or(payment.created_at);
    let Some(amount) = cents(payment.amount.minor(), Currency::Cop) else { return Vec::new() };
    let (of, amount) = ((tenant_key, "payment", payment.id), (amount, Currency::Cop));
    let charge = Entry {
        reference: shown(&payment.processor_reference).map(str::to_owned),
        created_at: payment.created_at,
        ..entry(of, Service::Cop, amount, Side::Credit, charged_at, (None, None))
    };
    let net = payment.net().unwrap_or(payment.amount);
    let refund = cents(net.minor(), Currency::Cop).filter(|_| payment.status == Status::Reversed);
    let Some(cents) = refund else { return vec![charge] };
    let refunded_at = payment.order.trace.sent_at.or(payment.refunded_at).unwrap_or(payment.created_at);
    reversed(charge, cents, shown(&payment.refund_reference), refunded_at)
}

fn of_payout(tenant_key: u64, payout: &Payout) -> Vec<Entry> {
    if payout.status != payout::Status::Completed {
        return Vec::new();
    }
    let sent_at = payout.order.trace.sent_at.unwrap_or(payout.created_at);
    let (of, amount) = ((tenant_key, "payout", payout.id), (payout.amount.minor(), Currency::Ves));
    vec![Entry {
        reference: shown(&payout.reference).map(str::to_owned),
        created_at: payout.created_at,
        ..entry(of, Service::Payouts, amount, Side::Debit, sent_at, receiver(payout))
    }]
}

/// Both deposits if the bank made them, and else those that a statement has shown.
fn of_deposits(tenant_key: u64, status: &MethodStatus, other_side: OtherSide) -> Vec<Entry> {
    let Some(word) = &status.word else { return Vec::new() };
    let (of, service) = ((tenant_key, "micro_deposit", word.operation), Service::MicroDeposits);
    let made = word.code.is_none() && word.reference.is_some();
    let Booked { first, second } = &word.booked;
    let shown = if made { word.references() } else { (first.as_deref(), second.as_deref()) };
    let both = [(word.amounts.0, shown.0), (word.amounts.1, shown.1)];
    let there = both.into_iter().filter(|(_, reference)| made || reference.is_some());
    let entry = |(amount, reference): (Ves, Option<&str>)| Entry {
        reference: reference.map(str::to_owned),
        ..entry(of, service, (amount.minor(), Currency::Ves), Side::Debit, word.sent_at, other_side)
    };
    there.map(entry).collect()
}
