//! What is kept beside the log, as the records of a cluster have it.

use crate::platform::beside;
use crate::resources::rates::pins;
use crate::stored::layout::layout;
use crate::stored::rates::Pair;
use crate::stored::rates::Pin;
use crate::stored::rates::Sample;
use crate::stored::values::Id;
use std::sync::Arc;

layout! {
    struct Place of pins::PinPlace {
        pair: Pair,
        source: Arc<str>,
        side: Option<Arc<str>>,
    }
}

layout! {
    enum Beside of beside::Beside {
        0 Fate { operation: Id, kind: u8, refusal: u8 },
        1 Sample(it: Arc<Sample>),
        2 Pinned(it: Arc<Pin>),
        3 Unpinned(it: Place),
    }
}
