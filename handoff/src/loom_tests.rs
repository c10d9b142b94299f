//! Every interleaving, and every stale read that the memory model allows.

mod mailbox {
    use crate::*;
    use loom::sync::atomic::AtomicUsize;
    use loom::sync::mpsc::{Receiver, Sender, channel};
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    enum WakeUp {
        Look,
        Stop,
    }

    fn send(mailbox: &Mailbox<usize>, message: usize, waker: &Sender<WakeUp>) {
        if mailbox.push(message) {
            // A wake-up is kept for a consumer that has read everything already, and ended.
            let _ = waker.send(WakeUp::Look);
        }
    }

    fn stop(waker: &Sender<WakeUp>) {
        let _ = waker.send(WakeUp::Stop);
    }

    fn read(mailbox: &Mailbox<usize>, waker: &Receiver<WakeUp>, mut after: impl FnMut()) -> usize {
        let mut sum = 0;
        while let Ok(WakeUp::Look) = waker.recv() {
            mailbox.begin();
            while let Some(message) = mailbox.pop() {
                sum += message;
            }
            after();
        }
        sum
    }

    #[test]
    fn what_two_send_at_once_is_read() {
        loom::model(|| {
            let mailbox = Arc::new(Mailbox::new());
            let (waker, wake_ups) = channel();
            let reading = Arc::clone(&mailbox);
            let consumer = thread::spawn(move || read(&reading, &wake_ups, || ()));
            let (sending, sent) = (Arc::clone(&mailbox), waker.clone());
            let other = thread::spawn(move || send(&sending, 1, &sent));
            send(&mailbox, 2, &waker);
            other.join().expect("the other sender");
            stop(&waker);
            assert_eq!(consumer.join().expect("the consumer"), 3);
        });
    }

    #[test]
    fn what_is_sent_again_while_it_reads_is_read() {
        loom::model(|| {
            let mailbox = Arc::new(Mailbox::new());
            let (waker, wake_ups) = channel();
            let reading = Arc::clone(&mailbox);
            let consumer = thread::spawn(move || read(&reading, &wake_ups, || ()));
            for message in [1, 2, 4] {
                send(&mailbox, message, &waker);
            }
            stop(&waker);
            assert_eq!(consumer.join().expect("the consumer"), 7);
        });
    }

    /// A consumer that lets others have their turn, as a book does after 256 messages.
    #[test]
    fn what_is_left_after_a_turn_is_read_in_the_next() {
        loom::model(|| {
            let mailbox = Arc::new(Mailbox::new());
            let (waker, wake_ups) = channel();
            let (reading, again) = (Arc::clone(&mailbox), waker.clone());
            let consumer = thread::spawn(move || {
                let mut sum = 0;
                while sum < 3 {
                    let _ = wake_ups.recv();
                    reading.begin();
                    let Some(message) = reading.pop() else { continue };
                    sum += message;
                    if reading.request_read() {
                        let _ = again.send(WakeUp::Look);
                    }
                }
                wake_ups
            });
            send(&mailbox, 1, &waker);
            send(&mailbox, 2, &waker);
            // A consumer that waits for a wake-up that never comes is a deadlock, which loom finds.
            drop(consumer.join().expect("the consumer"));
        });
    }

    /// A consumer that leaves the map of mailboxes when nothing waits: under the lock of the map,
    /// in which senders find it.
    #[test]
    fn what_is_sent_to_one_that_leaves_is_read_by_it_or_by_its_successor() {
        loom::model(|| {
            let mailbox = Arc::new(Mailbox::new());
            let map = Arc::new(Mutex::new(Some(Arc::clone(&mailbox))));
            let (waker, wake_ups) = channel();
            let (leaving, first) = (Arc::clone(&map), Arc::clone(&mailbox));
            let consumer = thread::spawn(move || {
                let mut sum = 0;
                while let Ok(WakeUp::Look) = wake_ups.recv() {
                    first.begin();
                    while let Some(message) = first.pop() {
                        sum += message;
                    }
                    let mut found = leaving.lock().expect("the map");
                    if first.is_empty() {
                        *found = None;
                        break;
                    }
                }
                (sum, wake_ups)
            });
            let mut read_by_next = 0;
            for message in [1, 2] {
                let found = map.lock().expect("the map");
                match &*found {
                    Some(mailbox) => send(mailbox, message, &waker),
                    None => read_by_next += message,
                }
            }
            stop(&waker);
            let (sum, _rings) = consumer.join().expect("the consumer");
            assert_eq!(sum + read_by_next, 3);
        });
    }

