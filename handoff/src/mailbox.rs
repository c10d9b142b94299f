//! The mailbox of an actor: a burst of messages wakes the consumer once, as a sender wakes it only
//! if no other has since it last began to read.

use crate::sync::Queue;
use crate::sync::atomic::{AtomicBool, Ordering};

pub struct Mailbox<T> {
    queue: Queue<T>,
    /// Whether the consumer was woken, and has not begun to read yet.
    is_woken: AtomicBool,
}

impl<T> Mailbox<T> {
    pub fn new() -> Mailbox<T> {
        Mailbox { queue: Queue::new(), is_woken: AtomicBool::new(false) }
    }

    /// True if the caller has to wake the consumer; so too for `request_read`.
    #[must_use = "a consumer that nobody wakes does not read"]
    pub fn push(&self, message: T) -> bool {
        self.queue.push(message);
        self.request_read()
    }

    #[must_use = "a consumer that nobody wakes does not read"]
    pub fn request_read(&self) -> bool {
        // Release, so that a consumer whose `begin` reads this sees the message; as a swap it also
        // passes on the releases of earlier senders.
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

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Mailbox::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_burst_wakes_the_consumer_once() {
        let mailbox = Mailbox::new();
        assert!(mailbox.push(1), "it sleeps");
        assert!(!mailbox.push(2) && !mailbox.request_read(), "it was woken");
        mailbox.begin();
        assert_eq!((mailbox.pop(), mailbox.len()), (Some(1), 1));
        assert!(mailbox.push(3), "it reads, and may have had its last look");
        assert_eq!((mailbox.pop(), mailbox.pop(), mailbox.pop()), (Some(2), Some(3), None));
        assert!(mailbox.is_empty());
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
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
