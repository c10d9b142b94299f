//! Compactions that a crash ended, at each of their steps: nothing that was answered is unknown.

use super::super::sorted::Sorted;
use super::*;
use std::fs;

const IDS: u64 = 40;

/// A state between two steps of a compaction, put together from files of before and after it.
fn states() -> (BTreeMap<Uuid, Fate>, Vec<(&'static str, Place)>) {
    let place = Place::new();
    let disk = place.open();
    let mut model = BTreeMap::new();
    let mut decide = |disk: &Disk, number: u64, kind: u64| {
        disk.decide(id(number), fate(kind)).expect("written");
        model.insert(id(number), fate(kind));
    };
    for number in 0..20 {
        decide(&disk, number, number);
    }
    disk.files().compact().expect("compacted");
    // Again and new: the newer decision counts.
    for number in 10..30 {
        decide(&disk, number, number + 1);
    }
    disk.count_duplicate().expect("written");
    let before = place.killed();
    disk.files().compact().expect("compacted");
    for number in 25..35 {
        decide(&disk, number, number + 2);
    }
    let after = place.killed();
    assert_eq!(before.names(), ["journal-00000002", "operations.sorted"]);
    assert_eq!(after.names(), ["journal-00000003", "operations.sorted"]);
    let put = |into: &Place, from: &Place, name: &str, to: &str| {
        fs::copy(from.path().join(name), into.path().join(to)).expect("copied");
    };
    let made = |steps: &dyn Fn(&Place)| {
        let left = before.killed();
        steps(&left);
        left
    };
    let half = |left: &Place| {
        let bytes = fs::read(after.path().join("operations.sorted")).expect("readable");
        fs::write(left.path().join("operations.sorted.new"), &bytes[..bytes.len() / 2]).expect("written");
    };
    let begun = |left: &Place| put(left, &after, "journal-00000003", "journal-00000003");
    let states = vec![
        ("a new journal begun", made(&|left| begun(left))),
        ("half a sorted file", made(&|left| (begun(left), half(left)).0)),
        (
            "a whole sorted file without its name",
            made(&|left| {
                begun(left);
                put(left, &after, "operations.sorted", "operations.sorted.new");
            }),
        ),
        (
            "the old journal still there",
            made(&|left| {
                begun(left);
                put(left, &after, "operations.sorted", "operations.sorted");
            }),
        ),
        ("done", after.killed()),
    ];
    (model, states)
}

#[test]
fn every_step_of_a_compaction_can_be_the_last() {
    let (model, states) = states();
    for (step, left) in states {
        assert_eq!(entries(&left), (model.clone(), 1), "{step}");
        let disk = left.open();
        assert_knows(&disk, &model, IDS);
        assert_eq!(disk.duplicates(), 1, "{step}");
        drop(disk);
        // Opening has taken up what was left, and opening again changes nothing.
        assert!(left.names().iter().all(|name| !name.ends_with(".new")), "{step}: {:?}", left.names());
        assert_eq!(left.names().len(), 2, "{step}: {:?}", left.names());
        assert_knows(&left.open(), &model, IDS);
        let sorted = Sorted::open(&left.path().join(files::SORTED_FILE)).expect("whole");
        assert!(sorted.get(id(0)).expect("readable").is_some());
    }
}

#[test]
fn a_journal_that_was_being_made_is_made_again() {
    let place = Place::new();
    fs::create_dir(place.path()).expect("a directory");
    fs::write(place.path().join("journal-00000001.new"), b"PASA").expect("written");
    let disk = place.open();
    disk.decide(id(1), fate(1)).expect("written");
    fs::write(place.path().join("journal-00000002.new"), b"PASA").expect("written");
    disk.files().compact().expect("compacted");
    assert_eq!(place.names(), ["journal-00000002", "operations.sorted"]);
}

#[test]
fn a_compaction_that_fails_is_taken_up_again() {
    let place = Place::new();
    let disk = place.open();
    disk.decide(id(1), fate(1)).expect("written");
    // Where the file would be made there is a directory.
    let obstacle = place.path().join("operations.sorted.new");
    fs::create_dir(&obstacle).expect("a directory");
    assert!(disk.files().compact().is_err());
    disk.decide(id(1), fate(2)).expect("written");
    disk.decide(id(2), fate(2)).expect("written");
    assert_eq!(disk.get(id(1)).expect("an answer"), Some(fate(2)));
    assert_eq!(place.names(), ["journal-00000001", "journal-00000002", "operations.sorted.new"]);
    fs::remove_dir(&obstacle).expect("removed");
    disk.files().compact().expect("compacted");
    let model = BTreeMap::from([(id(1), fate(2)), (id(2), fate(2))]);
    assert_knows(&disk, &model, 5);
    drop(disk);
    assert_eq!(place.names(), ["journal-00000002", "operations.sorted"]);
    assert_knows(&place.open(), &model, 5);
}
