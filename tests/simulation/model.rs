//! The model of a tenant, as simply as it can be said: sums of integers, holds with their ends, and
//! the state of each thing. It knows nothing of ledgers, records or agendas, and shares no rule
//! with the code it is held against: rates, fees, business days and orders of refusals are written
//! down here a second time, from the contract.

use crate::mandates::{Drawn, Waits};
use crate::steps::Word;
use crate::witness::By;
use domain::rail::How;
use domain::values::ids::{EntityId, Id};
use domain::values::venezuela::MobilePhone;
use std::collections::BTreeMap;

pub const DAY: i64 = 86_400_000;
pub const INTENT: i64 = 900_000;
/// The most chargebacks of a payment, and the most methods of a merchant.
pub const MANY: usize = 100;

/// A refusal, by its code.
pub type Verdict = Result<(), &'static str>;

/// Money that cannot be spent before an instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hold {
    pub until: i64,
    pub left: i64,
}

impl Hold {
    fn at(self, now: i64) -> i64 {
        if self.until > now { self.left } else { 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paying {
    Intent,
    Charging,
    Completed,
    Reversing,
    Reversed,
    Failed,
    Canceled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispute {
    Open,
    Won,
    Lost,
}

#[derive(Clone, Debug)]
pub struct Taken {
    pub id: Id,
    pub cents: i64,
    pub fee: i64,
    pub dispute: Dispute,
}

#[derive(Clone, Debug)]
pub struct Sale {
    pub reference: String,
    /// The number of the attempt on the reference.
    pub attempt: u32,
    pub by: By,
    pub ves: i64,
    pub usd_cents: i64,
    pub stands: Paying,
    pub created: i64,
    pub completed: i64,
    /// The seller, and what the tenant keeps in ten thousandths of a percent.
    pub seller: Option<(Id, u32)>,
    pub fee: i64,
    pub share: i64,
    pub own: Hold,
    pub theirs: Hold,
    /// The number of reversals that were begun.
    pub reversals: u16,
    /// The amounts set aside from the tenant and from the seller while a bank decides about a
    /// reversal.
    pub aside: (i64, i64),
    pub taken: Vec<Taken>,
    /// The purse that the newest reversal was drawn from.
    pub drawn: Option<Drawn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    Pending,
    Completed,
    Failed,
}

#[derive(Clone, Debug)]
pub struct Sent {
    pub cents: i64,
    pub fee: i64,
    pub from_seller: Option<Id>,
    pub stands: Sending,
    pub drawn: Option<Drawn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    None,
    /// The proof was begun by an operation, at an instant; `waits` while the bank's word is waited
    /// for.
    Started {
        by: Id,
        at: i64,
        waits: bool,
    },
    Proved,
}

impl Proof {
    /// Applies a word about deposits: those that arrived need no word any more, and those that
    /// never did are not sent again when a day has passed.
    fn hear(&mut self, operation: Id, said: Word, now: i64) {
        let Proof::Started { by, at, waits } = self else { return };
        match said {
            _ if *by != operation || !*waits => {}
            Word::Done => *waits = false,
            Word::NeverReceived => *waits = now < *at + DAY,
            Word::Silent | Word::Refused => {}
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Shop {
    pub gone: bool,
    pub inactive: bool,
    pub methods: Vec<(Id, Proof)>,
    pub default: Option<Id>,
    pub payouts: u64,
    pub net: i64,
    pub funded: Vec<Hold>,
}

#[derive(Default)]
pub struct Model {
    /// The instants at which verifications were started.
    pub deposit_starts: Vec<i64>,
    pub net: i64,
    pub funded: Vec<Hold>,
    pub sales: BTreeMap<Id, Sale>,
    pub sent: BTreeMap<Id, Sent>,
    pub shops: BTreeMap<Id, Shop>,
    pub own: Option<Proof>,
    /// The phone of the tenant's own account, which another account may take the place of.
    pub own_phone: Option<MobilePhone>,
    pub reserve: i64,
    pub payout_fee: i64,
    pub chargeback_fee: i64,
    pub hold_days: u32,
    /// The version of the settings.
    pub version: u64,
    /// What was spent of each mandate on each day.
    pub purses: BTreeMap<Drawn, i64>,
    /// The calls that waited, by their approvals.
    pub waits: BTreeMap<Id, Waits>,
    /// Events but those that tell of a release.
    pub events: u64,
}

/// `amount` × `part` / `whole`, half up.
fn share(amount: i64, part: i64, whole: i64) -> i64 {
    (2 * amount * part + whole) / (2 * whole)
}

/// The `days`-th business day after `at`, at the same time of day in Caracas, but not before a day
/// has passed. 24 December is a holiday.
pub fn seller_may_have_it(at: i64, days: u32) -> i64 {
    let mut day = (at - 4 * 3_600_000).div_euclid(DAY);
    let first = day;
    for _ in 0..days {
        day += 1;
        // 1 January 1970 was a Thursday; 20 811 days later it is 24 December 2026.
        while matches!((day + 4).rem_euclid(7), 0 | 6) || day == HOLIDAY {
            day += 1;
        }
    }
    at + DAY.max((day - first) * DAY)
}

/// 24 December 2026, in days since 1970.
pub const HOLIDAY: i64 = 20_811;

impl Model {
    pub fn held(&self, now: i64) -> i64 {
        let of_sales: i64 = self.sales.values().map(|sale| sale.own.at(now) + sale.aside.0).sum();
        of_sales + self.funded.iter().map(|hold| hold.at(now)).sum::<i64>()
    }

    pub fn available(&self, now: i64) -> i64 {
        self.net - self.reserve - self.held(now)
    }

    /// The end of the next of the tenant's holds.
    pub fn next_release(&self, now: i64) -> Option<i64> {
        let own = self.sales.values().map(|sale| sale.own).chain(self.funded.iter().copied());
        own.filter(|hold| hold.at(now) != 0).map(|hold| hold.until).min()
    }

    pub fn pending(&self, shop: Id, now: i64) -> i64 {
        let of_sales =
            self.sales.values().filter(|sale| sale.seller.is_some_and(|(seller, _)| seller == shop));
        of_sales.map(|sale| sale.theirs.at(now) + sale.aside.1).sum::<i64>()
            + self.shops[&shop].funded.iter().map(|hold| hold.at(now)).sum::<i64>()
    }

    fn shop(&mut self, id: Id) -> &mut Shop {
        self.shops.get_mut(&id).expect("a shop is never forgotten")
    }

    fn sale(&mut self, id: Id) -> &mut Sale {
        self.sales.get_mut(&id).expect("a sale is never forgotten")
    }

    /// Fee, commission and share of a sale, were it completed now.
    fn figures(ves: i64, percent: u32) -> (i64, i64) {
        let fee = share(ves, 15, 1_000);
        (fee, ves - fee - share(ves, i64::from(percent), 1_000_000))
    }

    /// A shop that is there.
    pub fn there(&self, id: Id) -> Result<&Shop, &'static str> {
        self.shops.get(&id).filter(|shop| !shop.gone).ok_or("not_found")
    }

    pub fn may_sell(&self, ves: i64, seller: Option<(Id, u32)>) -> Verdict {
        let Some((shop, percent)) = seller else { return Ok(()) };
        match self.there(shop)? {
            shop if shop.inactive => Err("merchant_inactive"),
            _ if Model::figures(ves, percent).1 < 0 => Err("invalid_data"),
            _ => Ok(()),
        }
    }

    /// A sale that nobody has executed, or that is at the bank.
    pub fn begin(&mut self, id: Id, reference: &str, by: By, usd_cents: i64, now: i64) {
        let before = self.sales.values().filter(|sale| sale.reference == reference);
        let mut attempt = 1;
        for sale in before {
            attempt = attempt.max(sale.attempt + 1);
            assert!(
                matches!(sale.stands, Paying::Failed | Paying::Canceled),
                "{id} is a new attempt on {reference} beside {sale:?}"
            );
        }
        let sale = Sale {
            reference: reference.to_owned(),
            attempt,
            by,
            ves: usd_cents * 200,
            usd_cents,
            stands: if by == By::C2p { Paying::Intent } else { Paying::Charging },
            created: now,
            completed: 0,
            seller: None,
            fee: 0,
            share: 0,
            own: Hold::default(),
            theirs: Hold::default(),
            reversals: 0,
            aside: (0, 0),
            taken: Vec::new(),
            drawn: None,
        };
        self.sales.insert(id, sale);
    }

    /// An intent whose time is over although nobody has canceled it yet is canceled by it.
    pub fn may_execute(&mut self, id: Id, seller: Option<(Id, u32)>, now: i64) -> Verdict {
        let sale = &self.sales[&id];
        let executed = !matches!(sale.stands, Paying::Intent | Paying::Canceled);
        match sale.stands {
            _ if sale.by != By::C2p => Err("not_found"),
            _ if seller.is_some_and(|(shop, _)| self.there(shop).is_err()) => Err("not_found"),
            _ if executed && sale.seller != seller => Err("intent_mismatch"),
            Paying::Canceled => Err("intent_canceled"),
            Paying::Failed => Err("intent_failed"),
            Paying::Charging => Err("charge_in_progress"),
            Paying::Completed | Paying::Reversing | Paying::Reversed => Ok(()),
            Paying::Intent if now >= sale.created + INTENT => {
                self.cancel(id);
                Err("intent_canceled")
            }
            Paying::Intent => self.may_sell(sale.ves, seller),
        }
    }

    pub fn charge(&mut self, id: Id, seller: Option<(Id, u32)>) {
        let sale = self.sale(id);
        if matches!(sale.stands, Paying::Intent | Paying::Charging) {
            (sale.stands, sale.seller) = (Paying::Charging, seller);
        }
    }

    /// The verdict on what is asked for on the reference of a sale that a new attempt may not follow.
    pub fn about(&self, id: Id, is_same: bool) -> Verdict {
        match self.sales[&id].stands {
            Paying::Reversed => Err("external_ref_conflict"),
            _ if is_same => Ok(()),
            Paying::Completed | Paying::Reversing => Err("external_ref_conflict"),
            Paying::Intent | Paying::Charging | Paying::Failed | Paying::Canceled => {
                Err("payment_in_progress")
            }
        }
    }

    pub fn cancel(&mut self, id: Id) {
        let sale = self.sale(id);
        if sale.stands == Paying::Intent {
            sale.stands = Paying::Canceled;
            self.events += 1;
        }
    }

    fn complete(&mut self, id: Id, now: i64) {
        let days = self.hold_days;
        let gone = self.sales[&id].seller.is_none_or(|(shop, _)| self.shops[&shop].gone);
        let sale = self.sale(id);
        let (fee, theirs) = Model::figures(sale.ves, sale.seller.map_or(0, |(_, percent)| percent));
        let theirs = if gone { 0 } else { theirs.max(0) };
        (sale.stands, sale.completed, sale.fee, sale.share) = (Paying::Completed, now, fee, theirs);
        let own = sale.ves - fee - theirs;
        sale.own = Hold { until: now + DAY, left: own };
        sale.theirs = Hold { until: seller_may_have_it(now, days), left: theirs };
        let seller = sale.seller;
        self.net += own;
        self.events += 1;
        if let (Some((shop, _)), true) = (seller, theirs != 0) {
            self.shop(shop).net += theirs;
            self.events += 1;
        }
    }

    pub fn may_reverse(&self, id: Id, now: i64) -> Verdict {
        let sale = &self.sales[&id];
        match sale.stands {
            _ if sale.by != By::C2p => Err("not_reversible"),
            Paying::Reversing => Err("reversal_in_progress"),
            Paying::Completed if now >= sale.completed + DAY => Err("reversal_window_expired"),
            Paying::Completed => Ok(()),
            _ => Err("payment_not_completed"),
        }
    }

    pub fn set_aside(&mut self, id: Id) {
        // Within a day of the sale everything is still in its holds.
        let sale = self.sale(id);
        (sale.aside, sale.own.left, sale.theirs.left) = ((sale.own.left, sale.theirs.left), 0, 0);
        sale.stands = Paying::Reversing;
        sale.reversals += 1;
    }

    fn reversal_ends(&mut self, id: Id, back: bool) {
        let sale = self.sale(id);
        let (own, theirs) = std::mem::take(&mut sale.aside);
        if !back {
            (sale.stands, sale.own.left, sale.theirs.left) = (Paying::Completed, own, theirs);
            let (drawn, cents) = (sale.drawn, sale.ves);
            self.give_back(drawn, cents);
            return;
        }
        sale.stands = Paying::Reversed;
        let seller = sale.seller;
        self.net -= own;
        self.events += 1;
        if let (Some((shop, _)), true) = (seller, theirs != 0) {
            self.shop(shop).net -= theirs;
            self.events += 1;
        }
    }

    /// The amount that a chargeback takes, of so much or of all that is left.
    pub fn may_charge_back(&self, id: Id, wanted: Option<i64>) -> Result<i64, &'static str> {
        let sale = &self.sales[&id];
        if !matches!(sale.by, By::Card | By::Disputed)
            || !matches!(sale.stands, Paying::Completed | Paying::Reversed)
        {
            return Err("chargeback_not_allowed");
        }
        if sale.taken.len() >= MANY {
            return Err("too_many_chargebacks");
        }
        let left = sale.ves
            - sale
                .taken
                .iter()
                .filter(|taken| taken.dispute != Dispute::Won)
                .map(|taken| taken.cents)
                .sum::<i64>();
        let cents = wanted.unwrap_or(left);
        if cents > 0 && cents <= left { Ok(cents) } else { Err("chargeback_exceeds_payment") }
    }

    pub fn charge_back(&mut self, id: Id, chargeback: Id, cents: i64) {
        let fee = self.chargeback_fee;
        self.net -= cents + fee;
        let sale = self.sale(id);
        sale.taken.push(Taken { id: chargeback, cents, fee, dispute: Dispute::Open });
        let taken: i64 =
            sale.taken.iter().filter(|taken| taken.dispute != Dispute::Won).map(|taken| taken.cents).sum();
        if taken == sale.ves {
            sale.stands = Paying::Reversed;
            self.events += 1;
        }
        self.events += 1;
    }

    /// Whether the holder of the card disputes the sale by now: once, a day after it.
    pub fn is_disputed(&self, id: Id, now: i64) -> bool {
        let sale = &self.sales[&id];
        let is_paid = sale.by == By::Disputed && sale.stands == Paying::Completed;
        is_paid && sale.taken.is_empty() && now >= sale.completed + DAY
    }

    pub fn close(&mut self, id: Id, nth: usize, won: bool) {
        let sale = self.sale(id);
        let taken = &mut sale.taken[nth];
        let mut back = 0;
        taken.dispute = if won { Dispute::Won } else { Dispute::Lost };
        if won {
            back = taken.cents + taken.fee;
            sale.stands = Paying::Completed;
        }
        self.net += back;
        self.events += 1;
    }

    /// Checks that a merchant could be paid, were there money enough.
    pub fn may_receive(&self, shop: Id) -> Verdict {
        let shop = self.there(shop)?;
        let default = shop.methods.iter().find(|(id, _)| Some(*id) == shop.default);
        match default {
            Some((_, Proof::Proved)) if shop.inactive => Err("merchant_inactive"),
            Some((_, Proof::Proved)) => Ok(()),
            _ => Err("payout_method_not_verified"),
        }
    }

    pub fn spendable(&self, from_seller: Option<Id>, now: i64) -> i64 {
        from_seller
            .map_or_else(|| self.available(now), |shop| self.shops[&shop].net - self.pending(shop, now))
    }

    pub fn pay(&mut self, id: Id, cents: i64, to: Option<Id>, from_seller: Option<Id>) {
        let fee = self.payout_fee;
        self.sent.insert(id, Sent { cents, fee, from_seller, stands: Sending::Pending, drawn: None });
        if let Some(shop) = to {
            self.shop(shop).payouts += 1;
        }
        self.book(from_seller, -cents - fee);
    }

    fn book(&mut self, from_seller: Option<Id>, cents: i64) {
        match from_seller {
            Some(shop) => self.shop(shop).net += cents,
            None => self.net += cents,
        }
    }

    fn payout_ends(&mut self, id: Id, well: bool) {
        let sent = self.sent.get_mut(&id).expect("a payout is never forgotten");
        sent.stands = if well { Sending::Completed } else { Sending::Failed };
        let (from_seller, drawn, back) = (sent.from_seller, sent.drawn, sent.cents + sent.fee);
        if !well {
            self.book(from_seller, back);
            self.give_back(drawn, back);
        }
        self.events += 1;
    }

    /// Applies a bank's word about an operation.
    pub fn heard(&mut self, whose: EntityId, operation: Id, how: How, said: Word, now: i64) -> Verdict {
        let id = whose.id;
        if let Some(stands) = self.sales.get(&id).map(|sale| sale.stands) {
            match (stands, said) {
                (Paying::Charging, Word::Done) => self.complete(id, now),
                (Paying::Charging, Word::Refused) => self.fail(id),
                // A transfer is simply looked for again; of the others the secret is gone.
                (Paying::Charging, Word::NeverReceived)
                    if how == How::Ask && self.sales[&id].by != By::Transfer =>
                {
                    self.fail(id)
                }
                (Paying::Reversing, Word::Done) => self.reversal_ends(id, true),
                (Paying::Reversing, Word::Refused) => {
                    self.reversal_ends(id, false);
                    return Err("reversal_refused");
                }
                _ => {}
            }
        } else if let Some(sent) = self.sent.get(&id) {
            match (sent.stands, said) {
                (Sending::Pending, Word::Done) => self.payout_ends(id, true),
                (Sending::Pending, Word::Refused) => self.payout_ends(id, false),
                // The order is sent once more, and then asked about: what a bank lost twice may
                // still arrive.
                _ => {}
            }
        } else if said == Word::Refused {
            self.not_the_client(id, operation);
        } else {
            let methods = self.shops.get_mut(&id).into_iter().flat_map(|shop| &mut shop.methods);
            for proof in methods.map(|(_, proof)| proof).chain(&mut self.own) {
                proof.hear(operation, said, now);
            }
        }
        Ok(())
    }

    fn fail(&mut self, id: Id) {
        self.sale(id).stands = Paying::Failed;
        self.events += 1;
    }

    /// Notes that the bank says that a phone is not whose it should be.
    fn not_the_client(&mut self, id: Id, operation: Id) {
        let waits =
            |proof: &Proof| matches!(proof, Proof::Started { by, waits: true, .. } if *by == operation);
        if let Some(shop) = self.shops.get(&id) {
            if let Some((method, _)) = shop.methods.iter().find(|(_, proof)| waits(proof)).copied() {
                self.drop_method(id, method);
                self.events += 1;
            }
        } else if self.own.as_ref().is_some_and(waits) {
            self.own = None;
        }
    }

    pub fn set_default(&mut self, shop: Id, method: Id) {
        self.shop(shop).default = Some(method);
    }

    pub fn switch(&mut self, shop: Id, active: bool) {
        let shop = self.shop(shop);
        if shop.inactive == active {
            shop.inactive = !active;
            self.events += 1;
        }
    }

    pub fn delete(&mut self, shop: Id) {
        self.shop(shop).gone = true;
    }

    pub fn drop_method(&mut self, shop: Id, method: Id) {
        let shop = self.shop(shop);
        shop.methods.retain(|(id, _)| *id != method);
        if shop.default == Some(method) {
            let proved = shop.methods.iter().find(|(_, proof)| *proof == Proof::Proved);
            shop.default = proved.or(shop.methods.first()).map(|(id, _)| *id);
        }
    }

    pub fn may_start(proof: Proof, now: i64) -> Verdict {
        match proof {
            Proof::Proved => Err("already_verified"),
            Proof::Started { at, .. } if now < at + DAY => Err("verification_in_progress"),
            Proof::Started { .. } | Proof::None => Ok(()),
        }
    }

    /// Counts a start of a verification, of which there are so many in a day.
    pub fn send_deposits(&mut self, now: i64) -> Verdict {
        self.deposit_starts.retain(|at| now < at + DAY);
        if self.deposit_starts.len() >= 50 {
            return Err("too_many_attempts");
        }
        self.deposit_starts.push(now);
        Ok(())
    }

    pub fn may_delete(&self, shop: Id, now: i64) -> Verdict {
        let pending = if self.there(shop).is_ok() { self.pending(shop, now) } else { 0 };
        match self.there(shop)? {
            shop if shop.payouts > 0 => Err("merchant_has_payouts"),
            shop if shop.net != 0 || pending != 0 => Err("merchant_has_balance"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn business_days_by_hand() {
        let at = |days: i64, hours: i64| days * DAY + hours * 3_600_000;
        // Tuesday 22 December 2026, noon in Caracas: two business days later it is Friday, as
        // Thursday is a holiday.
        assert_eq!(seller_may_have_it(at(HOLIDAY - 2, 16), 2), at(HOLIDAY + 1, 16));
        assert_eq!(seller_may_have_it(at(HOLIDAY - 2, 16), 3), at(HOLIDAY + 4, 16));
        // Saturday and Sunday: one business day later it is Monday, but never before a day has
        // passed.
        assert_eq!(seller_may_have_it(at(HOLIDAY + 2, 16), 1), at(HOLIDAY + 4, 16));
        assert_eq!(seller_may_have_it(at(HOLIDAY + 3, 16), 1), at(HOLIDAY + 4, 16));
        assert_eq!(seller_may_have_it(at(HOLIDAY + 3, 16), 0), at(HOLIDAY + 4, 16));
        assert_eq!(share(100, 15, 1_000), 2, "half up");
    }
}
