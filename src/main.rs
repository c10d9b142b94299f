//! The `pasarela` command. Everything is in the library, so that tests and benchmarks can reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    pasarela::cli::run()
}
