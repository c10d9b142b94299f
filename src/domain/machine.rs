//! The machine that the engine hosts: commands, the rule for each, and the rules behind the engine's trait. A
//! resource has a row in the table: its commands, the kind of entity that they are about, and the rule, which the
//! command is handed to with the entity's state. The draft that it makes becomes a record here.

use crate::cause::Cause;
use crate::codec::{self, NEWEST, Undecodable, WRITTEN};
use crate::decision::{Decided, Draft, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::mandate_approval::Subject;
use crate::entities::payout::Destination;
use crate::entities::session::Session;
use crate::index::PersonMarks;
use crate::kept::{KEPT_MS, KeepRef};
use crate::ledger::Posting;
use crate::ledger::book::Book;
use crate::ledger::invariants::{self, Breach};
use crate::ledger::spending;
use crate::platform::PlatformBook;
use crate::platform::audit::{AuditEntry, Changes};
use crate::platform::mandate::Mandate;
use crate::platform::settings::TenantSettings;
use crate::rail::{Effect, How, RailAnswer, RailReply, Rails};
use crate::record::{Answer, Kept, Record};
use crate::refusal::{ChargebackRefusal, MandateRefusal, OperationRefusal, PaymentRefusal, Refusal};
use crate::resources::adjustments::{self, Adjustment};
use crate::resources::begin_anew::{self, BeginAnew};
use crate::resources::mandate_approvals::Consent;
use crate::resources::operations::{self, Resolution};
use crate::resources::payments::otp;
use crate::resources::payouts::batch;
use crate::resources::polling::marked;
use crate::resources::tenants::{self, PlatformAsk};
use crate::resources::verification::booked::{self, Booking, BookingOutcome};
use crate::resources::{
    approvals, chargebacks, checkout, conversions, cop_payments, cop_payouts, crypto, mandate_approvals,
    merchants, notices, own_account, payments, payouts, products, webhooks,
};
use crate::values::ids::{EntityId, Kind, PLATFORM, is_live};
use crate::values::money::Rate;
use crate::values::time::{Date, Timestamp};
use actors::{Decision, Machine};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wal::IndexOps;

/// The state of the one kind of entity that a resource rules over, if there is one yet. An id that
/// belongs to another kind names nothing here.
macro_rules! state {
    ($Kind:ident, $entity:expr) => {
        match $entity {
            None => None,
            Some(Entity::$Kind(state)) => Some(state),
            Some(_) => return Ruling::refuse(Refusal::NotFound),
        }
    };
}

macro_rules! commands {
    (
        { $($(#[$about:meta])* $Resource:ident($command:ty) of $Kind:ident by $decide:path;)+ }
        besides { $($besides:tt)+ }
    ) => {
        /// A command. Those of a resource go to the entity that the command names, if there is one yet.
        pub enum Command {
            $($(#[$about])* $Resource($command),)+
            $($besides)+
        }

        $(impl From<$command> for Command {
            fn from(command: $command) -> Command {
                Command::$Resource(command)
            }
        })+

        impl Command {
            /// The ruling in a tenant's book.
            fn decide(self, book: &Book, entity: Option<&Entity>, turn: &Turn<'_>) -> Ruling {
                match (self, entity) {
                    // Payments in pesos have ids of the same form, and some commands say so.
                    (Command::Payments(payments::Command::Reverse), Some(Entity::CopPayment(_))) => {
                        Ruling::refuse(PaymentRefusal::NotReversible)
                    }
                    (Command::Chargebacks(chargebacks::Command::Open(_)), Some(Entity::CopPayment(_))) => {
                        Ruling::refuse(ChargebackRefusal::NotAllowed)
                    }
                    $((Command::$Resource(command), _) => {
                        $decide(book, state!($Kind, entity), command, turn).unwrap_or_else(Ruling::refuse)
                    })+
                    (command, _) => decide_besides(book, entity, command, turn),
                }
            }
        }
    };
}

commands! {
    {
    Payments(payments::Command) of Payment by payments::decide;
    /// To a request for the code of a debit.
    Otps(otp::NewOtp) of Otp by otp::decide;
    /// To a chargeback, which its payment decides.
    Chargebacks(chargebacks::Command) of Payment by chargebacks::decide;
    /// A request for a payout; the entity is the payout with its reference, if there is one.
    Payouts(Box<payouts::NewPayout>) of Payout by payouts::decide;
    Batches(batch::Command) of Batch by batch::decide;
    Merchants(merchants::Command) of Merchant by merchants::decide;
    OwnAccount(own_account::Command) of OwnAccount by own_account::decide;
    Products(products::Command) of Product by products::decide;
    Checkout(Box<Session>) of Session by checkout::decide;
    Conversions(conversions::Command) of Conversion by conversions::decide;
    CryptoPayouts(crypto::payouts::Command) of CryptoPayout by crypto::payouts::decide;
    DepositAddresses(crypto::deposits::Command) of DepositAddress by crypto::deposits::decide;
    CopPayments(cop_payments::Command) of CopPayment by cop_payments::decide;
    CopPayouts(cop_payouts::Command) of CopPayout by cop_payouts::decide;
    Webhooks(webhooks::Command) of Webhook by webhooks::decide;
    }
    besides {
        Notices(notices::Command),
        Approvals(approvals::Command),
        /// To a call that waits for an approval, which will not be done.
        RejectWaiting(mandate_approvals::Rejection),
        /// Test money, or a correction by the operator, to the book.
        Adjust(Box<Adjustment>),
        TenantSettings(TenantSettings),
        /// The test clock has moved to the instant of the turn.
        MoveClock,
        BeginAnew(Box<BeginAnew>),
        /// The answer, as status and body, to a request that other records or none were written for, to be
        /// kept for its Idempotency-Key.
        KeepAnswer(u16, Vec<u8>),
        Platform(Box<PlatformAsk>),
        RailReply(RailReply),
        /// A bank's reply about a transfer that was found, with the reservation of the transfer's name,
        /// which nobody else may take until this command is decided.
        Found(RailReply, Box<dyn Any + Send>),
        /// The turn of an order that waited for it has come at its rail.
        Begin,
        /// An operator's word on an operation, in the bank's place.
        Resolve(Box<Resolution>),
        /// Lines of a bank's statement that show micro-deposits.
        BookDeposits(Box<Booking>),
        /// The market price of a USDT, if any source knows it, to a conversion that waits for it.
        Market(Option<Rate>),
        Deadline,
        /// The bank may have an answer about the entity before the next look: it is asked now.
        Look,
    }
}

impl From<notices::Command> for Command {
    fn from(command: notices::Command) -> Command {
        Command::Notices(command)
    }
}

impl From<approvals::Command> for Command {
    fn from(command: approvals::Command) -> Command {
        Command::Approvals(command)
    }
}

impl Command {
    /// What a call that takes money out is about, for the time that it waits for an approval: of what is there already
    /// its id, and of what is new its reference.
    fn subject(&self, entity: Option<&Entity>) -> Option<Subject> {
        let about = |entity: &Entity| {
            let EntityId { kind, id } = entity.id();
            Subject::named(kind.name(), &id.to_string(), Vec::new())
        };
        match self {
            Command::Payouts(new) => Some(new.subject()),
            Command::CryptoPayouts(crypto::payouts::Command::Pay(new)) => Some(new.subject()),
            Command::Batches(batch::Command::Pay(new)) => Some(new.subject()),
            Command::Conversions(conversions::Command::Accept(_))
            | Command::Payments(payments::Command::Reverse)
            | Command::CopPayments(cop_payments::Command::Refund) => entity.map(about),
            _ => None,
        }
    }

    /// Where the account's own data lead each payout of the call now: none of what the call itself leads anywhere.
    fn leads_to(&self, book: &Book) -> Vec<Option<Destination>> {
        match self {
            Command::Payouts(new) => vec![new.receiver.leads_to(book)],
            Command::Batches(batch::Command::Pay(new)) => new.leads_to(book),
            _ => Vec::new(),
        }
    }

    /// The ruling on what a key asks: where its mandate wants an approval, the call waits.
    fn decide_within(
        self,
        book: &Book,
        entity: Option<&Entity>,
        consent: Option<Consent>,
        turn: &Turn<'_>,
    ) -> Ruling {
        let asked = match consent {
            Some(Consent::Given(given)) => {
                let leads_to = self.leads_to(book);
                return mandate_approvals::given(book, entity, (&given, &leads_to), turn, || {
                    self.decide(book, entity, turn)
                });
            }
            Some(Consent::Ask(asked)) => Some(asked),
            None => None,
        };
        let mandate = turn.mandate.clone().filter(|mandate| mandate.approval_above.is_some());
        let waits = mandate.as_deref().zip(asked).and_then(|asks| Some((asks, self.subject(entity)?)));
        let is_known = matches!(entity, Some(Entity::Payout(_) | Entity::CryptoPayout(_) | Entity::Batch(_)));
        if let Some(((mandate, _), subject)) = &waits
            && !is_known
            && let Some(refusal) = mandate_approvals::repeated(book, mandate.id, subject, turn.now)
        {
            return Ruling::refuse(refusal);
        }
        let leads_to = if waits.is_some() { self.leads_to(book) } else { Vec::new() };
        let ruling = self.decide(book, entity, turn);
        let Some(Refusal::Mandate(MandateRefusal::NeedsApproval { currency, minor })) = ruling.refusal else {
            return ruling;
        };
        match waits {
            Some(((mandate, asked), subject)) => {
                mandate_approvals::wait(book, mandate, *asked, (subject, leads_to), (currency, minor), turn)
            }
            // A call that nobody can make again: nothing goes out.
            None => Ruling::refuse(MandateRefusal::nothing(currency)),
        }
    }

    /// The ruling in the platform's book, whose entities are notices and approvals.
    fn decide_platform(self, book: &PlatformBook, entity: Option<&Entity>, now: Timestamp) -> Ruling {
        match self {
            Command::Platform(ask) => tenants::decide(book, *ask, now),
            Command::Notices(command) => notices::decide(state!(Notice, entity), command, now),
            Command::Approvals(command) => approvals::decide(state!(Approval, entity), command, now),
            _ => Ruling::refuse(Refusal::NotFound),
        }
    }
}

fn decide_besides(book: &Book, entity: Option<&Entity>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, entity) {
        (Command::Adjust(ask), _) => adjustments::adjust(book, *ask, turn),
        (Command::RejectWaiting(rejection), _) => {
            mandate_approvals::reject(book, rejection, turn).unwrap_or_else(Ruling::refuse)
        }
        (Command::TenantSettings(new), _) => tenants::renew(book, new),
        // The distance that the clock moved is in every record that is written while it moves.
        (Command::MoveClock, _) => Ruling::write(Draft::new(Cause::ClockMoved)),
        (Command::BeginAnew(kept), _) => begin_anew::begin_anew(book, *kept, turn),
        (Command::KeepAnswer(status, body), _) => {
            let mut draft = Draft::new(Cause::AnswerKept);
            draft.answer = Some((status, body));
            Ruling::write(draft)
        }
        // The next request for the name of a found transfer waits for this record (`outbox.rs`).
        (Command::RailReply(reply) | Command::Found(reply, _), Some(entity)) => {
            let nobody = matches!(reply.answer, RailAnswer::NotAsked | RailAnswer::Unaskable);
            let (operation, is_asked) = (reply.operation, reply.how == How::Ask && !nobody);
            marked(entity.rules().on_rail_reply(book, reply, turn), operation, is_asked, entity, turn)
        }
        (Command::Resolve(resolution), Some(entity)) => resolve(book, entity, *resolution, turn),
        (Command::BookDeposits(booking), Some(entity)) => book_deposits(book, entity, &booking, turn),
        // What it was about ended with it: a phone that the bank says is not this client's is gone.
        (Command::Resolve(_), None) => Ruling::refuse(OperationRefusal::Resolved),
        (Command::Market(rate), Some(Entity::Conversion(conversion))) => {
            conversions::auto::on_market(book, conversion, rate, turn)
        }
        (Command::Begin, Some(entity)) => entity.rules().on_begin(turn),
        (Command::Deadline, Some(entity)) => entity.rules().on_deadline(book, turn),
        (Command::Look, Some(entity)) => entity.rules().on_look(book, turn),
        // Of an entity that is gone they change nothing.
        (
            Command::RailReply(_)
            | Command::Found(..)
            | Command::Market(_)
            | Command::Begin
            | Command::Deadline
            | Command::Look,
            _,
        ) => Ruling::unchanged(),
        // A tenant's book has no tenants in it, no notices and no approvals.
        _ => Ruling::refuse(Refusal::NotFound),
    }
}

/// The words of an operator in a bank's place, as if the bank had said them.
fn resolve(book: &Book, entity: &Entity, resolution: Resolution, turn: &Turn<'_>) -> Ruling {
    let answer = match operations::in_banks_words(entity, &resolution) {
        Ok(answer) => answer,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let operation = resolution.operation;
    let ruling = entity.rules().on_rail_reply(book, RailReply::plain(operation, How::Ask, answer), turn);
    operations::resolved(marked(ruling, operation, false, entity, turn), operation, turn)
}

/// Lines of a statement that show micro-deposits: the operation is done when both are booked.
fn book_deposits(book: &Book, entity: &Entity, booking: &Booking, turn: &Turn<'_>) -> Ruling {
    match booked::book(entity, booking) {
        Ok(BookingOutcome::Both(references)) => {
            let answer = RailAnswer::done(references);
            resolve(book, entity, Resolution { operation: booking.operation, answer }, turn)
        }
        Ok(BookingOutcome::One(draft)) => Ruling::write(*draft),
        Err(refusal) => Ruling::refuse(refusal),
    }
}

/// A command, the Idempotency-Key for which its answer is to be kept, and the entry of the audit that
/// its record is to have.
pub struct KeyedCommand {
    pub command: Command,
    /// The key; its `first_seen` is filled in by the decision.
    pub keep: Option<KeepRef>,
    /// The entry, if an operator asks; the decision fills in what was changed.
    pub audit: Option<Box<AuditEntry>>,
    /// The mandate of the key that asks.
    pub mandate: Option<Arc<Mandate>>,
    /// How the call stands to approval, where the mandate may want one.
    pub consent: Option<Consent>,
}

impl KeyedCommand {
    pub fn keeping(self, keep: Option<KeepRef>) -> KeyedCommand {
        KeyedCommand { keep, ..self }
    }

    pub fn audited(self, audit: Option<Box<AuditEntry>>) -> KeyedCommand {
        KeyedCommand { audit, ..self }
    }
}

impl<C: Into<Command>> From<C> for KeyedCommand {
    fn from(command: C) -> KeyedCommand {
        KeyedCommand { command: command.into(), keep: None, audit: None, mandate: None, consent: None }
    }
}

pub struct Domain {
    pub rails: Arc<dyn Rails>,
    pub holidays: Vec<Date>,
    /// The key under which the index knows documents and phones.
    pub person_marks: PersonMarks,
    /// The function of the API that says what an operator's decision changed, for the audit.
    pub changes: fn(&Decided<'_>) -> Changes,
}

#[derive(Clone, PartialEq)]
pub enum AnyBook {
    Platform(PlatformBook),
    Tenant(Box<Book>),
}

impl Machine for Domain {
    type EntityId = EntityId;
    type Entity = Entity;
    type Book = AnyBook;
    type Command = KeyedCommand;
    type Record = Record;
    type Refusal = Refusal;
    type Effect = Effect;
    type Breach = Breach;
    type Undecodable = Undecodable;

    fn is_essential(&self, tenant: u64) -> bool {
        // Without the platform's book nobody can be let in.
        tenant == PLATFORM
    }

    fn yields(&self, tenant: u64) -> bool {
        // Simulated money waits for real money.
        !is_live(tenant)
    }

    fn empty(&self, tenant: u64) -> AnyBook {
        if tenant == PLATFORM {
            AnyBook::Platform(PlatformBook::default())
        } else {
            AnyBook::Tenant(Box::default())
        }
    }

    fn settle(&self, book: &mut AnyBook, now_ms: i64) {
        // One that went to another partition may come back, with records from before this instant.
        if let AnyBook::Tenant(book) = book
            && book.tenant_settings.moving_to.is_none()
        {
            book.settle(Timestamp::from_unix_ms(now_ms));
        }
    }

    fn decide(
        &self,
        book: &AnyBook,
        entity: Option<&Entity>,
        command: KeyedCommand,
        turn: actors::Turn,
    ) -> Decision<Record, Refusal, Effect> {
        let now = Timestamp::from_unix_ms(turn.now_ms);
        let (rails, holidays, livemode) = (&*self.rails, &self.holidays, is_live(turn.tenant));
        let KeyedCommand { command, keep, audit, mandate, consent } = command;
        let keep = keep.map(|keep| Arc::new(KeepRef { first_seen: now, ..keep }));
        let approved = match &consent {
            Some(Consent::Given(given)) => Some(given.approval.minor),
            Some(Consent::Ask(_)) | None => None,
        };
        // The answer to who approves shows the approval too, which the entity's later records do not have: it is kept as
        // it is now.
        let for_rules = if approved.is_none() { keep.clone() } else { None };
        let mut rules =
            Turn { now, seed: turn.seed, livemode, rails, holidays, keep: for_rules, mandate, approved };
        // Replies from outside, prices, deadlines and answers may not be refused: they are about something that has
        // happened.
        let is_refusable = !matches!(
            command,
            Command::RailReply(_)
                | Command::Found(..)
                | Command::Resolve(_)
                | Command::BookDeposits(_)
                | Command::Market(_)
                | Command::Begin
                | Command::Deadline
                | Command::Look
                | Command::KeepAnswer(..)
        );
        let ruling = match book {
            AnyBook::Platform(platform) => command.decide_platform(platform, entity, now),
            AnyBook::Tenant(tenant) => {
                let known = &tenant.tenant_settings;
                // One that moved away decides nothing more, and what has happened changes nothing: whoever has the
                // tenant now asks the bank. Nor is an answer kept: who has copied the record that closed it has all.
                let closed = match (known.moving_to, &known.moved_to) {
                    (Some(_), _) => Some(Refusal::TenantMoving),
                    (None, Some(_)) => Some(Refusal::TenantMoved),
                    (None, None) => None,
                };
                if let Some(refusal) = closed.filter(|_| !matches!(command, Command::TenantSettings(_))) {
                    let is_callers = is_refusable
                        || matches!(
                            command,
                            Command::Resolve(_) | Command::BookDeposits(_) | Command::KeepAnswer(..)
                        );
                    return if is_callers { Decision::refuse(refusal) } else { Decision::unchanged() };
                }
                let mut ruling = command.decide_within(tenant, entity, consent, &rules);
                if let Some(draft) = &ruling.record
                    && is_refusable
                {
                    for Posting { ledger, currency, minor, .. } in &draft.record.postings {
                        // Some ledger would come beyond the bound that protects it from an overflow.
                        if !tenant.fits(*ledger, *currency, *minor) {
                            ruling = Ruling::refuse(Refusal::AmountOverflow);
                            break;
                        }
                    }
                }
                // A rule that took money and did not ask the mandate for all of it: a defect, by which nothing goes
                // out.
                if rules.mandate.is_some()
                    && let Some(Draft { record, .. }) = &ruling.record
                    && record.cause.side_effect().draws()
                    && let Some(currency) =
                        spending::uncounted(&record.postings, &record.holds, &record.spent)
                {
                    ruling = Ruling::refuse(MandateRefusal::nothing(currency));
                }
                ruling
            }
        };
        rules.keep = keep;
        let decision = self.complete(book, entity, ruling, audit, &rules, turn.ahead_ms);
        match is_refusable && WRITTEN.load(Ordering::Relaxed) != NEWEST {
            true => as_before(decision),
            false => decision,
        }
    }

    fn evolve(&self, book: &mut AnyBook, record: &Record, time_ms: i64) {
        let time = Timestamp::from_unix_ms(time_ms);
        match book {
            AnyBook::Platform(book) => book.evolve(record.platform.as_deref(), time),
            AnyBook::Tenant(book) => book.evolve(record, time),
        }
    }

    fn check(&self, book: &AnyBook, record: &Record) -> Result<(), Breach> {
        match book {
            AnyBook::Platform(_) => Ok(()),
            AnyBook::Tenant(book) => invariants::check(book, record),
        }
    }

    fn entity_in(&self, record: &Record, id: EntityId) -> Option<Arc<Entity>> {
        record.entity(id).cloned()
    }

    fn entities_in(&self, record: &Record) -> impl Iterator<Item = (EntityId, Arc<Entity>)> {
        record.entities.iter().map(|written| (written.state.id(), Arc::clone(&written.state)))
    }

    fn is_gone(&self, record: &Record, id: EntityId) -> bool {
        record.removed.iter().any(|(removed, _)| *removed == id)
    }

    fn effect_target(&self, effect: &Effect) -> EntityId {
        effect.entity
    }

    fn is_wanted(&self, target: Option<&Entity>, effect: &Effect) -> bool {
        target.is_some_and(|target| target.rules().wants(&effect.order))
    }

    fn generation(&self, book: &AnyBook) -> u64 {
        match book {
            AnyBook::Platform(_) => 0,
            AnyBook::Tenant(book) => book.begun_at,
        }
    }

    fn begins_anew(&self, command: &KeyedCommand) -> bool {
        matches!(command.command, Command::BeginAnew(_))
    }

    fn is_awaited(&self, book: &AnyBook, record: &Record) -> bool {
        let AnyBook::Tenant(_) = book else { return false };
        for written in &record.entities {
            if matches!(*written.state, Entity::Webhook(_)) {
                return true;
            }
        }
        // Every event is counted, whether or not an endpoint waits for it.
        !record.events.is_empty()
            // No tenant is told of it: operators are.
            || record.cause == Cause::OperationContradicted
            // An endpoint that was just deleted is in the record alone.
            || record.removed.iter().any(|(id, _)| id.kind == Kind::Webhook)
    }

    fn may_join(&self, record: &Record) -> bool {
        record.may_join()
    }

    fn join(&self, record: &mut Record, next: Record) {
        record.join(next);
    }

    fn encode(&self, record: &Record) -> Vec<u8> {
        codec::encode(record)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Record, Undecodable> {
        codec::decode(bytes)
    }

    fn index(&self, tenant: u64, time_ms: i64, record: &Record, ops: &mut IndexOps) {
        let time = Timestamp::from_unix_ms(time_ms);
        crate::indexing::entries(tenant, time, record, &self.person_marks, ops);
    }

    fn entity_key(&self, tenant: u64, id: EntityId) -> Vec<u8> {
        crate::index::entity(tenant, id)
    }

    fn generation_key(&self, tenant: u64) -> Option<Vec<u8>> {
        (!is_live(tenant)).then(|| crate::index::begun_at(tenant))
    }

    fn is_open(&self, entity: &Entity) -> bool {
        entity.rules().is_open()
    }

    fn is_large(&self, book: &AnyBook) -> bool {
        match book {
            AnyBook::Platform(book) => book.is_large(),
            AnyBook::Tenant(book) => book.is_large(),
        }
    }

    fn save(&self, book: &AnyBook) -> Vec<u8> {
        match book {
            AnyBook::Platform(book) => codec::encode(book),
            AnyBook::Tenant(book) => codec::encode(&**book),
        }
    }

    fn restore(&self, tenant: u64, bytes: &[u8]) -> Result<AnyBook, Undecodable> {
        if tenant == PLATFORM {
            codec::decode(bytes).map(AnyBook::Platform)
        } else {
            codec::decode(bytes).map(|book| AnyBook::Tenant(Box::new(book)))
        }
    }

    fn now_ms(&self, book: &AnyBook, wall_ms: i64) -> i64 {
        match book {
            AnyBook::Platform(book) => book.last.unix_ms().max(wall_ms),
            AnyBook::Tenant(book) => book.last.unix_ms().max(wall_ms.saturating_add(book.offset_ms)),
        }
    }

    fn wall_ms(&self, book: &AnyBook, tenant_ms: i64) -> i64 {
        match book {
            AnyBook::Platform(_) => tenant_ms,
            AnyBook::Tenant(book) => tenant_ms.saturating_sub(book.offset_ms),
        }
    }

    fn may_reach(&self, now_ms: i64) -> Result<(), Refusal> {
        if now_ms < Timestamp::CLOCKS_END.unix_ms() {
            return Ok(());
        }
        Err(Refusal::Invalid {
            field: "advanceSeconds",
            message: "must leave the test clock before the year 9000",
        })
    }

    fn next_due(&self, book: &AnyBook, skip: &dyn Fn(EntityId) -> bool) -> Option<(i64, EntityId)> {
        match book {
            AnyBook::Platform(_) => None,
            // Deadlines of a tenant that moved are due where it went.
            AnyBook::Tenant(book)
                if book.tenant_settings.moved_to.is_some() || book.tenant_settings.moving_to.is_some() =>
            {
                None
            }
            AnyBook::Tenant(book) => {
                let (at, id) = book.next_due(skip)?;
                Some((at.unix_ms(), id))
            }
        }
    }

    fn deadline(&self, _id: EntityId) -> KeyedCommand {
        Command::Deadline.into()
    }
}

/// A decision that the version before the newest can say, for as long as no other is written: a node that does not read
/// a record follows no further. What follows from something new is never refused: that was written before.
#[cold]
fn as_before(mut decision: Decision<Record, Refusal, Effect>) -> Decision<Record, Refusal, Effect> {
    let Some(record) = &mut decision.record else { return decision };
    // The release before does not say either whose key it was.
    if let Some(entry) = &mut record.audit {
        (entry.key, entry.agent) = (None, None);
    }
    match codec::is_sayable_before(&*record) {
        true => decision,
        false => Decision { record: None, refusal: Some(Refusal::UpgradeUnderWay), effects: Vec::new() },
    }
}

impl Domain {
    /// Makes the record of a draft: numbers its events, closes the days that are over, says what an operator
    /// changed and what answer is kept.
    fn complete(
        &self,
        book: &AnyBook,
        entity: Option<&Entity>,
        ruling: Ruling,
        audit: Option<Box<AuditEntry>>,
        turn: &Turn<'_>,
        ahead_ms: i64,
    ) -> Decision<Record, Refusal, Effect> {
        let Ruling { record: draft, refusal, effects } = ruling;
        let draft = match (draft, &refusal, &turn.keep) {
            (Some(draft), _, _) => draft,
            (None, Some(refusal), Some(_)) if refusal.is_kept() => Draft::new(Cause::RefusalKept),
            // A key that was answered must not serve for another body.
            (None, None, Some(_)) => Draft::new(Cause::AnswerKept),
            (None, _, _) => return Decision { record: None, refusal, effects },
        };
        let Draft { mut record, answer, related, replaces_kept, refuses_kept } = draft;
        record.seed = turn.seed;
        record.clock_advance_ms = ahead_ms;
        if let AnyBook::Tenant(book) = book {
            record.first_event = book.events + 1;
            record.closed = book.days_closed_by(&record.postings, turn.now);
        }
        let entry = audit.or(record.audit.take());
        if let (Some(mut entry), None, false) = (entry, &refusal, record.cause == Cause::AnswerKept) {
            let platform = if let AnyBook::Platform(book) = book { Some(book) } else { None };
            let (time, livemode) = (turn.now, turn.livemode);
            let decided = Decided { platform, entity, record: &record, time, livemode };
            entry.complete((self.changes)(&decided));
            record.audit = Some(entry);
        }
        let of = match (&turn.keep, replaces_kept) {
            (Some(kept), _) => Some(Arc::clone(kept)),
            // After 24 hours nothing is kept for that use of the key any more, and there may be a newer one.
            (None, Some(kept)) if turn.now < kept.first_seen.plus_ms(KEPT_MS) => Some(kept),
            _ => None,
        };
        if let Some(of) = of {
            let answer = match (refusal.as_ref().or(refuses_kept.as_ref()), answer) {
                (Some(refusal), _) if refusal.is_void() => Answer::Void,
                (_, Some((status, body))) => Answer::Bytes(status, body),
                (Some(refusal), None) => Answer::Refused(refusal.clone()),
                (None, None) => {
                    let mut shown = related;
                    if let Some(entity) = entity
                        && record.entities.is_empty()
                    {
                        shown.insert(0, Arc::new(entity.clone()));
                    }
                    Answer::Record { shown }
                }
            };
            record.kept = Some(Kept { of, answer });
        }
        Decision { record: Some(record), refusal, effects }
    }
}
