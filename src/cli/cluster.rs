//! `pasarela cluster`: founds, joins and looks after a cluster of several machines.

use super::client::{Operators, refused};
use super::{Failure, Settings, must_be_ours, other, print, runtime, wal};
use crate::cluster::peers::PeerKey;
use crate::cluster::{self, founding, joining, peers};
use crate::config::{AdminAccess, Config};
use crate::http::respond::JSON;
use crate::recovery::directory::{self, LOG_DIRECTORY};
use clap::{Args, Subcommand};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(3);
/// A hand-over answers once the other node serves.
const HAND_OVER: Duration = Duration::from_secs(20);

#[derive(Debug, Subcommand)]
pub enum Cluster {
    /// Show the nodes; exit 1 if none answers
    #[command(after_help = "Example:\n  pasarela cluster status --json | jq .nodes")]
    Status(Status),
    /// Make another node the leader
    #[command(after_help = "Example:\n  pasarela cluster hand-over node-2")]
    HandOver(HandOver),
    /// Found a cluster with this data directory, which may be empty
    #[command(after_help = "Example:\n  pasarela cluster init --config node-1.toml")]
    Init(Own),
    /// Fill an empty data directory from a running node, so that this machine becomes a node
    #[command(after_help = "Example:\n  pasarela cluster join --from http://10.0.0.1:9091")]
    Join(Join),
    /// Restore the cluster from this directory's log, after etcd lost its data
    #[command(after_help = "Example:\n  pasarela cluster reseed --data-dir /srv/pasarela/data")]
    Reseed(Own),
    /// Remove a node that is gone for good
    #[command(after_help = "Example:\n  pasarela cluster forget node-3")]
    Forget(Forget),
}

#[derive(Args, Debug)]
pub struct Own {
    #[command(flatten)]
    settings: Settings,
}

#[derive(Args, Debug)]
pub struct Status {
    #[command(flatten)]
    settings: Settings,
    /// The answer of GET /admin/cluster instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub struct HandOver {
    #[command(flatten)]
    settings: Settings,
    /// The node that becomes the leader
    node: String,
}

#[derive(Args, Debug)]
pub struct Join {
    #[command(flatten)]
    settings: Settings,
    /// The peer listener of any running node, such as http://10.0.0.1:9091
    #[arg(long, value_name = "URL")]
    from: String,
}

#[derive(Args, Debug)]
pub struct Forget {
    #[command(flatten)]
    settings: Settings,
    /// The node's name
    node: String,
}

impl Cluster {
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Cluster::Status(status) => {
                let shown = asked(&status.settings.load()?)?;
                let shown = if status.json { format!("{shown}\n") } else { table(&shown) };
                print(shown.as_bytes())
            }
            Cluster::HandOver(hand_over) => {
                let done = handed_over(&hand_over.settings.load()?, &hand_over.node)?;
                print(format!("{done}\n").as_bytes())
            }
            Cluster::Init(own) => {
                let config = own.settings.load()?;
                must_be_ours(&config.storage.path)?;
                let done = founding::init(&config)?;
                print(format!("founded cluster {} at record {}\n", done.cluster, done.tip.seq).as_bytes())
            }
            Cluster::Join(join) => {
                let config = join.settings.load()?;
                must_be_ours(&config.storage.path)?;
                let token = config.admin.token.as_ref().map(|token| token.expose().to_owned());
                joining::join(&config, &join.from, token.as_deref().unwrap_or_default())?;
                print(b"joined: start it with pasarela serve\n")
            }
            Cluster::Reseed(own) => {
                must_be_ours(&own.settings.load()?.storage.path)?;
                let (config, reader) = wal::open(&own.settings)?;
                wal::proved(&reader, None)?;
                drop(reader);
                let done = founding::reseed(&config)?;
                print(format!("cluster {} goes on after record {}\n", done.cluster, done.tip.seq).as_bytes())
            }
            Cluster::Forget(forget) => {
                founding::forget(&forget.settings.load()?, &forget.node)?;
                print(format!("{} is forgotten\n", forget.node).as_bytes())
            }
        }
    }
}

