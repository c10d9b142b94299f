//! The bounds of the log. They are derived from each other: what waits is bounded by `pending_*`,
//! and a batch takes a part of what waits.

/// Bounds of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `has_room` says no from here on: bytes of payloads, states and index entries that were
    /// appended and are not durable yet.
    pub pending_bytes_max: usize,
    /// `has_room` says no from here on: records, fences and snapshots that were appended and are
    /// not answered yet.
    pub pending_records_max: usize,
    /// A batch is written when it is this large. One entry may be larger than that; it is then a
    /// batch with little else in it.
    pub batch_bytes_max: usize,
    /// A batch is written when it has this many entries.
    pub batch_records_max: usize,
    /// Records are stored in chunks of up to this many bytes: about one block of the store, so that
    /// reading one record costs no more than if it were stored alone.
    pub chunk_bytes_max: usize,
    /// A state that is written while others go on is written in pieces of this many bytes, one in a
    /// batch: what each of them adds to the wait of those in its batch and the next.
    pub piece_bytes_max: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            pending_bytes_max: 64 << 20,
            pending_records_max: 65_536,
            // An eighth of what may wait: a large batch costs everybody in it the time of all of
            // it.
            batch_bytes_max: 8 << 20,
            batch_records_max: 8_192,
            chunk_bytes_max: 16 << 10,
            // Twice as much did as well on a calm disk and worse on a busy one; with half of it
            // states took longer and nobody was better off.
            piece_bytes_max: 128 << 10,
        }
    }
}

impl Config {
    /// Panics if the bounds contradict each other: that is a mistake in the program, found at its
    /// start.
    pub(crate) fn check(&self) {
        assert!(self.batch_bytes_max <= self.pending_bytes_max, "batch_bytes_max is above pending_bytes_max");
        assert!(
            self.batch_records_max <= self.pending_records_max,
            "batch_records_max is above pending_records_max"
        );
        assert!(self.chunk_bytes_max <= self.batch_bytes_max, "chunk_bytes_max is above batch_bytes_max");
        assert!(self.piece_bytes_max <= self.batch_bytes_max, "piece_bytes_max is above batch_bytes_max");
        assert!(self.batch_records_max > 0, "a batch holds at least one record");
        assert!(self.piece_bytes_max > 0, "a piece is not empty");
    }
}
