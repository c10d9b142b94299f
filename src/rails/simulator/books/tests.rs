//! The books in files, against a map; what a crash may leave of them, and what is refused.

mod damage;
mod interrupted;
mod moving;

use super::disk::Disk;
use super::files::{self, Found};
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const DIRECTORY: &str = "simulator";

/// Books in a directory that is gone at the end.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join(DIRECTORY)
    }

    /// Room without a reserve.
    fn room(&self) -> Arc<Room> {
        Arc::new(Room::new(&self.path(), 0))
    }

    fn open(&self) -> Disk {
        self.try_open().expect("opens")
    }

    /// Nothing but what a test does syncs or compacts these.
    fn try_open(&self) -> Result<Disk, BooksError> {
        Ok(Disk::without_keeper(&self.path(), opening::open(&self.path())?, &self.room()))
    }

    fn open_with_keeper(&self) -> Disk {
        Disk::new(&self.path(), opening::open(&self.path()).expect("opens"), &self.room()).expect("a thread")
    }

    /// The same as a process that was killed now would have left it.
    fn killed(&self) -> Place {
        let other = Place::new();
        std::fs::create_dir(other.path()).expect("a directory");
        for entry in std::fs::read_dir(self.path()).expect("readable").flatten() {
            std::fs::copy(entry.path(), other.path().join(entry.file_name())).expect("copied");
        }
        other
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("readable").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name != files::LOCK_FILE);
        names.sort();
        names
    }
}

/// An id that sorts by its number.
fn id(number: u64) -> Uuid {
    Uuid::from_u64_pair(number, 7)
}

fn fate(number: u64) -> Fate {
    let fates = [[0, 0], [1, 0], [2, 3], [3, 0], [4, 16], [5, 0], [6, 1], [7, 0], [8, 0]];
    Fate::from_bytes(&fates[number as usize % fates.len()]).expect("a fate")
}

/// Everything that a copy of the books would have.
fn entries(place: &Place) -> (BTreeMap<Uuid, Fate>, u64) {
    let (mut decisions, mut duplicates) = (BTreeMap::new(), 0);
    each_entry(&place.path(), |key, value| {
        match Uuid::from_slice(key) {
            Ok(id) => _ = decisions.insert(id, Fate::from_bytes(value).expect("a fate")),
            Err(_) => duplicates = u64::from_le_bytes(value.try_into().expect("a number")),
        }
        Ok::<_, BooksError>(())
    })
    .expect("readable");
    (decisions, duplicates)
}

#[track_caller]
fn assert_knows(disk: &Disk, decided: &BTreeMap<Uuid, Fate>, ids: u64) {
    for number in 0..ids {
        assert_eq!(disk.get(id(number)).expect("an answer"), decided.get(&id(number)).copied(), "{number}");
    }
}

/// What is done to the books.
#[derive(Clone, Debug)]
enum Deed {
    Decide(u64, u64),
    Duplicate,
    Sync,
    Compact,
    Reopen,
    Kill,
    Copy,
}

const IDS: u64 = 600;

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        60 => (0..IDS, 0_u64..9).prop_map(|(id, fate)| Deed::Decide(id, fate)),
        3 => Just(Deed::Duplicate),
        1 => Just(Deed::Sync),
        1 => Just(Deed::Compact),
        1 => Just(Deed::Reopen),
        1 => Just(Deed::Kill),
        1 => Just(Deed::Copy),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn they_know_what_a_map_knows(deeds in proptest::collection::vec(deed(), 1..600)) {
        let mut place = Place::new();
        let mut disk = Some(place.open());
        let (mut model, mut duplicates) = (BTreeMap::new(), 0);
        for deed in deeds {
            let open = disk.as_ref().expect("open");
            match deed {
                Deed::Decide(number, kind) => {
                    open.decide(id(number), fate(kind)).expect("written");
                    model.insert(id(number), fate(kind));
                    prop_assert_eq!(open.get(id(number)).expect("an answer"), Some(fate(kind)));
                }
                Deed::Duplicate => {
                    duplicates += 1;
                    prop_assert_eq!(open.count_duplicate().expect("written"), duplicates);
                }
                Deed::Sync => open.files().sync().expect("synced"),
                Deed::Compact => open.files().compact().expect("compacted"),
                Deed::Reopen => {
                    disk = None;
                    disk.get_or_insert_with(|| place.open());
                }
                Deed::Kill => {
                    let left = place.killed();
                    drop(disk.take());
                    place = left;
                    disk = Some(place.open());
                }
                Deed::Copy => {
                    let other = Place::new();
                    let mut copy = BooksCopy::new(&other.path()).expect("a copy");
                    each_entry(&place.path(), |key, value| copy.put(key, value)).expect("copied");
                    copy.finish().expect("copied");
                    prop_assert_eq!(entries(&other), (model.clone(), duplicates));
                    assert_knows(&other.open(), &model, IDS);
                }
            }
        }
        let open = disk.as_ref().expect("open");
        prop_assert_eq!(open.duplicates(), duplicates);
        assert_knows(open, &model, IDS);
        prop_assert_eq!(entries(&place), (model, duplicates));
    }
}

