//! Conversions against a book: what they spend and give back, the days of two cities, and random
//! sequences in which no value may appear or vanish.

mod shares;
mod soundness;

use super::price::Amount;
use super::*;
use crate::entities::Entity;
use crate::entities::conversion::Status;
use crate::ledger::HoldChange;
use crate::ledger::{Account, HOLDS_MAX, Release};
use crate::machine::Command;
use crate::machine::{AnyBook, Domain};
use crate::platform::settings::TenantSettings;
use crate::rail::{Effect, Order};
use crate::record::Record;
use crate::refusal::{ConversionRefusal, Refusal};
use crate::resources::adjustments::Adjustment;
use crate::resources::collections::sale::HOLD_MS;
use crate::resources::conversions;
use crate::values::money::{Cop, Usdt, Ves};
use crate::values::time::DAY_MS;
use crate::values::time::Timestamp;
use actors::Machine;
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::sync::Arc;

const START: i64 = 1_795_226_000_000;

struct World {
    domain: Domain,
    book: AnyBook,
    now: i64,
    turns: u64,
    conversions: Vec<Arc<Entity>>,
    records: Vec<(i64, Record)>,
    effects: Vec<Effect>,
}

fn at(text: &str) -> i64 {
    Timestamp::parse(text).expect("an instant").unix_ms()
}

impl World {
    fn new() -> World {
        World::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Settings)) -> World {
        let domain = Domain {
            rails: Arc::new(crate::rail::TestModeAlone),
            holidays: Vec::new(),
            person_marks: Default::default(),
            changes: |_| crate::platform::audit::Changes::default(),
        };
        let book = domain.empty(3);
        let mut world = World {
            domain,
            book,
            now: START,
            turns: 0,
            conversions: Vec::new(),
            records: Vec::new(),
            effects: Vec::new(),
        };
        let mut settings = Settings::default();
        change(&mut settings);
        world
            .ask(
                None,
                Command::TenantSettings(TenantSettings {
                    version: 1,
                    settings: Arc::new(settings),
                    ..TenantSettings::default()
                }),
            )
            .expect("tenant settings");
        world
    }

    fn book(&self) -> &Book {
        let AnyBook::Tenant(book) = &self.book else { panic!("a tenant's book") };
        book
    }

    fn account(&self, currency: Currency) -> Account {
        self.book().account(currency).clone()
    }

    /// Asks, and applies what comes of it. `Ok(None)`: nothing changed.
    fn ask(
        &mut self,
        entity: Option<&Entity>,
        command: impl Into<Command>,
    ) -> Result<Option<Arc<Entity>>, Refusal> {
        self.turns += 1;
        self.domain.settle(&mut self.book, self.now);
        let turn = actors::Turn {
            tenant: 3,
            now_ms: self.now,
            seed: self.turns.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            ahead_ms: 0,
        };
        let decision = self.domain.decide(&self.book, entity, command.into().into(), turn);
        if let Some(refusal) = decision.refusal {
            return Err(refusal);
        }
        self.effects.extend(decision.effects);
        let Some(record) = decision.record else { return Ok(None) };
        self.apply(record)
    }

    fn apply(&mut self, record: Record) -> Result<Option<Arc<Entity>>, Refusal> {
        self.domain.evolve(&mut self.book, &record, self.now);
        self.domain.check(&self.book, &record).expect("sound books");
        let first = record.entities.first().map(|written| Arc::clone(&written.state));
        self.records.push((self.now, record));
        Ok(first)
    }

    fn fund(&mut self, currency: Currency, minor: i64, held: bool) {
        let ask = Adjustment {
            cause: Cause::Funded,
            currency,
            minor,
            merchant: None,
            held,
            description: String::new(),
            external_ref: None,
        };
        self.ask(None, Command::Adjust(Box::new(ask))).expect("room for it");
    }

    fn quote(&mut self, source: Source, amount: Amount, market: i64) -> Result<usize, Refusal> {
        let new = NewQuote {
            id: Id::derived(self.now, self.turns, 0),
            source,
            amount,
            market: Some(Rate(Decimal::from(market))),
        };
        let quote = self.ask(None, conversions::Command::Quote(Box::new(new)))?.expect("a quote");
        self.conversions.push(quote);
        Ok(self.conversions.len() - 1)
    }

    fn tell(&mut self, n: usize, command: impl Into<Command>) -> Result<(), Refusal> {
        let entity = Arc::clone(&self.conversions[n]);
        let changed = self.ask(Some(&entity), command)?;
        if let Some(changed) = changed {
            self.conversions[n] = changed;
        }
        Ok(())
    }

    fn accept(&mut self, n: usize, waits: bool) -> Result<(), Refusal> {
        self.tell(n, conversions::Command::Accept(waits.then(|| "test_pending-1".to_owned())))
    }

    fn conversion(&self, n: usize) -> &Conversion {
        let Entity::Conversion(conversion) = &*self.conversions[n] else { panic!("a conversion") };
        conversion
    }

    fn status(&self, n: usize) -> Option<Status> {
        self.conversion(n).accepted().map(Accepted::status)
    }

    /// A conversion of so many cents, which must be there.
    fn convert(&mut self, minor: i64, waits: bool) -> usize {
        let n = self.quote(Source::Ves, Amount::Source(minor), 100).expect("a price");
        self.accept(n, waits).expect("the money is there");
        n
    }
}

