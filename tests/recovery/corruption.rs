//! Every kind of byte, changed in turn: in records, index entries, snapshots, tip, floor, format
//! and witness of a log, and in an export file. The proof finds each and names the place.

use crate::harness::check::race;
use crate::harness::flows::{merged, payout_body};
use crate::harness::server::Server;
use crate::time_machine::program;
use crate::{fails, shown};
use actors::Machine;
use domain::machine::AnyBook;
use pasarela::recovery::Failed;
use pasarela::recovery::archive;
use pasarela::recovery::blocks::FileKey;
use pasarela::recovery::books::machine;
use pasarela::recovery::verify::{Verified, verify};
use persistent::SortedMap;
use rocksdb::{DB, IteratorMode, Options};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;
use wal::{Completion, Config, Durable, IndexOps, Log, Poisoned, Reader, RocksStore, Snapshot};

const FAMILIES: [&str; 6] = ["default", "log", "index", "snapshots", "meta", "pieces"];

/// A data directory with something of everything, stopped in good order. Made once.
fn original() -> &'static Path {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut server = Server::start();
        let api = server.tenant().test;
        let merchant = api.merchant();
        api.fund("100.00");
        api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "300.00", "held": true }))
            .expect(201);
        api.keyed("a key")
            .post("/v1/payouts", &merged(payout_body(&merchant, "1.00"), json!({})))
            .expect(201);
        api.payout(&merchant, "1.05", json!({})).expect(202);
        api.pay(5);
        api.intent(1);
        server.admin().act("/admin/snapshot").expect(200);
        api.fund("1.00");
        assert!(server.terminate().success());
        let kept = tempfile::tempdir().expect("a directory");
        copy(&server.data(), kept.path());
        kept
    })
    .path()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("readable").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// A copy of the original whose store was changed behind the log's back.
struct Changed(TempDir);

impl Changed {
    fn by(change: impl FnOnce(&DB)) -> Changed {
        let changed = Changed::not();
        let db = DB::open_cf(&Options::default(), changed.log(), FAMILIES).expect("the store opens");
        change(&db);
        drop(db);
        changed
    }

    fn not() -> Changed {
        Changed::of(original())
    }

    fn of(directory: &Path) -> Changed {
        let copied = tempfile::tempdir().expect("a directory");
        copy(directory, copied.path());
        Changed(copied)
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("log")
    }

    fn verify(&self) -> Result<Verified, Failed> {
        let reader = Reader::open_read_only(self.log())?;
        verify(&reader, &self.0.path().join("scratch"), &mut |_, _, _| {})
    }

    /// The sequence that the proof names.
    #[track_caller]
    fn bad_sequence(&self, what: &str) -> u64 {
        match self.verify() {
            Err(Failed::Damaged(damage)) => damage.seq,
            Err(other) => panic!("{what}: {other}"),
            Ok(verified) => panic!("{what} passed: {verified:?}"),
        }
    }
}

fn entries(db: &DB, family: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let handle = db.cf_handle(family).expect("the family");
    db.iterator_cf(handle, IteratorMode::Start)
        .map(|entry| entry.expect("readable"))
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect()
}

fn put(db: &DB, family: &str, key: &[u8], value: &[u8]) {
    db.put_cf(db.cf_handle(family).expect("the family"), key, value).expect("written");
}

fn delete(db: &DB, family: &str, key: &[u8]) {
    db.delete_cf(db.cf_handle(family).expect("the family"), key).expect("deleted");
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 0x10;
    bytes
}

/// A data directory whose server was killed: RocksDB's own log holds what no table does. Made once.
fn killed() -> &'static Path {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    MADE.get_or_init(|| {
        let begun = Changed::not();
        let mut server = Server::on(begun.0.path());
        let api = server.tenant().test;
        for _ in 0..60 {
            api.fund("1.00");
        }
        server.kill();
        let kept = tempfile::tempdir().expect("a directory");
        copy(begun.0.path(), kept.path());
        kept
    })
    .path()
}

/// The chunk that holds a record in the middle: its key, its bytes, the record's sequence, and
/// where it begins and ends.
fn middle(db: &DB) -> (Vec<u8>, Vec<u8>, u64, std::ops::Range<usize>) {
    let all = entries(db, "log");
    let (key, chunk) = all.into_iter().max_by_key(|(_, chunk)| chunk.len()).expect("a chunk");
    let first = u64::from_be_bytes(key.as_slice().try_into().expect("a sequence"));
    (key, chunk.clone(), first, 0..4 + u32::from_le_bytes(chunk[..4].try_into().expect("a length")) as usize)
}

