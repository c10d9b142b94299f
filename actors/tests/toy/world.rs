//! The outside world of purses, under the test's control.

use crate::toy::{Command, Effect, How, Purses};
use actors::Effects;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::watch;

/// Performs effects and counts them.
pub struct World {
    /// The transfer of each effect that was begun.
    begun: Mutex<Vec<u32>>,
    gate: watch::Sender<bool>,
}

impl World {
    /// A world whose gate is shut.
    pub fn new() -> World {
        World { begun: Mutex::default(), gate: watch::Sender::new(false) }
    }

    /// Lets those that are late answer.
    pub fn open(&self) {
        self.gate.send_replace(true);
    }

    /// The number of effects that were begun.
    pub fn begun(&self) -> u64 {
        self.begun.lock().expect("nobody panics with it").len() as u64
    }

    /// The number of them that were of one transfer.
    pub fn begun_for(&self, id: u32) -> usize {
        self.begun.lock().expect("nobody panics with it").iter().filter(|other| **other == id).count()
    }
}

impl Effects<Purses> for World {
    fn perform(&self, _tenant: u64, effect: Effect) -> Pin<Box<dyn Future<Output = (u32, Command)> + Send>> {
        let Effect { id, how, poke } = effect;
        self.begun.lock().expect("nobody panics with it").push(id);
        assert!(how != How::Panics, "a defect, on purpose");
        let mut gate = self.gate.subscribe();
        Box::pin(async move {
            let good = match how {
                How::AtOnce(good) => good,
                How::Late(good) => {
                    let _ = gate.wait_for(|open| *open).await;
                    good
                }
                How::Slow => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    true
                }
                How::Never => std::future::pending().await,
                How::Explodes => return (id, Command::PanicInDecide),
                How::Breaks => return (id, Command::PokedBadly),
                How::Panics | How::PanicsLate => {
                    tokio::task::yield_now().await;
                    panic!("a defect, on purpose")
                }
            };
            (id, if poke { Command::Poked } else { Command::Heard(good) })
        })
    }
}
