//! A bank that does what its script says for each entity: at once, late, after its caller has gone,
//! never, or not at all. It outlives the server, and notices when it is sent something twice.

use domain::rail::{Instruction, Order, RailAnswer};
use domain::values::ids::{EntityId, Id};
use domain::values::money::Ves;
use pasarela::rails::simulator::MICRO_DEPOSITS;
use pasarela::rails::{BoxFuture, Call, Rail};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The fate of an order at a bank, and what the bank says when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The order is done, and the answer says so.
    Done,
    /// The order is refused, and the answer says so.
    Refused,
    /// The order is done or refused without a word; `asks` is how often the bank must be asked
    /// before it tells.
    Silent { done: bool, asks: u8 },
    /// The order never arrived; one that is sent again is done.
    Lost,
}

/// The behaviour of the bank for one entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script {
    pub fate: Fate,
    /// The time that each call takes, in ms.
    pub takes_ms: u64,
}

#[derive(Clone, Default)]
struct Books {
    scripts: BTreeMap<Id, Script>,
    is_in_a_hurry: bool,
    /// No call takes any time, whatever its script says.
    is_at_once: bool,
    operations: BTreeMap<Id, Operation>,
    /// The owners of operations, in the order in which they were first asked for.
    owners: Vec<(u64, EntityId, Id)>,
    /// The first thing that must not have happened.
    complaint: Option<String>,
}

#[derive(Clone, Copy, Default)]
struct Operation {
    sent: u32,
    asked: u32,
    /// The order arrived.
    is_here: bool,
    /// The number of times that the bank said that it never arrived: so often it may be sent again.
    disowned: u32,
    /// The outcome of a collection of pesos: the buyer has paid, or there will be nothing.
    collected: Option<bool>,
}

/// The bank; clones are the same one.
#[derive(Clone, Default)]
pub struct Bank {
    books: Arc<Mutex<Books>>,
}

impl Bank {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().expect("nobody panics with the bank's books")
    }

    /// Sets the script of an entity's orders from now on.
    pub fn follow(&self, entity: Id, script: Script) {
        self.books().scripts.insert(entity, script);
    }

    /// An operation of this entity is about to be sent or asked about.
    pub fn expect(&self, tenant: u64, entity: EntityId, operation: Id) {
        let mut books = self.books();
        let owner = (tenant, entity, operation);
        if !books.owners.contains(&owner) {
            books.owners.push(owner);
        }
    }

    /// The owners of operations, in the order in which they were first asked for.
    pub fn owners(&self) -> Vec<(u64, EntityId, Id)> {
        self.books().owners.clone()
    }

    /// Takes no time from now on.
    pub fn answer_at_once(&self) {
        self.books().is_at_once = true;
    }

    /// Another bank that knows what this one knows, and tells it nothing.
    pub fn copied(&self) -> Bank {
        Bank { books: Arc::new(Mutex::new(self.books().clone())) }
    }

    /// Answers everything at once from now on, and loses nothing.
    pub fn hurry(&self) {
        let mut books = self.books();
        books.is_in_a_hurry = true;
        for script in books.scripts.values_mut() {
            script.takes_ms = 0;
            if let Fate::Silent { asks, .. } = &mut script.fate {
                *asks = 0;
            }
        }
    }

    /// Notes that somebody else than the bank says that the operation never arrived: it may be sent
    /// again.
    pub fn disown(&self, operation: Id) {
        self.books().operations.entry(operation).or_default().disowned += 1;
    }

    /// The number of times that an operation was sent.
    pub fn sent(&self, operation: Id) -> u32 {
        self.books().operations.get(&operation).map_or(0, |operation| operation.sent)
    }

    /// The first thing that must not have happened.
    pub fn complaint(&self) -> Option<String> {
        self.books().complaint.clone()
    }

    fn script(&self, call: &Call) -> Script {
        let books = self.books();
        let operation = Id::from(call.operation_id);
        let owner = books.owners.iter().find(|(_, _, known)| *known == operation);
        let script = owner.and_then(|(_, entity, _)| books.scripts.get(&entity.id));
        let script = script.copied().unwrap_or(Script { fate: Fate::Done, takes_ms: 0 });
        if books.is_at_once { Script { takes_ms: 0, ..script } } else { script }
    }

    fn arrives(&self, call: &Call, fate: Fate) -> RailAnswer {
        let mut books = self.books();
        let is_in_a_hurry = books.is_in_a_hurry;
        let operation = books.operations.entry(call.operation_id.into()).or_default();
        match (&call.order, fate) {
            (_, Fate::Lost) if operation.sent == 1 && !is_in_a_hurry => return RailAnswer::Silent,
            (Order::CollectCop { .. }, _) => {
                operation.is_here = true;
                return RailAnswer::Waiting;
            }
            _ => operation.is_here = true,
        }
        match fate {
            Fate::Silent { .. } => RailAnswer::Waiting,
            Fate::Lost => RailAnswer::Silent,
            Fate::Done => done(call),
            Fate::Refused => refused(),
        }
    }

    fn tells(&self, call: &Call, fate: Fate) -> RailAnswer {
        let mut books = self.books();
        let is_in_a_hurry = books.is_in_a_hurry;
        let operation = books.operations.entry(call.operation_id.into()).or_default();
        operation.asked += 1;
        // An order that was on its way for long is there in the end.
        operation.is_here |= is_in_a_hurry && operation.sent > 0;
        if !operation.is_here && is_in_a_hurry && operation.disowned > 0 {
            // Deaths have kept it from being sent, and from being sent once more: an operator settles it.
            return refused();
        }
        if !operation.is_here {
            operation.disowned += 1;
            return RailAnswer::NeverReceived;
        }
        if let Order::CollectCop { collection, .. } = &call.order {
            if operation.collected.is_none() && call.at >= collection.expires_at {
                operation.collected = Some(false);
            }
            return standing(call, operation.collected);
        }
        match fate {
            Fate::Silent { asks, .. } if operation.asked <= u32::from(asks) => RailAnswer::Silent,
            Fate::Silent { done: false, .. } | Fate::Refused => refused(),
            Fate::Silent { done: true, .. } | Fate::Lost | Fate::Done => done(call),
        }
    }

    /// Answers an instruction about a collection of pesos: whatever comes first ends it.
    fn told(&self, call: &Call, collection: Id, instruction: &Instruction, fate: Fate) -> RailAnswer {
        let mut books = self.books();
        let operation = books.operations.entry(collection).or_default();
        if !operation.is_here {
            operation.disowned += 1;
            return RailAnswer::NeverReceived;
        }
        if operation.collected.is_none() {
            operation.collected = match instruction {
                Instruction::Paid | Instruction::Code(_) => Some(true),
                Instruction::Cancel | Instruction::Declined => Some(false),
                // Test mode has codes sent with the order itself.
                Instruction::SendCode => None,
            };
        }
        match fate {
            Fate::Silent { .. } => RailAnswer::Silent,
            _ => standing(call, operation.collected),
        }
    }
}

