//! A disk whose power can be cut: a folder, and beside it the shadow that `shadow.c` keeps of what
//! processes with its environment have made durable in it.
//!
//! After a cut the folder is what a disk may have kept. In the strictest sense of POSIX that is what
//! was synced and nothing else; a real disk may have kept more of it, file by file and folder by
//! folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::UNIX_EPOCH;

/// A block of a disk: what was not synced may be there in some of them.
const BLOCK_BYTES: usize = 4096;
/// The smallest part of a disk that is there whole or not at all.
const SECTOR_BYTES: usize = 512;

/// The compiled library. Every process of the tests makes one, as another may be of other sources.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shadow-{}.so", std::process::id()));
    let source = "tests/crash/power/shadow.c";
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    let compiled = compiler
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread", "-o"])
        .arg(&made)
        .arg(source);
    assert!(compiled.status().expect("a C compiler").success(), "{source} does not compile");
    made
});

/// The numbers that decide what a disk keeps: SplitMix64, so that a seed is a run.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// What a disk keeps of that which was not synced.
pub enum Kept<'a> {
    /// Nothing: what POSIX promises.
    Nothing,
    /// By chance, of each folder its old names or its new ones, of each file its old content, its
    /// new one, or some blocks of it.
    Some(&'a mut Chance),
}

/// A disk with its shadow; both are gone when it is dropped.
pub struct Disk {
    directory: tempfile::TempDir,
}

/// An entry of a folder: the inode of a file, or the key of a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Entry {
    File(u64),
    Folder(String),
}

type Names = BTreeMap<String, Entry>;

impl Disk {
    /// An empty disk.
    pub fn new() -> Disk {
        let directory = tempfile::Builder::new().prefix("power-").tempdir().expect("a temporary directory");
        let disk = Disk { directory };
        fs::create_dir(disk.root()).expect("made");
        disk.keep_all();
        disk
    }

    /// The folder that is the disk.
    pub fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().expect("there").join("disk")
    }

    fn shadow(&self, kind: &str) -> PathBuf {
        self.directory.path().canonicalize().expect("there").join("shadow").join(kind)
    }

    /// The variables under which a process writes to this disk.
    pub fn environment(&self) -> [(&'static str, String); 3] {
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        [
            ("LD_PRELOAD", text(&LIBRARY)),
            ("POWER_ROOT", text(&self.root())),
            ("POWER_SHADOW", text(&self.shadow(""))),
        ]
    }

    /// Makes all durable that is there; no process may write to it.
    pub fn keep_all(&self) {
        let _ = fs::remove_dir_all(self.shadow(""));
        for kind in ["files", "folders", "held", "parts"] {
            fs::create_dir_all(self.shadow(kind)).expect("made");
        }
        self.keep(&self.root());
    }

    fn keep(&self, folder: &Path) {
        let mut lines = String::new();
        for (name, entry) in names(folder) {
            let path = folder.join(&name);
            match entry {
                Entry::File(inode) => {
                    lines.push_str(&format!("f {inode} {name}\n"));
                    let held = self.shadow("held").join(inode.to_string());
                    // A file with two names comes twice.
                    if fs::hard_link(&path, held).is_ok() {
                        fs::copy(&path, self.shadow("files").join(inode.to_string())).expect("copied");
                    }
                }
                Entry::Folder(key) => {
                    lines.push_str(&format!("d {key} {name}\n"));
                    self.keep(&path);
                }
            }
        }
        fs::write(self.shadow("folders").join(key(folder)), lines).expect("written");
    }

    /// Cuts the power: the processes that wrote to the disk have been killed.
    pub fn cut(&self, kept: Kept<'_>) {
        let made = self.directory.path().join("made");
        let mut cut = Cut { disk: self, kept, now: BTreeMap::new(), made: BTreeMap::new() };
        cut.look_at(&self.root());
        fs::create_dir(&made).expect("made");
        cut.folder(&key(&self.root()), &made);
        fs::remove_dir_all(self.root()).expect("removed");
        fs::rename(made, self.root()).expect("renamed");
        self.keep_all();
    }
}

/// The name of a folder in the shadow: inodes are used again.
fn key(folder: &Path) -> String {
    let found = fs::metadata(folder).expect("a folder");
    let made = found.created().expect("its time").duration_since(UNIX_EPOCH).expect("a time after 1970");
    format!("{}-{}.{:09}", found.ino(), made.as_secs(), made.subsec_nanos())
}

