//! What streams (`src/server/stream.rs`) have in common: how many a key has open, that they end when the server stops,
//! and how far each of their lines has come.

use api::streams::STREAMS_PER_KEY_MAX;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use domain::values::ids::Id;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use tokio::sync::{Notify, watch};

pub struct Streams {
    /// By key; one without any has no entry.
    open: DashMap<Id, usize>,
    stopping: watch::Sender<bool>,
}

impl Default for Streams {
    fn default() -> Self {
        Streams { open: DashMap::default(), stopping: watch::Sender::new(false) }
    }
}

/// A stream's place among those of its key, until it is dropped.
pub struct Place {
    streams: Arc<Streams>,
    key: Id,
}

impl Streams {
    /// `None` where the key has as many as it may.
    pub fn begin(self: &Arc<Self>, key: Id) -> Option<Place> {
        let mut open = self.open.entry(key).or_insert(0);
        if *open >= STREAMS_PER_KEY_MAX {
            return None;
        }
        *open += 1;
        Some(Place { streams: Arc::clone(self), key })
    }

    /// Has all streams end: what they have read is answered, and no more is read.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Entry::Occupied(mut open) = self.streams.open.entry(self.key) {
            *open.get_mut() -= 1;
            if *open.get() == 0 {
                open.remove();
            }
        }
    }
}

const BEGUN: u8 = 0;
const HANDED_OVER: u8 = 1;
const RECORDED: u8 = 2;

/// How far the lines of a stream have come, all together.
#[derive(Default)]
pub struct Progress {
    /// Lines whose first record, or answer, is not durable yet.
    unrecorded: AtomicUsize,
    /// A line has come further, or its answer was taken.
    pub changed: Notify,
}

impl Progress {
    pub fn all_recorded(&self) -> bool {
        self.unrecorded.load(Ordering::Acquire) == 0
    }
}

/// A line of a stream on its way through the steps of every request. The next line may begin when this one's command
/// stands in the mailbox of its book: what is decided later is decided after it. The mark travels beside the head of the
/// request, as [`OnBehalf`](crate::http::listen::OnBehalf) does.
#[derive(Clone)]
pub struct Turn(Arc<(AtomicU8, Arc<Progress>)>);

impl Turn {
    pub fn begin(progress: &Arc<Progress>) -> Turn {
        progress.unrecorded.fetch_add(1, Ordering::AcqRel);
        Turn(Arc::new((AtomicU8::new(BEGUN), Arc::clone(progress))))
    }

    pub fn is_handed_over(&self) -> bool {
        self.0.0.load(Ordering::Acquire) >= HANDED_OVER
    }

    pub fn hand_over(&self) {
        let (state, progress) = &*self.0;
        if state.fetch_max(HANDED_OVER, Ordering::AcqRel) == BEGUN {
            progress.changed.notify_one();
        }
    }

    /// The line's first record, or its answer where it has none, is durable: what is read from now on is after it.
    pub fn recorded(&self) {
        let (state, progress) = &*self.0;
        if state.swap(RECORDED, Ordering::AcqRel) != RECORDED {
            progress.unrecorded.fetch_sub(1, Ordering::AcqRel);
            progress.changed.notify_one();
        }
    }
}

/// Tells that a line is recorded when it is dropped.
pub struct UntilRecord(pub Turn);

impl Drop for UntilRecord {
    fn drop(&mut self) {
        self.0.recorded();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_so_many_streams_and_no_more() {
        let streams = Arc::new(Streams::default());
        let (key, other) = (Id::from_bytes([1; 16]), Id::from_bytes([2; 16]));
        let mut places: Vec<Place> = (0..STREAMS_PER_KEY_MAX).filter_map(|_| streams.begin(key)).collect();
        assert!(places.len() == STREAMS_PER_KEY_MAX && streams.begin(key).is_none());
        let _beside = streams.begin(other).expect("another key");
        places.pop();
        assert!(streams.begin(key).is_some_and(|_| streams.open.len() == 2));
        drop(places);
        assert_eq!(streams.open.len(), 1);
    }

    #[test]
    fn a_line_is_recorded_once() {
        let progress = Arc::default();
        let (one, other) = (Turn::begin(&progress), Turn::begin(&progress));
        one.hand_over();
        assert!(one.is_handed_over() && !other.is_handed_over() && !progress.all_recorded());
        drop(UntilRecord(one.clone()));
        one.recorded();
        one.hand_over();
        assert!(!progress.all_recorded());
        other.recorded();
        assert!(other.is_handed_over() && progress.all_recorded());
    }
}
