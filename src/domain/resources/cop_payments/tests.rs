//! The figures, the places that a refund takes money from, and every state against everything that
//! can be said to it.

mod codes;
mod collection;
mod figures;
mod live;
mod refunds;
mod sellers;

use super::collect::{CANCELED, NewCopPayment, WRONG_CODE};
use super::refund::{spendable, take};
use super::sale::{fee, figures};
use super::*;
use crate::cause::Cause;
use crate::entities::Entity;
use crate::entities::cop_payment::{COLLECT, EXPIRED};
use crate::entities::sale::Taken;
use crate::events::EventKind;
use crate::kept::{KEPT_MS, KeepRef};
use crate::ledger::book::Book;
use crate::ledger::{Account, HOLDS_MAX, HoldChange, Ledger, Release};
use crate::machine::{AnyBook, Domain};
use crate::machine::{Command, KeyedCommand};
use crate::rail::{Effect, How, Instruction, Order, RailAnswer, RailReply, Rails, TestModeAlone};
use crate::record::Answer;
use crate::record::Record;
use crate::refusal::Refusal;
use crate::resources::adjustments::Adjustment;
use crate::resources::collections::sale::Figures;
use crate::resources::collections::sale::HOLD_MS;
use crate::resources::cop_payments;
use crate::resources::merchants::Registration;
use crate::values::colombia::Channel;
use crate::values::ids::{EntityId, Id};
use crate::values::money::Currency;
use crate::values::money::Rate;
use crate::values::text::ExternalRef;
use crate::values::token::Token;
use actors::Machine;
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::sync::Arc;

const T0: i64 = 1_795_226_000_000;

fn percent(ten_thousandths: i64) -> Rate {
    Rate(Decimal::new(ten_thousandths, 4))
}

fn payment_of(id: Id) -> CopPayment {
    let mut world = World::new();
    let record = world
        .ask(None, cop_payments::Command::Collect(Box::new(NewCopPayment { id, ..new(Channel::Qr) })), T0)
        .expect("a record");
    let Entity::CopPayment(payment) = &*record.entities[0].state else { panic!("a payment") };
    payment.clone()
}

/// A tenant, and one payment at a time.
struct World {
    tenant: u64,
    domain: Domain,
    book: AnyBook,
    payment: Option<Arc<Entity>>,
    effects: Vec<Effect>,
    refusal: Option<Refusal>,
}

fn new(channel: Channel) -> NewCopPayment {
    NewCopPayment {
        id: Id::derived(T0, 9, 0),
        amount: Cop::from_minor(50_000),
        channel,
        buyer: None,
        reference: None,
        metadata: None,
        marketplace: None,
        checkout: None,
    }
}

impl World {
    fn new() -> World {
        World::of(3, Arc::new(TestModeAlone))
    }

    fn of(tenant: u64, rails: Arc<dyn Rails>) -> World {
        let domain = Domain {
            rails,
            holidays: Vec::new(),
            person_marks: Default::default(),
            changes: |_| crate::platform::audit::Changes::default(),
        };
        let book = domain.empty(tenant);
        World { tenant, book, domain, payment: None, effects: Vec::new(), refusal: None }
    }

    fn collecting(channel: Channel) -> World {
        let mut world = World::new();
        world.say(cop_payments::Command::Collect(Box::new(new(channel))), T0);
        world
    }

    fn completed() -> World {
        let mut world = World::collecting(Channel::Qr);
        world.hear(COLLECT, How::Ask, done(), T0 + 1_000);
        world
    }

    fn keyed(&mut self, entity: Option<&Entity>, command: KeyedCommand, now_ms: i64) -> Option<Arc<Record>> {
        self.domain.settle(&mut self.book, now_ms);
        let turn = actors::Turn { tenant: self.tenant, now_ms, seed: now_ms.unsigned_abs(), ahead_ms: 0 };
        let decision = self.domain.decide(&self.book, entity, command, turn);
        (self.effects, self.refusal) = (decision.effects, decision.refusal);
        let record = decision.record?;
        self.domain.evolve(&mut self.book, &record, now_ms);
        self.domain.check(&self.book, &record).expect("sound books");
        Some(Arc::new(record))
    }

    fn ask(
        &mut self,
        entity: Option<&Entity>,
        command: impl Into<Command>,
        now_ms: i64,
    ) -> Option<Arc<Record>> {
        self.keyed(entity, command.into().into(), now_ms)
    }

    /// Asks the payment, which takes its new state.
    fn say(&mut self, command: impl Into<Command>, now_ms: i64) -> Option<Arc<Record>> {
        self.say_keyed(command.into().into(), now_ms)
    }

    fn say_keyed(&mut self, command: KeyedCommand, now_ms: i64) -> Option<Arc<Record>> {
        let payment = self.payment.clone();
        let record = self.keyed(payment.as_deref(), command, now_ms)?;
        self.payment = record.entities.first().map(|written| Arc::clone(&written.state)).or(payment);
        if !record.removed.is_empty() {
            self.payment = None;
        }
        Some(record)
    }

    fn hear(&mut self, operation: u16, how: How, answer: RailAnswer, now_ms: i64) -> Option<Arc<Record>> {
        let operation = self.payment().id.operation(operation);
        self.say(Command::RailReply(RailReply::plain(operation, how, answer)), now_ms)
    }

    fn payment(&self) -> &CopPayment {
        let Some(Entity::CopPayment(payment)) = self.payment.as_deref() else { panic!("a payment") };
        payment
    }

    fn book(&self) -> &Book {
        let AnyBook::Tenant(book) = &self.book else { panic!("a tenant's book") };
        book
    }

    fn fund(&mut self, minor: i64, held: bool, now_ms: i64) {
        let ask = Adjustment {
            cause: Cause::Funded,
            currency: Currency::Cop,
            minor,
            merchant: None,
            held,
            description: String::new(),
            external_ref: None,
        };
        self.ask(None, Command::Adjust(Box::new(ask)), now_ms).expect("a record");
    }

    fn due(&self) -> Option<i64> {
        self.domain.next_due(&self.book, &|_| false).map(|(at, _)| at)
    }

    fn pesos(&self) -> (i64, i64, i64) {
        let account = self.book().account(Currency::Cop);
        (account.net, account.held, account.free())
    }
}

fn done() -> RailAnswer {
    RailAnswer::done("12345678")
}

fn refused(code: &str) -> RailAnswer {
    RailAnswer::Refused { code: code.to_owned() }
}

fn told(code: &str) -> Command {
    cop_payments::Command::SubmitCode(Token::parse_debit(code).ok()).into()
}

fn events(record: &Record) -> Vec<EventKind> {
    record.events.iter().map(|event| event.kind).collect()
}