#[test]
fn what_was_not_changed_passes() {
    let verified = Changed::not().verify().expect("right");
    assert!(
        verified.snapshots > 2 && verified.index_entries > verified.records && verified.states >= 10,
        "{verified:?}"
    );
}

#[test]
fn a_changed_record_is_named() {
    let directory = Changed::not();
    let db = DB::open_cf(&Options::default(), directory.log(), FAMILIES).expect("the store opens");
    let (key, chunk, seq, record) = middle(&db);
    drop(db);
    // Length, version, flags, reserved, sequence, time, tenant, predecessor, payload, checksum.
    for at in [0, 4, 5, 6, 8, 16, 24, 32, 48, 60, record.end - 1] {
        let changed = Changed::by(|db| put(db, "log", &key, &flipped(&chunk, at)));
        assert_eq!(changed.bad_sequence(&format!("byte {at}")), seq, "byte {at} of record {seq}");
    }
    // A record that is whole in itself, but another: its successor does not follow it.
    let changed = Changed::by(|db| {
        let (record, rest) = wal::Record::split_off(&chunk, seq, None).expect("a record");
        let mut forged = Vec::new();
        wal::Record { time_ms: record.time_ms + 1, ..record }.encode_into(&mut forged);
        forged.extend_from_slice(rest);
        put(db, "log", &key, &forged);
    });
    let named = changed.bad_sequence("a forged record");
    assert!(named == seq || named == seq + 1, "record {seq} was forged, {named} is named");
    let changed = Changed::by(|db| delete(db, "log", &key));
    assert_eq!(changed.bad_sequence("a chunk that is gone"), seq);
}

#[test]
fn every_kind_of_index_entry_is_covered_in_both_directions() {
    let directory = Changed::not();
    let db = DB::open_cf(&Options::default(), directory.log(), FAMILIES).expect("the store opens");
    let mut kinds: BTreeMap<(u8, bool), (Vec<u8>, Vec<u8>)> = BTreeMap::new();
    let all = entries(&db, "index");
    drop(db);
    let last = Reader::open_read_only(directory.log()).expect("it opens").last_seq();
    for (key, value) in all {
        let host = key[0] == 0xFF;
        kinds.entry((if host { key[1] } else { key[4] }, host)).or_insert((key, value));
    }
    let letters: Vec<char> = kinds.keys().map(|(letter, _)| char::from(*letter)).collect();
    assert!(['e', 'k', 'l', 'm', 'r', 'v', 'w'].iter().all(|letter| letters.contains(letter)), "{letters:?}");
    for ((letter, _), (key, value)) in kinds {
        let letter = char::from(letter);
        let gone = Changed::by(|db| delete(db, "index", &key)).bad_sequence(&format!("{letter} is gone"));
        let other = flipped(&[value.as_slice(), b"."].concat(), value.len());
        let changed = Changed::by(|db| put(db, "index", &key, &other))
            .bad_sequence(&format!("{letter} says something else"));
        let key = flipped(&key, key.len() - 1);
        let more = Changed::by(|db| put(db, "index", &key, &value))
            .bad_sequence(&format!("{letter} is there and nobody wrote it"));
        for named in [gone, changed, more] {
            assert!((1..=last).contains(&named), "{letter}: {named}");
        }
        assert_eq!(gone, changed, "{letter}: the record that wrote it");
    }
}

#[test]
fn a_changed_snapshot_is_named() {
    let directory = Changed::not();
    let db = DB::open_cf(&Options::default(), directory.log(), FAMILIES).expect("the store opens");
    let snapshots = entries(&db, "snapshots");
    drop(db);
    let (key, value) = snapshots.iter().max_by_key(|(_, value)| value.len()).expect("a snapshot");
    let seq = u64::from_be_bytes(key[8..].try_into().expect("a sequence"));
    for at in [0, 1, 9, 40, value.len() - 1] {
        let changed = Changed::by(|db| put(db, "snapshots", key, &flipped(value, at)));
        assert_eq!(changed.bad_sequence(&format!("byte {at}")), seq);
    }
    // A start would begin with an empty book where there was money.
    let tenant = &key[..8];
    let changed = Changed::by(|db| {
        snapshots
            .iter()
            .filter(|(key, _)| &key[..8] == tenant)
            .for_each(|(key, _)| delete(db, "snapshots", key))
    });
    assert!(changed.bad_sequence("no snapshot of a tenant is left") > 0);
}

/// The completion of entries that nobody waits for.
struct Nobody;

impl Completion for Nobody {
    fn complete(self, _outcome: Result<Durable, Poisoned>) {}
}

