//! The actor of a book: its start, its mailbox, and its supervision.

use super::{Book, BookContext, Next};
use crate::host::Host;
use crate::machine::Machine;
use crate::protocol::book::{BookHandle, BookMessage, WakeUp};
use crate::protocol::reply::Failure;
use dashmap::mapref::entry::Entry;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::collections::HashSet;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;

/// Messages handled per wake-up, before other actors get their turn.
const BURST_MAX: usize = 256;

pub(crate) struct Recovered<M: Machine> {
    pub book: M::Book,
    pub ahead: bool,
    /// No turn may be before it.
    pub settled_ms: i64,
}

struct BookStart<M: Machine, C> {
    context: C,
    tenant: u64,
    /// `None` to load the book.
    recovered: Option<Recovered<M>>,
    /// The handle has the actor's reference, which exists only after the spawn.
    handle: oneshot::Receiver<Arc<BookHandle<M>>>,
}

struct BookActor<M, C>(PhantomData<fn() -> (M, C)>);

impl<M: Machine, C: BookContext<M>> Actor for BookActor<M, C> {
    type Msg = WakeUp;
    type State = Book<M, C>;
    type Arguments = BookStart<M, C>;

    async fn pre_start(
        &self,
        _myself: ActorRef<WakeUp>,
        start: Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        let BookStart { context, tenant, recovered, handle } = start;
        let handle = handle.await?;
        let host = context.host();
        let loaded = match recovered {
            _ if host.halts.is_halted(tenant) => None,
            Some(recovered) => Some(recovered),
            None => load(host, tenant)?,
        };
        let halted = loaded.is_none();
        let Recovered { book, ahead, settled_ms } =
            loaded.unwrap_or_else(|| Recovered::empty(&*host.machine, tenant));
        Ok(Book {
            context,
            handle,
            tenant,
            book,
            halted,
            version: u64::from(ahead),
            saved: 0,
            background: None,
            firing: HashSet::new(),
            asking: HashSet::new(),
            resting: HashSet::new(),
            advancing: false,
            put_off: Vec::new(),
            armed_ms: None,
            latest_ms: settled_ms,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<WakeUp>,
        _wake_up: WakeUp,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        state.handle.mailbox.begin();
        for _ in 0..BURST_MAX {
            let Some(message) = state.handle.mailbox.pop() else {
                if state.host().end.closed.load(Ordering::Acquire) && state.leave() {
                    myself.stop(None);
                }
                return Ok(());
            };
            // ractor keeps a panic to itself; a book whose state is in doubt must not decide any
            // more.
            match catch_unwind(AssertUnwindSafe(|| state.handle(message))) {
                Ok(Next::GoOn) => {}
                Ok(Next::Stop) => {
                    myself.stop(None);
                    return Ok(());
                }
                Err(_) => {
                    let why = "a panic outside of a decision";
                    if !state.halt(why) {
                        return Err(why.into());
                    }
                }
            }
        }
        state.handle.wake();
        Ok(())
    }
}

impl<M: Machine> Recovered<M> {
    pub fn empty(machine: &M, tenant: u64) -> Self {
        Recovered { book: machine.empty(tenant), ahead: false, settled_ms: i64::MIN }
    }
}

/// The newest snapshot of a book that left memory is all of it. `None` if it cannot be decoded, and
/// the book was halted.
fn load<M: Machine>(host: &Host<M>, tenant: u64) -> Result<Option<Recovered<M>>, ActorProcessingErr> {
    let Some(stored) = host.reader.snapshot(tenant, None)? else {
        return Ok(Some(Recovered::empty(&*host.machine, tenant)));
    };
    match host.machine.restore(tenant, &stored.state) {
        Ok(book) => Ok(Some(Recovered { book, ahead: false, settled_ms: stored.time_ms })),
        Err(error) => {
            let why = format!("its snapshot at {} cannot be decoded: {error}", stored.seq);
            if host.halt(tenant, &why) { Ok(None) } else { Err(error.into()) }
        }
    }
}

/// Starts the book when it is not in memory.
pub(crate) fn send<M: Machine>(context: &impl BookContext<M>, tenant: u64, message: BookMessage<M>) {
    let books = context.books();
    let now = books.coarse_seconds.load(Ordering::Relaxed);
    // Under the map's lock, so that a retiring book sees the message or a new one gets it.
    if let Some(handle) = books.handles.get(&tenant) {
        handle.touch(now);
        return handle.send(message);
    }
    match books.handles.entry(tenant) {
        Entry::Occupied(handle) => handle.get().send(message),
        Entry::Vacant(vacant) => {
            let handle = start(context, tenant, None);
            handle.touch(now);
            vacant.insert(handle).send(message);
        }
    }
}

/// Called under the lock of the map that the handle goes into.
pub(crate) fn start<M: Machine, C: BookContext<M>>(
    context: &C,
    tenant: u64,
    recovered: Option<Recovered<M>>,
) -> Arc<BookHandle<M>> {
    let runtime = context.host().runtime.clone();
    let _entered = runtime.enter();
    let (give, handle) = oneshot::channel();
    let arguments = BookStart { context: context.clone(), tenant, recovered, handle };
    let actor = BookActor::<M, C>(PhantomData);
    let (actor, started) = match ractor::ActorRuntime::spawn_instant(None, actor, arguments) {
        Ok(spawned) => spawned,
        Err(error) => {
            // Only a name clash could cause it, and books have no names.
            context.host().end.fail(&format!("the actor of book {tenant} did not start: {error}"));
            std::process::abort();
        }
    };
    let handle = Arc::new(BookHandle::new(actor));
    let _ = give.send(Arc::clone(&handle));
    let (context, watched) = (context.clone(), Arc::clone(&handle));
    runtime.spawn(async move {
        let why = match started.await {
            Ok(Ok(running)) => match running.await {
                Ok(()) => "it ended by itself".to_owned(),
                // The runtime ends, and everything with it.
                Err(_) => return,
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => return,
        };
        if !watched.over.load(Ordering::Acquire) {
            actor_ended(&context, tenant, &watched, &why);
        }
    });
    handle
}

/// An actor ended that should not have: ends the engine, and leaves no caller waiting.
fn actor_ended<M: Machine>(
    context: &impl BookContext<M>,
    tenant: u64,
    handle: &Arc<BookHandle<M>>,
    why: &str,
) {
    let why = format!("the actor of book {tenant} ended: {why}");
    context.host().end.fail(&why);
    // After this the handle cannot be found, so its mailbox grows no more.
    context.books().handles.remove_if(&tenant, |_, found| Arc::ptr_eq(found, handle));
    while let Some(message) = handle.mailbox.pop() {
        message.fail(Failure::Storage(why.clone()));
    }
}
