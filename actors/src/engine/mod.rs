//! The handle of a running engine: what callers may ask of it, its start and its stop. What a single
//! actor does with a message does not belong here.

mod copies;
mod follower;
mod housekeeping;
mod recovery;
mod rehearsal;
mod start;
mod status;

pub use follower::{FollowError, Followed, Follower};
pub use rehearsal::Rehearsal;
pub use start::StartError;
pub use status::{NotReady, Status};

use crate::admission::{Admission, Refused, Standing};
use crate::clock::Clock;
use crate::clock_advance;
use crate::entity::{self, Attended};
use crate::host::Host;
use crate::machine::Machine;
use crate::protocol::{Ask, BookMessage, CommandReply, EntityMessage, Failure, Guard, ReplyTo, reply_to};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::sync::oneshot;
use wal::Reader;

pub struct Engine<M: Machine> {
    host: Arc<Host<M>>,
    pub clock: Clock,
}

impl<M: Machine> Clone for Engine<M> {
    fn clone(&self) -> Self {
        Engine { host: Arc::clone(&self.host), clock: self.clock.clone() }
    }
}

impl<M: Machine> Engine<M> {
    pub fn reader(&self) -> &Reader {
        &self.host.reader
    }

    pub fn machine(&self) -> &M {
        &self.host.machine
    }

    fn admit(&self, tenant: u64, standing: Standing, for_record: bool) -> Result<Admission, Failure> {
        if let Some(failure) = self.host.failure() {
            return Err(failure);
        }
        let taken = self.host.gate.admit(tenant, standing, for_record);
        // The flag is read with the permit in hand: a request that passes is seen by `stop`, which
        // waits for all permits after it has set the flag.
        if self.host.stopping.load(Ordering::SeqCst) {
            return Err(Failure::ShuttingDown);
        }
        match taken {
            Ok(admission) => Ok(admission),
            Err(refused) => Err(self.refused(refused, standing)),
        }
    }

    fn standing(&self, tenant: u64) -> Standing {
        let machine = &self.host.machine;
        match (machine.is_essential(tenant), machine.yields(tenant)) {
            (true, _) => Standing::Essential,
            (false, false) => Standing::First,
            (false, true) => Standing::Yields,
        }
    }

    pub fn is_halted(&self, tenant: u64) -> bool {
        let halts = &self.host.halts;
        halts.count.load(Ordering::SeqCst) > 0 && halts.is_halted(tenant)
    }

    /// `None` if a request for a record would not be refused now. Asked before work is put into a
    /// request; the refusal is counted.
    pub fn refuses(&self, tenant: u64) -> Option<Failure> {
        let standing = self.standing(tenant);
        let refused = self.host.gate.refuses(tenant, standing)?;
        // During a stop all permits are taken too, which is no overload.
        if self.host.is_over() { None } else { Some(self.refused(refused, standing)) }
    }

    /// Whether a request for a record would be admitted now, for who can wait until it is.
    pub fn has_place(&self, tenant: u64) -> bool {
        self.host.gate.refuses(tenant, self.standing(tenant)).is_none()
    }

    fn refused(&self, refused: Refused, standing: Standing) -> Failure {
        match refused {
            Refused::Full => self.host.overloaded(),
            Refused::ShareFull => {
                let of = usize::from(standing == Standing::Yields);
                self.host.gate.share_full[of].fetch_add(1, Ordering::Relaxed);
                Failure::ShareFull
            }
        }
    }

    /// Sent at once; the future waits for the reply. `until_reply` is kept until the reply is sent.
    pub fn ask_book(
        &self,
        tenant: u64,
        command: M::Command,
        until_reply: Option<Guard>,
    ) -> impl Future<Output = CommandReply<M>> + Send + use<M> {
        let asked = self.admit(tenant, self.standing(tenant), true).map(|admission| {
            let (reply_to, from) = ReplyTo::new(Some(admission), None, until_reply);
            self.host.send_to_book(tenant, BookMessage::Ask(Ask::of_book(command, None, true, reply_to)));
            from
        });
        async move { asked?.await? }
    }

    /// Has a book begin anew: sends it a command that asks for that. What was under way with entities of
    /// before comes to nothing.
    pub async fn begin_anew(
        &self,
        tenant: u64,
        command: M::Command,
        until_reply: Option<Guard>,
    ) -> CommandReply<M> {
        let reply = self.ask_book(tenant, command, until_reply).await;
        self.host.generations.remove(&tenant);
        reply
    }

