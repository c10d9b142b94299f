//! Reconciliations in a directory of their own beside the data. Each has two files: `ID.json`, the
//! summary, and `ID.items`, a line of JSON per item. Each is written whole beside its place, synced
//! and put there, the items first: a summary that says `done` has its items. What was running when
//! the process ended is `failed` from the next start on; nothing of it was in force. Summaries are
//! in memory, items are read from the disk. A file that would take the disk's reserve is not
//! written.

use super::statement::BadLine;
use crate::disk::Disk;
use domain::values::ids::Id;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub const BAD_LINES_SHOWN: usize = 100;
const ITEM_BYTES_MAX: u64 = 64 << 10;
const PAGE_BYTES_MAX: u64 = 8 << 20;
const LOOKED_AT_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    Running,
    Done,
    Failed,
}

impl Status {
    pub const ALL: [Status; 3] = [Status::Running, Status::Done, Status::Failed];

    pub const fn name(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Done => "done",
            Status::Failed => "failed",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub lines: u64,
    pub matched: u64,
    pub missing_here: u64,
    pub missing_there: u64,
    pub amount_differs: u64,
    pub proposals: u64,
    pub bad: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    pub rail: String,
    pub account: String,
    pub from: String,
    pub to: String,
    /// Over all that, and the bytes of the file.
    pub digest: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub id: String,
    pub asked: Asked,
    pub status: Status,
    pub message: Option<String>,
    pub created_at: String,
    pub ended_at: Option<String>,
    pub counts: Counts,
    pub bad_lines: Vec<BadLine>,
    #[serde(skip)]
    pub percent: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReconciled {
    #[error("our side could not be read; upload the statement again")]
    OurSideUnread,
    #[error("the disk has no room for its items; upload the statement again when there is room")]
    NoRoom,
    #[error("the server ended while it ran; upload the statement again")]
    ServerEnded,
}

#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct ShelfError {
    path: PathBuf,
    source: io::Error,
}

impl ShelfError {
    pub fn is_for_room(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> ShelfError + '_ {
    move |source| ShelfError { path: path.to_owned(), source }
}

pub struct Shelf {
    directory: PathBuf,
    disk: Arc<Disk>,
    all: Mutex<BTreeMap<Id, Summary>>,
}

pub struct ItemPage {
    pub items: Vec<Vec<u8>>,
    /// Behind the last that was looked at, if there are more.
    pub next: Option<u64>,
}

fn same(all: &BTreeMap<Id, Summary>, summary: &Summary) -> Option<(Id, Summary)> {
    let is_same = |one: &Summary| one.asked == summary.asked && one.status != Status::Failed;
    all.iter().find(|(_, one)| is_same(one)).map(|(id, known)| (*id, known.clone()))
}

impl Shelf {
    pub fn open(directory: &Path, now: &str, disk: &Arc<Disk>) -> Result<Shelf, ShelfError> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(at(directory))?;
        wal::make_directory(directory).map_err(at(directory))?;
        let mut all = BTreeMap::new();
        for found in fs::read_dir(directory).map_err(at(directory))? {
            let path = found.map_err(at(directory))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.ends_with(".tmp") {
                fs::remove_file(&path).map_err(at(&path))?;
            }
            let Some(id) = name.strip_suffix(".json").and_then(Id::parse) else { continue };
            let bytes = fs::read(&path).map_err(at(&path))?;
            match serde_json::from_slice::<Summary>(&bytes) {
                Ok(summary) => drop(all.insert(id, summary)),
                // The shelf is derived: a server starts without one of its files.
                Err(error) => tracing::warn!(%error, file = name, "a reconciliation cannot be read"),
            }
        }
        let shelf = Shelf { directory: directory.to_owned(), disk: Arc::clone(disk), all: Mutex::new(all) };
        for (id, _) in shelf.list(Some(Status::Running)) {
            // In memory it has failed in any case, and at the next start it is found running again.
            if let Err(error) = shelf.end(id, now, Err(NotReconciled::ServerEnded)) {
                tracing::warn!(%error, reconciliation = %id, "that a reconciliation failed was not written");
            }
        }
        Ok(shelf)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Id, Summary>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn find(&self, id: Id) -> Option<Summary> {
        self.all().get(&id).cloned()
    }

