//! Entries that one machine keeps in stores beside its log, and that in a cluster have to be on
//! every node: the decisions of the simulated bank, samples of rates, pins. There it goes through
//! the log, in records of the platform; no book has it.

use crate::codec::stored;
use crate::resources::rates::pins::{Pin, PinPlace};
use crate::resources::rates::samples::Sample;
use crate::values::ids::Id;
use std::sync::Arc;

stored! {
    /// An entry of a store beside the log.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Beside {
        /// The simulated bank's decision about an order: a kind, and the refusal if it is one.
        0 Fate {
            0 operation: Id,
            1 kind: u8,
            /// The refusal; 0 if there is none.
            2 refusal: u8,
        },
        1 Sample(Arc<Sample>),
        2 Pinned(Arc<Pin>),
        3 Unpinned(PinPlace),
    }
}

impl Beside {
    /// The place of the pin that begins or ends.
    pub fn place(&self) -> Option<PinPlace> {
        match self {
            Beside::Pinned(pin) => Some(pin.place()),
            Beside::Unpinned(place) => Some(place.clone()),
            Beside::Fate { .. } | Beside::Sample(_) => None,
        }
    }
}

pub fn pin_name(place: &PinPlace) -> String {
    let PinPlace { pair, source, side } = place;
    // No source has a zero byte.
    format!("{pair}\0{source}\0{}", side.as_deref().unwrap_or_default())
}
