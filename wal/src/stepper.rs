//! Runs the writer without a thread, one batch per call: for simulations, in which nothing may
//! depend on how threads are scheduled.

use crate::log::Completion;
use crate::writer::Writer;
use std::sync::{Arc, Mutex, PoisonError};

type Step = Box<dyn FnMut() -> bool + Send>;

/// Clones run the same writer: that of the log that was last opened with it.
#[derive(Clone)]
pub struct Stepper {
    writer: Arc<Mutex<Option<Step>>>,
    pub(crate) wake: Arc<dyn Fn() + Send + Sync>,
}

impl Stepper {
    /// `wake` is called for every entry by the thread that appends, and must not block.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Stepper {
        Stepper { writer: Arc::default(), wake: Arc::new(wake) }
    }

    /// False when nothing was written: nothing waited, the write failed and all that waited was
    /// refused, or a completion calls it: the step under way takes the rest.
    pub fn step(&self) -> bool {
        match self.writer.try_lock() {
            Ok(mut step) => step.as_mut().is_some_and(|step| step()),
            Err(_) => false,
        }
    }

    /// Writes until nothing waits; whoever comes meanwhile waits here. No completion may call it.
    pub(crate) fn drain(&self) {
        let mut step = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        while step.as_mut().is_some_and(|step| step()) {}
    }

    pub(crate) fn give<C: Completion>(&self, mut writer: Writer<C>) {
        *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(move || writer.step()));
    }
}
