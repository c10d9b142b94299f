//! The program that libFuzzer drives: it runs the target that `FUZZ_TARGET` names. Only `fuzz/soak`
//! builds it, with the coverage that guides the engine.

#![no_main]
// libFuzzer finds its function by name, which is what counts as unsafe here.
#![allow(unsafe_code)]

use std::sync::LazyLock;

static RUN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let known = || fuzz::TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    match fuzz::target(&name) {
        Some(target) => target.run,
        None => {
            eprintln!("FUZZ_TARGET is {name:?}, which is none of: {}", known());
            std::process::exit(1)
        }
    }
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| RUN(input));