#[test]
fn what_is_available_goes_first_then_holds_in_the_order_of_their_release() {
    let mut world = World::with(|settings| settings.reserve = Ves::from_minor(1_000));
    world.fund(Currency::Ves, 20_000, true);
    world.now += 1_000;
    world.fund(Currency::Ves, 30_000, true);
    world.now += 1_000;
    world.fund(Currency::Ves, 11_000, false);
    let n = world.convert(35_000, false);
    let (first, second) =
        (Timestamp::from_unix_ms(START + HOLD_MS), Timestamp::from_unix_ms(START + 1_000 + HOLD_MS));
    let taken: Vec<_> = world
        .conversion(n)
        .accepted()
        .expect("accepted")
        .taken
        .iter()
        .map(|taken| (taken.release_at, taken.minor))
        .collect();
    assert_eq!(taken, [(first, 20_000), (second, 5_000)]);
    let (ves, usdt) = (world.account(Currency::Ves), world.account(Currency::Usdt));
    assert_eq!(
        (ves.net, ves.held, world.book().spendable(Currency::Ves)),
        (26_000, 25_000, 0),
        "the reserve stays"
    );
    // 350.00 at 101.5 are 3.44 USDT, held until the last of the two holds ends.
    assert_eq!((usdt.net, usdt.held, usdt.next_release()), (344, 344, Some(second)));
    let insufficient =
        ConversionRefusal::InsufficientBalance { currency: Currency::Ves, available: 0, spendable: 25_000 }
            .into();
    let m = world.quote(Source::Ves, Amount::Source(25_001), 100).expect("a price");
    assert_eq!(world.accept(m, false), Err(insufficient));
    assert_eq!(world.status(m), None, "a refused accept leaves the quote unused");
    world.now = second.unix_ms();
    world.domain.settle(&mut world.book, second.unix_ms());
    assert_eq!(world.account(Currency::Usdt).held, 0);
}

#[test]
fn nothing_is_spent_below_zero_nor_out_of_what_is_set_aside() {
    let mut world = World::new();
    world.fund(Currency::Ves, 50_000, true);
    world.fund(Currency::Ves, -100, false);
    let n = world.quote(Source::Ves, Amount::Source(20_000), 100).expect("a price");
    assert_eq!(
        world.accept(n, false),
        Err(ConversionRefusal::InsufficientBalance {
            currency: Currency::Ves,
            available: -100,
            spendable: 0
        }
        .into())
    );
    world.fund(Currency::Ves, 100, false);
    let aside = HoldChange {
        ledger: Ledger::Tenant,
        currency: Currency::Ves,
        release_at: Release::WhenDecided,
        hold: Id::derived(1, 1, 0),
        minor: 40_000,
    };
    let AnyBook::Tenant(book) = &mut world.book else { panic!("a tenant's book") };
    let account = book.accounts.get_mut(&Currency::Ves).expect("an account");
    let (held, key) = (account.held, *account.holds.first_key_value().expect("a hold").0);
    account.hold(&aside);
    account.hold(&HoldChange { release_at: key.0, hold: key.1, minor: -40_000, ..aside });
    assert_eq!(account.held, held);
    assert_eq!(
        world.accept(n, false),
        Err(ConversionRefusal::InsufficientBalance {
            currency: Currency::Ves,
            available: 0,
            spendable: 10_000
        }
        .into())
    );
}

