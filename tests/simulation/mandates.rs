//! What is known of mandates: in the model what each has spent on each day, as its owner counts it, and which calls
//! wait; and of every tenant, in every currency, that what was drawn is what still stands, never above a limit.

use crate::model::{DAY, Model, Verdict};
use crate::witness::{Asked, Paid, Said, Turn, Wanted, Within};
use domain::entities::Entity;
use domain::entities::conversion::{End, Stage};
use domain::entities::{cop_payment, crypto_payout, payment, payout};
use domain::ledger::book::Book;
use domain::ledger::spending::{Purse, Spending, remaining};
use domain::platform::mandate::{Limits, Mandate, Payee};
use domain::record::Record;
use domain::values::ids::{EntityId, Id};
use domain::values::money::Currency;
use domain::values::time::{Date, Timestamp};
use domain::values::venezuela::MobilePhone;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A mandate, on a day in Caracas.
pub type Drawn = (Id, i64);

/// Where a payout leads by what the account has: a seller's method, or the account's own phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeadsTo {
    Method(Id),
    OwnPhone(MobilePhone),
}

#[derive(Clone, Debug)]
pub struct Waits {
    mandate: Id,
    /// What a repeat is recognised by, and what it must say again.
    about: (String, String),
    until: i64,
    cents: i64,
    leads_to: Vec<Option<LeadsTo>>,
    is_decided: bool,
}

impl Waits {
    fn stand_at(&self, now: i64) -> bool {
        !self.is_decided && now < self.until
    }
}

/// Which of what a mandate asks is not met, before anything is said of the balance.
enum Not {
    Allowed(&'static str),
    Approved(i64),
}

fn day_of(now: i64) -> i64 {
    (now - 4 * 3_600_000).div_euclid(DAY)
}

fn month_of(day: i64) -> (i32, u32) {
    let (year, month, _) = Date::from_days(i32::try_from(day).expect("a day")).civil();
    (year, month)
}

fn limit(limits: &Limits) -> i64 {
    limits.0.get(&Currency::Ves).copied().unwrap_or(0)
}

impl Model {
    fn spent_on(&self, mandate: Id, today: i64, is_meant: impl Fn(i64) -> bool) -> i64 {
        let of = self.purses.range((mandate, i64::MIN)..=(mandate, today));
        of.filter(|((_, day), _)| is_meant(*day)).map(|(_, cents)| *cents).sum()
    }

    /// Whether so much may go out within the limits; `taken` is what the same call has taken by now.
    fn within_limits(&self, mandate: &Mandate, cents: i64, taken: i64, now: i64) -> Verdict {
        let today = day_of(now);
        let of_day = self.spent_on(mandate.id, today, |day| day == today);
        let of_month = self.spent_on(mandate.id, today, |day| month_of(day) == month_of(today));
        let limits = [(&mandate.per_call, 0), (&mandate.per_day, of_day), (&mandate.per_month, of_month)];
        let is_bound = limits.iter().any(|(limits, _)| limits.is_some());
        let fits = |(limits, spent): &(&Option<Limits>, i64)| {
            limits.as_ref().is_none_or(|limits| spent + taken + cents <= limit(limits))
        };
        if is_bound && limits.iter().all(fits) { Ok(()) } else { Err("mandate_exceeded") }
    }

    /// The most that goes out without an approval, where one may be needed.
    fn threshold(&self, within: &Within) -> Option<i64> {
        let above = limit(within.mandate.approval_above.as_ref()?);
        let approved = match within.consent {
            Some(Said::Given { id, .. }) => self.waits.get(&id).map_or(0, |waits| waits.cents),
            Some(Said::Asks(_)) | None => 0,
        };
        Some(above.max(approved))
    }

    fn needs_none(&self, within: &Within, cents: i64) -> Result<(), Not> {
        match self.threshold(within) {
            Some(most) if cents > most => Err(Not::Approved(cents)),
            _ => Ok(()),
        }
    }

