//! `pasarela wal …`: reading the log, proving it right, and making restored copies from it
//! (`docs/contract.md, 16.1`). The log is only read, also beside a running server: up to the last
//! durable sequence seen at the start. What the commands do is in `src/recovery/`.

mod at;
mod bisect;
mod records;
mod shadow;
mod sql;
mod states;

use super::progress::shown;
use super::{Failure, Settings, other};
use crate::cluster::directory::Belongs;
use crate::config::{Config, PARTITIONS_DIRECTORY};
use crate::recovery::blocks::FileKey;
use crate::recovery::directory::LOG_DIRECTORY;
use crate::recovery::rebuild::{Salvaged, Until, replay, salvage};
use crate::recovery::restored_copy::RestoredCopy;
use crate::recovery::verify::{Verified, verify};
use crate::recovery::{Failed, archive};
use clap::{Args, Subcommand};
use domain::codec;
use domain::values::time::Timestamp;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use wal::{Reader, Tip};

#[derive(Debug, Subcommand)]
pub enum Wal {
    /// First and last sequence, records, bytes, snapshots, format version
    ///
    /// Example: pasarela wal info --data-dir /srv/pasarela/data --json
    Info {
        #[command(flatten)]
        settings: LogSettings,
        /// One JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    Inspect(records::Inspect),
    Explain(records::Explain),
    Diff(records::Diff),
    At(at::At),
    States(states::States),
    Shadow(shadow::Shadow),
    Bisect(bisect::Bisect),
    Sql(sql::Sql),
    /// Check every checksum and the hash chain, replay everything, compare with snapshots and indexes;
    /// exit 1 and the first bad sequence when something is wrong
    ///
    /// The check needs room for the index a second time in a scratch directory, which is gone
    /// afterwards.
    ///
    /// Example: pasarela wal verify --data-dir /srv/pasarela/data
    Verify {
        #[command(flatten)]
        settings: LogSettings,
        /// The directory in which to make the scratch directory [default: the system's directory for
        /// temporary files]
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
        /// One JSON object instead of a line
        #[arg(long)]
        json: bool,
    },
    /// Rebuild a complete data directory from the log, as it was at a moment of the past
    ///
    /// The directory is marked as a restored copy: `pasarela serve` keeps live banks and webhooks shut in
    /// it until `--take-over`.
    ///
    /// Example: pasarela wal replay --into /srv/pasarela/noon --until-time 2026-11-21T12:00:00Z
    Replay {
        #[command(flatten)]
        settings: LogSettings,
        /// The directory to make; it must not exist, or be empty
        #[arg(long, value_name = "DIR")]
        into: PathBuf,
        /// Up to this sequence, included
        #[arg(long, value_name = "SEQ", conflicts_with = "until_time", value_parser = clap::value_parser!(u64).range(1..))]
        until_seq: Option<u64>,
        /// Up to the last record written at this instant or before it, on the server's clock:
        /// 2026-11-21T12:00:00Z
        #[arg(long, value_name = "TIME", value_parser = Timestamp::parse)]
        until_time: Option<Timestamp>,
    },
    /// Copy everything before the damage that verifies into a new data directory
    ///
    /// Each record's checksum and the hash chain are checked; index and snapshots are made anew. Says how many records
    /// there are, until which sequence and instant, and which acknowledged records are lost. The directory is marked as
    /// a restored copy: `pasarela serve` keeps live banks and webhooks shut in it until `--take-over`.
    ///
    /// Example: pasarela wal salvage --to /srv/pasarela/salvaged
    Salvage {
        #[command(flatten)]
        settings: LogSettings,
        /// The directory to make; it must not exist, or be empty
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
        /// Up to this sequence, included, though more could be read
        #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
        until_seq: Option<u64>,
        /// One JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    Export(Export),
    Import(Import),
}

impl Wal {
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Wal::Info { settings, json } => {
                let (config, reader) = open(&settings)?;
                let others = settings.others(&config)?;
                info(&reader, settings.partition.unwrap_or(0), &others, json)?;
            }
            Wal::Inspect(command) => command.run()?,
            Wal::Explain(command) => command.run()?,
            Wal::Diff(command) => command.run()?,
            Wal::At(command) => command.run()?,
            Wal::States(command) => command.run()?,
            Wal::Shadow(command) => command.run()?,
            Wal::Bisect(command) => command.run()?,
            Wal::Sql(command) => command.run()?,
            Wal::Export(command) => command.run()?,
            Wal::Import(command) => command.run()?,
            Wal::Verify { settings, scratch, json } => {
                let scratch = scratch.as_deref();
                verified(open(&settings).map(|(_, reader)| reader), scratch, json, None)?;
                for (partition, data) in settings.others(&settings.load()?)? {
                    verified(open_in(&data), scratch, json, Some(partition))?;
                }
            }
            Wal::Replay { settings, into, until_seq, until_time } => {
                let storage = settings.load()?.storage;
                let until = match (until_seq, until_time) {
                    (Some(seq), _) => Until::Seq(seq),
                    (None, Some(time)) => Until::Time(time),
                    (None, None) => Until::End,
                };
                let began = Instant::now();
                let replayed =
                    shown(|tell| replay(&storage.path, &into, until, storage.snapshot_records, tell));
                let (tip, left_out) = replayed?;
                println!("ok: {} is rebuilt {}", into.display(), ends_with(tip));
                for failed in left_out {
                    println!("not in the copy: {failed}");
                }
                took(began, tip.seq);
            }
            Wal::Salvage { settings, to, until_seq, json } => {
                let storage = settings.load()?.storage;
                let salvaged =
                    shown(|tell| salvage(&storage.path, &to, until_seq, storage.snapshot_records, tell));
                tell_salvaged(&to, &salvaged?, json);
            }
        }
        Ok(())
    }
}