#[test]
fn usdt_that_comes_to_less_than_nothing_is_no_breach() {
    let mut world = World::new();
    world.fund(Currency::Usdt, -10_000, false);
    world.fund(Currency::Ves, 1_000_000, false);
    let n = world.quote(Source::Ves, Amount::Target(Usdt::from_minor(1_000)), 100).expect("a price");
    world.accept(n, false).expect("the bolívares are there");
    assert_eq!(world.account(Currency::Usdt).net, -9_000);
}

#[test]
fn a_conversion_takes_of_so_many_holds_and_fits_into_a_record() {
    let mut world = World::new();
    let most = HOLDS_MAX as i64 * 100;
    for _ in 0..HOLDS_MAX + 10 {
        world.fund(Currency::Ves, 100, true);
    }
    let n = world.quote(Source::Ves, Amount::Source(most + 1), 100).expect("a price");
    assert_eq!(
        world.accept(n, false),
        Err(ConversionRefusal::InsufficientBalance {
            currency: Currency::Ves,
            available: 0,
            spendable: most
        }
        .into())
    );
    let n = world.convert(most, false);
    assert_eq!(world.conversion(n).accepted().map(|accepted| accepted.taken.len()), Some(HOLDS_MAX));
    let (_, record) = world.records.last().expect("a record");
    assert!(world.domain.encode(record).len() < wal::PAYLOAD_BYTES_MAX / 8);
}

#[test]
fn a_cancel_restores_the_very_holds_that_still_last() {
    let mut world = World::new();
    world.fund(Currency::Ves, 20_000, true);
    world.now += 5_000;
    world.fund(Currency::Ves, 30_000, true);
    let before = world.account(Currency::Ves);
    let n = world.convert(45_000, true);
    world.tell(n, conversions::Command::End(Decision::Cancel)).expect("it waits");
    assert_eq!(world.account(Currency::Ves), before);
    let n = world.convert(45_000, true);
    // The first hold would have ended by now: its money is simply available.
    world.now = START + HOLD_MS;
    world.tell(n, conversions::Command::End(Decision::Reject("no_liquidity".to_owned()))).expect("it waits");
    let after = world.account(Currency::Ves);
    assert_eq!((after.net, after.held, after.holds.len()), (50_000, 30_000, 1));
    let End::Canceled { reason, .. } = &world.conversion(n).accepted().expect("accepted").end else {
        panic!("canceled")
    };
    assert_eq!(reason, "no_liquidity");
    assert_eq!(world.book().converted.ves, 0);
    assert_eq!(
        world.tell(n, conversions::Command::End(Decision::Cancel)),
        Err(ConversionRefusal::NotCancelable.into())
    );
    assert_eq!(
        world.tell(n, conversions::Command::End(Decision::Fulfil)),
        Err(ConversionRefusal::NotPending.into())
    );
}

#[test]
fn what_is_delivered_later_is_held_as_long_as_its_money_would_have_been() {
    let mut world = World::new();
    world.fund(Currency::Ves, 30_000, true);
    let (soon, late) = (world.convert(10_150, true), world.convert(19_850, true));
    world.now += 1_000;
    world.tell(soon, conversions::Command::End(Decision::Fulfil)).expect("it waits");
    assert_eq!(world.account(Currency::Usdt).held, 100);
    world.now = START + HOLD_MS;
    world.tell(late, conversions::Command::End(Decision::Fulfil)).expect("it waits");
    let usdt = world.account(Currency::Usdt);
    assert_eq!((usdt.net, usdt.held), (100 + 195, 0));
}

#[test]
fn a_quote_is_accepted_once_and_in_time() {
    let mut world = World::new();
    world.fund(Currency::Ves, 100_000, false);
    let (used, late) = (
        world.convert(10_150, false),
        world.quote(Source::Ves, Amount::Source(10_150), 100).expect("a price"),
    );
    assert_eq!(world.accept(used, false), Err(ConversionRefusal::QuoteUsed.into()));
    world.now += QUOTE_MS;
    assert_eq!(world.accept(late, false), Err(ConversionRefusal::QuoteExpired.into()));
    assert_eq!(
        world.accept(used, false),
        Err(ConversionRefusal::QuoteUsed.into()),
        "used is used, however old"
    );
    let quote = world.quote(Source::Ves, Amount::Source(10_150), 100).expect("a price");
    world.now += QUOTE_MS - 1;
    assert_eq!(world.accept(quote, false), Ok(()));
}

