//! Requests to an engine: commands to books and entities, queries to books, and clock advances.

use super::Engine;
use crate::admission::{Admission, Gate, Refused, Standing};
use crate::clock_advance;
use crate::entity::{Attended, deliver};
use crate::host::Context;
use crate::machine::Machine;
use crate::protocol::book::{Ask, BookMessage};
use crate::protocol::entity::EntityMessage;
use crate::protocol::reply::{CommandReply, Failure, Guard, ReplyTo, received};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::sync::oneshot;

impl<M: Machine> Engine<M> {
    fn admit(
        &self,
        tenant: u64,
        take: impl FnOnce(&Gate, Standing) -> Result<Admission, Refused>,
    ) -> Result<Admission, Failure> {
        let end = &self.shared.host.end;
        if end.is_failed() {
            return Err(end.failure());
        }
        let taken = take(&self.shared.gate, self.standing(tenant));
        // The flag is read with the permit in hand: a request that passes is seen by `stop`, which
        // waits for all permits after it has set the flag.
        if end.stopping.load(Ordering::SeqCst) {
            return Err(Failure::ShuttingDown);
        }
        taken.map_err(|refused| self.refused(refused))
    }

    fn permit(&self, tenant: u64) -> Result<Admission, Failure> {
        self.admit(tenant, |gate, standing| gate.admit_without_record(tenant, standing))
    }

    fn admission(&self, tenant: u64) -> Result<Admission, Failure> {
        self.admit(tenant, |gate, standing| gate.admit(tenant, standing))
    }

    fn standing(&self, tenant: u64) -> Standing {
        let machine = self.machine();
        match (machine.is_essential(tenant), machine.yields(tenant)) {
            (true, _) => Standing::Essential,
            (false, false) => Standing::First,
            (false, true) => Standing::Yields,
        }
    }

    pub fn is_halted(&self, tenant: u64) -> bool {
        self.shared.host.halts.is_halted(tenant)
    }

    /// `None` if a request for a record would not be refused now. Asked before work is put into a
    /// request; the refusal is counted.
    pub fn refuses(&self, tenant: u64) -> Option<Failure> {
        let refused = self.shared.gate.refuses(tenant, self.standing(tenant))?;
        // During a stop all permits are taken too, which is no overload.
        (!self.shared.host.end.is_over()).then(|| self.refused(refused))
    }

    fn refused(&self, refused: Refused) -> Failure {
        match refused {
            Refused::Full => self.shared.host.overloaded(),
            Refused::ShareFull => Failure::ShareFull,
        }
    }

    /// Sent at once; the future waits for the reply. `until_reply` is kept until the reply is sent.
    pub fn ask_book(
        &self,
        tenant: u64,
        command: M::Command,
        until_reply: Option<Guard>,
    ) -> impl Future<Output = CommandReply<M>> + Send + use<M> {
        let asked = self.admission(tenant).map(|admission| {
            let (reply_to, from) = ReplyTo::new(None, until_reply);
            let ask = Ask {
                command,
                entity: None,
                id: None,
                generation: None,
                step: None,
                fresh: true,
                asked: Instant::now(),
                reply_to: reply_to.admitted(admission),
            };
            self.send_to_book(tenant, BookMessage::Ask(Box::new(ask)));
            from
        });
        async move { received(asked?.await) }
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
        self.shared.host.forget_generation(tenant);
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
        let mut asked = self.admission(tenant).map(|admission| {
            let (reply_to, from) = ReplyTo::new(until_record, until_reply);
            let reply_to = reply_to.admitted(admission);
            let message =
                EntityMessage::Ask { command, fresh: true, step: None, asked: Instant::now(), reply_to };
            let attended =
                deliver(self, tenant, id, new, message).map(|(turn, message)| Attended::new(turn, message));
            (attended, from)
        });
        // The captured values are not moved: a moved value would take its room twice.
        async move {
            let (attended, from) = match &mut asked {
                Ok(asked) => (&mut asked.0, &mut asked.1),
                Err(failure) => return Err(failure.clone()),
            };
            if let Some(attended) = attended {
                attended.await;
            }
            received(from.await)
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
        let end = &self.shared.host.end;
        let place = Arc::clone(&self.shared.gate.continuing).acquire_owned().await;
        // The flags are read with the place in hand, as `stop` waits for all of them.
        if end.is_failed() {
            return Err(end.failure());
        }
        if end.stopping.load(Ordering::SeqCst) {
            return Err(Failure::ShuttingDown);
        }
        let (reply_to, from) = ReplyTo::new(None, Some(Box::new(place)));
        let ask = EntityMessage::Ask { command, fresh: false, step: None, asked: Instant::now(), reply_to };
        self.send_to_entity(tenant, id, ask);
        received(from.await)
    }

    /// A query for something durable that goes on, like `continue_entity`.
    pub async fn continue_view(&self, tenant: u64, query: M::Query) -> Result<M::View, Failure> {
        self.view_of(tenant, query, None).await
    }

    /// Everything that the view rests on is durable when it comes.
    pub async fn view(&self, tenant: u64, query: M::Query) -> Result<M::View, Failure> {
        // The permit goes with the query: a caller that goes away leaves the query in the queue.
        let admission = self.permit(tenant)?;
        self.view_of(tenant, query, Some(admission)).await
    }

    async fn view_of(
        &self,
        tenant: u64,
        query: M::Query,
        admission: Option<Admission>,
    ) -> Result<M::View, Failure> {
        let (to, from) = oneshot::channel();
        self.send_to_book(tenant, BookMessage::View { query, to, admission });
        from.await.map_err(|_| Failure::outcome_unknown())?
    }

    /// `None` if the book is not in memory; it is not kept there.
    pub async fn glance(&self, tenant: u64, query: M::Query) -> Result<Option<M::View>, Failure> {
        // The caller is not the tenant, whose share may be used up.
        let admission =
            self.admit(tenant, |gate, _| gate.admit_without_record(tenant, Standing::Essential))?;
        let (to, from) = oneshot::channel();
        {
            let Some(handle) = self.shared.books.handles.get(&tenant) else { return Ok(None) };
            handle.send(BookMessage::View { query, to, admission: Some(admission) });
        }
        from.await.map_err(|_| Failure::outcome_unknown())?.map(Some)
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
        let admission = self.permit(tenant)?;
        let engine = self.clone();
        // The advance runs in a task of its own: a caller that goes away must not leave a clock
        // between two instants.
        let advance = self.shared.host.runtime.spawn(async move {
            let _guards = (admission, until_reply);
            let advances = &engine.shared.advances;
            clock_advance::advance(&engine, advances, tenant, advance_ms, command).await
        });
        advance.await.map_err(|_| Failure::outcome_unknown())?
    }
}
