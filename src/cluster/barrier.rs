//! Linearizable reads: one confirmation that this node still leads, asked of etcd, serves everybody
//! who waited when it was asked for.

use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wal::cluster::{Leader, Standing};

const PAUSE: Duration = Duration::from_millis(20);

/// Nothing may be answered from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this node could not confirm that it leads")]
pub struct NotConfirmed;

/// This node led at an instant after this was begun. A batch of the log that was agreed on since
/// then shows it too, so whoever writes asks nothing of its own: the question is asked when this is
/// polled, and only if nothing has shown it by then.
pub struct Confirming {
    node: Arc<super::Shared>,
    /// Questions asked of etcd when this was begun.
    since: u64,
    asked: Option<oneshot::Receiver<Result<(), NotConfirmed>>>,
}

impl Confirming {
    /// While this node does not lead, all questions are still to come.
    pub(super) fn begin(node: Arc<super::Shared>) -> Confirming {
        let since = node.leader.get().map_or(0, Leader::asked);
        Confirming { node, since, asked: None }
    }

    /// For a caller that has nothing to write: the question is on its way meanwhile.
    pub fn asked(mut self) -> Confirming {
        self.asked = Some(self.node.barrier.ask());
        self
    }

    fn is_shown(&self) -> bool {
        self.node.leader.get().is_some_and(|leader| leader.is_confirmed_since(self.since))
    }
}

impl Future for Confirming {
    type Output = Result<(), NotConfirmed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.asked.is_none() && self.is_shown() {
            return Poll::Ready(Ok(()));
        }
        let this = &mut *self;
        let asked = this.asked.get_or_insert_with(|| this.node.barrier.ask());
        Pin::new(asked).poll(context).map(|confirmed| confirmed.unwrap_or(Err(NotConfirmed)))
    }
}

type Waiting = oneshot::Sender<Result<(), NotConfirmed>>;

#[derive(Default)]
pub struct Barrier {
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<(Instant, Waiting)>,
    is_closed: bool,
}

impl Barrier {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self) -> oneshot::Receiver<Result<(), NotConfirmed>> {
        let (to, from) = oneshot::channel();
        let mut state = self.lock();
        // The sender of a closed barrier is dropped, which says no.
        if !state.is_closed {
            state.waiting.push((Instant::now(), to));
        }
        drop(state);
        self.came.notify_one();
        from
    }

    /// Until the epoch is lost. Those who have waited since before `patience` ago hear that nobody answers.
    pub fn run(&self, leader: &Leader, patience: Duration) {
        loop {
            let waiting = {
                let mut state = self.lock();
                while state.waiting.is_empty() && !state.is_closed {
                    state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                if state.is_closed {
                    return;
                }
                std::mem::take(&mut state.waiting)
            };
            match leader.confirm() {
                Ok(Standing::Ours) => waiting.into_iter().for_each(|(_, to)| {
                    let _ = to.send(Ok(()));
                }),
                Ok(Standing::Lost) => {
                    self.close();
                    return;
                }
                Err(_) => {
                    let (over, still): (Vec<_>, Vec<_>) =
                        waiting.into_iter().partition(|(since, _)| since.elapsed() >= patience);
                    drop(over);
                    self.lock().waiting.extend(still);
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.waiting.clear();
        drop(state);
        self.came.notify_one();
    }
}
