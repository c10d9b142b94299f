//! Files that were cut or changed: nothing wrong is ever read from one.

use super::*;
use std::fs;

/// Books with a sorted file and a journal that is partly synced: the file, where it was synced up
/// to, and what was decided in it, in order.
fn journal_partly_synced() -> (Place, usize, Vec<(Uuid, Fate)>) {
    let place = Place::new();
    let disk = place.open();
    for number in 0..10 {
        disk.decide(id(number), fate(number)).expect("written");
    }
    disk.files().compact().expect("compacted");
    let mut decided = Vec::new();
    for number in 5..14 {
        disk.decide(id(number), fate(number + 1)).expect("written");
        decided.push((id(number), fate(number + 1)));
    }
    disk.files().sync().expect("synced");
    let synced = fs::metadata(files::journal(&place.path(), 2)).expect("there").len() as usize;
    for number in 14..18 {
        disk.decide(id(number), fate(number + 1)).expect("written");
        decided.push((id(number), fate(number + 1)));
    }
    let killed = place.killed();
    (killed, synced, decided)
}

/// What is known after `taken` of the journal's decisions.
fn known(decided: &[(Uuid, Fate)], taken: usize) -> BTreeMap<Uuid, Fate> {
    let mut known: BTreeMap<Uuid, Fate> = (0..10).map(|number| (id(number), fate(number))).collect();
    known.extend(decided[..taken].iter().copied());
    known
}

fn whole_records(bytes: &[u8]) -> usize {
    let mut records = 0;
    journal::read(bytes, 2, |record| records += usize::from(matches!(record, journal::Record::Decided(..))))
        .expect("readable");
    records
}

#[test]
fn a_journal_cut_at_any_byte_is_read_up_to_there_and_goes_on() {
    let (place, _, decided) = journal_partly_synced();
    let path = files::journal(&place.path(), 2);
    let whole = fs::read(&path).expect("readable");
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).expect("written");
        if length < journal::HEADER_BYTES {
            let why = place.try_open().err().expect("refused").to_string();
            assert!(why.contains("journal-00000002: byte 0"), "{length}: {why}");
            continue;
        }
        let known = known(&decided, whole_records(&whole[..length]));
        let disk = place.open();
        assert_knows(&disk, &known, 20);
        disk.decide(id(19), fate(1)).expect("written");
        drop(disk);
        assert_eq!(place.open().get(id(19)).expect("an answer"), Some(fate(1)), "{length}");
        fs::write(files::journal(&place.path(), 2), &whole).expect("written");
    }
}

#[test]
fn a_flipped_byte_of_a_journal_is_refused_or_was_never_synced() {
    let (place, synced, decided) = journal_partly_synced();
    let path = files::journal(&place.path(), 2);
    let whole = fs::read(&path).expect("readable");
    assert!(synced > 200 && synced < whole.len() - 50, "{synced} of {}", whole.len());
    let (mut refused, mut cut) = (0, 0);
    for at in 0..whole.len() {
        for bit in [0, 7] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            fs::write(&path, &bytes).expect("written");
            match place.try_open() {
                Err(why) => {
                    assert!(why.to_string().contains("journal-00000002: byte "), "{why}");
                    refused += 1;
                }
                Ok(disk) => {
                    // The mark of the sync itself is not synced, nor is what follows it.
                    assert!(at >= synced - 17, "byte {at} of {synced} that were synced");
                    let taken = fs::read(&path).expect("readable");
                    assert_knows(&disk, &known(&decided, whole_records(&taken)), 20);
                    cut += 1;
                }
            }
        }
    }
    assert_eq!(refused, 2 * (synced - 17));
    assert_eq!(cut, 2 * (whole.len() - synced + 17));
}

#[test]
fn the_end_that_a_power_cut_took_is_cut_off() {
    let (place, synced, decided) = journal_partly_synced();
    let path = files::journal(&place.path(), 2);
    let mut bytes = fs::read(&path).expect("readable");
    // A page in the middle of what was not synced is zeros; what came behind it is there.
    bytes[synced + 30..synced + 60].fill(0);
    fs::write(&path, &bytes).expect("written");
    assert_knows(&place.open(), &known(&decided, 10), 20);
}

