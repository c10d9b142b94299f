//! An engine that works on clones of another one's books and keeps nothing: what is asked of it is decided and
//! applied by the code that decides and applies everything, on a log that is never written. Each book is cloned
//! in its own turn, when the first question about it comes.

use super::Engine;
use crate::book;
use crate::entity;
use crate::host::{Config, Host};
use crate::machine::{Effects, Machine};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::mpsc::unbounded_channel;
use wal::{Log, Seq};

/// The engine ends with it, and its clones with what they are doing.
pub struct Rehearsal<M: Machine>(Engine<M>);

impl<M: Machine> Deref for Rehearsal<M> {
    type Target = Engine<M>;

    fn deref(&self) -> &Engine<M> {
        &self.0
    }
}

impl<M: Machine> Drop for Rehearsal<M> {
    fn drop(&mut self) {
        let host = &self.0.host;
        host.closed.store(true, Ordering::Release);
        host.books.iter().for_each(|handle| handle.wake());
    }
}

impl<M: Machine> Engine<M> {
    /// `effects` must not reach the outside world.
    pub fn rehearse(&self, effects: Arc<dyn Effects<M>>) -> Rehearsal<M> {
        let real = &self.host;
        // What becomes of a rehearsal is nobody's concern: neither its room nor its end.
        let config = Config {
            has_room: Arc::new(|| false),
            on_fatal: Arc::new(|_| {}),
            on_halt: Arc::new(|_| {}),
            // An account that is opened in it is known to nobody else.
            is_elsewhere: None,
            set_aside: real.halts.all().into_iter().map(|halted| (halted.tenant, halted.why)).collect(),
            ..real.config.clone()
        };
        let log = Log::rehearsal(&real.reader, wal::Config::default());
        // Nothing falls due by itself: nobody hears the alarm.
        let ((alarm, _), (sender, follow_ups)) = (unbounded_channel(), unbounded_channel());
        let machine = Arc::clone(&real.machine);
        let real = Some(Arc::clone(real));
        let host = Host::new(machine, effects, log, config, (alarm, sender), book::start, real);
        host.runtime.spawn(entity::follow_ups::run(follow_ups, Arc::downgrade(&host)));
        Rehearsal(Engine { host, clock: self.clock.clone() })
    }

    pub fn is_rehearsal(&self) -> bool {
        self.host.rehearses.is_some()
    }

    /// The last durable record of the engine that keeps what it does.
    pub fn real_seq(&self) -> Seq {
        self.host.rehearses.as_ref().unwrap_or(&self.host).log.durable_seq()
    }
}
