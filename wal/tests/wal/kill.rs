//! SIGKILL of a process that writes, many times over the same directory.

use crate::pieces::{snapshot_at, state};
use crate::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use wal::{Family, Reader, RocksStore, Scan, Store};

const ROUNDS: usize = 12;
/// The length of a state, in bytes: several pieces.
const STATE_BYTES: usize = (1 << 20) + 1;

/// Run by the test below in a process of its own, until it is killed: writes, and says what was
/// acknowledged.
#[test]
#[ignore = "run by another test, which kills it"]
fn child_that_is_killed() {
    let dir = std::env::var_os("PASARELA_WAL_DIR").unwrap();
    let log = open(RocksStore::open(dir).unwrap());
    std::thread::scope(|scope| {
        for tenant in 0..4u64 {
            let log = &log;
            scope.spawn(move || {
                let mut saved: Option<Pending> = None;
                for n in 0u64.. {
                    let pending: Vec<_> = (0..8u64)
                        .map(|k| {
                            let name = format!("{tenant}-{n}-{k}");
                            let mut append_record =
                                record(tenant, name.repeat(1 + (n % 40) as usize).as_bytes());
                            append_record
                                .index
                                .put_seq(&[&std::process::id().to_le_bytes(), name.as_bytes()].concat());
                            append(log, append_record)
                        })
                        .collect();
                    let seqs: Vec<u64> = pending.iter().map(Pending::seq).collect();
                    for (k, seq) in seqs.iter().enumerate() {
                        let line = format!("acknowledged {seq} {} {tenant}-{n}-{k}\n", n % 40 + 1);
                        std::io::stdout().write_all(line.as_bytes()).unwrap();
                    }
                    // The first tenant always has a state under way; the others have a small one
                    // now and then.
                    if tenant == 0 && saved.as_ref().is_none_or(|saved| !saved.is_open()) {
                        saved = Some(snapshot_at(log, tenant, seqs[7], STATE_BYTES));
                        // Most snapshots go again, also while the next one is under way.
                        let heads = log.reader().snapshot_heads(tenant).unwrap();
                        remove(log, everything_old().superfluous(&heads, usize::MAX));
                    } else if n % 10 == 0 && tenant > 0 {
                        snapshot(log, tenant, b"state");
                    }
                }
            });
        }
    });
}

#[test]
fn every_acknowledged_record_survives_sigkill() {
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged_before = 0;
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::child_that_is_killed", "--ignored", "--nocapture"])
            .env("PASARELA_WAL_DIR", dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Vec::new();
        let enough = 20 + round * 137;
        loop {
            let mut line = String::new();
            if out.read_line(&mut line).unwrap() == 0 {
                break;
            }
            if lines.len() == enough {
                child.kill().unwrap();
            }
            // The last line may be cut off.
            if let Some(line) =
                line.strip_suffix('\n').and_then(|line| Some(line.split_once("acknowledged ")?.1))
            {
                lines.push(line.to_owned());
            }
        }
        child.wait().unwrap();
        assert!(lines.len() >= enough, "it was killed, and did not end by itself");
        let before = Reader::open_read_only(dir.path()).unwrap().verify(&mut |_, _| ()).unwrap();

        let log = open(RocksStore::open(dir.path()).unwrap());
        let reader = log.reader();
        for line in &lines {
            let mut words = line.split(' ');
            let seq: u64 = words.next().unwrap().parse().unwrap();
            let times: usize = words.next().unwrap().parse().unwrap();
            let name = words.next().unwrap();
            let found = reader.record(seq).unwrap().expect("an acknowledged record is there");
            assert_eq!(found.payload, name.repeat(times).as_bytes());
            let key = [&child.id().to_le_bytes(), name.as_bytes()].concat();
            assert_eq!(reader.index_get(&key).unwrap().unwrap(), seq.to_be_bytes());
        }
        let verified = reader.verify(&mut |_, _| ()).unwrap();
        assert_eq!(
            verified.snapshots, before.snapshots,
            "what a kill left of a state is no snapshot, before and after it is removed"
        );
        for stored in reader.snapshots_of(0).map(Result::unwrap) {
            assert_eq!(stored.state, state(stored.seq, STATE_BYTES));
        }
        assert!(verified.records >= acknowledged_before + lines.len() as u64);
        acknowledged_before = verified.records;
        let snapshots = reader.snapshots_of(0).count();
        assert!(
            snapshots <= 6,
            "the first, the two newest, and those whose removal the kill came before: {snapshots}"
        );
        log.close();
        drop((log, reader));
        let left = pieces(&RocksStore::open_read_only(dir.path()).unwrap());
        assert_eq!(left, snapshots * STATE_BYTES.div_ceil(Config::default().piece_bytes_max));
    }
}

fn pieces(store: &RocksStore) -> usize {
    let mut cursor = store.cursor(Scan::all(Family::Pieces));
    cursor.first();
    let mut count = 0;
    while cursor.item().is_some() {
        count += 1;
        cursor.next();
    }
    count
}