    pub fn list(&self, status: Option<Status>) -> Vec<(Id, Summary)> {
        let all = self.all();
        let meant = all.iter().rev().filter(|(_, one)| status.is_none_or(|status| one.status == status));
        meant.map(|(id, one)| (*id, one.clone())).collect()
    }

    /// The one that was begun for the same before and did not fail, if there is one.
    pub fn same(&self, summary: &Summary) -> Option<(Id, Summary)> {
        same(&self.all(), summary)
    }

    /// Returns the one that was begun for the same instead.
    pub fn begin(&self, id: Id, summary: Summary) -> Result<Option<(Id, Summary)>, ShelfError> {
        // Held while the file is written, so that the same file at the same time is one.
        let mut all = self.all();
        if let Some(known) = same(&all, &summary) {
            return Ok(Some(known));
        }
        self.write_summary(id, &summary)?;
        all.insert(id, summary);
        Ok(None)
    }

    pub fn progress(&self, id: Id, percent: u8) {
        if let Some(summary) = self.all().get_mut(&id) {
            summary.percent = percent;
        }
    }

    /// With its numbers or the reason why there are none.
    pub fn end(&self, id: Id, now: &str, outcome: Result<Counts, NotReconciled>) -> Result<(), ShelfError> {
        let Some(mut summary) = self.find(id) else { return Ok(()) };
        summary.ended_at = Some(now.to_owned());
        match outcome {
            Ok(counts) => {
                summary.status = Status::Done;
                summary.counts = counts;
            }
            Err(unread) => {
                summary.status = Status::Failed;
                summary.message = Some(unread.to_string());
            }
        }
        let written = self.write_summary(id, &summary);
        self.all().insert(id, summary);
        written
    }

    fn path(&self, id: Id, ending: &str) -> PathBuf {
        self.directory.join(format!("{id}.{ending}"))
    }

    fn write_summary(&self, id: Id, summary: &Summary) -> Result<(), ShelfError> {
        let path = self.path(id, "json");
        let bytes = serde_json::to_vec(summary).map_err(|error| at(&path)(error.into()))?;
        self.write(&path, |file| file.write_all(&bytes))
    }

    /// Each as JSON without a line's end in it, as long as the disk has room.
    pub fn write_items(&self, id: Id, items: impl Iterator<Item = Vec<u8>>) -> Result<(), ShelfError> {
        self.write(&self.path(id, "items"), |file| {
            let mut ahead = 0;
            for mut item in items {
                item.push(b'\n');
                if item.len() > ahead {
                    ahead = LOOKED_AT_BYTES;
                    if !self.disk.has_room_for((ahead + item.len()) as u64) {
                        let full = io::ErrorKind::StorageFull;
                        return Err(io::Error::new(full, "it would take the disk's reserve"));
                    }
                }
                ahead = ahead.saturating_sub(item.len());
                file.write_all(&item)?;
            }
            Ok(())
        })
    }

