//! The bounds of the log, and whether it closes its store. The bounds are derived from each other: what waits is bounded by `pending_*`,
//! and a batch takes a part of what waits.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Payloads, states and index entries that are appended and not durable, from which `has_room` is false.
    pub pending_bytes_max: usize,
    /// Records, fences and snapshots that are appended and not acknowledged, from which `has_room` is false.
    pub pending_records_max: usize,
    /// One entry may be larger; it then has a batch almost to itself.
    pub batch_bytes_max: usize,
    pub batch_records_max: usize,
    /// About one block of the store, so that reading one record costs no more than if it were stored alone.
    pub chunk_bytes_max: usize,
    /// A large state is written in pieces beside other entries, one in a batch: what each adds to
    /// the wait of its batch and of the next.
    pub piece_bytes_max: usize,
    /// False for a store that another log goes on with.
    pub closes_store: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            pending_bytes_max: 64 << 20,
            pending_records_max: 65_536,
            // An eighth of what may be pending: every entry of a large batch waits for the whole of
            // it.
            batch_bytes_max: 8 << 20,
            batch_records_max: 8_192,
            chunk_bytes_max: 16 << 10,
            // Measured: twice the size did as well on a calm disk and worse on a busy one; with
            // half of it states took longer and no wait got shorter.
            piece_bytes_max: 128 << 10,
            closes_store: true,
        }
    }
}

impl Config {
    /// Panics if the bounds contradict each other: a mistake in the program, found at its start.
    pub(crate) fn check(&self) {
        let bounds = [
            (self.batch_bytes_max, self.pending_bytes_max),
            (self.batch_records_max, self.pending_records_max),
            (self.chunk_bytes_max, self.batch_bytes_max),
            (self.piece_bytes_max, self.batch_bytes_max),
            (1, self.batch_records_max),
            (1, self.piece_bytes_max),
        ];
        assert!(
            bounds.iter().all(|(part, whole)| part <= whole),
            "the log's bounds contradict each other: {self:?}"
        );
    }
}
