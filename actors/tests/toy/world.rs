//! The outside world of purses, under the test's control.

use crate::toy::{Command, Effect, How, Purses};
use actors::Effects;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// Performs effects and counts them.
pub struct World {
    begun: AtomicU64,
    gate: watch::Sender<bool>,
}

impl World {
    /// A world whose gate is shut.
    pub fn new() -> World {
        World { begun: AtomicU64::new(0), gate: watch::Sender::new(false) }
    }

    /// Lets those that are late answer.
    pub fn open(&self) {
        self.gate.send_replace(true);
    }

    /// The number of effects that were begun.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }
}

impl Effects<Purses> for World {
    fn perform(&self, _tenant: u64, effect: Effect) -> Pin<Box<dyn Future<Output = (u32, Command)> + Send>> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let Effect { id, how, poke } = effect;
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
