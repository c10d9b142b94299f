//! Damage to the files of a real database: a torn tail, a flipped byte, a missing file.

use crate::*;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use wal::{OpenError, RocksStore};

fn open_dir(dir: &Path) -> Result<Log<Reply>, OpenError> {
    Log::open(Box::new(RocksStore::open(dir)?), Config::default())
}

fn refusal_of(dir: &Path) -> String {
    match open_dir(dir) {
        Ok(log) => panic!("the log opened and ends at {}", log.durable_seq()),
        Err(error) => error.to_string(),
    }
}

/// The files that a dead process leaves: as they are now, byte for byte.
fn image(dir: &Path) -> TempDir {
    let image = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), image.path().join(entry.file_name())).unwrap();
    }
    image
}

/// RocksDB's log files, oldest first.
fn wal_files(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "log")).collect();
    files.sort();
    files
}

/// Without the zeros that are written ahead.
fn size(path: &Path) -> u64 {
    let content = fs::read(path).unwrap();
    content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1)
}

/// A directory whose process is still alive, so that everything is in RocksDB's log and nowhere
/// else.
fn alive(records: u64) -> (TempDir, Log<Reply>) {
    let dir = tempfile::tempdir().unwrap();
    let log = open_dir(dir.path()).unwrap();
    for n in 1..=records {
        append(&log, record(1, &vec![n as u8; 700])).seq();
    }
    (dir, log)
}

#[test]
fn a_torn_tail_opens_without_what_was_never_acknowledged() {
    let (dir, log) = alive(100);
    let wal = wal_files(dir.path()).pop().unwrap();
    let name = wal.file_name().unwrap();
    let whole = size(&wal);
    let witness = fs::read(dir.path().join("WITNESS")).unwrap();
    // Larger than a block of RocksDB's log, so that it is torn inside fragments and between them.
    append(&log, record(1, &[101; 100_000])).seq();
    let torn = size(&wal);
    assert!(torn > whole + 100_000);
    // Between pieces, too.
    let blocks = (whole / 32_768 + 1..=torn / 32_768).map(|block| block * 32_768);
    let cuts = [whole, whole + 1, whole + 6, whole + 7, whole + 100, whole + 65_536, torn - 1];
    let cuts: Vec<u64> = cuts.into_iter().chain(blocks).collect();
    assert!(cuts.len() >= 7 + 3);
    for (cut, length) in cuts.into_iter().flat_map(|cut| [(cut, cut), (cut, torn), (cut, torn + (1 << 20))]) {
        let image = image(dir.path());
        let file = File::options().write(true).open(image.path().join(name)).unwrap();
        file.set_len(cut).unwrap();
        file.set_len(length).unwrap();
        // The witness is as it was before the torn write, which was never acknowledged.
        fs::write(image.path().join("WITNESS"), &witness).unwrap();
        let log = open_dir(image.path()).unwrap_or_else(|error| panic!("cut to {cut} of {length}: {error}"));
        assert_eq!(log.durable_seq(), 100, "cut to {cut}");
        assert_eq!(log.reader().verify(&mut |_, _| ()).unwrap().records, 100);
        assert_eq!(append(&log, record(1, b"on")).seq(), 101);
        drop(log);
        assert_eq!(open_dir(image.path()).unwrap().durable_seq(), 101);
    }
}

#[test]
fn an_end_that_reads_as_zeros_opens_without_what_was_never_acknowledged() {
    const SECTOR: u64 = 512;
    let (dir, log) = alive(100);
    let wal = wal_files(dir.path()).pop().unwrap();
    let name = wal.file_name().unwrap();
    let whole = size(&wal);
    let witness = fs::read(dir.path().join("WITNESS")).unwrap();
    append(&log, record(1, &[101; 100_000])).seq();
    append(&log, record(1, &[102; 100])).seq();
    let long = size(&wal);
    // The disk knows a length and has the bytes up to a border between sectors, or none of them.
    let borders = (whole.next_multiple_of(SECTOR)..long).step_by(SECTOR as usize);
    let kept = borders.step_by(17).chain([whole]);
    for (kept, length) in kept.flat_map(|kept| [(kept, long), (kept, (kept + 3 * SECTOR).min(long))]) {
        let image = image(dir.path());
        let file = File::options().write(true).open(image.path().join(name)).unwrap();
        file.set_len(kept).unwrap();
        file.set_len(length).unwrap();
        fs::write(image.path().join("WITNESS"), &witness).unwrap();
        let log = open_dir(image.path()).unwrap_or_else(|error| panic!("{kept} of {length}: {error}"));
        // The first of the two is there if all of its sectors are.
        let last = log.durable_seq();
        assert!((100..=101).contains(&last), "{kept} of {length}: {last}");
        assert_eq!(log.reader().verify(&mut |_, _| ()).unwrap().records, last);
        assert_eq!(append(&log, record(1, b"on")).seq(), last + 1);
        drop(log);
        assert_eq!(open_dir(image.path()).unwrap().durable_seq(), last + 1);
    }
}

