//! What a rule is given and what it says: the turn of a command, the draft of a record, and the rules that
//! a kind of entity has besides those for its commands.

use crate::cause::Cause;
use crate::entities::Entity;
use crate::entities::resource::{IndexedState, Resource};
use crate::events::{Event, EventKind, Extra};
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::spending::{self, Drawn, Spending};
use crate::ledger::{HoldChange, Ledger, Posting, Release, Row};
use crate::platform::mandate::{Mandate, Payee};
use crate::platform::{PlatformBook, PlatformChange};
use crate::rail::{BankCall, Effect, Operation, Order, RailReply, Rails, Service, Terms, TestModeAlone};
use crate::record::{Record, Written};
use crate::refusal::{MandateRefusal, Refusal};
use crate::trace::{POLL_MS, Polling};
use crate::values::ids::{EntityId, Id, each_kind};
use crate::values::money::Currency;
use crate::values::time::{Date, Timestamp};
use std::sync::Arc;

/// The turn of a command: the inputs of a rule besides the state.
#[derive(Clone)]
pub struct Turn<'a> {
    pub now: Timestamp,
    pub seed: u64,
    /// Whether real money moves: true in live mode.
    pub livemode: bool,
    pub rails: &'a dyn Rails,
    pub holidays: &'a [Date],
    /// The use of an Idempotency-Key that the answer is kept for.
    pub keep: Option<Arc<KeepRef>>,
    /// The mandate of the key that asks.
    pub mandate: Option<Arc<Mandate>>,
    /// The most that the call may take out without another approval, as somebody has approved so much, in minor units.
    pub approved: Option<i64>,
}

impl Turn<'_> {
    /// A turn of test mode, whose answer is not kept.
    pub fn at(now: Timestamp) -> Turn<'static> {
        Turn {
            now,
            seed: 1,
            livemode: false,
            rails: &TestModeAlone,
            holidays: &[],
            keep: None,
            mandate: None,
            approved: None,
        }
    }

    /// Whether the caller may pay so much to whom `is_payee` recognises. `taken` is what the same call has taken by
    /// now. Asked before the balance is.
    pub fn may_pay(
        &self,
        book: &Book,
        taken: &[Spending],
        sum: (Currency, i64),
        is_payee: impl Fn(&Payee) -> bool,
    ) -> Result<Drawn, Refusal> {
        let Some(mandate) = self.mandate.as_deref() else { return Ok(Drawn::NONE) };
        if !mandate.payees.is_empty() && !mandate.payees.iter().any(is_payee) {
            return Err(MandateRefusal::Payee.into());
        }
        let drawn = spending::draw(&book.spent, mandate, self.now, taken, sum)?;
        self.needs_no_approval(sum)?;
        Ok(drawn)
    }

    /// Whether the caller may take out so much, where it is not for the caller to say who gets it.
    pub fn may_take(&self, book: &Book, sum: (Currency, i64)) -> Result<Drawn, Refusal> {
        let Some(mandate) = self.mandate.as_deref() else { return Ok(Drawn::NONE) };
        let drawn = spending::draw(&book.spent, mandate, self.now, &[], sum)?;
        self.needs_no_approval(sum)?;
        Ok(drawn)
    }

    /// Whether a call that takes out so much may do so without somebody's approval.
    pub fn needs_no_approval(&self, (currency, minor): (Currency, i64)) -> Result<(), Refusal> {
        match self.threshold(currency) {
            Some(most) if minor > most => Err(MandateRefusal::NeedsApproval { currency, minor }.into()),
            _ => Ok(()),
        }
    }

    /// The most that goes out in a call without an approval, where one may be needed.
    pub fn threshold(&self, currency: Currency) -> Option<i64> {
        let most = self.mandate.as_deref()?.approval_above.as_ref()?.0.get(&currency).copied()?;
        Some(self.approved.map_or(most, |approved| approved.max(most)))
    }

    /// The terms on which a rail serves this now, by a call to a bank or whichever.
    pub fn terms(&self, service: Service, call: impl Into<Option<BankCall>>) -> Terms {
        self.rails.terms(self.livemode, service, call.into())
    }

    pub fn first_look(&self) -> Timestamp {
        self.now.plus_ms(match self.rails.polling(self.livemode) {
            Polling::Test => POLL_MS,
            Polling::Live(poll_ms) => poll_ms,
        })
    }

    /// The instant of the look after the `looks`-th, which is now, at an order of then.
    pub fn next_look(&self, looks: u32, sent_at: Timestamp) -> Timestamp {
        let age_ms = self.now.since_ms(sent_at);
        self.now.plus_ms(self.rails.polling(self.livemode).pause_ms(looks, age_ms))
    }
}

