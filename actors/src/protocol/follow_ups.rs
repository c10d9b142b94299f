//! Follow-up effects, from the record that asks for them to the task that has them performed, and
//! the receiver by which a caller waits for them.

use crate::machine::Rules;
use crate::protocol::step::Step;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

pub(crate) type FollowUpSender<R> = mpsc::UnboundedSender<FollowUpMessage<R>>;

pub(crate) enum FollowUpMessage<R: Rules> {
    Perform(FollowUpWork<R>),
    /// The reply comes once everything that was sent before has been begun.
    Flush(oneshot::Sender<()>),
}

/// The record is not durable yet.
pub(crate) struct FollowUps<R: Rules> {
    pub tenant: u64,
    pub step: Option<Step>,
    pub effects: Vec<(R::EntityId, R::Effect)>,
    pub sender: FollowUpSender<R>,
}

pub(crate) struct FollowUpWork<R: Rules> {
    pub tenant: u64,
    pub step: Option<Step>,
    pub effects: Vec<(R::EntityId, R::Effect)>,
    pub until_done: Arc<UntilDone<R>>,
}

pub struct Performed<R: Rules> {
    /// Ends when the last guard is dropped.
    all_done: oneshot::Receiver<()>,
    ended: Arc<Ended<R>>,
}

/// Of entities whose effects have ended.
type Ended<R> = Mutex<Vec<(<R as Rules>::EntityId, Arc<<R as Rules>::Entity>)>>;

pub(crate) struct UntilDone<R: Rules> {
    ended: Arc<Ended<R>>,
    _last_dropped: oneshot::Sender<()>,
}

impl<R: Rules> FollowUps<R> {
    /// Called when the record is durable, possibly by the log's writer.
    pub fn begin(self) -> Performed<R> {
        let FollowUps { tenant, step, effects, sender } = self;
        let (last_dropped, all_done) = oneshot::channel();
        let ended = Arc::default();
        let until_done = Arc::new(UntilDone { ended: Arc::clone(&ended), _last_dropped: last_dropped });
        // The task ends with the runtime; then no actor is left to perform anything.
        let _ = sender.send(FollowUpMessage::Perform(FollowUpWork { tenant, step, effects, until_done }));
        Performed { all_done, ended }
    }
}

impl<R: Rules> UntilDone<R> {
    pub fn note(&self, ended: (R::EntityId, Arc<R::Entity>)) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
    }
}

impl<R: Rules> Performed<R> {
    /// Until all effects have been performed and their results are durable.
    pub async fn wait(&mut self) {
        // The error is the expected end: the last sender was dropped.
        let _ = (&mut self.all_done).await;
    }

    /// Not of all entities: one that was busy with something else is not among them.
    pub fn ended(self) -> Vec<(R::EntityId, Arc<R::Entity>)> {
        std::mem::take(&mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