    /// Of an item of a batch the sum of all decides about the approval.
    pub fn may_pay_item(&self, within: Option<&Within>, wanted: &Wanted, taken: i64, now: i64) -> Verdict {
        let Some(Within { mandate, .. }) = within else { return Ok(()) };
        let is_payee = |payee: &Payee| matches!(payee, Payee::Phone(_)) && wanted.to == Paid::Phone;
        if !mandate.payees.is_empty() && !mandate.payees.iter().any(is_payee) {
            return Err("mandate_payee");
        }
        self.within_limits(mandate, wanted.cents + self.payout_fee, taken, now)
    }

    /// What a mandate says about the call of a turn that would be done; whatever is known is free.
    fn meets(&self, turn: &Turn) -> Result<(), Not> {
        let within = turn.within.as_ref();
        match &turn.asked {
            Asked::Pay(wanted) if turn.entity.is_none() => {
                self.receiver(wanted.to).2.map_err(Not::Allowed)?;
                self.may_pay_item(within, wanted, 0, turn.now).map_err(Not::Allowed)?;
                within.map_or(Ok(()), |within| self.needs_none(within, wanted.cents + self.payout_fee))
            }
            Asked::Batch { items, .. } if turn.entity.is_none() => {
                let Some(within) = within else { return Ok(()) };
                let (mut sum, mut paid) = (0, Vec::new());
                for item in items.iter() {
                    let is_sound = !paid.contains(&&item.reference)
                        && self.receiver(item.to).2.is_ok()
                        && self.may_pay_item(Some(within), item, sum, turn.now).is_ok();
                    if is_sound {
                        paid.push(&item.reference);
                        sum += item.cents + self.payout_fee;
                    }
                }
                self.needs_none(within, sum)
            }
            Asked::Reverse => {
                let Some(EntityId { id, .. }) = turn.entity else { return Ok(()) };
                self.may_reverse(id, turn.now).map_err(Not::Allowed)?;
                let Some(within) = within else { return Ok(()) };
                let cents = self.sales[&id].ves;
                self.within_limits(&within.mandate, cents, 0, turn.now).map_err(Not::Allowed)?;
                self.needs_none(within, cents)
            }
            _ => Ok(()),
        }
    }

    fn leads_to(&self, turn: &Turn) -> Vec<Option<LeadsTo>> {
        let of = |to: Paid| match to {
            Paid::Merchant { id, .. } => {
                let shop = self.shops.get(&id).filter(|shop| !shop.gone)?;
                let is_default = |(id, _): &&(Id, _)| Some(*id) == shop.default;
                shop.methods.iter().find(is_default).map(|(id, _)| LeadsTo::Method(*id))
            }
            Paid::Own => self.own.and(self.own_phone).map(LeadsTo::OwnPhone),
            Paid::Phone | Paid::Other => None,
        };
        match &turn.asked {
            Asked::Pay(wanted) => vec![of(wanted.to)],
            Asked::Batch { items, .. } => items.iter().map(|item| of(item.to)).collect(),
            _ => Vec::new(),
        }
    }

    /// The name of what a call is about, and what a repeat of it must say again.
    fn subject(turn: &Turn) -> Option<(String, String)> {
        Some(match &turn.asked {
            Asked::Pay(wanted) => {
                (format!("payout {}", wanted.reference), format!("{} {:?}", wanted.cents, wanted.to))
            }
            Asked::Batch { id, .. } => (format!("batch {id}"), String::new()),
            Asked::Reverse => (format!("{:?}", turn.entity?), String::new()),
            _ => return None,
        })
    }

    fn undecided(&self, id: Id, was_decided: bool, now: i64) -> Verdict {
        match &self.waits[&id] {
            // As whoever decides has read it.
            waits if now >= waits.until && !was_decided => Err("approval_expired"),
            waits if waits.is_decided => Err("approval_decided"),
            _ => Ok(()),
        }
    }

    pub fn reject(&mut self, id: Id, was_decided: bool, now: i64) -> Verdict {
        self.undecided(id, was_decided, now)?;
        self.decided(id);
        Ok(())
    }