#[test]
fn a_record_is_valid_in_its_place_alone() {
    let mut bytes = journal::header(3).to_vec();
    for number in 0..3 {
        let at = bytes.len() as u64;
        journal::Record::Decided(id(number), fate(number)).write_into(&mut bytes, 3, at);
    }
    let length = bytes.len();
    bytes.copy_within(24..51, 51);
    let end = journal::read(&bytes, 3, |_| ()).expect("readable");
    assert_eq!((end.at, length), (51, 24 + 3 * 27));
    assert!(journal::read(&bytes, 4, |_| ()).is_err(), "another journal");
}

#[test]
fn a_kind_that_is_not_known_is_refused() {
    assert_eq!(journal::Record::from_body(&[9; 19]), None);
    assert_eq!(journal::Record::from_body(&[]), None);
    let mut body = vec![1; 19];
    body[17] = 200;
    assert_eq!(journal::Record::from_body(&body), None, "no such fate");
}

#[test]
fn a_sorted_file_cut_or_changed_anywhere_is_refused() {
    let place = Place::new();
    let disk = place.open();
    for number in 0..300 {
        disk.decide(id(number), fate(number)).expect("written");
    }
    disk.files().compact().expect("compacted");
    drop(disk);
    let path = place.path().join(files::SORTED_FILE);
    let whole = fs::read(&path).expect("readable");
    assert_eq!(whole.len(), 40 + 2 * 4 + 300 * 18, "two blocks");
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).expect("written");
        let why = place.try_open().err().unwrap_or_else(|| panic!("byte {at} is not noticed")).to_string();
        assert!(why.contains(files::SORTED_FILE), "{why}");
    }
    for length in (0..whole.len()).step_by(7) {
        fs::write(&path, &whole[..length]).expect("written");
        assert!(place.try_open().is_err(), "cut at {length}");
    }
    fs::write(&path, [&whole[..], b"x"].concat()).expect("written");
    assert!(place.try_open().is_err(), "longer");
    fs::write(&path, &whole).expect("written");
    let model = (0..300).map(|number| (id(number), fate(number))).collect();
    assert_knows(&place.open(), &model, 310);
}

#[test]
fn a_file_that_is_missing_is_named() {
    let (place, ..) = journal_partly_synced();
    let gone = |name: &str| {
        let left = place.killed();
        fs::remove_file(left.path().join(name)).expect("removed");
        left.try_open().err().expect("refused").to_string()
    };
    assert!(gone("journal-00000002").contains("journal-00000002: is missing"));
    assert!(gone("operations.sorted").contains("journal-00000001: is missing"));
}

#[test]
fn books_that_failed_answer_nothing_until_everything_is_in_new_files() {
    let place = Place::new();
    let known = place.open();
    known.decide(id(9), fate(2)).expect("written");
    drop(known);
    let mut opened = opening::open(&place.path()).expect("opens");
    // What is opened for reading takes no write.
    opened.journal = fs::File::open(files::journal(&place.path(), 1)).expect("there");
    let disk = Disk::without_keeper(&place.path(), opened, &place.room());
    let why = disk.decide(id(1), fate(1)).expect_err("refused").to_string();
    assert!(why.contains(DIRECTORY), "{why}");
    assert!(disk.get(id(9)).is_err(), "nobody knows what is in the file");
    assert!(disk.decide(id(2), fate(2)).is_err() && disk.count_duplicate().is_err());
    disk.files().compact().expect("compacted");
    // What was decided while its record could not be written is a decision that nobody heard of.
    let mut model = BTreeMap::from([(id(1), fate(1)), (id(9), fate(2))]);
    assert_knows(&disk, &model, 12);
    disk.decide(id(3), fate(3)).expect("written");
    model.insert(id(3), fate(3));
    assert_knows(&place.killed().open(), &model, 12);
}

#[test]
fn below_the_reserve_nothing_new_is_decided_and_what_is_known_is_told() {
    let place = Place::new();
    let disk = place.open();
    disk.decide(id(1), fate(1)).expect("written");
    drop(disk);
    let room = Arc::new(Room::new(&place.path(), u64::MAX));
    let disk = Disk::new(&place.path(), opening::open(&place.path()).expect("opens"), &room);
    let disk = disk.expect("a thread");
    assert!(disk.decide(id(2), fate(2)).is_err());
    assert_knows(&disk, &BTreeMap::from([(id(1), fate(1))]), 5);
}