#[test]
fn many_callers_at_once_are_all_answered_while_it_compacts() {
    let place = Place::new();
    let disk = place.open_with_keeper();
    const EACH: u64 = 3_000;
    std::thread::scope(|scope| {
        for caller in 0..4 {
            let disk = &disk;
            scope.spawn(move || {
                for number in (caller * EACH)..(caller + 1) * EACH {
                    assert_eq!(disk.get(id(number)).expect("an answer"), None);
                    disk.decide(id(number), fate(number)).expect("written");
                    let earlier = (caller * EACH).midpoint(number);
                    assert_eq!(disk.get(id(earlier)).expect("an answer"), Some(fate(earlier)));
                }
            });
        }
        for _ in 0..20 {
            disk.files().compact().expect("compacted");
            disk.files().sync().expect("synced");
        }
    });
    let model: BTreeMap<Uuid, Fate> = (0..4 * EACH).map(|number| (id(number), fate(number))).collect();
    assert_knows(&disk, &model, 4 * EACH + 10);
    assert_eq!(entries(&place), (model.clone(), 0));
    assert_knows(&place.killed().open(), &model, 4 * EACH + 10);
    drop(disk);
    assert_knows(&place.open(), &model, 4 * EACH + 10);
}

#[test]
fn a_copy_beside_one_that_compacts_has_everything_from_before() {
    let place = Place::new();
    let disk = place.open();
    for number in 0..500 {
        disk.decide(id(number), fate(number)).expect("written");
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 500..1_500 {
                disk.decide(id(number), fate(number)).expect("written");
                if number % 20 == 0 {
                    disk.files().compact().expect("compacted");
                }
            }
        });
        for _ in 0..50 {
            let (copied, _) = entries(&place);
            assert!(copied.len() >= 500, "only {} copied", copied.len());
            assert!(
                copied
                    .iter()
                    .enumerate()
                    .all(|(n, (key, kept))| *key == id(n as u64) && *kept == fate(n as u64))
            );
        }
    });
}

#[test]
fn what_was_decided_is_synced_at_the_end() {
    let place = Place::new();
    let disk = place.open_with_keeper();
    for number in 0..10 {
        disk.decide(id(number), fate(number)).expect("written");
    }
    drop(disk);
    let bytes = std::fs::read(files::journal(&place.path(), 1)).expect("readable");
    let end = journal::read(&bytes, 1, |_| ()).expect("readable");
    assert_eq!((end.at, end.synced), (bytes.len(), bytes.len() - 17), "all but the mark");
}

#[test]
fn a_large_journal_is_compacted_at_opening() {
    let place = Place::new();
    const MANY: u64 = 160_000;
    let mut copy = BooksCopy::new(&place.path()).expect("a copy");
    for number in (0..MANY).rev() {
        copy.put(id(number).as_bytes(), &fate(number).bytes()).expect("put");
    }
    copy.finish().expect("copied");
    let journal = std::fs::metadata(files::journal(&place.path(), 1)).expect("there").len();
    assert!(journal > 4 << 20, "{journal} bytes");
    let disk = place.open();
    assert_eq!(place.names(), ["journal-00000002", "operations.sorted"]);
    for number in (0..MANY).step_by(97) {
        assert_eq!(disk.get(id(number)).expect("an answer"), Some(fate(number)));
    }
}

#[test]
fn only_the_owner_can_read_them() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let disk = place.open();
    disk.decide(id(1), fate(0)).expect("written");
    disk.files().compact().expect("compacted");
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&place.path()), 0o700);
    assert_eq!(place.names(), ["journal-00000002", "operations.sorted"]);
    for name in place.names() {
        assert_eq!(mode(&place.path().join(name)), 0o600);
    }
}

#[test]
fn what_is_found_in_a_directory() {
    let place = Place::new();
    assert!(!is_books(&place.path()).expect("readable"), "there is nothing");
    drop(place.open());
    assert!(is_books(&place.path()).expect("readable"));
    let found = Found::inside(&place.path()).expect("readable");
    assert_eq!(found, Found { journals: vec![1], ..Found::default() });
    std::fs::write(place.path().join("journal-x"), b"").expect("written");
    assert!(is_books(&place.path()).is_err_and(|why| why.to_string().contains("journal-x")));
    assert!(place.try_open().is_err_and(|why| why.to_string().contains("journal-x")));
}

#[test]
fn books_are_one_servers_at_a_time() {
    let place = Place::new();
    let books = Books::open(&place.path(), &place.room()).expect("opens");
    books.put(id(1), fate(1)).expect("written");
    let why = Books::open(&place.path(), &place.room()).err().expect("refused").to_string();
    assert!(why.contains(DIRECTORY) && why.contains("has them open"), "{why}");
    books.put(id(2), fate(2)).expect("written");
    drop(books);
    let books = Books::open(&place.path(), &place.room()).expect("opens again");
    assert_eq!(books.get(id(2)).expect("an answer"), Some(fate(2)));
}
