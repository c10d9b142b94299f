//! The command line: one file per command.
//!
//! Records go to stdout, everything else to stderr. Exit 0 if all is well, 1 if not, 2 if the command line or the configuration can't be accepted; then
//! one line says why.

pub mod bench;
mod caller;
mod listen;
mod serve;
mod trigger;
mod wal;

use crate::config::{Config, ConfigError};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Payments gateway engine for Venezuela and Colombia.
#[derive(Debug, Parser)]
#[command(name = "pasarela", version, propagate_version = true, arg_required_else_help = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bench(bench::BenchArgs),
    Listen(listen::Listen),
    Serve(serve::Serve),
    Trigger(trigger::Trigger),
    Wal(wal::Wal),
}

/// Where the settings come from; every command takes these.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// Configuration file [default: config.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data directory, instead of storage.path
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl Settings {
    /// Reads the configuration.
    pub fn load(&self) -> Result<Config, ConfigError> {
        let mut config = Config::load(self.config.as_deref())?;
        if let Some(path) = &self.data_dir {
            config.storage.path = path.clone();
        }
        Ok(config)
    }
}

/// Why a command did not do what it should.
#[derive(Debug)]
pub enum Failure {
    /// The configuration can't be accepted.
    Config(ConfigError),
    /// Anything else, in words.
    Other(String),
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Failure::Config(error)
    }
}

/// What commands wait on that speak to a server.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::Other(format!("the runtime did not start: {error}")))
}

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    let outcome = match CommandLine::parse().command {
        Command::Bench(bench) => return bench::run(bench),
        Command::Listen(listen) => listen.run(),
        Command::Serve(serve) => serve.run(),
        Command::Trigger(trigger) => trigger.run(),
        Command::Wal(wal) => wal.run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Config(error)) => {
            eprintln!("pasarela: {error}");
            ExitCode::from(2)
        }
        Err(Failure::Other(message)) => {
            eprintln!("pasarela: {message}");
            ExitCode::FAILURE
        }
    }
}
