//! Who waits for an entity, while its actor does what was asked.

use crate::machine::Machine;
use crate::rider::{Answer, Failure, Held, Outcome, Settled};

/// Who waits: for an answer, with what the request has made durable so far, or only for the end of
/// it.
pub(crate) struct Asker<M: Machine> {
    answer: Option<Answer<M>>,
    durable: Option<Box<Settled<M>>>,
    /// Let go when nothing is left to do for the asker.
    _until_done: Option<Held>,
}

impl<M: Machine> Asker<M> {
    /// Who waits for an answer.
    pub fn answered(answer: Answer<M>) -> Self {
        Asker { answer: Some(answer), durable: None, _until_done: None }
    }

    /// Who waits for the end of it.
    pub fn told(until_done: Held) -> Self {
        Asker { answer: None, durable: None, _until_done: Some(until_done) }
    }

    /// Adds what a further command of the same request came to. One that changed nothing leaves the
    /// answer as it was.
    fn add(&mut self, mut settled: Box<Settled<M>>) {
        if let Some(before) = self.durable.take()
            && settled.record.is_none()
        {
            settled.record = before.record;
            settled.seq = before.seq;
            settled.time_ms = before.time_ms;
            settled.timing = before.timing;
            settled.refusal = settled.refusal.or(before.refusal);
        }
        self.durable = Some(settled);
    }

    /// Nothing is left to do: the answer is what is durable.
    pub fn finish(self) {
        if let (Some(answer), Some(settled)) = (self.answer, self.durable) {
            answer.send(Ok(settled));
        }
    }

    /// A command of the request failed. If something of it is durable already, "nothing happened"
    /// would be a lie: the answer is what is durable, and the entity's deadline looks after the
    /// rest.
    fn fail(self, failure: Failure) {
        let Some(answer) = self.answer else { return };
        match (failure, self.durable) {
            (
                Failure::Defect(_)
                | Failure::Overloaded
                | Failure::ShareFull
                | Failure::TooLarge
                | Failure::Halted,
                Some(settled),
            ) => answer.send(Ok(settled)),
            (failure, _) => answer.send(Err(failure)),
        }
    }
}

/// Answers if there is nothing to perform. Else returns what is, the first last; the asker waits
/// for the first.
pub(crate) fn conclude<M: Machine>(
    outcome: Outcome<M>,
    mut asker: Option<Asker<M>>,
) -> Vec<(M::Effect, Option<Asker<M>>)> {
    let mut settled = match outcome {
        Ok(settled) => settled,
        Err(failure) => {
            if let Some(asker) = asker {
                asker.fail(failure);
            }
            return Vec::new();
        }
    };
    let effects = std::mem::take(&mut settled.effects);
    if let Some(asker) = &mut asker {
        asker.add(settled);
    }
    if effects.is_empty() {
        if let Some(asker) = asker {
            asker.finish();
        }
        return Vec::new();
    }
    if let Some(answer) = asker.as_mut().and_then(|asker| asker.answer.as_mut()) {
        answer.recorded();
    }
    let mut to_do: Vec<_> = effects.into_iter().map(|effect| (effect, asker.take())).collect();
    to_do.reverse();
    to_do
}
