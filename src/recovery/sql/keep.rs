//! The file of a database that is kept: there whole or not at all. While it is filled it has no name, so that nothing
//! stays of it if the program is killed; what is whole is copied into another one, which can be given a name.

use super::{Room, failed};
use crate::recovery::directory::sync_parent;
use crate::recovery::{Failed, Progress, at};
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const COPIED_AT_ONCE: u64 = 64 << 20;

pub struct Kept {
    path: PathBuf,
    filled: File,
}

impl Kept {
    /// A database in the directory of `path`, where there is nothing of this name.
    pub fn begin(path: &Path) -> Result<(Connection, Kept), Failed> {
        if fs::symlink_metadata(path).is_ok() {
            return Err(exists(path));
        }
        if path.file_name().is_none() {
            return Err(Failed::refused(path, "is no name of a file"));
        }
        let part = Part::new(path)?;
        let opened = Connection::open_with_flags(&part.path, OpenFlags::SQLITE_OPEN_READ_WRITE);
        let connection = opened.map_err(failed)?;
        let filled = part.file.try_clone().map_err(at(path))?;
        Ok((connection, Kept { path: path.to_owned(), filled }))
    }

    /// Only where the copy leaves the room that there has to be.
    pub fn finish(mut self, room: &Room, progress: Progress<'_>) -> Result<(), Failed> {
        let path = self.path.as_path();
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(path),
            _ => at(path)(error),
        };
        let directory = directory_of(path);
        let secret = Mode::RUSR | Mode::WUSR;
        match openat(CWD, directory, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, secret) {
            Ok(file) => {
                let mut file = File::from(file);
                copy(&mut self.filled, &mut file, room, failed, progress)?;
                let source = format!("/proc/self/fd/{}", file.as_raw_fd());
                linkat(CWD, source, CWD, path, AtFlags::SYMLINK_FOLLOW)
                    .map_err(|error| failed(error.into()))?;
            }
            // The file system has no files without a name.
            Err(_) => {
                let mut part = Part::new(path)?;
                copy(&mut self.filled, &mut part.file, room, failed, progress)?;
                fs::hard_link(&part.path, path).map_err(failed)?;
            }
        }
        sync_parent(path)
    }
}

/// A file that loses its name.
struct Part {
    path: PathBuf,
    file: File,
}

impl Part {
    fn new(of: &Path) -> Result<Part, Failed> {
        let path = directory_of(of).join(format!(".pasarela-sql-{}", uuid::Uuid::now_v7().simple()));
        let mut options = File::options();
        let made = options.read(true).write(true).create_new(true).mode(0o600).open(&path);
        Ok(Part { file: made.map_err(at(of))?, path })
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

pub fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Others write to the disk meanwhile, so there is a look at it before each piece.
fn copy(
    from: &mut File,
    to: &mut File,
    room: &Room,
    failed: impl Fn(io::Error) -> Failed,
    progress: Progress<'_>,
) -> Result<(), Failed> {
    let (of, mut done) = (from.metadata().map_err(&failed)?.len(), 0);
    from.rewind().map_err(&failed)?;
    loop {
        room.check_for(of.saturating_sub(done))?;
        let copied = io::copy(&mut (&mut *from).take(COPIED_AT_ONCE), to).map_err(&failed)?;
        if copied == 0 {
            return to.sync_all().map_err(failed);
        }
        done += copied;
        progress("file, bytes", done, of);
    }
}

fn exists(path: &Path) -> Failed {
    Failed::refused(path, "exists; name a new file")
}