/// The names in a folder as they are.
fn names(folder: &Path) -> Names {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| {
            let kind = entry.file_type().expect("its kind");
            assert!(kind.is_dir() || kind.is_file(), "{} is neither", entry.path().display());
            let what = match kind.is_dir() {
                true => Entry::Folder(key(&entry.path())),
                false => Entry::File(entry.metadata().expect("there").ino()),
            };
            (entry.file_name().to_string_lossy().into_owned(), what)
        })
        .collect()
}

/// A cut on its way: the folder that the disk has become is being made.
struct Cut<'a> {
    disk: &'a Disk,
    kept: Kept<'a>,
    /// The names that each folder has now, by key, and the files' places.
    now: BTreeMap<String, (PathBuf, Names)>,
    /// The files that were made, by inode: a second name is a link.
    made: BTreeMap<u64, PathBuf>,
}

impl Cut<'_> {
    fn look_at(&mut self, folder: &Path) {
        let names = names(folder);
        for (name, entry) in &names {
            if let Entry::Folder(_) = entry {
                self.look_at(&folder.join(name));
            }
        }
        self.now.insert(key(folder), (folder.to_owned(), names));
    }

    /// Whether chance, if it decides, says yes.
    fn chooses(&mut self) -> bool {
        match &mut self.kept {
            Kept::Nothing => false,
            Kept::Some(chance) => chance.below(2) == 1,
        }
    }

    fn folder(&mut self, key: &str, into: &Path) {
        let lines = fs::read_to_string(self.disk.shadow("folders").join(key)).unwrap_or_default();
        let durable = lines.lines().map(|line| {
            let mut words = line.splitn(3, ' ');
            let (kind, key, name) =
                (words.next(), words.next().expect("a key"), words.next().expect("a name"));
            let entry = match kind {
                Some("d") => Entry::Folder(key.to_owned()),
                _ => Entry::File(key.parse().expect("an inode")),
            };
            (name.to_owned(), entry)
        });
        let durable: Names = durable.collect();
        let now = self.now.get(key).cloned();
        let (place, names) = match now {
            Some((place, now)) if self.chooses() => (place, now),
            Some((place, _)) => (place, durable),
            None => (PathBuf::new(), durable),
        };
        for (name, entry) in names {
            let path = into.join(&name);
            match entry {
                Entry::Folder(key) => {
                    fs::DirBuilder::new().mode(0o700).create(&path).expect("made");
                    self.folder(&key, &path);
                }
                Entry::File(inode) => self.file(inode, &place.join(&name), &path),
            }
        }
    }

    /// Makes a file with its content: the link that the shadow holds has what is in it now, and a
    /// file that was never synced nor listed may have only its name.
    fn file(&mut self, inode: u64, place: &Path, into: &Path) {
        if let Some(made) = self.made.get(&inode) {
            fs::hard_link(made, into).expect("linked");
            return;
        }
        let durable = fs::read(self.disk.shadow("files").join(inode.to_string())).unwrap_or_default();
        let now = fs::read(self.disk.shadow("held").join(inode.to_string())).or_else(|_| fs::read(place));
        let content = match &mut self.kept {
            Kept::Nothing => durable,
            Kept::Some(chance) => partly(durable, now.unwrap_or_default(), chance),
        };
        fs::write(into, content).expect("written");
        fs::set_permissions(into, fs::Permissions::from_mode(0o600)).expect("its owner's");
        self.made.insert(inode, into.to_owned());
    }
}

/// The content that a disk may have kept of a file: old, new, or new up to somewhere, where it ends or
/// goes on as zeros, as the length may be durable before the bytes are.
fn partly(durable: Vec<u8>, mut now: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    match chance.below(3) {
        0 => return durable,
        1 => return now,
        _ => {}
    }
    if now.len() > durable.len() {
        let length = now.len();
        now.truncate(durable.len() + chance.below(length - durable.len()));
        if chance.below(2) == 0 {
            // Bytes are there sector by sector, and those of the first were read when it was written on.
            let border = now.len() / SECTOR_BYTES * SECTOR_BYTES;
            now.truncate(border.max(durable.len()));
            now.resize(length, 0);
        }
    }
    // What was overwritten is there block by block.
    for (block, before) in now.chunks_mut(BLOCK_BYTES).zip(durable.chunks(BLOCK_BYTES)) {
        if block.len() == before.len() && chance.below(2) == 0 {
            block.copy_from_slice(before);
        }
    }
    now
}