#[test]
fn a_snapshot_that_lost_every_hold_is_found() {
    let directory = Changed::not();
    let log = Log::<Nobody>::open(
        Box::new(RocksStore::open(directory.log()).expect("it opens")),
        Config::default(),
    )
    .expect("it opens");
    let machine = machine();
    let holding = log.reader().latest_snapshots().flatten().find_map(|stored| {
        match machine.restore(stored.tenant, &stored.state) {
            Ok(AnyBook::Tenant(book)) if book.accounts.values().any(|account| account.held > 0) => {
                Some((stored, book))
            }
            _ => None,
        }
    });
    let (stored, mut book) = holding.expect("a book with holds");
    for account in book.accounts.values_mut() {
        account.holds = SortedMap::new();
        account.held = 0;
    }
    let state = machine.save(&AnyBook::Tenant(book));
    let last = log.durable_seq();
    log.snapshot(
        Snapshot { tenant: stored.tenant, time_ms: stored.time_ms, state, index: IndexOps::new() },
        Nobody,
    );
    log.close();
    drop(log);
    assert_eq!(directory.bad_sequence("a snapshot without holds"), last);
}

#[test]
fn tip_floor_format_and_witness_are_covered() {
    let directory = Changed::not();
    let db = DB::open_cf(&Options::default(), directory.log(), FAMILIES).expect("the store opens");
    let meta = entries(&db, "meta");
    drop(db);
    assert_eq!(meta.len(), 3);
    // Opening for reading tries several times, as a server may write meanwhile: one after the other, and every byte,
    // they would take minutes.
    let places = meta.iter().flat_map(|(key, value)| {
        let some = (0..value.len()).filter(|at| at % 7 == 0 || at + 1 == value.len());
        some.map(Some).chain([None]).map(move |at| (key, value, at))
    });
    let places: Vec<_> = places.collect();
    race(places.len(), |n| {
        let (key, value, at) = places[n];
        let changed = Changed::by(|db| match at {
            Some(at) => put(db, "meta", key, &flipped(value, at)),
            None => delete(db, "meta", key),
        });
        assert!(changed.verify().is_err(), "byte {at:?} of {}", String::from_utf8_lossy(key));
    });
    let witness = fs::read(directory.log().join("WITNESS")).expect("the witness");
    let places = [0, 8, witness.len() - 1];
    race(places.len(), |n| {
        let changed = Changed::not();
        fs::write(changed.log().join("WITNESS"), flipped(&witness, places[n])).expect("written");
        assert!(changed.verify().is_err(), "byte {} of the witness", places[n]);
    });
}

/// The files of the store of one kind, by how their names begin or end.
fn files(log: &Path, kind: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(log).expect("readable").flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = all
        .filter(|path| {
            shown(path).ends_with(kind)
                || path.file_name().is_some_and(|name| {
                    name == kind || name.to_string_lossy().starts_with(&format!("{kind}-"))
                })
        })
        .collect();
    found.sort();
    found
}

#[test]
fn whatever_file_is_damaged_a_sequence_is_named() {
    let last = Reader::open_read_only(Changed::of(killed()).log()).expect("it opens").last_seq();
    let whole = Changed::of(killed());
    let mut places = Vec::new();
    for kind in [".log", ".sst", "MANIFEST", "CURRENT"] {
        for file in files(&whole.log(), kind) {
            let bytes = fs::read(&file).expect("readable");
            if bytes.len() > 8 {
                // A table is damaged also where it begins and, near the end, in its properties or
                // index; the footer's padding is read by nobody.
                let of_table = [2, bytes.len().saturating_sub(120)].into_iter().filter(|_| kind == ".sst");
                places.extend(
                    of_table
                        .chain([written(&bytes) / 2])
                        .map(|at| (file.file_name().expect("a name").to_owned(), flipped(&bytes, at), at)),
                );
            }
        }
    }
    assert!(places.len() > 6, "{}", places.len());
    // All are opened at once: opening for reading tries for some seconds, as a server may write
    // meanwhile.
    std::thread::scope(|scope| {
        for (file, bytes, at) in places {
            scope.spawn(move || {
                let changed = Changed::of(killed());
                fs::write(changed.log().join(&file), bytes).expect("written");
                let what = format!("byte {at} of {}", file.display());
                match changed.verify() {
                    Err(Failed::Damaged(damage)) => {
                        assert!((1..=last).contains(&damage.seq), "{what}: {damage:?} of {last}")
                    }
                    other => panic!("{what}: {other:?}"),
                }
            });
        }
    });
}

