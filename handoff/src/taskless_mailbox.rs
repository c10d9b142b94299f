//! The mailbox of an actor without a task: it runs in the task of the caller that finds it at rest;
//! messages that come meanwhile wait for that task. Callers hold the lock of the map that the
//! mailbox is in, so every step is one for all others.

use std::collections::VecDeque;

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

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
