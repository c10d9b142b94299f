//! `pasarela cluster`: founds, joins and looks after a cluster of several machines.

use super::admin::{tables, terminal_width};
use super::client::{Operators, answer, refused};
use super::{Failure, Settings, must_be_ours, other, print, runtime, wal};
use crate::cluster::peers::PeerKey;
use crate::cluster::{self, founding, growing, joining, peers};
use crate::config::{Config, Secret};
use crate::http::respond::JSON;
use crate::recovery::directory::{self, LOG_DIRECTORY};
use clap::Subcommand;
use std::io::IsTerminal;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(3);
/// A hand-over answers once the other node serves.
const HAND_OVER: Duration = Duration::from_secs(20);

#[derive(Debug, Subcommand)]
pub enum Cluster {
    /// Show the nodes and the partitions; exit 1 if none answers
    #[command(after_help = "Example:\n  pasarela cluster status --json | jq .nodes")]
    Status {
        #[command(flatten)]
        settings: Settings,
        /// The answer of GET /admin/cluster instead of tables
        #[arg(long)]
        json: bool,
    },
    /// Make another node the leader
    #[command(after_help = "Example:\n  pasarela cluster hand-over node-2 --partition 1")]
    HandOver {
        #[command(flatten)]
        settings: Settings,
        /// The node that becomes the leader
        node: String,
        /// Of which partition
        #[arg(long, value_name = "P", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..64))]
        partition: u8,
    },
    /// Found a cluster with this data directory, which may be empty
    #[command(after_help = "Example:\n  pasarela cluster init --config node-1.toml")]
    Init {
        #[command(flatten)]
        settings: Settings,
        /// With a restored copy of several partitions, when the cluster that it is a copy of is gone for good: live
        /// banks and webhooks are open from then on
        #[arg(long)]
        take_over: bool,
    },
    /// Fill an empty data directory from a running node, so that this machine becomes a node
    #[command(after_help = "Example:\n  pasarela cluster join --from http://10.0.0.1:9091")]
    Join {
        #[command(flatten)]
        settings: Settings,
        /// The peer listener of any running node, such as http://10.0.0.1:9091
        #[arg(long, value_name = "URL")]
        from: String,
    },
    /// Raise the number of partitions while the nodes run, which start anew one after the other (a preview)
    #[command(after_help = "Example:\n  pasarela cluster grow --partitions 3")]
    Grow {
        #[command(flatten)]
        settings: Settings,
        /// Their number from then on, never fewer than before
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
        partitions: u8,
    },
    /// Restore the cluster from this directory's log, after etcd lost its data
    #[command(after_help = "Example:\n  pasarela cluster reseed --data-dir /srv/pasarela/data")]
    Reseed {
        #[command(flatten)]
        settings: Settings,
        /// Of this partition alone, whose own etcd (cluster.etcd_of) lost its data
        #[arg(long, value_name = "P", value_parser = clap::value_parser!(u8).range(1..=63))]
        partition: Option<u8>,
    },
    /// Remove a node that is gone for good
    #[command(after_help = "Example:\n  pasarela cluster forget node-3")]
    Forget {
        #[command(flatten)]
        settings: Settings,
        /// The node's name
        node: String,
    },
}

impl Cluster {
    pub fn run(self) -> Result<(), Failure> {
        let done = match self {
            Cluster::Status { settings, json } => {
                let shown = status(&settings.load()?)?;
                if json { format!("{shown}\n") } else { table(&shown) }
            }
            Cluster::HandOver { settings, node, partition } => {
                format!("{}\n", hand_over(&settings.load()?, &node, partition)?)
            }
            Cluster::Init { settings, take_over } => {
                let config = settings.load()?;
                must_be_ours(&config.storage.path)?;
                let done = founding::init(&config, take_over)?;
                format!("founded cluster {} at record {}\n", done.cluster, done.tip.seq)
            }
            Cluster::Join { settings, from } => {
                let config = settings.load()?;
                must_be_ours(&config.storage.path)?;
                let token = config.admin.token.as_ref().map(Secret::expose).unwrap_or_default();
                joining::join(&config, &from, token)?;
                "joined: start it with pasarela serve\n".to_owned()
            }
            Cluster::Grow { settings, partitions } => {
                if growing::grow(&settings.load()?, partitions)? {
                    format!("the number of partitions is {partitions}, and every node goes by it\n")
                } else {
                    format!("the number of partitions is {partitions} already: nothing was done\n")
                }
            }
            Cluster::Reseed { settings, partition } => {
                let mut config = settings.load()?;
                must_be_ours(&config.storage.path)?;
                config.partitions = founding::number_before(&config)?;
                let partitions = partition.map_or(0..config.partitions, |one| one..one + 1);
                for partition in partitions {
                    wal::proved(&wal::open_in(&config.of_partition(partition).storage.path)?, None)?;
                }
                match partition {
                    None => {
                        let done = founding::reseed(&config)?;
                        format!("cluster {} goes on after record {}\n", done.cluster, done.tip.seq)
                    }
                    Some(partition) => {
                        let done = founding::reseed_partition(&config, partition)?;
                        format!("partition {partition} goes on after record {}\n", done.tip.seq)
                    }
                }
            }
            Cluster::Forget { settings, node } => {
                founding::forget(&settings.load()?, &node)?;
                format!("{node} is forgotten\n")
            }
        };
        print(done.as_bytes())
    }
}

