//! A book of a tenant that another engine decides takes over the records of that one, by the code that a replay runs: so
//! it can be gone on from here at once. It is settled at the time of each record and no later, or it could be ahead of
//! the next.

use super::Book;
use super::turn::guarded;
use crate::machine::Machine;
use crate::protocol::{Failure, PendingReply, Sender};
use tokio::sync::oneshot;
use wal::{Append, Seq};

impl<M: Machine> Book<M> {
    pub(super) fn copy(&mut self, records: Vec<(i64, Vec<u8>)>, to: Sender<Seq>) {
        for (time_ms, payload) in records {
            if let Some(failure) = self.host.failure() {
                return drop(to.send(Err(failure)));
            }
            let decoded = self.host.machine.decode(&payload);
            let record = match decoded {
                Ok(record) => record,
                Err(error) => return drop(to.send(Err(Failure::Defect(error.to_string())))),
            };
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
                    return drop(to.send(Err(Failure::Halted)));
                }
            };
            // Also of a life of the tenant here before.
            for (id, _) in self.host.machine.entities_in(&record) {
                self.host.entity_cache.remove(&(self.tenant, id));
            }
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
        }
        self.host.log.fence(PendingReply::Done(to));
    }
}
