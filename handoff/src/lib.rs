//! Primitives by which one thread hands work to another without losing a wake-up. A wrong memory
//! ordering here would leave a request waiting for ever, and no test that runs it once would
//! notice: built with `--cfg loom` the tests try every interleaving and every stale read that the
//! memory model allows (docs/testing.md). So the crate compiles in seconds, without the log, and
//! must not know what is handed over.

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(loom)]
mod modelled;
#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(not(loom))]
use crossbeam::queue::SegQueue as Queue;
#[cfg(loom)]
use loom::sync::atomic;
#[cfg(loom)]
use modelled::Queue;
#[cfg(not(loom))]
use std::sync::atomic;

use atomic::{AtomicBool, AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// The mailbox of an actor: a burst of messages wakes the consumer once, as a sender wakes it only
/// if no other has since it last began to read.
pub struct Mailbox<T> {
    queue: Queue<T>,
    /// Whether the consumer was woken, and has not begun to read yet.
    is_woken: AtomicBool,
}

impl<T> Mailbox<T> {
    #[expect(clippy::new_without_default, reason = "nobody makes one by a trait")]
    pub fn new() -> Mailbox<T> {
        Mailbox { queue: Queue::new(), is_woken: AtomicBool::new(false) }
    }

    /// True if the caller has to wake the consumer; so too for `request_read`.
    #[must_use = "a consumer that nobody wakes does not read"]
    pub fn push(&self, message: T) -> bool {
        self.queue.push(message);
        // Release, so that a consumer whose `begin` reads this sees the message; as a swap it also
        // passes on the releases of earlier senders.
        !self.is_woken.swap(true, Ordering::Release)
    }

    #[must_use = "a consumer that nobody wakes does not read"]
    pub fn request_read(&self) -> bool {
        !self.is_woken.swap(true, Ordering::Release)
    }

    /// The consumer calls this after it was woken, before it reads until nothing is left.
    pub fn begin(&self) {
        // Acquire, before the queue is read, so that the consumer sees what the sender wrote: a
        // sender that pushes after the last read finds the flag cleared and wakes the consumer
        // again.
        self.is_woken.swap(false, Ordering::Acquire);
    }

    pub fn pop(&self) -> Option<T> {
        self.queue.pop()
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

/// The mailbox of an actor without a task: it runs in the task of the caller that finds it at rest;
/// messages that come meanwhile wait for that task. Callers hold the lock of the map that the
/// mailbox is in, so every step is one for all others.
pub struct TasklessMailbox<Message, State> {
    mailbox: VecDeque<Message>,
    resting: Option<State>,
}

impl<Message, State> TasklessMailbox<Message, State> {
    pub fn running() -> Self {
        TasklessMailbox { mailbox: VecDeque::new(), resting: None }
    }

    /// If the actor rests, the caller gets both, and has to run it.
    pub fn deliver(&mut self, message: Message) -> Option<(State, Message)> {
        match self.resting.take() {
            Some(state) => Some((state, message)),
            None => {
                self.mailbox.push_back(message);
                None
            }
        }
    }

    pub fn take_next(&mut self) -> Option<Message> {
        self.mailbox.pop_front()
    }

    /// Only after `take_next` returned `None`, under the same lock.
    pub fn rest(&mut self, state: State) {
        debug_assert!(self.mailbox.is_empty(), "what has come would wait for ever");
        self.resting = Some(state);
    }
}

/// Keeps acknowledgements in order when two threads give them: the log's writer acknowledges small
/// batches itself and hands large ones to a task. These were handed over and are not finished; a
/// writer that finds none may acknowledge the next itself: all that was done for earlier ones is
/// visible.
#[derive(Default)]
pub struct HandedOver(AtomicUsize);

impl HandedOver {
    /// Called before the batch is handed over, and only by the thread that hands over, as is `is_done`.
    pub fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub fn end(&self) {
        self.0.fetch_sub(1, Ordering::Release);
    }

    pub fn is_done(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }
}

/// A future that is polled only when it was woken, next to one that is polled all the time: a
/// server's stop or a timer has something to say once in ten thousand polls, and each poll of it
/// takes locks.
#[derive(Default)]
pub struct Gated(Option<Arc<Called>>);

struct Called {
    has_something: AtomicBool,
    task: Waker,
}

impl Wake for Called {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // A swap, as in `poll`, puts the two in one order, also for loom. It costs nothing where
        // wake-ups are rare.
        self.has_something.swap(true, Ordering::Release);
        self.task.wake_by_ref();
    }
}

impl Gated {
    /// Polls `future` if it is new here, was woken since the last poll, or the task is another one.
    pub fn poll<F: Future>(&mut self, future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let called = match &mut self.0 {
            Some(called) if called.task.will_wake(cx.waker()) => called,
            other => other
                .insert(Arc::new(Called { has_something: AtomicBool::new(true), task: cx.waker().clone() })),
        };
        if !called.has_something.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        // The flag is cleared before the poll, so that a wake-up during the poll counts.
        called.has_something.swap(false, Ordering::Acquire);
        future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(called))))
    }
}