/// What this machine's node says of the cluster, or why it does not answer; one machine has no nodes to ask about.
fn of_own_node(config: &Config) -> Result<Result<String, Failure>, Failure> {
    if !config.cluster.is_on() {
        let why = "this is one machine: cluster.etcd is empty, so there is no cluster to show or to switch";
        return Err(Failure::Other(why.to_owned()));
    }
    let operators = Operators::new(config, None, Some(PATIENCE))?;
    Ok(operators.call(("GET", cluster::front::CLUSTER), JSON, None, None))
}

/// Of this machine's node or, if it does not answer, of the first other one.
fn status(config: &Config) -> Result<String, Failure> {
    let unanswered = match of_own_node(config)? {
        Ok(shown) => return Ok(shown),
        Err(unanswered) => unanswered,
    };
    let client = peers::client(config, None).map_err(other)?;
    let token = token(config)?;
    for peer in founding::peers(config).unwrap_or_default() {
        let request = client.get(format!("{peer}/peer/cluster")).bearer_auth(&token).timeout(PATIENCE);
        match runtime()?.block_on(answer(request)) {
            Ok((status, shown)) if !status.is_client_error() && !status.is_server_error() => {
                return Ok(shown);
            }
            _ => {}
        }
    }
    Err(unanswered)
}

/// This machine's node is asked or, if that does not answer, the leader itself, as a node asks it.
fn hand_over(config: &Config, node: &str, partition: u8) -> Result<String, Failure> {
    let to = match partition {
        // As the release before takes it too.
        0 => serde_json::json!({ "to": node }),
        _ => serde_json::json!({ "to": node, "partition": partition }),
    };
    let unanswered = match of_own_node(config)? {
        Ok(_) => {
            let operators = Operators::new(config, None, Some(HAND_OVER))?;
            return operators.call(("POST", cluster::HAND_OVER), JSON, Some(&to), None);
        }
        Err(unanswered) => unanswered,
    };
    let data = &config.storage.path;
    if !data.join(LOG_DIRECTORY).is_dir() {
        return Err(unanswered);
    }
    let key = PeerKey::derived(&directory::mark_key(data).map_err(other)?);
    let client = peers::client(config, None).map_err(other)?;
    let token = token(config)?;
    for peer in founding::peers(&config.of_partition(partition)).unwrap_or_default() {
        let request = key.proving(client.post(format!("{peer}/peer/pass")), cluster::HAND_OVER);
        let request = request.header("host", "localhost").header("content-type", JSON).bearer_auth(&token);
        match runtime()?.block_on(answer(request.timeout(HAND_OVER).body(to.to_string()))) {
            Ok((status, done)) if status.is_success() => return Ok(done),
            // Another node leads, which is asked next.
            Ok((_, said)) if said.contains("\"no_leader\"") => {}
            Ok((status, said)) => return Err(Failure::Other(refused(status.as_u16(), &said))),
            Err(error) if error.is_connect() => {}
            Err(error) => {
                return Err(Failure::Other(format!(
                    "{peer}: {error}; it may have been done: pasarela cluster status says who leads"
                )));
            }
        }
    }
    Err(unanswered)
}

fn token(config: &Config) -> Result<String, Failure> {
    Ok(config.access()?.map_or_else(String::new, |token| token.expose().to_owned()))
}

fn table(shown: &str) -> String {
    let shown: serde_json::Value = serde_json::from_str(shown).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let width = std::io::stdout().is_terminal().then(terminal_width);
    let table = |list: &str, columns: &[&str]| {
        let mut table = tables::table(width);
        table.set_header(columns);
        for row in shown[list].as_array().into_iter().flatten() {
            table.add_row(columns.iter().map(|column| text(&row[*column])));
        }
        table
    };
    let nodes = table("nodes", &["node", "role", "walSeq", "behind", "seenAt", "version", "reads"]);
    let columns = ["partition", "leader", "epoch", "walSeq", "agreedSeq", "windowBytes"];
    let partitions = table("partitions", &columns);
    let leader = shown["leader"].as_str().map_or("nobody leads".to_owned(), |node| format!("leader {node}"));
    let [epoch, agreed, bytes, stored] =
        ["epoch", "agreedSeq", "windowBytes", "storedVersion"].map(|name| text(&shown[name]));
    format!(
        "{leader}, epoch {epoch}, agreed up to {agreed}, {bytes} bytes in etcd, stored version {stored}\n{nodes}\n\
         {partitions}\n"
    )
}
