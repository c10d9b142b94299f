//! A book of a tenant that another engine decides takes over the records of that one, by the code that a replay runs:
//! so it can be gone on from here at once. It is settled at the time of each record and no later, or it could be ahead
//! of the next.

use super::Book;
use super::turn::guarded;
use crate::machine::Machine;
use crate::protocol::{Failure, PendingReply, Sender};
use tokio::sync::oneshot;
use wal::Append;

impl<M: Machine> Book<M> {
    pub(super) fn copy(&mut self, records: Vec<(i64, Vec<u8>)>, to: Sender<(M::Book, i64)>) {
        for (time_ms, payload) in records {
            if let Err(failure) = self.copy_one(time_ms, payload) {
                let _ = to.send(Err(failure));
                return;
            }
        }
        let view = Box::new((self.book.clone(), self.earliest_ms()));
        self.host.log.fence(PendingReply::View { to, view, admission: None });
    }

    fn copy_one(&mut self, time_ms: i64, payload: Vec<u8>) -> Result<(), Failure> {
        if let Some(failure) = self.host.failure() {
            return Err(failure);
        }
        // Who asks was late: the tenant has come meanwhile, and what was decided since is not the other engine's.
        if !self.host.is_elsewhere(self.tenant) {
            return Err(Failure::Defect(
                "records of another engine for a book that is decided here".to_owned(),
            ));
        }
        let record =
            self.host.machine.decode(&payload).map_err(|error| Failure::Defect(error.to_string()))?;
        let before = self.host.machine.generation(&self.book);
        let applied = guarded(|| {
            self.host.machine.settle(&mut self.book, time_ms);
            self.apply(&record, time_ms)?;
            Ok(self.index(&record, time_ms))
        });
        let (index, _) = match applied {
            Ok(indexed) => indexed,
            Err(why) => {
                self.halt(&why);
                return Err(Failure::Halted);
            }
        };
        if self.host.machine.generation(&self.book) != before {
            self.host.generations.remove(&self.tenant);
            self.forget_deadlines();
        }
        self.latest_ms = time_ms;
        self.version += 1;
        // The reply to all of them is the fence's.
        let (done, _) = oneshot::channel();
        let append = Append { tenant: self.tenant, time_ms, payload, index };
        self.host.log.append(append, PendingReply::Done(done));
        Ok(())
    }
}
