//! Fuzz targets: whatever reads bytes that others wrote, and what must hold of every input.
//!
//! A target is a function of bytes that panics when a property does not hold. `tests/corpus.rs`
//! runs each over the kept inputs in `corpus/` and over deterministic mutations of them, as an
//! ordinary test; `engine.rs` gives them to libFuzzer (`fuzz/soak`), which is guided by what the
//! code under it does. docs/testing.md says how to add one and what to do with a failure.
//!
//! Only targets and what they need belong here. No production code may depend on this crate.
//!
//! Layout: `targets/` one file per target · [`bytes`] takes an input apart.

pub mod bytes;
mod targets;

pub use targets::TARGETS;

/// A fuzz target.
pub struct Target {
    /// The target's name, which is that of its folder in `corpus/`.
    pub name: &'static str,
    /// The function that panics when a property does not hold for these bytes.
    pub run: fn(&[u8]),
    /// The number of mutations that an ordinary test tries.
    pub cases: u32,
    /// The longest input that makes sense.
    pub bytes_max: usize,
}

/// The target with this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