/// The bytes of a file without the zeros ahead of a log's end.
fn written(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

#[test]
fn the_first_record_that_rocksdbs_log_lost_is_named_and_a_start_names_it_too() {
    let changed = Changed::of(killed());
    let newest = files(&changed.log(), ".log")
        .into_iter()
        .max_by_key(|file| written(&fs::read(file).expect("readable")))
        .expect("a log");
    let bytes = fs::read(&newest).expect("readable");
    fs::write(&newest, flipped(&bytes, written(&bytes) / 2)).expect("written");
    let named = changed.bad_sequence("RocksDB's own log");
    let before = Reader::open_read_only(Changed::of(killed()).log()).expect("it opens");
    let floor = Reader::open_read_only(Changed::not().log()).expect("it opens").last_seq();
    // The byte is past the middle of what only that log has, and not at its end: some sixty records
    // of about one size.
    assert!(named > floor + 1 && named < before.last_seq(), "{floor} < {named} < {}", before.last_seq());
    let refused = match RocksStore::open(changed.log()) {
        Err(wal::OpenError::Damage(damage)) => damage.seq,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a damaged log opened"),
    };
    assert_eq!(refused, named);
}

#[test]
fn an_export_that_was_cut_or_changed_is_refused_with_the_place() {
    let directory = Changed::not();
    let parent = tempfile::tempdir().expect("a directory");
    let whole = parent.path().join("whole");
    let archived = archive::export(directory.0.path(), None, &whole, &mut |_, _, _| {}).expect("exported");
    let key = FileKey::read(directory.0.path(), None).expect("a key");
    let bytes = fs::read(&whole).expect("readable");
    assert_eq!(bytes.len() as u64, archived.bytes);
    let file = parent.path().join("changed");
    let mut tries = 0;
    let mut refused = |bytes: &[u8], what: &str| {
        tries += 1;
        fs::write(&file, bytes).expect("written");
        let into = parent.path().join(format!("world-{tries}"));
        let why = archive::import(&file, &into, key.clone(), 1000, &mut |_, _, _| {})
            .err()
            .unwrap_or_else(|| panic!("{what} was taken"))
            .to_string();
        assert!(why.starts_with(file.to_str().expect("a path")), "{what}: {why}");
        assert!(
            why.contains("at byte")
                || why.contains("is no export")
                || why.contains("another version")
                || why.contains("too short"),
            "{what}: {why}"
        );
        // The directory that was begun is marked as unfinished.
        assert!(
            !into.exists() || !fs::read_to_string(into.join("PAST")).expect("a marker").contains("seq ="),
            "{what}"
        );
    };
    // Every byte of the opening and of the first block's head is damaged, then bytes all over the
    // file.
    let step = (bytes.len() / 40).max(1);
    for at in (0..46).chain((46..bytes.len()).step_by(step)).chain([bytes.len() - 1]) {
        refused(&flipped(&bytes, at), &format!("byte {at}"));
    }
    for length in [0, 5, 12, 13, 45, 100, bytes.len() / 2, bytes.len() - 40, bytes.len() - 1] {
        refused(&bytes[..length], &format!("cut to {length}"));
    }
    refused(&[&bytes[..], b"x"].concat(), "a byte more");
    let again = parent.path().join("again");
    let imported =
        archive::import(&whole, &again, key, 1000, &mut |_, _, _| {}).expect("the whole one is taken");
    assert_eq!(imported, archived);
}

#[test]
fn the_command_says_so_and_exits_with_1() {
    let changed = Changed::by(|db| {
        let (key, chunk, _, record) = middle(db);
        put(db, "log", &key, &flipped(&chunk, record.end - 1));
    });
    let server = Server::start();
    assert!(
        fails(&server, &["wal", "verify", "--data-dir", shown(changed.0.path())]).contains("bad sequence")
    );
}

#[test]
fn questions_about_a_damaged_log_end_with_74() {
    // Behind records that are whole, so that the other program may meet it first: this one says where it is.
    let changed = Changed::by(|db| {
        let chunks = entries(db, "log");
        let (key, chunk) = &chunks[chunks.len() / 2];
        put(db, "log", key, &flipped(chunk, chunk.len() - 1));
    });
    let server = Server::start();
    let parent = tempfile::tempdir().expect("a directory");
    let other = program(parent.path(), "other", "exit 74");
    for command in [&["states"][..], &["shadow", "--with", shown(&other)]] {
        let data = ["--data-dir", shown(changed.0.path())];
        let output = server.command(&[&["wal"], command, &data].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(74), "{command:?}: {said}");
        assert!(said.lines().last().is_some_and(|line| line.contains("bad sequence")), "{command:?}: {said}");
    }
}
