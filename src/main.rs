//! The `pasarela` command. Everything is in the library, so that tests and benchmarks can reach it.

use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// The allocator is jemalloc: what a request allocates is mostly freed by another thread, which
/// jemalloc handles better than others (docs/decisions/0077-build-and-allocator.md). How many arenas
/// it makes is in `.cargo/config.toml`.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    pasarela::cli::run()
}