    /// Sent at once; the future waits for the reply, and need not be awaited. `until_record` is
    /// kept until the first record is durable, `until_reply` until the reply is sent, even when no
    /// caller waits for it any more.
    pub fn ask_entity(
        &self,
        tenant: u64,
        id: M::EntityId,
        new: bool,
        command: M::Command,
        until_record: Option<Guard>,
        until_reply: Option<Guard>,
    ) -> impl Future<Output = CommandReply<M>> + Send + use<M> {
        let mut asked = match self.admit(tenant, self.standing(tenant), true) {
            Ok(admission) => {
                let (reply_to, from) = ReplyTo::new(Some(admission), until_record, until_reply);
                let message =
                    EntityMessage::Ask { command, fresh: true, step: None, asked: Instant::now(), reply_to };
                let attended = match entity::deliver(&self.host, tenant, id, new, message) {
                    Some((mut run, message)) => {
                        run.begin(message);
                        Some(Attended(Some(run)))
                    }
                    None => None,
                };
                Ok((attended, from))
            }
            Err(failure) => Err(failure),
        };
        // The captured values are not moved: a moved value would take its room twice.
        async move {
            let (attended, from) = match &mut asked {
                Ok(asked) => (&mut asked.0, &mut asked.1),
                Err(failure) => return Err(failure.clone()),
            };
            if let Some(attended) = attended {
                attended.await;
            }
            from.await?
        }
    }

    /// For a command that continues something durable, such as the turn of an order that waits or
    /// the outside world's word. It takes nothing of the tenant's share, as a deadline does not:
    /// who has asked for too much is refused more, and what was accepted comes to its end. The
    /// caller bounds how many there are.
    pub async fn continue_entity(
        &self,
        tenant: u64,
        id: M::EntityId,
        command: M::Command,
    ) -> CommandReply<M> {
        let place = Arc::clone(&self.host.gate.continuing).acquire_owned().await;
        // The flags are read with the place in hand, as `stop` waits for all of them.
        if let Some(failure) = self.host.failure() {
            return Err(failure);
        }
        if self.host.stopping.load(Ordering::SeqCst) {
            return Err(Failure::ShuttingDown);
        }
        let (reply_to, from) = ReplyTo::new(None, None, Some(Box::new(place)));
        let ask = EntityMessage::Ask { command, fresh: false, step: None, asked: Instant::now(), reply_to };
        entity::send(&self.host, tenant, id, ask);
        from.await?
    }

    pub async fn continue_view(&self, tenant: u64) -> Result<(M::Book, i64), Failure> {
        reply_to(|to| self.host.send_to_book(tenant, BookMessage::View { to, admission: None })).await
    }

    /// The book, settled, and the instant of its clock. Everything that it rests on is durable when it comes.
    pub async fn view(&self, tenant: u64) -> Result<(M::Book, i64), Failure> {
        // The permit goes with the question: a caller that goes away leaves it in the queue.
        let admission = Some(self.admit(tenant, self.standing(tenant), false)?);
        reply_to(|to| self.host.send_to_book(tenant, BookMessage::View { to, admission })).await
    }

    /// `None` if the book is not in memory; it is not kept there.
    pub async fn glance(&self, tenant: u64) -> Result<Option<(M::Book, i64)>, Failure> {
        // The caller is not the tenant, whose share may be used up.
        let admission = Some(self.admit(tenant, Standing::Essential, false)?);
        let (to, from) = oneshot::channel();
        {
            let Some(handle) = self.host.books.get(&tenant) else { return Ok(None) };
            handle.send(BookMessage::View { to, admission });
        }
        from.await?.map(Some)
    }

    /// Deadlines on the way come first, each at its own instant and in order; then the book gets
    /// `command`, in a turn at the final instant. The command must write a record that the clock
    /// moved: the book has settled at that instant, which a replay would not know otherwise.
    pub async fn advance(
        &self,
        tenant: u64,
        advance_ms: i64,
        command: M::Command,
        until_reply: Option<Guard>,
    ) -> CommandReply<M> {
        let admission = self.admit(tenant, self.standing(tenant), false)?;
        let host = Arc::clone(&self.host);
        // The advance runs in a task of its own: a caller that goes away must not leave a clock
        // between two instants.
        let advance = self.host.runtime.spawn(async move {
            let _guards = (admission, until_reply);
            clock_advance::advance(&host, tenant, advance_ms, command).await
        });
        advance.await.map_err(|_| Failure::Storage("the advance broke off; outcome unknown".to_owned()))?
    }
}