/// What a question about the log came to.
type Looked = Result<(), Failure>;

/// Whatever keeps it from being answered is said in one line, with 2, or 74 for damage. A question may also find
/// what it looks for, or not: then the line says so, with 1.
fn look(ask: impl FnOnce() -> Result<Option<String>, Failure>) -> Looked {
    match ask() {
        Ok(None) => Ok(()),
        Ok(Some(found)) => Err(Failure::Other(found)),
        Err(failure) => {
            let is_damage = matches!(&failure, Failure::Recovery(failed) if failed.is_damage());
            let words = failure.to_string();
            let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
            Err(if is_damage { Failure::Damaged(line) } else { Failure::Usage(line) })
        }
    }
}

/// The sources of the settings, and which of a node's logs is meant.
#[derive(Args, Clone, Debug)]
pub struct LogSettings {
    #[command(flatten)]
    node: Settings,
    /// The log of this partition of a node [default: 0; info and verify: each]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u8).range(0..=63))]
    partition: Option<u8>,
}

impl LogSettings {
    fn load(&self) -> Result<Config, Failure> {
        let node = self.node.load()?;
        let Some(partition @ 1..) = self.partition else { return Ok(node) };
        let own = node.of_partition(partition);
        if !own.storage.path.is_dir() {
            let data = node.storage.path.display();
            return Err(Failure::Usage(format!("{data}: there is no partition {partition} here")));
        }
        Ok(own)
    }

    /// The further partitions of the node, where none is named.
    fn others(&self, node: &Config) -> Result<Vec<(u8, PathBuf)>, Failure> {
        if self.partition.is_some() { Ok(Vec::new()) } else { others(&node.storage.path) }
    }
}

/// The directories of the further partitions that a node has, or a copy of one, in their order.
pub fn others(data: &Path) -> Result<Vec<(u8, PathBuf)>, Failure> {
    let of_node = Belongs::read(data).ok().flatten().map_or(1, |belongs| belongs.partitions);
    let of_copy = RestoredCopy::read(data).ok().flatten().map_or(1, |past| past.partitions);
    let known = of_node.max(of_copy);
    let own = data.join(PARTITIONS_DIRECTORY);
    let of = |partition: u8| (partition, own.join(partition.to_string()));
    let others: Vec<_> = (1..=63).map(of).filter(|(_, data)| data.is_dir()).collect();
    if let Some((partition, missing)) = (1..known).map(of).find(|other| !others.contains(other)) {
        let why = format!("{}: the directory of partition {partition} is missing", missing.display());
        return Err(Failure::Other(why));
    }
    Ok(others)
}

pub fn open(settings: &LogSettings) -> Result<(Config, Reader), Failure> {
    let config = settings.load()?;
    let reader = open_in(&config.storage.path)?;
    Ok((config, reader))
}

pub fn open_in(data: &Path) -> Result<Reader, Failure> {
    let reader = Reader::open_read_only(data.join(LOG_DIRECTORY)).map_err(Failed::from)?;
    // A newer release wrote it last: that is no damage. Where the newest record cannot be read, who meets it says so.
    if let Ok(Some(newest)) = reader.record(reader.last_seq()) {
        codec::versioned(&newest.payload).map_err(Failed::from)?;
    }
    Ok(reader)
}

