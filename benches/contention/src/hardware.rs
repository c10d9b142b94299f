//! What it ran on: the machine, and how long its disk takes to sync.

use crate::table::milliseconds;
use crate::{Outcome, machine};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Syncs that are timed, each of a block of 4 KiB.
const SYNCS: usize = 500;

/// A line on the machine and on the syncs of the file system of `dir`, which is made.
pub fn describe(dir: &Path) -> Outcome<String> {
    let fail = |error: std::io::Error| format!("{}: {error}", dir.display());
    std::fs::create_dir_all(dir).map_err(fail)?;
    let path = dir.join("syncs");
    let mut file = File::create(&path).map_err(fail)?;
    let mut us: Vec<u64> = Vec::with_capacity(SYNCS);
    for _ in 0..SYNCS {
        let began = Instant::now();
        file.write_all(&[0x5a; 4_096]).and_then(|()| file.sync_data()).map_err(fail)?;
        us.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    std::fs::remove_file(&path).map_err(fail)?;
    us.sort_unstable();
    let of = |hundredths: usize| milliseconds(us[(SYNCS - 1) * hundredths / 100]);
    Ok(format!(
        "{} · an appended block of 4 KiB with fdatasync: p50 {}, p99 {} ms",
        machine::describe(dir),
        of(50),
        of(99)
    ))
}
