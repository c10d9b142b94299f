//! The mailbox of an actor: a queue, and whether its consumer was woken for what is in it.
//!
//! A burst of messages wakes the consumer once: whoever pushes wakes it only if nobody has since it
//! last began to read.

use crate::sync::Queue;
use crate::sync::atomic::{AtomicBool, Ordering};

/// Messages for one consumer.
pub struct Mailbox<T> {
    queue: Queue<T>,
    /// Somebody has woken the consumer, and it has not begun to read yet.
    is_woken: AtomicBool,
}

impl<T> Mailbox<T> {
    /// An empty one, whose consumer sleeps.
    pub fn new() -> Mailbox<T> {
        Mailbox { queue: Queue::new(), is_woken: AtomicBool::new(false) }
    }

    /// Adds a message. True if the caller has to wake the consumer.
    #[must_use = "a consumer that nobody wakes does not read"]
    pub fn push(&self, message: T) -> bool {
        self.queue.push(message);
        self.call()
    }

    /// Has the consumer look again. True if the caller has to wake it.
    #[must_use = "a consumer that nobody wakes does not read"]
    pub fn call(&self) -> bool {
        // Released, so that a consumer whose `begin` finds this sees the message; as a swap it also
        // passes on what those released who came before.
        !self.is_woken.swap(true, Ordering::Release)
    }

    /// The consumer was woken, and is about to read until nothing is left.
    pub fn begin(&self) {
        // Before the queue is read, and with a read of what the pusher wrote: whoever pushes after
        // the last look finds it taken back and wakes the consumer again.
        self.is_woken.swap(false, Ordering::Acquire);
    }

    /// The next message, for the consumer.
    pub fn pop(&self) -> Option<T> {
        self.queue.pop()
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing waits.
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
        assert!(!mailbox.push(2) && !mailbox.call(), "it was woken");
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

    /// What wakes the consumer: it carries nothing.
    enum Bell {
        Ring,
        /// Nobody sends any more.
        Stop,
    }

    fn send(mailbox: &Mailbox<usize>, message: usize, bell: &Sender<Bell>) {
        if mailbox.push(message) {
            // A ring is kept for a consumer that has read everything already, and ended.
            let _ = bell.send(Bell::Ring);
        }
    }

    fn stop(bell: &Sender<Bell>) {
        let _ = bell.send(Bell::Stop);
    }

    /// What a consumer reads until nobody can wake it any more; `after` is done after each look.
    fn read(mailbox: &Mailbox<usize>, bell: &Receiver<Bell>, mut after: impl FnMut()) -> usize {
        let mut sum = 0;
        while let Ok(Bell::Ring) = bell.recv() {
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
            let (bell, rings) = channel();
            let reading = Arc::clone(&mailbox);
            let consumer = thread::spawn(move || read(&reading, &rings, || ()));
            let (sending, sent) = (Arc::clone(&mailbox), bell.clone());
            let other = thread::spawn(move || send(&sending, 1, &sent));
            send(&mailbox, 2, &bell);
            other.join().expect("the other sender");
            stop(&bell);
            assert_eq!(consumer.join().expect("the consumer"), 3);
        });
    }

    #[test]
    fn what_is_sent_again_while_it_reads_is_read() {
        loom::model(|| {
            let mailbox = Arc::new(Mailbox::new());
            let (bell, rings) = channel();
            let reading = Arc::clone(&mailbox);
            let consumer = thread::spawn(move || read(&reading, &rings, || ()));
            for message in [1, 2, 4] {
                send(&mailbox, message, &bell);
            }
            stop(&bell);
            assert_eq!(consumer.join().expect("the consumer"), 7);
        });
    }

    /// A consumer that lets others have their turn, as a book does after 256 messages.
    #[test]
    fn what_is_left_after_a_turn_is_read_in_the_next() {
        loom::model(|| {
            let mailbox = Arc::new(Mailbox::new());
            let (bell, rings) = channel();
            let (reading, again) = (Arc::clone(&mailbox), bell.clone());
            let consumer = thread::spawn(move || {
                let mut sum = 0;
                while sum < 3 {
                    let _ = rings.recv();
                    reading.begin();
                    let Some(message) = reading.pop() else { continue };
                    sum += message;
                    if reading.call() {
                        let _ = again.send(Bell::Ring);
                    }
                }
                rings
            });
            send(&mailbox, 1, &bell);
            send(&mailbox, 2, &bell);
            // One that waits for a ring that nobody gives is a deadlock, which loom finds.
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
            let (bell, rings) = channel();
            let (leaving, first) = (Arc::clone(&map), Arc::clone(&mailbox));
            let consumer = thread::spawn(move || {
                let mut sum = 0;
                while let Ok(Bell::Ring) = rings.recv() {
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
                (sum, rings)
            });
            let mut read_by_next = 0;
            for message in [1, 2] {
                let found = map.lock().expect("the map");
                match &*found {
                    Some(mailbox) => send(mailbox, message, &bell),
                    None => read_by_next += message,
                }
            }
            stop(&bell);
            let (sum, _rings) = consumer.join().expect("the consumer");
            assert_eq!(sum + read_by_next, 3);
        });
    }

    /// The end of the engine: a flag, then a call.
    #[test]
    fn one_that_is_called_after_the_end_was_declared_hears_of_it() {
        loom::model(|| {
            let mailbox = Arc::new(Mailbox::new());
            let is_over = Arc::new(AtomicBool::new(false));
            let heard = Arc::new(AtomicUsize::new(0));
            let (bell, rings) = channel();
            let (reading, over, hears) = (Arc::clone(&mailbox), Arc::clone(&is_over), Arc::clone(&heard));
            let consumer = thread::spawn(move || {
                read(&reading, &rings, || {
                    if over.load(Ordering::Acquire) {
                        hears.store(1, Ordering::Relaxed);
                    }
                })
            });
            let (sending, sent) = (Arc::clone(&mailbox), bell.clone());
            let sender = thread::spawn(move || send(&sending, 1, &sent));
            is_over.store(true, Ordering::Release);
            if mailbox.call() {
                let _ = bell.send(Bell::Ring);
            }
            sender.join().expect("the sender");
            stop(&bell);
            assert_eq!(consumer.join().expect("the consumer"), 1);
            assert_eq!(heard.load(Ordering::Relaxed), 1, "it never looks again");
        });
    }
}