/// False when whoever reads, such as `head`, has seen enough.
fn print(out: &mut impl Write, line: &str) -> Result<bool, Failure> {
    match writeln!(out, "{line}") {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(other(error)),
    }
}

pub fn ends_with(tip: Tip) -> String {
    format!("up to sequence {}, head {}", tip.seq, hex::encode(tip.hash))
}

fn end(mut out: impl Write) -> Result<(), Failure> {
    match out.flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(other(error)),
        _ => Ok(()),
    }
}

/// Says what one log came to. `partition` is a further one of a node.
fn verified(
    opened: Result<Reader, Failure>,
    scratch: Option<&Path>,
    as_json: bool,
    partition: Option<u8>,
) -> Result<(), Failure> {
    let began = Instant::now();
    let verified = opened.and_then(|reader| Ok(proved(&reader, scratch)?));
    if as_json {
        let mut shown = json(&verified, began);
        if let Some(partition) = partition {
            shown["partition"] = partition.into();
        }
        println!("{shown}");
    }
    let Verified { records, bytes, books, snapshots, index_entries, states, head } = verified?;
    if !as_json {
        let what = partition.map(|partition| format!("partition {partition}: ")).unwrap_or_default();
        println!(
            "{what}ok: {records} records ({bytes} bytes), {books} books, {snapshots} snapshots, {index_entries} \
             index entries, {states} states; head {}",
            hex::encode(head)
        );
    }
    took(began, records);
    Ok(())
}

/// Bytes and snapshots are counted by reading, so it takes as long as the log is. Of the further partitions it says where
/// they end.
fn info(reader: &Reader, own: u8, others: &[(u8, PathBuf)], as_json: bool) -> Result<(), Failure> {
    let mut ends = vec![(own, reader.tip())];
    for (partition, data) in others {
        ends.push((*partition, open_in(data)?.tip()));
    }
    let (mut records, mut bytes) = (0_u64, 0_u64);
    for record in reader.records(1, None) {
        let record = record.map_err(other)?;
        records += 1;
        bytes += record.bytes as u64;
    }
    let (mut snapshots, mut tenants) = (0_u64, 0_u64);
    for newest in reader.latest_snapshots() {
        let newest = newest.map_err(other)?;
        tenants += 1;
        snapshots += reader.snapshots_of(newest.tenant).count() as u64;
    }
    let head: String = hex::encode(reader.tip().hash);
    if as_json {
        let info = json!({
            "firstSeq": reader.last_seq().min(1), "lastSeq": reader.last_seq(), "records": records, "bytes": bytes,
            "snapshots": snapshots, "snapshotTenants": tenants, "snapshotSeq": reader.floor(),
            "formatVersion": wal::RECORD_VERSION, "headHash": head,
            "partitions": ends.iter().map(|(partition, tip)| json!({
                "partition": partition, "lastSeq": tip.seq, "headHash": hex::encode(tip.hash),
            })).collect::<Vec<_>>(),
        });
        println!("{info}");
        return Ok(());
    }
    println!("first sequence  {}", reader.last_seq().min(1));
    println!("last sequence   {}", reader.last_seq());
    println!("records         {records}");
    println!("bytes           {bytes}");
    println!(
        "snapshots       {snapshots}, the older ones included, for {tenants} books; a start replays from \
         sequence {}",
        reader.floor() + 1
    );
    println!("format version  {}", wal::RECORD_VERSION);
    println!("head hash       {head}");
    for (partition, tip) in &ends[1..] {
        println!("partition {partition:<6}{}", ends_with(*tip));
    }
    Ok(())
}

fn took(began: Instant, records: u64) {
    let took_ms = began.elapsed().as_millis();
    eprintln!("took {took_ms} ms, {} records per second", u128::from(records) * 1000 / took_ms.max(1));
}

pub fn proved(reader: &Reader, scratch_parent: Option<&Path>) -> Result<Verified, Failed> {
    shown(|tell| verify(reader, &scratch("verify", scratch_parent), tell))
}

pub fn scratch(what: &str, parent: Option<&Path>) -> PathBuf {
    parent.map_or_else(std::env::temp_dir, Path::to_path_buf).join(format!(
        "pasarela-{what}-{}-{}",
        std::process::id(),
        uuid::Uuid::now_v7().simple()
    ))
}