#[test]
fn settings_are_those_in_force() {
    let mut world = World::with(|settings| {
        settings.conversions.minimum = Usdt::from_minor(500);
        settings.conversions.enabled.cop = false;
    });
    world.fund(Currency::Ves, 1_000_000, false);
    assert_eq!(
        world.quote(Source::Cop, Amount::Source(1_000_000), 4_000),
        Err(ConversionRefusal::NotEnabled.into())
    );
    assert_eq!(
        world.quote(Source::Ves, Amount::Target(Usdt::from_minor(499)), 100),
        Err(ConversionRefusal::BelowMinimum { minimum: Usdt::from_minor(500) }.into())
    );
    let n = world.quote(Source::Ves, Amount::Target(Usdt::from_minor(500)), 100).expect("a price");
    let mut settings = Settings::default();
    settings.conversions.minimum = Usdt::from_minor(501);
    world
        .ask(
            None,
            Command::TenantSettings(TenantSettings {
                version: 2,
                settings: Arc::new(settings.clone()),
                ..TenantSettings::default()
            }),
        )
        .expect("tenant settings");
    assert_eq!(
        world.accept(n, false),
        Err(ConversionRefusal::BelowMinimum { minimum: Usdt::from_minor(501) }.into())
    );
    settings.usdt_enabled = false;
    world
        .ask(
            None,
            Command::TenantSettings(TenantSettings {
                version: 3,
                settings: Arc::new(settings),
                ..TenantSettings::default()
            }),
        )
        .expect("tenant settings");
    assert_eq!(world.accept(n, false), Err(ConversionRefusal::NotEnabled.into()));
}

/// Midnight comes at 04:00 UTC in Caracas and at 05:00 UTC in Bogotá.
#[test]
fn a_day_ends_at_midnight_of_its_city() {
    for (source, funded, minor, before, after) in [
        (Source::Ves, Currency::Ves, 10_150, "2026-11-21T03:59:59.999Z", "2026-11-21T04:00:00.000Z"),
        (Source::Cop, Currency::Cop, 10_200, "2026-11-21T04:59:59.999Z", "2026-11-21T05:00:00.000Z"),
    ] {
        let mut world = World::with(|settings| {
            settings.conversions.daily_limit.ves = Some(25_000);
            settings.conversions.daily_limit.cop = Some(25_000);
        });
        world.now = at(before) - 30_000;
        world.fund(funded, 1_000_000, false);
        let convert = |world: &mut World, minor, waits| {
            let n = world.quote(source, Amount::Source(minor), 100)?;
            world.accept(n, waits).map(|()| n)
        };
        let exceeded: Refusal =
            ConversionRefusal::DailyLimitExceeded { currency: funded, limit: 25_000 }.into();
        convert(&mut world, minor, false).expect("within the limit");
        let waiting = convert(&mut world, 25_000 - minor, true).expect("exactly the limit");
        assert_eq!(convert(&mut world, 10_150, false), Err(exceeded.clone()), "{source:?}");
        let over = world.quote(source, Amount::Source(minor), 100).expect("a quote knows no limit");
        world.now = at(before);
        assert_eq!(world.accept(over, false), Err(exceeded.clone()), "{source:?}: still the same day");
        world.now = at(after);
        assert_eq!(world.accept(over, false), Ok(()), "{source:?}: another day");
        // Canceled on the day after: it is taken off its own day, which is over.
        world.tell(waiting, conversions::Command::End(Decision::Cancel)).expect("it waits");
        assert_eq!(world.book().converted.on_the_day_of(source, Timestamp::from_unix_ms(world.now)), minor);
        let waiting = convert(&mut world, 25_000 - minor, true).expect("exactly the limit");
        assert_eq!(convert(&mut world, 10_150, false), Err(exceeded), "{source:?}");
        world.tell(waiting, conversions::Command::End(Decision::Cancel)).expect("it waits");
        assert!(
            convert(&mut world, 25_000 - minor, false).is_ok(),
            "{source:?}: what was canceled never counts"
        );
    }
}