    #[test]
    fn one_that_is_called_after_the_end_was_declared_hears_of_it() {
        loom::model(|| {
            let mailbox = Arc::new(Mailbox::new());
            let is_over = Arc::new(AtomicBool::new(false));
            let heard = Arc::new(AtomicUsize::new(0));
            let (waker, wake_ups) = channel();
            let (reading, over, hears) = (Arc::clone(&mailbox), Arc::clone(&is_over), Arc::clone(&heard));
            let consumer = thread::spawn(move || {
                read(&reading, &wake_ups, || {
                    if over.load(Ordering::Acquire) {
                        hears.store(1, Ordering::Relaxed);
                    }
                })
            });
            let (sending, sent) = (Arc::clone(&mailbox), waker.clone());
            let sender = thread::spawn(move || send(&sending, 1, &sent));
            is_over.store(true, Ordering::Release);
            if mailbox.request_read() {
                let _ = waker.send(WakeUp::Look);
            }
            sender.join().expect("the sender");
            stop(&waker);
            assert_eq!(consumer.join().expect("the consumer"), 1);
            assert_eq!(heard.load(Ordering::Relaxed), 1, "it never looks again");
        });
    }
}

mod taskless_mailbox {
    use crate::atomic::{AtomicBool, AtomicUsize, Ordering};
    use crate::*;
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    struct Map {
        mailbox: Mutex<Option<TasklessMailbox<usize, usize>>>,
        is_running: AtomicBool,
        sum: AtomicUsize,
        rests: bool,
    }

    fn speak(map: &Map, message: usize) {
        let taken = {
            let mut found = map.mailbox.lock().expect("the map");
            match &mut *found {
                Some(mailbox) => mailbox.deliver(message),
                None => {
                    *found = Some(TasklessMailbox::running());
                    Some((0, message))
                }
            }
        };
        let Some((mut state, message)) = taken else { return };
        let mut next = Some(message);
        while let Some(message) = next {
            assert!(!map.is_running.swap(true, Ordering::Relaxed), "two run one actor");
            state += message;
            // Relaxed: what the one before did must be seen because of the lock.
            map.sum.store(map.sum.load(Ordering::Relaxed) + message, Ordering::Relaxed);
            map.is_running.store(false, Ordering::Relaxed);
            let mut found = map.mailbox.lock().expect("the map");
            let mailbox = found.as_mut().expect("who runs it takes it away");
            next = mailbox.take_next();
            if next.is_none() {
                if map.rests {
                    mailbox.rest(state);
                } else {
                    *found = None;
                }
                return;
            }
        }
    }

    fn spoken_to_by_three(rests: bool) {
        // The lock makes every step one, so few preemptions show every order of them.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let map = Arc::new(Map {
                mailbox: Mutex::new(None),
                is_running: AtomicBool::new(false),
                sum: AtomicUsize::new(0),
                rests,
            });
            let others: Vec<_> = [1, 2]
                .map(|message| {
                    let map = Arc::clone(&map);
                    thread::spawn(move || speak(&map, message))
                })
                .into();
            speak(&map, 4);
            others.into_iter().for_each(|other| other.join().expect("who spoke"));
            assert_eq!(map.sum.load(Ordering::Relaxed), 7, "each message is dealt with once");
            let mut found = map.mailbox.lock().expect("the map");
            let resting = found.as_mut().and_then(|mailbox| mailbox.deliver(8));
            assert_eq!(resting, rests.then_some((7, 8)), "nobody runs it any more");
        });
    }

    #[test]
    fn an_actor_that_leaves_deals_with_every_message_once() {
        spoken_to_by_three(false);
    }

    #[test]
    fn an_actor_that_rests_deals_with_every_message_once() {
        spoken_to_by_three(true);
    }
}

mod handed_over {
    use crate::*;
    use loom::sync::Arc;
    use loom::sync::mpsc::channel;
    use loom::thread;

    /// Relaxed: an order that nobody promised shows as a stale number.
    fn acknowledge(last: &AtomicUsize, batch: usize) {
        assert_eq!(last.load(Ordering::Relaxed) + 1, batch, "out of order");
        last.store(batch, Ordering::Relaxed);
    }

    fn write(batches: &'static [(usize, bool)]) {
        loom::model(move || {
            let handed = Arc::new(HandedOver::default());
            let last = Arc::new(AtomicUsize::new(0));
            let (give, given) = channel();
            let (task_handed, task_last) = (Arc::clone(&handed), Arc::clone(&last));
            let task = thread::spawn(move || {
                while let Ok(Some(batch)) = given.recv() {
                    acknowledge(&task_last, batch);
                    task_handed.end();
                }
            });
            for (batch, is_large) in batches {
                if *is_large || !handed.is_done() {
                    handed.begin();
                    give.send(Some(*batch)).expect("the task lives");
                } else {
                    acknowledge(&last, *batch);
                }
            }
            give.send(None).expect("the task lives");
            task.join().expect("the task");
            assert!(handed.is_done());
            assert_eq!(last.load(Ordering::Relaxed), batches.len());
        });
    }

    #[test]
    fn a_small_batch_does_not_overtake_a_large_one() {
        write(&[(1, true), (2, false), (3, false)]);
    }

    #[test]
    fn a_large_batch_behind_small_ones_comes_after_them() {
        write(&[(1, false), (2, true), (3, false), (4, true)]);
    }
}

mod gated {
    use crate::atomic::AtomicUsize;
    use crate::*;
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
