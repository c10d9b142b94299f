//! The machine that the engine hosts: the domain's rules behind the engine's trait. Commands go to
//! their rules ([`Command::decide`]), whose drafts become records here.

use crate::cause::Cause;
use crate::codec::{self, Undecodable};
use crate::commands::{Command, KeyedCommand};
use crate::decision::Decided;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::Entity;
use crate::index::PersonMarks;
use crate::kept::{KEPT_MS, KeepRef};
use crate::ledger::book::Book;
use crate::ledger::invariants::{self, Breach};
use crate::ledger::sellers;
use crate::platform::PlatformBook;
use crate::platform::audit::{AuditEntry, Changes};
use crate::rail::{Effect, Rails};
use crate::record::Record;
use crate::record::{Answer, Kept};
use crate::refusal::Refusal;
use crate::resources::crypto;
use crate::values::ids::{EntityId, Kind, PLATFORM, is_live};
use crate::values::time::{Date, Timestamp};
use crate::view::{Query, View, balance, cop_balance};
use actors::{Decision, Machine};
use std::sync::Arc;
use wal::IndexOps;

pub struct Domain {
    pub rails: Arc<dyn Rails>,
    pub holidays: Vec<Date>,
    /// The key under which the index knows documents and phones.
    pub person_marks: PersonMarks,
    /// The function of the API that says what an operator's decision changed, for the audit.
    pub changes: fn(&Decided<'_>) -> Changes,
}

#[derive(Clone)]
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
    type Query = Query;
    type View = View;
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
        if let AnyBook::Tenant(book) = book {
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
        let livemode = is_live(turn.tenant);
        let KeyedCommand { command, keep, audit } = command;
        let keep = keep.map(|keep| Arc::new(KeepRef { first_seen: now, ..keep }));
        let (rails, holidays) = (&*self.rails, &self.holidays);
        let rules = Turn { now, seed: turn.seed, livemode, rails, holidays, keep };
        match book {
            AnyBook::Platform(platform) => {
                let ruling = command.decide_platform(platform, entity, now);
                self.complete(book, entity, ruling, audit, &rules, 0)
            }
            AnyBook::Tenant(tenant) => {
                let is_refusable = command.is_refusable();
                let mut ruling = command.decide(tenant, entity, &rules);
                // Some ledger would come beyond the bound that protects it from an overflow.
                let mut postings = match &ruling.record {
                    Some(draft) if is_refusable => draft.record.postings.iter(),
                    _ => [].iter(),
                };
                if !postings.all(|posting| tenant.fits(posting.ledger, posting.currency, posting.minor)) {
                    ruling = Ruling::refuse(Refusal::AmountOverflow);
                }
                self.complete(book, entity, ruling, audit, &rules, turn.ahead_ms)
            }
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
        // Every event is counted, whether or not an endpoint waits for it.
        !record.events.is_empty()
            // No tenant is told of it: operators are.
            || record.cause == Cause::OperationContradicted
            || record.entities.iter().any(|written| matches!(*written.state, Entity::Webhook(_)))
            // An endpoint that was just deleted is in the record alone.
            || record.removed.iter().any(|(id, _)| id.kind == Kind::Webhook)
    }

    fn may_join(&self, record: &Record) -> bool {
        record.may_join()
    }

    fn join(&self, record: &mut Record, next: Record) {
        record.join(next);
    }

    fn view(&self, book: &AnyBook, query: Query, now_ms: i64) -> View {
        match (book, query) {
            (AnyBook::Tenant(book), Query::Balance) => View::Balance(balance(book)),
            (AnyBook::Tenant(book), Query::Crypto) => View::Crypto(crypto::balance(book)),
            (AnyBook::Tenant(book), Query::Seller(merchant)) => {
                View::Seller(sellers::balance(book, merchant))
            }
            (AnyBook::Tenant(book), Query::CopBalance) => View::CopBalance(cop_balance(book)),
            (AnyBook::Tenant(book), Query::Agenda) => {
                View::Agenda { now: Timestamp::from_unix_ms(now_ms), due: book.agenda.clone() }
            }
            (AnyBook::Tenant(book), Query::Kept) => {
                let own = book.own.as_ref().map(|_| EntityId::OWN_ACCOUNT);
                let entities = book.webhooks.iter().copied().map(EntityId::webhook).chain(own).collect();
                View::Kept { changes: book.kept_changes, entities }
            }
            (AnyBook::Tenant(book), Query::Days(ledger, currency)) => {
                View::Days(book.present(ledger, currency, Timestamp::from_unix_ms(now_ms)))
            }
            (AnyBook::Platform(book), Query::Platform) => View::Platform {
                tenants: book.tenants.clone(),
                keys: book.keys.clone(),
                operators: book.operators.clone(),
                live_asked: book.live_asked.clone(),
            },
            (AnyBook::Platform(book), Query::Key(id)) => View::Key(book.keys.get(&id).cloned()),
            (AnyBook::Platform(book), Query::Banks) => View::Banks(Box::new(book.banks.clone())),
            // The platform has no balance and a tenant's book no tenants: the clock is all that
            // both have.
            (AnyBook::Tenant(_) | AnyBook::Platform(_), Query::Clock)
            | (AnyBook::Tenant(_), Query::Platform | Query::Key(_) | Query::Banks)
            | (
                AnyBook::Platform(_),
                Query::Balance
                | Query::Crypto
                | Query::Seller(_)
                | Query::CopBalance
                | Query::Agenda
                | Query::Kept
                | Query::Days(..),
            ) => View::Clock(Timestamp::from_unix_ms(now_ms)),
        }
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
            AnyBook::Tenant(book) if book.tenant_settings.moved_to.is_some() => None,
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
            record.closed = Some(book.days_closed_by(&record.postings, turn.now));
        }
        let entry = audit.or(record.audit.take());
        if let (Some(mut entry), None, false) = (entry, &refusal, record.only_keeps()) {
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
