//! Polls what seldom has something to say only when it has, beside what is polled all the time.
//!
//! A connection is polled two or three times for a request. That the server stops, or that it is
//! time to look at its watch, it hears once in ten thousand requests; to ask both each time takes
//! locks.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// A future that has a waker of its own, by which it is known whether it has something to say.
#[derive(Default)]
pub(super) struct Seldom(Option<Arc<Called>>);

struct Called {
    has_something: AtomicBool,
    task: Waker,
}

impl Wake for Called {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_something.store(true, Ordering::Release);
        self.task.wake_by_ref();
    }
}

impl Seldom {
    /// Polls `future` if it is new here, has called since the last time, or the task is another
    /// one.
    pub(super) fn poll<F: Future>(&mut self, future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let called = match &mut self.0 {
            Some(called) if called.task.will_wake(cx.waker()) => called,
            other => other
                .insert(Arc::new(Called { has_something: AtomicBool::new(true), task: cx.waker().clone() })),
        };
        if !called.has_something.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        // Before it is polled: what it calls meanwhile counts.
        called.has_something.swap(false, Ordering::Acquire);
        future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(called))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn it_is_polled_at_first_when_it_called_and_for_another_task() {
        let polls = AtomicUsize::new(0);
        let to_call = Mutex::new(None);
        let mut future = pin!(poll_fn(|cx| {
            *to_call.lock().expect("nobody panics with it") = Some(cx.waker().clone());
            if polls.fetch_add(1, Ordering::SeqCst) == 2 { Poll::Ready(7) } else { Poll::Pending }
        }));
        let (one, other) = (Arc::new(Woken(AtomicUsize::new(0))), Arc::new(Woken(AtomicUsize::new(0))));
        let (mine, another) = (Waker::from(Arc::clone(&one)), Waker::from(Arc::clone(&other)));
        let mut seldom = Seldom::default();
        for _ in 0..3 {
            assert!(seldom.poll(future.as_mut(), &mut Context::from_waker(&mine)).is_pending());
        }
        assert_eq!(polls.load(Ordering::SeqCst), 1, "it said nothing");
        assert!(seldom.poll(future.as_mut(), &mut Context::from_waker(&another)).is_pending());
        assert_eq!(polls.load(Ordering::SeqCst), 2, "whom it knew is not who waits now");
        assert!(seldom.poll(future.as_mut(), &mut Context::from_waker(&another)).is_pending());
        to_call.lock().expect("nobody panics with it").take().expect("it was polled").wake();
        assert_eq!((one.0.load(Ordering::SeqCst), other.0.load(Ordering::SeqCst)), (0, 1));
        assert_eq!(seldom.poll(future.as_mut(), &mut Context::from_waker(&another)), Poll::Ready(7));
    }
}