    fn decided(&mut self, id: Id) {
        self.waits.get_mut(&id).expect("it waited").is_decided = true;
    }

    /// The verdict on a call under a mandate, around that on the call itself.
    pub fn judge_within(&mut self, turn: &Turn, within: &Within) -> Verdict {
        let given = match within.consent {
            Some(Said::Given { id, was_decided }) => {
                self.undecided(id, was_decided, turn.now)?;
                if self.waits[&id].leads_to != self.leads_to(turn) {
                    return Err("mandate_payee");
                }
                Some(id)
            }
            Some(Said::Asks(_)) => {
                let known = turn.entity.is_some() && !matches!(turn.asked, Asked::Reverse);
                let about = Model::subject(turn).filter(|_| !known);
                let is_same = |waits: &&Waits| {
                    waits.mandate == within.mandate.id
                        && waits.stand_at(turn.now)
                        && about.as_ref().is_some_and(|about| about.0 == waits.about.0)
                };
                if let Some(first) = self.waits.values().find(is_same) {
                    return Err(match about.as_ref() == Some(&first.about) {
                        true => "awaiting_approval",
                        false => "external_ref_conflict",
                    });
                }
                None
            }
            None => None,
        };
        match (self.meets(turn), within.consent) {
            (Err(Not::Allowed(code)), _) => return Err(code),
            (Err(Not::Approved(cents)), Some(Said::Asks(id))) => {
                let about = Model::subject(turn).expect("it takes money out");
                let (mandate, until, leads_to) = (within.mandate.id, turn.now + DAY, self.leads_to(turn));
                let waits = Waits { mandate, about, until, cents, leads_to, is_decided: false };
                self.waits.insert(id, waits);
                return Err("awaiting_approval");
            }
            (Err(Not::Approved(_)), _) => return Err("mandate_exceeded"),
            (Ok(()), _) => {}
        }
        self.judge_call(turn)?;
        if let Some(id) = given {
            self.decided(id);
        }
        Ok(())
    }

    /// Takes so much out of the mandate under which a turn was asked for.
    pub fn draw(&mut self, turn: &Turn, cents: i64) -> Option<Drawn> {
        let drawn = (turn.within.as_ref()?.mandate.id, day_of(turn.now));
        *self.purses.entry(drawn).or_default() += cents;
        Some(drawn)
    }

    pub fn give_back(&mut self, drawn: Option<Drawn>, cents: i64) {
        if let Some(drawn) = drawn {
            *self.purses.get_mut(&drawn).expect("it was drawn") -= cents;
        }
    }

    /// Compares what each mandate has left, and what waits, with the book.
    pub fn compare_mandates(&self, book: &Book, now: i64) {
        const MOST: i64 = 1 << 50;
        let today = day_of(now);
        let mandates: std::collections::BTreeSet<Id> =
            self.purses.keys().map(|(mandate, _)| *mandate).collect();
        for id in mandates {
            let most = Some(Limits([(Currency::Ves, MOST)].into()));
            let probe = Mandate {
                id,
                agent: None,
                per_call: None,
                per_day: most.clone(),
                per_month: most,
                payees: Vec::new(),
                approval_above: None,
            };
            let left = remaining(&book.spent, &probe, Timestamp::from_unix_ms(now));
            let spent: Vec<i64> = left.iter().map(|(_, limits)| MOST - limit(limits)).collect();
            let of_day = self.spent_on(id, today, |day| day == today);
            let of_month = self.spent_on(id, today, |day| month_of(day) == month_of(today));
            assert_eq!(
                spent,
                [of_day, of_month],
                "what was spent of the mandate {id} on this day and in its month"
            );
        }
        let waiting = book.waiting.iter().filter(|(_, waiting)| now < waiting.expires_at.unix_ms());
        let waiting: Vec<Id> = waiting.map(|((_, id), _)| *id).collect();
        let mut expected: Vec<(Id, Id)> = self
            .waits
            .iter()
            .filter(|(_, waits)| waits.stand_at(now))
            .map(|(id, waits)| (waits.mandate, *id))
            .collect();
        expected.sort_unstable();
        let expected: Vec<Id> = expected.into_iter().map(|(_, id)| id).collect();
        assert_eq!(waiting, expected, "the calls that wait for an approval");
    }
}

/// What was drawn by the records of a tenant.
#[derive(Default)]
pub struct Purses(HashMap<(Id, Date, Currency), i64>);

impl Purses {
    pub fn add(&mut self, record: &Record, within: Option<&Within>) {
        let mut in_call: BTreeMap<Currency, i64> = BTreeMap::new();
        for Spending { purse: Purse { mandate, date }, currency, minor } in &record.spent {
            let drawn = self.0.entry((*mandate, *date, *currency)).or_default();
            *drawn += minor;
            assert!(*drawn >= 0, "more was given back to the mandate {mandate} than was taken on {date}");
            if *minor > 0 {
                *in_call.entry(*currency).or_default() += minor;
                let within = within.expect("only who has a mandate draws from one");
                self.keeps(&within.mandate, *date, *currency, in_call[currency]);
            }
        }
    }