#[test]
fn an_end_of_the_manifest_that_reads_as_zeros_opens() {
    const SECTOR: usize = 512;
    let (dir, _log) = alive(100);
    let current = fs::read_to_string(dir.path().join("CURRENT")).unwrap();
    let whole = fs::read(dir.path().join(current.trim_end())).unwrap();
    // A whole record, of type 1, of which the disk has a part.
    let content = [7_u8; 3 * SECTOR];
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&[1]), &content);
    let masked = checksum.rotate_right(15).wrapping_add(0xa282_ead8);
    let length = u16::try_from(content.len()).unwrap();
    let head = [masked.to_le_bytes().as_slice(), &length.to_le_bytes(), &[1]].concat();
    let written = [whole.as_slice(), &head, &content].concat();
    let borders = (whole.len().next_multiple_of(SECTOR)..written.len()).step_by(SECTOR);
    for kept in borders.chain([whole.len()]) {
        let image = image(dir.path());
        let mut left = written.clone();
        left[kept..].fill(0);
        fs::write(image.path().join(current.trim_end()), &left).unwrap();
        let log = open_dir(image.path()).unwrap_or_else(|error| panic!("{kept}: {error}"));
        assert_eq!(log.durable_seq(), 100, "{kept}");
        assert_eq!(append(&log, record(1, b"on")).seq(), 101);
        drop(log);
        assert_eq!(open_dir(image.path()).unwrap().durable_seq(), 101);
    }
}

#[test]
fn zeros_in_the_place_of_acknowledged_records_are_refused() {
    let (dir, _log) = alive(50);
    let wal = wal_files(dir.path()).pop().unwrap();
    for bytes in [1, 700, 5_000, 30_000] {
        let image = image(dir.path());
        let path = image.path().join(wal.file_name().unwrap());
        let mut content = fs::read(&path).unwrap();
        let end = size(&path) as usize - bytes;
        content[end..].fill(0);
        fs::write(&path, content).unwrap();
        let text = refusal_of(image.path());
        assert!(text.contains("but 50 was acknowledged") || text.contains("Corruption: "), "{bytes}: {text}");
        assert_eq!(refusal_of(image.path()), text);
    }
}

#[test]
fn zeros_before_something_that_was_written_are_refused() {
    let (dir, _log) = alive(100);
    let wal = wal_files(dir.path()).pop().unwrap();
    let image = image(dir.path());
    let path = image.path().join(wal.file_name().unwrap());
    let mut content = fs::read(&path).unwrap();
    content[40_960..45_056].fill(0);
    fs::write(&path, &content).unwrap();
    fs::remove_file(image.path().join("WITNESS")).unwrap();
    let text = refusal_of(image.path());
    assert!(text.contains("Corruption: "), "{text}");
    assert!(fs::read(&path).unwrap() == content, "a refusal changes nothing");
}

#[test]
fn a_flipped_byte_of_a_last_record_that_ends_with_zeros_is_refused() {
    let (dir, log) = alive(100);
    append(&log, record(1, &[0; 700])).seq();
    let wal = wal_files(dir.path()).pop().unwrap();
    let bytes = size(&wal);
    let image = image(dir.path());
    // The tip, which is written in each batch, is behind the record: its checksum ends the file.
    flip(&image.path().join(wal.file_name().unwrap()), bytes - 900, 0x10);
    fs::remove_file(image.path().join("WITNESS")).unwrap();
    let text = refusal_of(image.path());
    assert!(text.contains("Corruption: "), "{text}");
}

#[test]
fn a_tail_cut_below_what_was_acknowledged_is_refused() {
    let (dir, _log) = alive(50);
    let wal = wal_files(dir.path()).pop().unwrap();
    for bytes in [1, 500, 5_000] {
        let image = image(dir.path());
        let file = File::options().write(true).open(image.path().join(wal.file_name().unwrap())).unwrap();
        file.set_len(size(&wal) - bytes).unwrap();
        let text = refusal_of(image.path());
        assert!(text.contains("but 50 was acknowledged"), "{text}");
        // The refusal is the same on a second try: a refusal changes nothing that matters.
        assert_eq!(refusal_of(image.path()), text);
        // The operator accepts the loss.
        fs::remove_file(image.path().join("WITNESS")).unwrap();
        let log = open_dir(image.path()).unwrap();
        assert!(log.durable_seq() < 50 && log.durable_seq() > 40);
        log.reader().verify(&mut |_, _| ()).unwrap();
    }
}

