//! `[requests]`: the log of requests.

use super::keys::Keys;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requests {
    /// On the disk.
    pub bytes_max: u64,
}

impl Requests {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let requests = Requests { bytes_max: keys.integer("bytes_max", 1 << 30, 1 << 20..=1 << 40) };
        keys.done();
        requests
    }
}