/// A record in the making, without what the machine fills in, and what its kept answer is to be.
pub struct Draft {
    pub record: Record,
    pub answer: Option<(u16, Vec<u8>)>,
    /// Entities that the answer shows besides those written; the record does not write them.
    pub related: Vec<Arc<Entity>>,
    /// The kept answer that this record replaces.
    pub replaces_kept: Option<Arc<KeepRef>>,
    /// The refusal that the replaced answer shows, where what is decided on is not refused: an operator's
    /// word that a bank refused.
    pub refuses_kept: Option<Refusal>,
}

impl Draft {
    pub fn new(cause: Cause) -> Draft {
        let record = Record::new(cause);
        Draft { record, answer: None, related: Vec::new(), replaces_kept: None, refuses_kept: None }
    }

    /// Adds both sides of the double entry: `minor` to one ledger, and as much from the other, each with the row
    /// that its owner sees. Zero is left out (`docs/contract.md, 6.2`: no movement of 0.00).
    pub fn post(
        &mut self,
        (currency, minor): (Currency, i64),
        (to, seen): (Ledger, Option<Row>),
        (from, theirs): (Ledger, Option<Row>),
    ) {
        if minor != 0 {
            let row = seen.map(Box::new);
            self.record.postings.push(Posting { ledger: to, currency, minor, row });
            let row = theirs.map(Box::new);
            self.record.postings.push(Posting { ledger: from, currency, minor: -minor, row });
        }
    }

    /// Changes what is held on an account, under the id of what it is held for; a change of zero is left out.
    pub fn hold(
        &mut self,
        (ledger, currency): (Ledger, Currency),
        release_at: impl Into<Release>,
        hold: Id,
        minor: i64,
    ) {
        if minor != 0 {
            let release_at = release_at.into();
            self.record.holds.push(HoldChange { ledger, currency, release_at, hold, minor });
        }
    }

    /// Says what was taken out of a mandate, in minor units; below zero is given back to it.
    pub fn spend(&mut self, drawn: &Drawn, currency: Currency, minor: i64) {
        self.record.spent.extend(drawn.spending(currency, minor));
    }

    pub fn created(cause: Cause, entity: impl Into<Entity>) -> Draft {
        let mut draft = Draft::new(cause);
        draft.record.entities.push(Written { state: Arc::new(entity.into()), indexed: None });
        draft
    }

    pub fn changed(cause: Cause, before: &impl Resource, after: impl Into<Entity>) -> Draft {
        let mut draft = Draft::new(cause);
        let indexed = Some(IndexedState { facet: before.facet(), deadline: before.deadline() });
        draft.record.entities.push(Written { state: Arc::new(after.into()), indexed });
        draft
    }

    pub fn create(&mut self, entity: impl Into<Entity>) {
        self.record.entities.push(Written { state: Arc::new(entity.into()), indexed: None });
    }

    pub fn change(&mut self, before: &impl Resource, entity: impl Into<Entity>) {
        let indexed = Some(IndexedState { facet: before.facet(), deadline: before.deadline() });
        self.record.entities.push(Written { state: Arc::new(entity.into()), indexed });
    }

    pub fn remove(&mut self, id: EntityId, before: &impl Resource) {
        self.record.removed.push((id, IndexedState { facet: before.facet(), deadline: before.deadline() }));
    }

