//! The command line: one file per command, with its arguments, output and exit codes. What a
//! command does is done elsewhere: in `app`, in `recovery`, or by a running server that is asked
//! over HTTP. Records go to stdout, everything else to stderr. Exit 0 if all is well, 1 if not, 2
//! if the command line or the configuration can't be accepted; then one line says why.

/// Commands, each with the type that has its arguments and runs it.
macro_rules! commands {
    ($name:ident { $($(#[$meta:meta])* $command:ident($arguments:ty),)* }) => {
        #[derive(Debug, clap::Subcommand)]
        pub enum $name {
            $($(#[$meta])* $command($arguments),)*
        }

        impl $name {
            pub fn run(self) -> Result<(), Failure> {
                match self {
                    $($name::$command(command) => command.run(),)*
                }
            }
        }
    };
}

mod admin;
mod check;
mod client;
mod cluster;
mod copies;
mod errors;
mod events;
mod listen;
mod mcp;
mod progress;
mod serve;
mod stream;
mod tenant;
mod trigger;
mod wal;

use crate::app::{EXIT_DAMAGED, StartupError, privacy};
use crate::cluster::ClusterError;
use crate::config::{Config, ConfigError};
use crate::recovery::Failed;
use crate::telemetry;
use crate::webhooks::WebhooksError;
use clap::{Args, CommandFactory, Parser};
use clap_complete::Shell;
use domain::codec::NEWEST;
use domain::values::ids::Id;
use std::fmt::Display;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

/// Payments gateway engine for Venezuela and Colombia.
#[derive(Debug, Parser)]
#[command(name = "pasarela", version = version(), propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  pasarela serve --config config.toml
  pasarela admin status
  pasarela trigger payment.completed --key pk_test_demo
  pasarela COMMAND --help")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

commands! { Command {
    Admin(admin::Admin),
    Backup(copies::Backup),
    Check(check::Check),
    /// Found, join and manage a cluster of several machines
    #[command(subcommand)]
    Cluster(cluster::Cluster),
    Completions(Completions),
    Errors(errors::Errors),
    /// List an account's events, and send one again to its webhook endpoints
    #[command(subcommand, after_help = "Examples:
  pasarela events list --key pk_test_demo
  pasarela events get 01975a2e-7c00-7000-8000-000000000000
  pasarela events resend 01975a2e-7c00-7000-8000-000000000000")]
    Events(events::Events),
    Listen(listen::Listen),
    #[command(hide = true)]
    Manual(Manual),
    Mcp(mcp::Mcp),
    Restore(copies::Restore),
    Serve(serve::Serve),
    Stream(stream::Stream),
    /// Move a tenant to another partition or deployment, with its history
    #[command(subcommand)]
    Tenant(tenant::Tenant),
    Trigger(trigger::Trigger),
    /// Inspect and verify the write-ahead log, and build data directories from it
    #[command(subcommand)]
    Wal(wal::Wal),
    #[command(hide = true)]
    Export(wal::Export),
    #[command(hide = true)]
    Import(wal::Import),
} }

/// The sources of the settings; every command takes these.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// Configuration file [default: config.toml here, else /etc/pasarela/config.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data directory, instead of storage.path
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl Settings {
    pub fn load(&self) -> Result<Config, ConfigError> {
        self.read(false)
    }

    pub fn read(&self, secrets: bool) -> Result<Config, ConfigError> {
        let mut config = Config::load(self.config.as_deref(), secrets)?;
        if let Some(path) = &self.data_dir {
            config.storage.path = path.clone();
        }
        Ok(config)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Webhooks(#[from] WebhooksError),
    #[error(transparent)]
    Startup(#[from] StartupError),
    #[error(transparent)]
    Recovery(#[from] Failed),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// What was asked for cannot be.
    #[error("{0}")]
    Usage(String),
    /// A question that damage keeps from being answered.
    #[error("{0}")]
    Damaged(String),
    #[error("{0}")]
    Other(String),
    /// Another process has said why, and ended with this code.
    #[error("a process of this one may not run")]
    Said(u8),
}

impl Failure {
    /// 2 for what an operator has to write in another way, 74 for a server that met damage, 1 for the rest.
    fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Config(_)
            | Failure::Usage(_)
            | Failure::Webhooks(WebhooksError::ExtraCa { .. })
            | Failure::Cluster(ClusterError::Partitions(_)) => ExitCode::from(2),
            Failure::Startup(error) if error.is_of_the_configuration() => ExitCode::from(2),
            Failure::Startup(error) if error.is_damage() => ExitCode::from(EXIT_DAMAGED),
            Failure::Startup(StartupError::Cluster(error)) if error.is_refusal() => ExitCode::from(2),
            Failure::Damaged(_) => ExitCode::from(EXIT_DAMAGED),
            Failure::Said(code) => ExitCode::from(*code),
            _ => ExitCode::FAILURE,
        }
    }
}

/// With the newest version of the stored format that this program writes.
fn version() -> &'static str {
    static VERSION: LazyLock<String> =
        LazyLock::new(|| format!("{} stores {NEWEST}", env!("CARGO_PKG_VERSION")));
    &VERSION
}

fn other(error: impl Display) -> Failure {
    Failure::Other(error.to_string())
}

fn at(path: &Path, error: impl Display) -> Failure {
    Failure::Other(format!("{}: {error}", path.display()))
}

fn id(text: &str) -> Result<Id, &'static str> {
    Id::parse(text).ok_or("is no UUID")
}

/// A reader that has gone away is no failure.
fn print(bytes: &[u8]) -> Result<(), Failure> {
    use std::io::{ErrorKind, Write as _};
    match std::io::stdout().write_all(bytes) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Other(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::Other(format!("the runtime did not start: {error}")))
}

pub fn run() -> ExitCode {
    privacy::keep_new_files_private();
    let parsed = match CommandLine::try_parse() {
        Ok(parsed) => parsed,
        Err(error) => return unparsed(&error),
    };
    match parsed.command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            match &failure {
                Failure::Startup(error) if error.is_damage() => {
                    telemetry::say_last(&format_args!("{failure}; {}", error.advice()));
                }
                Failure::Said(_) => {}
                _ => telemetry::say_last(&failure),
            }
            failure.exit_code()
        }
    }
}

/// Help that was asked for is printed as it is; of a mistake one line says what it is.
fn unparsed(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, InvalidSubcommand};
    if !error.use_stderr() || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand {
        error.exit();
    }
    let what = in_one_line(&error.render().to_string());
    match error.kind() {
        InvalidSubcommand => telemetry::say_last(&format_args!("{what}; --help lists the commands")),
        _ => telemetry::say_last(&what),
    }
    ExitCode::from(2)
}

/// Without how the command is used, which its help says.
fn in_one_line(error: &str) -> String {
    let what = error.split("\nUsage:").next().unwrap_or_default();
    let what = what.split("\nFor more information").next().unwrap_or_default();
    let words: Vec<&str> = what.split_whitespace().collect();
    let words = words.join(" ");
    words.strip_prefix("error: ").map_or(words.clone(), str::to_owned)
}

/// Print what a shell needs to complete commands and options
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  source <(pasarela completions bash)
  pasarela completions fish > ~/.config/fish/completions/pasarela.fish")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut CommandLine::command(), "pasarela", &mut script);
        print(&script)
    }
}

