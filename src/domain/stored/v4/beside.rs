//! Version 4 of what is kept beside the log, as the records of a cluster have it.

use crate::platform::beside;
use crate::resources::rates::pins;
use crate::stored::layout::layout;
use crate::stored::v1::rates::Pair;
use crate::stored::v1::values::Id;
use crate::stored::v4::rates::{Pin, Sample};
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