    pub fn event(&mut self, kind: EventKind, subject: EntityId) {
        self.record.events.push(Event { kind, subject: Some(subject), extra: Extra::None });
    }

    pub fn event_with(&mut self, kind: EventKind, subject: Option<EntityId>, extra: Extra) {
        self.record.events.push(Event { kind, subject, extra });
    }
}

/// What a rule says. The machine completes its draft, and it goes on to whoever asked.
pub type Ruling = actors::Decision<Draft, Refusal, Effect>;

/// What the rule for a command says; a refusal with which nothing is written is the error.
pub type Ruled = Result<Ruling, Refusal>;

pub fn write_platform(change: PlatformChange) -> Ruling {
    let mut draft = Draft::new(Cause::PlatformChanged);
    draft.record.platform = Some(Box::new(change));
    Ruling::write(draft)
}

pub fn differing(fields: impl IntoIterator<Item = (&'static str, bool)>) -> Vec<&'static str> {
    fields.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
}

/// The ruling on a repeat of a reference: unchanged if no field differs, so that the same is
/// answered again; a conflict otherwise.
pub fn repeated(existing: Id, fields: impl IntoIterator<Item = (&'static str, bool)>) -> Ruled {
    let differs = differing(fields);
    if differs.is_empty() {
        Ok(Ruling::unchanged())
    } else {
        Err(Refusal::ExternalRefConflict { existing, differs })
    }
}

/// The rules of a kind of entity besides those for its commands. A kind has those that concern it.
pub trait Rules: Resource {
    fn on_rail_reply(&self, _book: &Book, _reply: RailReply, _turn: &Turn<'_>) -> Ruling {
        Ruling::unchanged()
    }

    fn on_deadline(&self, _book: &Book, _turn: &Turn<'_>) -> Ruling {
        Ruling::unchanged()
    }

    /// A poll before its time: the bank may have an answer for which a caller waits.
    fn on_look(&self, _book: &Book, _turn: &Turn<'_>) -> Ruling {
        Ruling::unchanged()
    }

    /// The turn of an order that waited for it has come at its rail.
    fn on_begin(&self, _turn: &Turn<'_>) -> Ruling {
        Ruling::unchanged()
    }

    /// Whether it stays in memory without an active actor, as more commands are expected soon.
    fn is_open(&self) -> bool {
        self.deadline().is_some()
    }

    /// Whether an order that another entity's record asked for is still to be sent.
    fn wants(&self, _order: &Order) -> bool {
        false
    }

    /// The operations that no bank has answered, of those that an operator may settle.
    fn unanswered(&self) -> Vec<Operation> {
        Vec::new()
    }

    /// The operation about which the bank contradicted itself, in the record of this instant.
    fn contradiction(&self, _at: Timestamp) -> Option<Operation> {
        None
    }

    /// The bank was asked about this operation, which has no trace of its own.
    fn count_question(&mut self, _operation: Id, _now: Timestamp) {}

    /// An operator has settled the operation with this number: the bank is still asked whether it agrees.
    fn ask_on(&mut self, _operation: u16, _turn: &Turn<'_>) {}
}

macro_rules! rules {
    ($($number:literal $Kind:ident $file:ident::$State:ident = $byte:literal $name:literal $(Rules $rules:tt)?
        $(since $since:literal)?,)+) => {
        $($(impl Rules for crate::entities::$file::$State $rules)?)+

        impl Entity {
            pub fn rules(&self) -> &dyn Rules {
                match self {
                    $(Entity::$Kind(state) => state),+
                }
            }

            pub fn rules_mut(&mut self) -> &mut dyn Rules {
                match self {
                    $(Entity::$Kind(state) => state),+
                }
            }
        }
    };
}

each_kind!(rules);

/// A decision, for the function of the API that says what it changed.
pub struct Decided<'a> {
    /// The platform's book before; `None` for a tenant's record.
    pub platform: Option<&'a PlatformBook>,
    pub entity: Option<&'a Entity>,
    pub record: &'a Record,
    pub time: Timestamp,
    pub livemode: bool,
}