    fn keeps(&self, mandate: &Mandate, date: Date, currency: Currency, in_call: i64) {
        let month = |date: Date| (date.civil().0, date.civil().1);
        let sum = |is_meant: &dyn Fn(Date) -> bool| -> i64 {
            let of = self
                .0
                .iter()
                .filter(|((id, on, of), _)| (*id, *of) == (mandate.id, currency) && is_meant(*on));
            of.map(|(_, minor)| *minor).sum()
        };
        for (limits, drawn) in [
            (&mandate.per_call, in_call),
            (&mandate.per_day, sum(&|on| on == date)),
            (&mandate.per_month, sum(&|on| month(on) == month(date))),
        ] {
            let Some(limits) = limits else { continue };
            let most = limits.0.get(&currency).copied().unwrap_or(0);
            assert!(drawn <= most, "{drawn} of {currency:?} are out under a mandate that lets {most} out");
        }
    }

    /// Whatever was drawn and did not come back is what still stands.
    pub fn compare(&self, entities: &HashMap<EntityId, Arc<Entity>>) {
        let mut stands: HashMap<(Id, Date, Currency), i64> = HashMap::new();
        for Spending { purse, currency, minor } in entities.values().filter_map(|entity| standing(entity)) {
            *stands.entry((purse.mandate, purse.date, currency)).or_default() += minor;
        }
        for (of, drawn) in &self.0 {
            let stands = stands.remove(of).unwrap_or(0);
            assert_eq!(*drawn, stands, "what is given back is given back exactly once: {of:?}");
        }
        assert!(stands.is_empty(), "something stands that was drawn from nothing: {stands:?}");
    }
}

/// What of an entity was drawn from a mandate and did not come back.
fn standing(entity: &Entity) -> Option<Spending> {
    match entity {
        Entity::Payout(payout) if payout.status != payout::Status::Failed => {
            payout.drawn.spending(Currency::Ves, payout.amount.minor() + payout.fee.minor())
        }
        Entity::Payment(payment)
            if payment.status == payment::Status::Reversed
                || matches!(payment.phase, payment::Phase::Reversing { .. }) =>
        {
            payment.drawn.spending(Currency::Ves, payment.ves.minor())
        }
        Entity::CryptoPayout(payout)
            if !matches!(payout.status, crypto_payout::Status::Failed | crypto_payout::Status::Rejected) =>
        {
            payout.drawn.spending(Currency::Usdt, payout.amount.minor() + payout.fee.minor())
        }
        Entity::Conversion(conversion) => match &conversion.stage {
            Stage::Accepted(accepted) if !matches!(accepted.end, End::Canceled { .. }) => {
                accepted.drawn.spending(conversion.source.currency(), accepted.price.source_minor)
            }
            _ => None,
        },
        Entity::CopPayment(payment)
            if payment.refunded_at.is_some()
                || matches!(payment.phase, cop_payment::Phase::Refunding { .. }) =>
        {
            payment.drawn.spending(Currency::Cop, payment.amount.minor())
        }
        _ => None,
    }
}
