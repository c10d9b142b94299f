//! Which deadlines are dealt with by their entities, which rest, and when the book wakes for the next.

use super::Book;
use crate::entity;
use crate::machine::Machine;
use crate::protocol::{BookMessage, Due, EntityMessage, Firing, Skip};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Deadlines need no permit, so this is what bounds them. The next comes when one is done, or when
/// the outside world takes longer for it than callers wait.
const FIRING_MAX: usize = 64;

/// The rest of a deadline that came and changed nothing (a defect, no room in the log), and of all of
/// them while the disk has no room.
const REST: Duration = Duration::from_secs(1);

impl<M: Machine> Book<M> {
    fn due(&self) -> Option<(i64, M::EntityId)> {
        self.host.machine.next_due(&self.book, &|id| {
            self.firing.contains(&id) || self.asking.contains(&id) || self.resting.contains(&id)
        })
    }

    /// Gives every deadline that has come to its entity, and sets the alarm for the next. `done`
    /// was dealt with just now; if it is still due, it changed nothing.
    ///
    /// A deadline counts as dealt with when its record is durable, and its effects go on by
    /// themselves. Without a record it is due until its effects have ended: an outside world that is
    /// slow must not be asked the same twice at once.
    pub(super) fn fire(&mut self, done: Option<(i64, M::EntityId)>) {
        if self.advancing || self.host.is_over() {
            return;
        }
        let now_ms = self.now_ms();
        while self.firing.len() < FIRING_MAX && (self.host.config.has_room_for_due)(self.tenant) {
            let Some((at_ms, id)) = self.due().filter(|(at_ms, _)| *at_ms <= now_ms) else { break };
            if done == Some((at_ms, id)) {
                self.rest(id);
                continue;
            }
            let command = self.host.machine.deadline(id);
            let firing = Box::new(self.firing(at_ms, id));
            entity::send(&self.host, self.tenant, id, EntityMessage::Due { command, firing });
        }
        self.arm();
    }

    fn firing(&mut self, at_ms: i64, id: M::EntityId) -> Firing<M> {
        self.firing.insert(id);
        Firing { book: Arc::clone(&self.handle), at_ms, id }
    }

    fn rest(&mut self, id: M::EntityId) {
        tracing::warn!(tenant = self.tenant, ?id, "a deadline changed nothing; it comes again");
        self.resting.insert(id);
        // A book does not leave memory while a deadline rests, so this is its actor still.
        let handle = Arc::clone(&self.handle);
        self.host.runtime.spawn(async move {
            tokio::time::sleep(REST).await;
            handle.send(BookMessage::Rested(id));
        });
    }

    /// Only if the next deadline is earlier than the alarm that is set.
    pub(super) fn arm(&mut self) {
        // While no place is free, the alarm would wake the book in vain; the next deadline that
        // ends frees a place and sets the alarm.
        if self.firing.len() >= FIRING_MAX {
            return;
        }
        let Some((at_ms, _)) = self.due() else { return };
        let mut wall_ms = self.host.machine.wall_ms(&self.book, at_ms);
        if !(self.host.config.has_room_for_due)(self.tenant) {
            wall_ms = wall_ms.max(self.host.config.clock.wall_ms().saturating_add(REST.as_millis() as i64));
        }
        if self.armed_ms.is_none_or(|armed_ms| wall_ms < armed_ms) {
            self.armed_ms = Some(wall_ms);
            self.host.alarm.set(wall_ms, self.tenant);
        }
    }

    pub(super) fn next_due(&mut self, until_ms: i64, dealt_with: &Skip<M>) -> Due<M> {
        if !self.firing.is_empty() {
            return Due::Busy;
        }
        // The machine skips by name; an advance by instant too, so that an entity with a new
        // deadline is seen again. What is asked outside already is not asked again meanwhile.
        let mut skipped: HashSet<M::EntityId> = self.asking.clone();
        loop {
            let found = self.host.machine.next_due(&self.book, &|id| skipped.contains(&id));
            let Some((at_ms, id)) = found.filter(|(at_ms, _)| *at_ms <= until_ms) else { return Due::None };
            if !dealt_with.contains(&(at_ms, id)) {
                return Due::Next(self.firing(at_ms, id));
            }
            skipped.insert(id);
        }
    }
}