/// Write the manual's pages, one per command, into a directory
#[derive(Args, Debug)]
pub struct Manual {
    /// An existing directory
    directory: PathBuf,
}

impl Manual {
    pub fn run(self) -> Result<(), Failure> {
        let written = clap_mangen::generate_to(CommandLine::command(), &self.directory);
        written.map_err(|error| at(&self.directory, error))
    }
}

/// A directory that is not there is made by whoever makes it.
pub fn must_be_ours(data: &Path) -> Result<(), Failure> {
    let ours = rustix::process::geteuid().as_raw();
    match fs::metadata(data) {
        Ok(found) if found.uid() != ours => Err(Failure::Other(refused(data, &name_of(found.uid())))),
        _ => Ok(()),
    }
}

fn refused(data: &Path, owner: &str) -> String {
    let data = data.display();
    format!(
        "{data}: this directory belongs to {owner}, who could not read what this command would leave there, \
         so nothing was done; run it as {owner}: runuser -u {owner} -- pasarela …"
    )
}

fn name_of(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut words = line.split(':');
        let name = words.next()?;
        (words.nth(1)? == uid.to_string()).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| format!("#{uid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands of a command line that do something, each with its help.
    fn helps(command: &mut clap::Command, path: &str, out: &mut Vec<(String, String)>) {
        let path = format!("{path} {}", command.get_name()).trim_start().to_owned();
        if command.has_subcommands() {
            for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
                helps(inner, &path, out);
            }
        } else if !command.is_hide_set() {
            out.push((path, command.render_long_help().to_string()));
        }
    }

    #[test]
    fn every_command_shows_how_it_is_used() {
        let mut command = CommandLine::command();
        command.build();
        let mut found = Vec::new();
        helps(&mut command, "", &mut found);
        assert!(found.len() > 60, "{}", found.len());
        let without: Vec<&str> = found
            .iter()
            .filter(|(_, help)| !help.contains("Example"))
            .map(|(path, _)| path.as_str())
            .collect();
        assert_eq!(without, Vec::<&str>::new());
    }

    #[test]
    fn help_fits_a_terminal() {
        let mut command = CommandLine::command().term_width(80);
        command.build();
        let mut found = Vec::new();
        helps(&mut command, "", &mut found);
        for (path, help) in found {
            // An example is for copying, so it is never broken.
            let words = help.split("Example").next().unwrap_or_default();
            // Usage is one line, whatever it names.
            for line in words.lines().filter(|line| !line.starts_with("Usage: ")) {
                assert!(line.chars().count() <= 80 || !line.trim().contains(' '), "{path}: {line}");
            }
        }
    }

    #[test]
    fn a_mistake_is_said_in_one_line() {
        let said = |arguments: &[&str]| {
            let error = CommandLine::try_parse_from(arguments).expect_err("a mistake");
            in_one_line(&error.render().to_string())
        };
        assert_eq!(
            said(&["pasarela", "wal", "diff", "1"]),
            "the following required arguments were not provided: <SEQ>"
        );
        let near = said(&["pasarela", "servr"]);
        assert!(near.starts_with("unrecognized subcommand 'servr'") && near.contains("'serve'"), "{near}");
        assert_eq!(near.lines().count(), 1);
    }

    #[test]
    fn a_directory_of_another_user_is_refused_with_the_user_to_run_as() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(must_be_ours(directory.path()).is_ok());
        assert!(must_be_ours(&directory.path().join("nowhere")).is_ok());
        if !rustix::process::geteuid().is_root() {
            return;
        }
        std::os::unix::fs::chown(directory.path(), Some(4_321), None).expect("root may");
        let why = must_be_ours(directory.path()).expect_err("it is another's").to_string();
        assert!(why.contains("runuser -u #4321 -- pasarela") && why.lines().count() == 1, "{why}");
        assert_eq!(name_of(0), "root");
    }
}
