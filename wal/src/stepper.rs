//! Runs the writer without a thread, one batch per call: for simulations, in which nothing may
//! depend on how threads are scheduled.

use crate::log::Completion;
use crate::poison::Poisoned;
use crate::writer::Writer;
use std::sync::{Arc, Mutex, PoisonError};

/// Clones run the same writer: that of the log that was last opened with it.
#[derive(Clone)]
pub struct Stepper {
    shared: Arc<Shared>,
}

struct Shared {
    writer: Mutex<Option<Box<dyn Steps>>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

trait Steps: Send {
    fn step(&mut self) -> bool;
}

impl Stepper {
    /// `wake` is called for every entry by the thread that appends, and must not block.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Stepper {
        Stepper { shared: Arc::new(Shared { writer: Mutex::new(None), wake: Box::new(wake) }) }
    }

    /// False when nothing was written: nothing waited, the write failed and all that waited was
    /// refused, or a completion calls it: the step under way takes the rest.
    pub fn step(&self) -> bool {
        match self.shared.writer.try_lock() {
            Ok(mut writer) => writer.as_mut().is_some_and(|writer| writer.step()),
            Err(_) => false,
        }
    }

    pub(crate) fn give<C: Completion>(&self, writer: Writer<C>) {
        let stepped: Box<dyn Steps> = Box::new(Stepped { writer, poisoned: None });
        *self.shared.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(stepped);
    }

    pub(crate) fn wake(&self) {
        (self.shared.wake)();
    }

    pub(crate) fn finish(&self) {
        while self.step() {}
    }
}

struct Stepped<C: Completion> {
    writer: Writer<C>,
    poisoned: Option<Poisoned>,
}

impl<C: Completion> Steps for Stepped<C> {
    fn step(&mut self) -> bool {
        if let Some(poisoned) = &self.poisoned {
            self.writer.refuse_waiting(poisoned);
            return false;
        }
        match self.writer.write_next(Writer::try_next) {
            Ok(written) => written,
            Err(ended) => {
                let poisoned = Poisoned::ended(&ended);
                self.writer.begin_to_refuse(&poisoned);
                self.poisoned = Some(poisoned);
                false
            }
        }
    }
}