/// Of this machine's node or, if it does not answer, of the first other one.
fn asked(config: &Config) -> Result<String, Failure> {
    must_be_cluster(config)?;
    let operators = Operators::new(config)?.within(PATIENCE);
    let unanswered = match operators.call(("GET", cluster::front::CLUSTER), JSON, None, None) {
        Ok(shown) => return Ok(shown),
        Err(unanswered) => unanswered,
    };
    let client = peers::client(config, None).map_err(other)?;
    let token = token(config)?;
    for peer in founding::peers(config).unwrap_or_default() {
        let asked = client.get(format!("{peer}/peer/cluster")).bearer_auth(&token).timeout(PATIENCE);
        let answered = runtime()?.block_on(async { asked.send().await?.error_for_status()?.text().await });
        if let Ok(shown) = answered {
            return Ok(shown);
        }
    }
    Err(unanswered)
}

/// This machine's node is asked or, if that does not answer, the leader itself, as a node asks it.
fn handed_over(config: &Config, node: &str) -> Result<String, Failure> {
    must_be_cluster(config)?;
    let to = serde_json::json!({ "to": node });
    let call = (("POST", cluster::HAND_OVER), JSON, Some(&to), None);
    let own =
        Operators::new(config)?.within(PATIENCE).call(("GET", cluster::front::CLUSTER), JSON, None, None);
    let unanswered = match own {
        Ok(_) => return Operators::new(config)?.within(HAND_OVER).call(call.0, call.1, call.2, call.3),
        Err(unanswered) => unanswered,
    };
    let data = &config.storage.path;
    if !data.join(LOG_DIRECTORY).is_dir() {
        return Err(unanswered);
    }
    let key = PeerKey::derived(&directory::mark_key(data).map_err(other)?);
    let client = peers::client(config, None).map_err(other)?;
    let token = token(config)?;
    for peer in founding::peers(config).unwrap_or_default() {
        let asked = key.proving(client.post(format!("{peer}/peer/pass")), cluster::HAND_OVER);
        let asked = asked.header("host", "localhost").header("content-type", JSON).bearer_auth(&token);
        let asked = asked.timeout(HAND_OVER).body(to.to_string());
        let answered = runtime()?.block_on(async {
            let answer = asked.send().await?;
            Ok::<_, reqwest::Error>((answer.status(), answer.text().await?))
        });
        match answered {
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

/// One machine has no nodes to ask about.
fn must_be_cluster(config: &Config) -> Result<(), Failure> {
    if config.cluster.is_on() {
        return Ok(());
    }
    Err(Failure::Other(
        "this is one machine: cluster.etcd is empty, so there is no cluster to show or to switch".to_owned(),
    ))
}

fn token(config: &Config) -> Result<String, Failure> {
    Ok(match config.access()? {
        AdminAccess::Token(token) => token.expose().to_owned(),
        AdminAccess::Insecure => String::new(),
    })
}

fn table(shown: &str) -> String {
    let shown: serde_json::Value = serde_json::from_str(shown).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::UTF8_FULL_CONDENSED);
    let columns = ["node", "role", "walSeq", "behind", "seenAt", "version"];
    table.set_header(columns);
    for node in shown["nodes"].as_array().into_iter().flatten() {
        table.add_row(columns.map(|column| text(&node[column])));
    }
    let leader = shown["leader"].as_str().map_or("nobody leads".to_owned(), |node| format!("leader {node}"));
    let (epoch, agreed, bytes) =
        (text(&shown["epoch"]), text(&shown["agreedSeq"]), text(&shown["windowBytes"]));
    format!("{leader}, epoch {epoch}, agreed up to {agreed}, {bytes} bytes in etcd\n{table}\n")
}
