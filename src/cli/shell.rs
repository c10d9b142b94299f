//! `pasarela completions` and `pasarela manual`: what a shell and `man` know of the command line,
//! made from its own definition, so that neither can lag behind it.

use super::{CommandLine, Failure};
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use std::path::{Path, PathBuf};

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
        super::print(&script)
    }
}

/// Write the manual's pages, one per command, into a directory
#[derive(Args, Debug)]
pub struct Manual {
    /// An existing directory
    directory: PathBuf,
}

impl Manual {
    /// `pasarela.1`, `pasarela-serve.1` and so on.
    pub fn run(self) -> Result<(), Failure> {
        let written = clap_mangen::generate_to(CommandLine::command(), &self.directory);
        written.map_err(|error| unwritable(&self.directory, &error))
    }
}

fn unwritable(directory: &Path, error: &std::io::Error) -> Failure {
    Failure::Other(format!("{}: {error}", directory.display()))
}