/// The answer of an order that is done. A transfer is answered with the reference that its payer
/// gave: that one transfer may be found by different digits, and pays once, is tested over HTTP.
fn done(call: &Call) -> RailAnswer {
    let reference = match &call.order {
        Order::FindTransfer { reference, .. } => reference.clone(),
        _ => call.operation_id.simple().to_string()[..12].to_owned(),
    };
    RailAnswer::done(reference)
}

fn refused() -> RailAnswer {
    RailAnswer::Refused { code: "BE01".to_owned() }
}

fn standing(call: &Call, collected: Option<bool>) -> RailAnswer {
    match collected {
        None => RailAnswer::Waiting,
        Some(true) => done(call),
        Some(false) => RailAnswer::Refused { code: "expired".to_owned() },
    }
}

impl Rail for Bank {
    fn name(&self) -> &'static str {
        "simulation"
    }

    fn micro_deposits(&self) -> (Ves, Ves) {
        MICRO_DEPOSITS
    }

    fn rehearsing(&self) -> Arc<dyn Rail> {
        Arc::new(self.copied())
    }

    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer> {
        Box::pin(async move {
            let Script { fate, takes_ms } = self.script(call);
            if let Order::TellCop { collection, instruction, .. } = &call.order {
                pause(takes_ms).await;
                return self.told(call, collection.original, instruction, fate);
            }
            {
                let mut books = self.books();
                let operation = books.operations.entry(call.operation_id.into()).or_default();
                operation.sent += 1;
                // Looking for a transfer moves nothing, and may be repeated as often as one likes.
                let moves_money = !matches!(call.order, Order::FindTransfer { .. });
                if operation.sent > 1 + operation.disowned && moves_money {
                    let sent = operation.sent;
                    books.complaint.get_or_insert(format!(
                        "{:?} {} was sent {sent} times, and it was said to be lost less often",
                        call.order, call.operation_id
                    ));
                }
            }
            pause(takes_ms / 2).await;
            let answer = self.arrives(call, fate);
            pause(takes_ms - takes_ms / 2).await;
            answer
        })
    }

    fn ask<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer> {
        Box::pin(async move {
            let Script { fate, takes_ms } = self.script(call);
            pause(takes_ms / 2).await;
            let answer = self.tells(call, fate);
            pause(takes_ms - takes_ms / 2).await;
            answer
        })
    }
}

async fn pause(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}