    fn write(
        &self,
        path: &Path,
        content: impl FnOnce(&mut io::BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), ShelfError> {
        let beside = path.with_extension("tmp");
        let written = || {
            let file =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
            let mut file = io::BufWriter::new(file);
            content(&mut file)?;
            file.into_inner()?.sync_all()?;
            fs::rename(&beside, path)?;
            File::open(&self.directory)?.sync_all()
        };
        written().map_err(|error| {
            // Half a file is of no use, and its room is.
            let _ = fs::remove_file(&beside);
            at(path)(error)
        })
    }

    pub fn items(
        &self,
        id: Id,
        from: u64,
        limit: usize,
        result: Option<&str>,
    ) -> Result<ItemPage, ShelfError> {
        let path = self.path(id, "items");
        let wanted = result.map(|result| format!("\"result\":\"{result}\""));
        let read = || {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(from))?;
            let mut file = BufReader::new(file);
            let (mut items, mut place) = (Vec::new(), from);
            loop {
                let mut item = Vec::new();
                let bytes = file.by_ref().take(ITEM_BYTES_MAX).read_until(b'\n', &mut item)?;
                if bytes == 0 {
                    return Ok(ItemPage { items, next: None });
                }
                let is_meant = wanted.as_deref().is_none_or(|wanted| has_result(&item, wanted));
                if is_meant && items.len() == limit || place.saturating_sub(from) > PAGE_BYTES_MAX {
                    return Ok(ItemPage { items, next: Some(place) });
                }
                place += bytes as u64;
                if is_meant {
                    item.pop();
                    items.push(item);
                }
            }
        };
        read().map_err(at(&path))
    }
}

/// The result is the second member, behind an id of a known length.
fn has_result(item: &[u8], wanted: &str) -> bool {
    const ID_MEMBER_BYTES: usize = r#"{"id":"00000000-0000-0000-0000-000000000000","#.len();
    item.get(ID_MEMBER_BYTES..).is_some_and(|rest| rest.starts_with(wanted.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(id: Id, digest: &str) -> Summary {
        let text = |text: &str| text.to_owned();
        let (rail, account) = (text("r4"), text("0"));
        let asked = Asked { rail, account, from: text("a"), to: text("b"), digest: text(digest) };
        let counts = Counts { lines: 3, ..Counts::default() };
        Summary {
            id: id.to_string(),
            asked,
            status: Status::Running,
            message: None,
            created_at: text("now"),
            ended_at: None,
            counts,
            bad_lines: vec![BadLine { line: 2, message: text("m") }],
            percent: 0,
        }
    }

    fn open(directory: &tempfile::TempDir, now: &str, reserve_bytes: u64) -> Result<Shelf, ShelfError> {
        let disk = Arc::new(Disk::new(directory.path(), reserve_bytes));
        Shelf::open(directory.path(), now, &disk)
    }

    #[test]
    fn items_that_would_take_the_reserve_are_not_written() {
        let directory = tempfile::tempdir().expect("a directory");
        let id = Id::from_bytes([1; 16]);
        let shelf = open(&directory, "now", 0).expect("it opens");
        shelf.begin(id, summary(id, "a")).expect("it is written");
        let shelf = open(&directory, "now", u64::MAX).expect("it opens on a full disk too");
        let refused = shelf.write_items(id, std::iter::once(vec![b'x'])).expect_err("there is no room");
        assert!(refused.is_for_room());
        assert!(!directory.path().join(format!("{id}.tmp")).exists());
        assert_eq!(shelf.find(id).map(|one| one.status), Some(Status::Failed));
    }

    #[test]
    fn what_ran_at_the_end_has_failed_and_what_was_done_is_there() {
        let directory = tempfile::tempdir().expect("a directory");
        let [one, other] = [1, 2].map(|n| Id::from_bytes([n; 16]));
        let shelf = open(&directory, "now", 0).expect("it opens");
        for id in [one, other] {
            assert_eq!(shelf.begin(id, summary(id, &id.to_string())).expect("it is written"), None);
        }
        let again = shelf.begin(other, summary(other, &one.to_string())).expect("it is looked up");
        assert_eq!(again.map(|(id, _)| id), Some(one));
        let item = |n: u8| {
            let id = Id::from_bytes([n; 16]);
            let result = if n.is_multiple_of(2) { "matched" } else { "bad" };
            format!(r#"{{"id":"{id}","result":"{result}","message":null}}"#).into_bytes()
        };
        shelf.write_items(one, (0..5).map(item)).expect("they are written");
        shelf.end(one, "later", Ok(Counts { lines: 5, ..Counts::default() })).expect("it is written");

        let shelf = open(&directory, "then", 0).expect("it opens again");
        let done = shelf.find(one).expect("it is there");
        assert_eq!((done.status, done.counts.lines, done.bad_lines.len()), (Status::Done, 5, 1));
        let failed = shelf.find(other).expect("it is there");
        assert_eq!((failed.status, failed.message.is_some()), (Status::Failed, true));
        assert_eq!(shelf.list(Some(Status::Failed)).len(), 1);
        let page = shelf.items(one, 0, 2, Some("matched")).expect("a page");
        assert_eq!(page.items, [item(0), item(2)]);
        let page = shelf.items(one, page.next.expect("more"), 2, Some("matched")).expect("a page");
        assert_eq!((page.items, page.next), (vec![item(4)], None));
        assert_eq!(shelf.items(one, 0, 9, None).expect("a page").items.len(), 5);
        let retried = shelf.begin(one, summary(one, &other.to_string())).expect("it is written");
        assert_eq!(retried, None, "what failed may be tried again");
    }
}
