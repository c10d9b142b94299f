//! `pasarela cluster`: founds, joins and looks after a cluster of several machines.

use super::{Failure, Settings, print, wal};
use crate::cluster::founding;
use clap::{Args, Subcommand};

/// Found, join and look after a cluster of several machines
#[derive(Args, Debug)]
pub struct Cluster {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Found a cluster with this data directory, which may be empty
    Init(Own),
    /// Bring a cluster back whose record in etcd was lost, with this directory's log
    Reseed(Own),
    /// Forget a node that is gone for good
    Forget(Forget),
}

#[derive(Args, Debug)]
struct Own {
    #[command(flatten)]
    settings: Settings,
}

#[derive(Args, Debug)]
struct Forget {
    #[command(flatten)]
    settings: Settings,
    /// The node's name
    node: String,
}

impl Cluster {
    /// Runs the command.
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Init(own) => {
                let done = founding::init(&own.settings.load()?)?;
                say(&format!("founded cluster {} at record {}\n", done.cluster, done.tip.seq))
            }
            Command::Reseed(own) => {
                let (config, reader) = wal::open(&own.settings)?;
                wal::proved(&reader, None)?;
                drop(reader);
                let done = founding::reseed(&config)?;
                say(&format!("cluster {} goes on after record {}\n", done.cluster, done.tip.seq))
            }
            Command::Forget(forget) => {
                founding::forget(&forget.settings.load()?, &forget.node)?;
                say(&format!("{} is forgotten\n", forget.node))
            }
        }
    }
}

fn say(line: &str) -> Result<(), Failure> {
    print(line.as_bytes())
}
