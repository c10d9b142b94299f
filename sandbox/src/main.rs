//! `pasarela-sandbox`: the bank's side of the wire, for developers and tests
//! (docs/contract.md, 18.8).
//!
//! It judges what a connector sends by the banks' documents (docs/contract.md, 21.3, 21.10), keeps
//! books of what it did, and misbehaves when it is asked to. It must not know anything of
//! Pasarela's own code: two programs that share their reading of a document agree also where both
//! are wrong.

mod amount;
mod bank;
mod books;
mod calls;
mod common_options;
mod faults;
mod http;
mod journal;
mod r4;
mod signing;
mod site;
mod wompi;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "pasarela-sandbox",
    version,
    about = "The bank's side of the wire, for developers and tests"
)]
struct CommandLine {
    #[command(subcommand)]
    bank: WhichBank,
}

#[derive(Subcommand)]
enum WhichBank {
    /// R4 Conecta: C2P, debit, credit, change, notices of transfers
    R4(r4::Options),
    /// Wompi: Nequi, Daviplata, QR, events
    Wompi(wompi::Options),
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match CommandLine::parse().bank {
        WhichBank::R4(options) => r4::run(options).await,
        WhichBank::Wompi(options) => wompi::run(options).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            site::complain(&problem);
            ExitCode::FAILURE
        }
    }
}
