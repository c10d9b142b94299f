//! The RocksDB that the books were in once: what was in it is known, whenever the move was
//! interrupted.

use super::*;
use rocksdb::DB;
use std::fs;

/// Books as earlier versions kept them, of a server that was killed.
fn rocksdb() -> (Place, BTreeMap<Uuid, Fate>) {
    let place = Place::new();
    let model: BTreeMap<Uuid, Fate> = (0..1_000).map(|number| (id(number), fate(number))).collect();
    let db = DB::open_default(place.path()).expect("opens");
    for (at, (id, fate)) in model.iter().rev().enumerate() {
        db.put(id.as_bytes(), fate.bytes()).expect("written");
        if at == 700 {
            db.flush().expect("flushed");
        }
    }
    db.put(DUPLICATES, 3_u64.to_le_bytes()).expect("written");
    (place.killed(), model)
}

#[test]
fn a_rocksdb_is_taken_over_once() {
    let (place, model) = rocksdb();
    let disk = place.open();
    assert_eq!(place.names(), ["journal-00000001", "operations.sorted"]);
    assert_knows(&disk, &model, 1_010);
    assert_eq!(disk.duplicates(), 3);
    disk.decide(id(5), fate(7)).expect("written");
    drop(disk);
    let disk = place.open();
    assert_eq!((disk.get(id(5)).expect("an answer"), disk.duplicates()), (Some(fate(7)), 3));
}

#[test]
fn an_interrupted_move_begins_anew_or_is_done() {
    let (original, model) = rocksdb();
    let moved = original.killed();
    drop(moved.open());
    let steps: [(&str, &[(&str, &str)]); 4] = [
        ("half a sorted file", &[("journal-00000001", "operations.sorted.new")]),
        ("a sorted file alone", &[("operations.sorted", "operations.sorted")]),
        (
            "both files",
            &[("operations.sorted", "operations.sorted"), ("journal-00000001", "journal-00000001")],
        ),
        (
            "both files, without CURRENT",
            &[("operations.sorted", "operations.sorted"), ("journal-00000001", "journal-00000001")],
        ),
    ];
    for (step, files) in steps {
        let place = original.killed();
        for (from, to) in files {
            fs::copy(moved.path().join(from), place.path().join(to)).expect("copied");
        }
        if step.ends_with("CURRENT") {
            fs::remove_file(place.path().join("CURRENT")).expect("removed");
        }
        let disk = place.open();
        assert_knows(&disk, &model, 1_010);
        assert_eq!(disk.duplicates(), 3, "{step}");
        assert_eq!(place.names().len(), 2, "{step}: {:?}", place.names());
        assert_knows(&place.killed().open(), &model, 1_010);
    }
}

#[test]
fn what_an_earlier_version_did_in_between_is_known_too() {
    let (place, mut model) = rocksdb();
    let disk = place.open();
    for number in 500..1_100 {
        disk.decide(id(number), fate(number + 1)).expect("written");
        model.insert(id(number), fate(number + 1));
    }
    drop(disk);
    // It saw no books, and made its own beside these.
    let db = DB::open_default(place.path()).expect("opens");
    for number in 1_050..1_200 {
        db.put(id(number).as_bytes(), fate(number + 2).bytes()).expect("written");
        model.insert(id(number), fate(number + 2));
    }
    db.put(DUPLICATES, 1_u64.to_le_bytes()).expect("written");
    drop(db);
    let disk = place.open();
    assert_knows(&disk, &model, 1_210);
    assert_eq!((disk.duplicates(), place.names().len()), (3, 2));
}

#[test]
fn a_damaged_rocksdb_is_refused_and_left_alone() {
    let (place, _) = rocksdb();
    let table = place.names().into_iter().find(|name| name.ends_with(".sst")).expect("a table");
    let path = place.path().join(table);
    let mut bytes = fs::read(&path).expect("readable");
    bytes[100] ^= 1;
    fs::write(&path, bytes).expect("written");
    let why = place.try_open().err().expect("refused").to_string();
    assert!(why.contains(DIRECTORY), "{why}");
    assert!(path.exists() && place.path().join("CURRENT").exists());
    assert!(place.try_open().is_err(), "again");
}

#[test]
fn a_copy_of_books_beside_a_rocksdb_has_what_is_in_both() {
    let (place, mut model) = rocksdb();
    drop(place.open());
    let disk = place.open();
    for number in 500..1_100 {
        disk.decide(id(number), fate(number + 1)).expect("written");
        model.insert(id(number), fate(number + 1));
    }
    disk.count_duplicate().expect("written");
    drop(disk);
    let db = DB::open_default(place.path()).expect("opens");
    for number in 1_050..1_200 {
        db.put(id(number).as_bytes(), fate(number + 2).bytes()).expect("written");
        model.insert(id(number), fate(number + 2));
    }
    db.put(DUPLICATES, 1_u64.to_le_bytes()).expect("written");
    drop(db);
    assert!(is_books(&place.path()).expect("readable"), "what copies looks into both");
    assert_eq!(entries(&place.killed()), (model.clone(), 4), "as a start would read it");
    let disk = place.open();
    assert_knows(&disk, &model, 1_210);
    assert_eq!(disk.duplicates(), 4);
}
