//! What this partition has of tenants that come to it, as far as its leader has compared it with what the source has.

use dashmap::DashMap;
use domain::platform::copies::BookCopy;
use domain::record::Record;
use domain::values::ids::Id;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::Mutex;

#[derive(Default)]
pub struct Moves {
    /// To this partition, by the tenant's number.
    pub(super) copies: DashMap<u32, Arc<Mutex<Option<Intake>>>>,
}

/// What this partition has of a tenant that comes.
pub struct Intake {
    pub(super) from: u8,
    /// How often the tenant had moved then. It may have been here since, and its books longer than this knows.
    pub(super) moves: u32,
    /// Up to which the source's log was looked at.
    pub(super) after: u64,
    pub(super) books: [BookCopy; 2],
    /// The version and the partition of the newest settings in each book.
    pub(super) settings: [(u64, Option<u8>); 2],
    /// Orders that were sent to a bank: what the simulated one decided about them comes along.
    pub(super) operations: HashSet<Id>,
}

impl Intake {
    pub(super) fn learn(&mut self, book: usize, record: &Record) {
        if let Some(settings) = &record.tenant_settings {
            self.settings[book] = (settings.version, settings.moving_to);
        }
        let open = record.entities.iter().flat_map(|written| written.state.rules().unanswered());
        self.operations.extend(open.map(|operation| operation.id));
    }
}
