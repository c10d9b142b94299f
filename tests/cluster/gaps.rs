//! How long nobody may be served, by what went wrong: the times of docs/operating.md ("What a takeover takes"), which
//! hold on machines that do nothing else. A crowded one may take three times as long, and a second at least;
//! `GAPS=strict` allows nothing.

use std::time::Duration;

/// Of a dead leader, with all that is ready to take its place.
pub const KILLED: Duration = Duration::from_secs(1);
/// Of a leader that is silent, and whose connections are whole.
pub const SILENT: Duration = Duration::from_millis(FAILOVER_MS + 1_000);
/// As the configuration has it by itself.
pub const FAILOVER_MS: u64 = 1_500;

const CROWDED: u32 = 3;
const CROWDED_MIN: Duration = Duration::from_secs(1);

pub fn is_strict() -> bool {
    std::env::var("GAPS").is_ok_and(|gaps| gaps == "strict")
}

/// The longest time that passes on this machine, of one that is promised.
pub fn most(promised: Duration) -> Duration {
    if is_strict() { promised } else { (promised * CROWDED).max(CROWDED_MIN) }
}
