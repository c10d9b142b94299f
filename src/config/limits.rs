//! `[limits]`: what a key, a tenant, or a client without a key may ask for.

use super::keys::Keys;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// In the long run; 0 = no limit.
    pub requests_per_second: u32,
    /// At once; 0 = as many as in a second.
    pub burst: u32,
    /// Checkout sessions and payment links that a client asks for and that are not there; 0 = no limit.
    pub misses_per_minute: u32,
    /// At once.
    pub misses_burst: u32,
    /// Of its own places and the free ones together, for a tenant in a mode.
    pub share_percent: usize,
    /// Of all places; test mode never takes them.
    pub live_reserve_percent: usize,
    /// Of a tenant in live mode at once, while others ask too.
    pub live_slots: usize,
    /// The same in test mode.
    pub test_slots: usize,
    /// For a slot, of a tenant in a mode.
    pub waiting_max: usize,
    pub long_reads_max: usize,
    /// Waiting and at work, of one tenant in a mode.
    pub long_reads_per_tenant_max: usize,
}

impl Limits {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let limits = Limits {
            requests_per_second: keys.integer("requests_per_second", 0, 0..=1_000_000),
            burst: keys.integer("burst", 0, 0..=1_000_000),
            misses_per_minute: keys.integer("misses_per_minute", 60, 0..=1_000_000),
            misses_burst: keys.integer("misses_burst", 60, 1..=1_000_000),
            share_percent: keys.integer("share_percent", 75, 1..=100),
            live_reserve_percent: keys.integer("live_reserve_percent", 25, 0..=90),
            live_slots: keys.integer("live_slots", 32, 1..=1_048_576),
            test_slots: keys.integer("test_slots", 4, 1..=1_048_576),
            waiting_max: keys.integer("waiting_max", 2_048, 1..=1_048_576),
            long_reads_max: keys.integer("long_reads_max", 64, 1..=65_536),
            long_reads_per_tenant_max: keys.integer("long_reads_per_tenant_max", 4, 1..=65_536),
        };
        keys.done();
        limits
    }
}
