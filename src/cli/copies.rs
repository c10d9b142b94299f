//! `pasarela backup` and `restore`: a consistent copy of a running server, through its admin API, or of a stopped
//! one; a data directory from a copy, proved right; and the drill, which does it for practice.

use super::client::{JSON, Operators};
use super::progress::{Shown, shown};
use super::wal::{ends_with, others, proved, scratch};
use super::{Failure, Settings, at};
use crate::backups;
use crate::recovery::backup::{newest, restore};
use crate::recovery::books::Books;
use crate::recovery::directory::LOG_DIRECTORY;
use crate::recovery::restored_copy::RestoredCopy;
use crate::recovery::{Failed, backup, sets};
use clap::Args;
use domain::machine::AnyBook;
use domain::values::ids::PLATFORM;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use wal::Reader;

const LOOK: Duration = Duration::from_millis(500);

/// Copy everything to a new directory, consistently, without stopping a running server
///
/// Example: pasarela backup /mnt/backup/pasarela-2026-11-21
#[derive(Args, Debug)]
pub struct Backup {
    #[command(flatten)]
    settings: Settings,
    /// The directory to make; a running server makes it, on its own disk
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Backup {
    pub fn run(self) -> Result<(), Failure> {
        let config = self.settings.load()?;
        let directory = std::path::absolute(&self.directory).map_err(|error| at(&self.directory, error))?;
        let others = others(&config.storage.path)?;
        let copied = shown(|tell| backup::copy_of_stopped(&config.storage.path, &others, &directory, tell))?;
        let tip = match copied {
            Some(tip) => tip,
            None => {
                // The server makes it; what has come to be there is seen where this is its machine.
                let (done, ended) = std::sync::mpsc::channel::<()>();
                let into = directory.clone();
                let watching = std::thread::spawn(move || {
                    let mut progress = Shown::new();
                    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                        progress.tell("MiB copied", backups::bytes_in(&into, |_| true) >> 20, 0);
                    }
                });
                // No key is sent: a second copy needs another name anyway.
                let body = json!({ "path": directory.to_string_lossy() });
                let made = Operators::new(&config, None, None)?.call(
                    ("POST", "/admin/backup"),
                    JSON,
                    Some(&body),
                    None,
                );
                drop(done);
                let _ = watching.join();
                made?;
                let past = RestoredCopy::read(&directory)?.and_then(|past| past.tip);
                let why = "the server says that it made a copy, but here is none; is it on another machine?";
                past.ok_or_else(|| Failed::refused(&directory, why))?
            }
        };
        println!("ok: {} is a copy {}{}", directory.display(), ends_with(tip), of_several(&directory)?);
        Ok(())
    }
}

/// Make a data directory from a backup, and verify it
///
/// The directory is marked as a restored copy: `pasarela serve` keeps live banks and webhooks shut in
/// it until `--take-over`.
///
/// Examples: pasarela restore /mnt/backup/pasarela-2026-11-21 --into /srv/pasarela/data · pasarela
/// restore --drill
#[derive(Args, Debug)]
pub struct Restore {
    #[command(flatten)]
    settings: Settings,
    /// The backup. A drill also takes a directory of backups, and uses the newest [default in a
    /// drill: the last backup in the log]
    #[arg(value_name = "DIR", required_unless_present = "drill")]
    from: Option<PathBuf>,
    /// The directory to make; it must not exist, or be empty
    #[arg(long, value_name = "DIR", required_unless_present = "drill", conflicts_with = "drill")]
    into: Option<PathBuf>,
    /// Skip the verification, when every minute counts; run `pasarela wal verify` later
    #[arg(long, conflicts_with = "drill")]
    skip_verify: bool,
    /// Restore the newest backup into a scratch directory, verify it, report the time it took, and
    /// remove it again
    #[arg(long)]
    drill: bool,
    /// The directory in which to make scratch directories [default: the system's directory for
    /// temporary files]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// One JSON object instead of a line
    #[arg(long)]
    json: bool,
}

impl Restore {
    pub fn run(self) -> Result<(), Failure> {
        if self.drill {
            return self.drill();
        }
        let (Some(from), Some(into)) = (&self.from, &self.into) else {
            return Err(Failure::Other("name the copy, and with --into the directory to make".to_owned()));
        };
        println!("{}", self.restore(from, into, &format!("{} is restored", into.display()))?);
        Ok(())
    }

    fn drill(&self) -> Result<(), Failure> {
        let from = match &self.from {
            Some(directory) => newest(directory)?,
            None => self.last_backup()?,
        };
        let into = scratch("drill", self.scratch.as_deref());
        let restored = self.restore(&from, &into, "the drill went well");
        let removed =
            fs::remove_dir_all(&into).or_else(|error| if into.exists() { Err(error) } else { Ok(()) });
        let report = restored?;
        removed.map_err(|error| at(&into, error))?;
        println!("{report}");
        Ok(())
    }

    fn last_backup(&self) -> Result<PathBuf, Failure> {
        let config = self.settings.load()?;
        let reader = Reader::open_read_only(config.storage.path.join(LOG_DIRECTORY)).map_err(Failed::from)?;
        let books = Books::after(&reader, &[PLATFORM], reader.last_seq())?;
        let last = match books.get(PLATFORM) {
            Some(AnyBook::Platform(platform)) => {
                platform.last_backup.as_ref().map(|backup| PathBuf::from(&backup.directory))
            }
            _ => None,
        };
        last.ok_or_else(|| {
            Failure::Other("the log tells of no backup; name one, or a directory with some".to_owned())
        })
    }

    /// What is said of it when it is done.
    fn restore(&self, from: &Path, into: &Path, what: &str) -> Result<String, Failure> {
        let began = Instant::now();
        let (mut copying, mut proving) = (None, None::<Duration>);
        let tip = shown(|tell| {
            restore(from, into, tell, |reader| {
                copying.get_or_insert_with(|| began.elapsed());
                if !self.skip_verify {
                    let began = Instant::now();
                    proved(reader, self.scratch.as_deref())?;
                    *proving.get_or_insert(Duration::ZERO) += began.elapsed();
                }
                Ok(())
            })
        })?;
        let copying = copying.unwrap_or_default();
        let made_at = RestoredCopy::read(from).ok().flatten().map(|past| past.made_at);
        if self.json {
            let report = json!({
                "ok": true, "from": from.to_string_lossy(), "madeAt": made_at.map(|at| at.to_string()),
                "seq": tip.seq, "headHash": hex::encode(tip.hash), "copyMs": copying.as_millis(),
                "verifyMs": proving.map(|proving| proving.as_millis()), "partitions": sets::number_in(from)?,
            });
            return Ok(report.to_string());
        }
        let made = made_at.map(|at| format!(" of {at}")).unwrap_or_default();
        let proved = proving
            .map_or("not verified".to_owned(), |proving| format!("verified in {} ms", proving.as_millis()));
        let (tip, ms, of) = (ends_with(tip), copying.as_millis(), of_several(from)?);
        Ok(format!("ok: {what} from {}{made}, {tip}{of}; copied in {ms} ms, {proved}", from.display()))
    }
}

fn of_several(copy: &Path) -> Result<String, Failure> {
    Ok(match sets::number_in(copy)? {
        1 => String::new(),
        partitions => format!(" of partition 0, with the others, {partitions} in all"),
    })
}
