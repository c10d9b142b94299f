//! Commands that came together become one record where they can, with one place in the log, one
//! frame and one acknowledgement. Each is decided on the book as the one before it left it, and
//! checked by itself, as if it had come alone; a record that cannot join the others is written by
//! itself, in its place.

use super::turn::{Breach, Made, encoded};
use super::{Book, BookContext};
use crate::machine::{Machine, Turn};
use crate::protocol::book::Ask;
use crate::protocol::pending_reply::{PendingReply, Reply};
use crate::protocol::reply::Failure;
use std::sync::Arc;
use std::time::Instant;
use wal::Append;

/// Applied, and not with the log yet.
struct Together<M: Machine> {
    record: M::Record,
    turn: Turn,
    replies: Vec<Reply<M>>,
}

impl<M: Machine, C: BookContext<M>> Book<M, C> {
    pub(super) fn turns(&mut self, asks: Vec<Box<Ask<M>>>) {
        let began = Instant::now();
        let mut together: Option<Together<M>> = None;
        for ask in asks {
            // A breach halts the book in between.
            let taken = if self.halted { Err(Failure::Halted) } else { self.takes(&ask) };
            if let Err(failure) = taken {
                ask.reply_to.send(Err(failure));
                continue;
            }
            let turn = match &together {
                // The instant is common; ids are derived from bits of their own.
                Some(together) => Turn { seed: self.host().seed(), ..together.turn },
                None => self.begin_turn(ask.step.as_ref()),
            };
            let Some(mut made) = self.decide(*ask, turn, began) else { continue };
            match self.joining(&mut made) {
                Some(record) => self.join(&mut together, made, record, turn),
                None => {
                    self.append_together(together.take(), began);
                    self.carry_out(made, turn, began);
                }
            }
        }
        self.append_together(together, began);
    }

    /// `None` if anything else comes of the decision, or the record may not join others.
    fn joining(&self, made: &mut Made<M>) -> Option<M::Record> {
        let stands_alone = made.settled.refusal.is_some()
            || !made.settled.effects.is_empty()
            || made.follow_ups.is_some()
            || !made.record.as_ref().is_some_and(|record| self.host().machine.may_join(record));
        if stands_alone {
            return None;
        }
        match Arc::try_unwrap(made.record.take()?) {
            Ok(record) => Some(record),
            Err(shared) => {
                made.record = Some(shared);
                None
            }
        }
    }

    fn join(&mut self, together: &mut Option<Together<M>>, made: Made<M>, record: M::Record, turn: Turn) {
        let Made { reply_to, id, mut settled, .. } = made;
        let context = self.context.clone();
        let host = context.host();
        if let Some(id) = id {
            settled.entity = host.machine.entity_in(&record, id).or(settled.entity);
        }
        if let Err(Breach(why)) = self.apply(host, &record, turn.now_ms) {
            // Decisions before it are in the book that is in doubt, and not in the log.
            let failure = self.broken(&why);
            let before = together.take().into_iter().flat_map(|together| together.replies);
            fail(before.chain([(reply_to, settled)]), &failure);
            return;
        }
        match together {
            Some(together) => {
                host.machine.join(&mut together.record, record);
                together.replies.push((reply_to, settled));
            }
            None => *together = Some(Together { record, turn, replies: vec![(reply_to, settled)] }),
        }
    }

    fn append_together(&mut self, together: Option<Together<M>>, began: Instant) {
        let Some(Together { record, turn, mut replies }) = together else { return };
        let record = Arc::new(record);
        let payload = encoded(self.host(), self.tenant, None, &record)
            .map_err(|_| Breach("a record of several commands cannot be written".to_owned()));
        let indexed = payload.and_then(|payload| Ok((payload, self.index(&record, turn.now_ms)?)));
        let (payload, (index, listener)) = match indexed {
            Ok(indexed) => indexed,
            Err(Breach(why)) => {
                let failure = self.broken(&why);
                return fail(replies, &failure);
            }
        };
        let apply = began.elapsed();
        for (_, settled) in &mut replies {
            settled.timing.apply = apply;
            settled.record = Some(Arc::clone(&record));
        }
        let append = Append { tenant: self.tenant, time_ms: turn.now_ms, payload, index };
        self.append(append, PendingReply::Commands { replies, listener });
    }
}

fn fail<M: Machine>(replies: impl IntoIterator<Item = Reply<M>>, failure: &Failure) {
    for (reply_to, _) in replies {
        reply_to.send(Err(failure.clone()));
    }
}
