//! A future that is polled only when it was woken, beside one that is polled all the time: a
//! server's stop or a timer has something to say once in ten thousand polls, and each poll of it
//! takes locks.

use crate::sync::atomic::{AtomicBool, Ordering};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

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

#[cfg(all(test, not(loom)))]
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
        let mut gated = Gated::default();
        for _ in 0..3 {
            assert!(gated.poll(future.as_mut(), &mut Context::from_waker(&mine)).is_pending());
        }
        assert_eq!(polls.load(Ordering::SeqCst), 1, "it said nothing");
        assert!(gated.poll(future.as_mut(), &mut Context::from_waker(&another)).is_pending());
        assert_eq!(polls.load(Ordering::SeqCst), 2, "whom it knew is not who waits now");
        assert!(gated.poll(future.as_mut(), &mut Context::from_waker(&another)).is_pending());
        to_call.lock().expect("nobody panics with it").take().expect("it was polled").wake();
        assert_eq!((one.0.load(Ordering::SeqCst), other.0.load(Ordering::SeqCst)), (0, 1));
        assert_eq!(gated.poll(future.as_mut(), &mut Context::from_waker(&another)), Poll::Ready(7));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::sync::atomic::AtomicUsize;
    use loom::sync::{Mutex, Notify};
    use loom::thread;
    use std::future::poll_fn;
    use std::pin::pin;

    struct Task(Notify);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.notify();
        }
    }

    /// Relaxed, so that nothing but the gate makes the value visible to the poll.
    struct News {
        value: AtomicUsize,
        waker: Mutex<Option<Waker>>,
    }

    impl News {
        fn new() -> Arc<News> {
            Arc::new(News { value: AtomicUsize::new(0), waker: Mutex::new(None) })
        }

        /// The value is stored under no lock that a poll takes.
        fn say(&self, value: usize) {
            self.value.store(value, Ordering::Relaxed);
            let waker = self.waker.lock().expect("the waker").clone();
            if let Some(waker) = waker {
                waker.wake();
            }
        }

        /// The waker is left at the first poll only.
        fn poll(&self, cx: &mut Context<'_>, least: usize, is_first: bool) -> Poll<usize> {
            if is_first {
                *self.waker.lock().expect("the waker") = Some(cx.waker().clone());
            }
            match self.value.load(Ordering::Relaxed) {
                value if value >= least => Poll::Ready(value),
                _ => Poll::Pending,
            }
        }
    }

    fn waits_for(last: usize, other_polls: usize) {
        loom::model(move || {
            let news = News::new();
            let says = Arc::clone(&news);
            let speaker = thread::spawn(move || (1..=last).for_each(|value| says.say(value)));
            let task = Arc::new(Task(Notify::new()));
            let waker = Waker::from(Arc::clone(&task));
            let mut is_first = true;
            let mut future = pin!(poll_fn(|cx| news.poll(cx, last, std::mem::replace(&mut is_first, false))));
            let mut gated = Gated::default();
            let mut polls = 0;
            let value = loop {
                match gated.poll(future.as_mut(), &mut Context::from_waker(&waker)) {
                    Poll::Ready(value) => break value,
                    Poll::Pending if polls < other_polls => polls += 1,
                    Poll::Pending => task.0.wait(),
                }
            };
            assert_eq!(value, last);
            speaker.join().expect("the speaker");
        });
    }

    #[test]
    fn a_call_is_heard() {
        waits_for(1, 0);
    }

    #[test]
    fn a_call_that_comes_while_it_is_polled_is_heard() {
        waits_for(1, 2);
    }

    #[test]
    fn the_last_of_two_calls_is_heard() {
        waits_for(2, 1);
    }
}