fn flip(file: &Path, at: u64, bit: u8) {
    let mut content = fs::read(file).unwrap();
    content[at as usize] ^= bit;
    fs::write(file, content).unwrap();
}

#[test]
fn a_flipped_byte_of_the_rocksdb_log_is_refused() {
    let (dir, _log) = alive(100);
    let wal = wal_files(dir.path()).pop().unwrap();
    let bytes = size(&wal);
    // Headers and contents, in every block, up to the very end.
    let places =
        (0..40).map(|n| n * bytes / 40).chain(0..12).chain([32_768, 32_772, 32_774, bytes - 100, bytes - 1]);
    for at in places {
        let image = image(dir.path());
        flip(&image.path().join(wal.file_name().unwrap()), at, 0x10);
        // RocksDB sees it by itself: the mode of recovery is the right one.
        fs::remove_file(image.path().join("WITNESS")).unwrap();
        let text = refusal_of(image.path());
        assert!(
            text.starts_with("the log is damaged at sequence ") && text.contains("Corruption: "),
            "byte {at}: {text}"
        );
    }
}

#[test]
fn a_flipped_length_that_looks_like_a_torn_tail_is_refused() {
    const BLOCK: u64 = 32_768;
    const HEADER: u64 = 7; // u32 checksum, u16 length, u8 type
    let (dir, _log) = alive(100);
    let wal = wal_files(dir.path()).pop().unwrap();
    let content = fs::read(&wal).unwrap();
    // The third fragment of the last block; with the highest bit of its length it reaches beyond
    // the end of the file.
    let mut at = size(&wal) / BLOCK * BLOCK;
    for _ in 0..2 {
        at += HEADER + u64::from(u16::from_le_bytes([content[at as usize + 4], content[at as usize + 5]]));
    }
    let image = image(dir.path());
    let path = image.path().join(wal.file_name().unwrap());
    flip(&path, at + 5, 0x80);
    let text = refusal_of(image.path());
    assert!(text.contains("Corruption: "), "it reaches into the zeros: {text}");
    File::options().write(true).open(&path).unwrap().set_len(size(&wal)).unwrap();
    let text = refusal_of(image.path());
    assert!(text.contains("but 100 was acknowledged"), "only the witness can see it: {text}");
}

#[test]
fn a_missing_rocksdb_log_is_refused() {
    let (dir, _log) = alive(10);
    let image = image(dir.path());
    for wal in wal_files(image.path()) {
        fs::remove_file(wal).unwrap();
    }
    let text = refusal_of(image.path());
    assert!(text.contains("10 was acknowledged"), "{text}");
}

#[test]
fn one_of_several_rocksdb_logs_missing_is_refused() {
    // Enough for the memtable of the log to be switched, and with it the log file; the index is
    // small and keeps the old one needed.
    let dir = tempfile::tempdir().unwrap();
    let log = open_dir(dir.path()).unwrap();
    for n in 0..20u64 {
        let mut large = record(n, &vec![n as u8; 4 << 20]);
        large.index.put_seq(&n.to_be_bytes());
        append(&log, large).seq();
    }
    let files = wal_files(dir.path());
    assert!(files.len() >= 2, "{files:?}");
    for missing in &files {
        let image = image(dir.path());
        fs::remove_file(image.path().join(missing.file_name().unwrap())).unwrap();
        let text = refusal_of(image.path());
        assert!(text.contains("was acknowledged") || text.contains("issing"), "{text}");
    }
}

#[test]
fn a_lost_database_is_not_taken_for_a_new_one() {
    let (dir, log) = alive(3);
    log.close();
    drop(log);
    for entry in fs::read_dir(dir.path()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "WITNESS" {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let text = refusal_of(dir.path());
    assert!(
        text.ends_with("the log ends at 0, but 3 was acknowledged: records 1 to 3 are missing"),
        "{text}"
    );
}

#[test]
fn a_damaged_witness_is_refused() {
    let (dir, log) = alive(3);
    drop(log);
    let path = dir.path().join("WITNESS");
    let mut witness = fs::read(&path).unwrap();
    witness[2] ^= 1;
    fs::write(&path, witness).unwrap();
    let text = refusal_of(dir.path());
    assert!(text.ends_with("the witness has a wrong checksum or length"), "{text}");
}