fn json(verified: &Result<Verified, Failure>, began: Instant) -> Value {
    let took = began.elapsed().as_millis();
    match verified {
        Ok(verified) => json!({
            "ok": true, "records": verified.records, "bytes": verified.bytes, "books": verified.books,
            "snapshots": verified.snapshots, "indexEntries": verified.index_entries, "states": verified.states,
            "headHash": hex::encode(verified.head), "tookMs": took,
        }),
        Err(failure) => {
            let bad = if let Failure::Recovery(Failed::Damaged(damage)) = failure {
                Some(damage.seq)
            } else {
                None
            };
            json!({ "ok": false, "seq": bad, "message": failure.to_string(), "tookMs": took })
        }
    }
}

fn tell_salvaged(to: &Path, salvaged: &Salvaged, as_json: bool) {
    let Salvaged { tip, time, damage, acknowledged, left_out } = salvaged;
    let lost = (*acknowledged > tip.seq).then_some((tip.seq + 1, *acknowledged));
    if as_json {
        let salvaged = json!({
            "ok": true, "records": tip.seq, "seq": tip.seq, "time": time.map(|time| time.to_string()),
            "headHash": hex::encode(tip.hash), "damagedSeq": damage.as_ref().map(|damage| damage.seq),
            "damage": damage.as_ref().map(|damage| &damage.detail), "lostFrom": lost.map(|(first, _)| first),
            "lostTo": lost.map(|(_, last)| last),
            "leftOut": left_out.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        return println!("{salvaged}");
    }
    let at = time.map(|time| format!(" of {time}")).unwrap_or_default();
    println!("ok: {} has {} records, {}{at}", to.display(), tip.seq, ends_with(*tip));
    match damage {
        Some(damage) => println!("damaged at sequence {}: {}", damage.seq, damage.detail),
        None => println!("no damage was met before that"),
    }
    match lost {
        Some((first, last)) => println!("lost: the acknowledged records {first} to {last}"),
        None => println!("lost: no acknowledged record"),
    }
    for failed in left_out {
        println!("not in the copy: {failed}");
    }
}

/// Write everything into one portable, compressed file
///
/// The file holds the secret of keyed hashes and personal data; it is readable for its owner alone.
/// Keep it so. It is proved by this deployment's card.key, which is not in it and which an import asks for.
///
/// Example: pasarela wal export /srv/backup/pasarela-2026-11-21.export
#[derive(Args, Debug)]
pub struct Export {
    #[command(flatten)]
    settings: LogSettings,
    /// The file to write; it must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Export {
    pub fn run(self) -> Result<(), Failure> {
        let config = self.settings.load()?;
        let (data, card) = (&config.storage.path, config.storage.card_key_file.as_deref());
        let archived = shown(|tell| archive::export(data, card, &self.file, tell))?;
        let (bytes, end) = (archived.bytes, ends_with(archived.tip));
        println!("ok: {bytes} bytes in {}, {end}", self.file.display());
        Ok(())
    }
}

/// Make a data directory from a portable file; refuse a file that was cut or changed, and say where
///
/// The file is proved by the card.key of the deployment that wrote it: a copy of it that came by another way
/// than the file, as --card-key, or where this deployment has its own.
///
/// The directory is marked as a restored copy: `pasarela serve` keeps live banks and webhooks shut in
/// it until `--take-over`.
///
/// Example: pasarela wal import /srv/backup/pasarela-2026-11-21.export --into /srv/pasarela/data
#[derive(Args, Debug)]
pub struct Import {
    #[command(flatten)]
    settings: Settings,
    /// The file that `pasarela wal export` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The directory to make; it must not exist, or be empty
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// The card.key of the deployment that wrote the file; without it, this deployment's
    #[arg(long, value_name = "FILE")]
    card_key: Option<PathBuf>,
}

impl Import {
    pub fn run(self) -> Result<(), Failure> {
        let config = self.settings.load()?;
        let card_key = self.card_key.as_deref().or(config.storage.card_key_file.as_deref());
        let key = FileKey::read(&config.storage.path, card_key)?;
        let snapshot_records = config.storage.snapshot_records;
        let archived = shown(|tell| archive::import(&self.file, &self.into, key, snapshot_records, tell))?;
        println!("ok: {} is made {}", self.into.display(), ends_with(archived.tip));
        Ok(())
    }
}
