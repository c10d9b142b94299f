//! A node's data for another one: its secrets, a checkpoint of its log, and the stores beside it, as
//! one stream of files.
//!
//! ```text
//! file   u16   length of the name, 0 after the last file
//!        ..    name, relative to the data directory
//!        u64   length
//!        ..    bytes
//! ```
//!
//! Numbers are little endian. A stream that breaks off has no end; whoever asked for it removes
//! what it filled. It arrives in a folder of its own, which is marked `WHOLE` once all of it is synced.

use crate::http::respond::{Broken, Rest};
use crate::recovery::directory::{CARD_KEY_FILE, MARK_CHECK_FILE, MARK_KEY_FILE};
use crate::recovery::restored_copy::MARKER;
use crate::recovery::{Failed, at, backup};
use bytes::Bytes;
use reqwest::RequestBuilder;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use wal::Reader;

const PIECE_BYTES: usize = 256 << 10;
/// A peer in the middle of its copy may be silent so long, before the first byte too.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(30);
const COPY: &str = "seed-";

pub struct Seed {
    copy: PathBuf,
    files: VecDeque<(String, PathBuf)>,
    open: Option<File>,
    is_over: bool,
}

impl Seed {
    pub fn make(data: &Path, reader: &Reader) -> Result<Seed, Failed> {
        let copy = data.join(format!("{COPY}{}", super::directory::random_name()?));
        let made = backup::copy(data, &copy, |to| reader.checkpoint(to), &mut |_, _, _| {});
        let mut seed = Seed { copy, files: VecDeque::new(), open: None, is_over: false };
        made?;
        for secret in [MARK_KEY_FILE, MARK_CHECK_FILE, CARD_KEY_FILE] {
            let file = data.join(secret);
            if file.is_file() {
                seed.files.push_back((secret.to_owned(), file));
            }
        }
        let mut files = Vec::new();
        backup::list(&seed.copy, Path::new(""), &mut files)?;
        for (name, _) in files {
            if let Some(text) = name.to_str()
                && ![MARKER, MARK_KEY_FILE, MARK_CHECK_FILE].contains(&text)
            {
                seed.files.push_back((text.to_owned(), seed.copy.join(&name)));
            }
        }
        Ok(seed)
    }

    pub fn stream(mut self) -> Rest {
        Rest::new(async move {
            let read = tokio::task::spawn_blocking(move || self.next().map(|piece| (piece, self))).await;
            match read {
                Ok(Ok((Some(piece), seed))) => Ok(Some((piece, seed.stream()))),
                Ok(Ok((None, _))) => Ok(None),
                Ok(Err(_)) | Err(_) => Err(Broken),
            }
        })
    }

    fn next(&mut self) -> io::Result<Option<Bytes>> {
        if let Some(file) = &mut self.open {
            let mut piece = vec![0; PIECE_BYTES];
            let read = file.read(&mut piece)?;
            if read > 0 {
                piece.truncate(read);
                return Ok(Some(piece.into()));
            }
            self.open = None;
        }
        let Some((name, path)) = self.files.pop_front() else {
            let end = (!self.is_over).then(|| Bytes::from_static(&[0, 0]));
            self.is_over = true;
            return Ok(end);
        };
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let length = u16::try_from(name.len()).map_err(io::Error::other)?;
        let mut head = length.to_le_bytes().to_vec();
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(&bytes.to_le_bytes());
        self.open = Some(file);
        Ok(Some(head.into()))
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.copy) {
            tracing::warn!(%error, copy = %self.copy.display(), "a copy for another node was not removed");
        }
    }
}

/// Left by a process that was killed, or started anew, while it sent them. The log must be locked:
/// then no other process makes any.
pub(super) fn sweep(data: &Path) -> io::Result<()> {
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        let is_copy = entry.file_name().to_str().is_some_and(|name| name.starts_with(COPY));
        if is_copy && entry.file_type()?.is_dir() {
            tracing::info!(copy = %entry.path().display(), "removing a copy that was not sent to its end");
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// What a folder is called by while a copy arrives in it, and once all of that is synced.
pub(super) const COPYING: &str = "COPYING";
pub(super) const WHOLE: &str = "WHOLE";

/// Has a copy arrive in an empty folder, which gets its mark when the copy is whole; what broke off goes.
pub(super) fn arrive<E: From<Failed>>(folder: &Path, copy: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
    let begun = clear(folder).and_then(|()| fs::create_dir(folder));
    begun.and_then(|()| File::create(folder.join(COPYING))).map_err(at(folder))?;
    let whole = copy().and_then(|()| Ok(mark(folder).map_err(at(folder))?));
    if whole.is_err() {
        // The error that is told is the one before this.
        let _ = clear(folder);
    }
    whole
}

fn mark(folder: &Path) -> io::Result<()> {
    sync_folders(folder)?;
    fs::rename(folder.join(COPYING), folder.join(WHOLE))?;
    File::open(folder)?.sync_all()?;
    folder.parent().map_or(Ok(()), |data| File::open(data)?.sync_all())
}

fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}

/// What is whole no longer is so from the first step on, and the mark goes last: what is left after a death is still
/// known as a copy, and never taken for all of it.
pub(super) fn clear(folder: &Path) -> io::Result<()> {
    match fs::rename(folder.join(WHOLE), folder.join(COPYING)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        renamed => renamed.and_then(|()| File::open(folder)?.sync_all())?,
    }
    for name in names(folder)?.iter().filter(|name| *name != COPYING && *name != WHOLE) {
        let path = folder.join(name);
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

pub(super) fn names(directory: &Path) -> io::Result<Vec<OsString>> {
    match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.file_name())).collect(),
    }
}

/// What a peer listener is asked for a copy comes into a directory that has none of its files. A peer that sends
/// nothing for so long is given up. Waits on the caller's thread.
pub(super) fn fetch(asked: RequestBuilder, from: &str, into: &Path, silence_max: Duration) -> io::Result<()> {
    let of_peer = |error| of_peer(from, error, silence_max);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut answer = asked.send().await.map_err(|error| of_peer(io::Error::other(error)))?;
        if answer.status() != 200 {
            let advice = match answer.status().as_u16() {
                401 => ": [admin] token has to be set, the same on all nodes",
                421 => {
                    ": --from names that node as its cluster.peer_advertise, cluster.peer_listen or admin.hosts does"
                }
                404 => ": --from is the address of a node's peer listener (cluster.peer_listen), not of its API",
                _ => "",
            };
            return Err(io::Error::other(format!("{from}: it answered {}{advice}", answer.status())));
        }
        fill(into, async || answer.chunk().await.map_err(io::Error::other)).await.map_err(of_peer)
    })
}

async fn fill(into: &Path, mut next: impl AsyncFnMut() -> io::Result<Option<Bytes>>) -> io::Result<()> {
    let mut kept = Bytes::new();
    // The next bytes, at most so many.
    let mut piece = async |bytes_max: u64| -> io::Result<Bytes> {
        while kept.is_empty() {
            kept = next().await?.ok_or_else(|| io::Error::other("the stream broke off"))?;
        }
        Ok(kept.split_to(usize::try_from(bytes_max).unwrap_or(usize::MAX).min(kept.len())))
    };
    loop {
        let mut head = Vec::new();
        let (name, mut left) = loop {
            if let Some((length, rest)) = head.split_first_chunk::<2>() {
                let length = usize::from(u16::from_le_bytes(*length));
                if length == 0 {
                    return Ok(());
                }
                if let Some((name, Some(bytes))) =
                    rest.split_at_checked(length).map(|(name, bytes)| (name, bytes.first_chunk::<8>()))
                {
                    break (std::str::from_utf8(name).map_err(io::Error::other)?, u64::from_le_bytes(*bytes));
                }
            }
            head.extend_from_slice(&piece(1).await?);
        };
        let mut file = create(into, Path::new(name))?;
        while left > 0 {
            let part = piece(left).await?;
            file.write_all(&part)?;
            left -= part.len() as u64;
        }
        file.sync_all()?;
    }
}

fn create(into: &Path, name: &Path) -> io::Result<File> {
    if !name.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::Error::other("a file of the stream is outside of the directory"));
    }
    let path = into.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// With the peer's name where the error is the peer's.
fn of_peer(from: &str, error: io::Error, silence_max: Duration) -> io::Error {
    let Some(sent) = error.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>()) else {
        return error;
    };
    io::Error::other(if sent.is_timeout() && !sent.is_connect() {
        format!("{from}: it sent nothing for {silence_max:?}")
    } else {
        format!("{from}: {}", root(sent))
    })
}

fn root(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::peers;
    use crate::config::Config;

    #[test]
    fn copies_of_a_process_that_was_killed_go_and_nothing_else() {
        let data = tempfile::tempdir().expect("a directory");
        for folder in ["log", "seed-0011223344556677/log", "seed-8899aabbccddeeff"] {
            fs::create_dir_all(data.path().join(folder)).expect("a folder");
        }
        fs::write(data.path().join("seed-0011223344556677/log/1.sst"), "a").expect("a file");
        fs::write(data.path().join("seed-of-somebody"), "a file is no copy").expect("a file");
        sweep(data.path()).expect("they go");
        let mut left: Vec<_> = fs::read_dir(data.path())
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect();
        left.sort();
        assert_eq!(left, ["log", "seed-of-somebody"]);
    }

    /// Sends this to whoever asks, and then nothing.
    fn silent_after(sent: Vec<u8>) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().expect("a connection");
            let _ = connection.read(&mut [0; 4096]).expect("a request");
            connection.write_all(&sent).expect("it takes it");
            // Kept open until the other side goes.
            let _ = connection.read(&mut [0; 1]);
        });
        address
    }

    #[test]
    fn a_peer_that_falls_silent_is_given_up_and_named() {
        let silence_max = Duration::from_millis(200);
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".to_vec();
        let file = [&head[..], b"\x08\0mark.key\x06\0\0\0\0\0\0\0secret\x05\0log/1"].concat();
        for sent in [Vec::new(), head, file] {
            let into = tempfile::tempdir().expect("a directory");
            let config = Config::parse("", []).expect("it needs nothing");
            let from = silent_after(sent);
            let asked = peers::client(&config, Some(silence_max)).expect("a client").get(&from);
            let why = fetch(asked, &from, into.path(), silence_max).expect_err("nothing whole came");
            assert_eq!(why.to_string(), format!("{from}: it sent nothing for 200ms"));
        }
    }

    async fn filled(into: &Path, pieces: &mut dyn Iterator<Item = &[u8]>) -> io::Result<()> {
        fill(into, async || Ok(pieces.next().map(Bytes::copy_from_slice))).await
    }

    #[tokio::test]
    async fn a_stream_in_any_pieces_fills_a_directory_and_leaves_it_for_no_name() {
        let mut stream = Vec::new();
        for (name, bytes) in [("mark.key", &b"secret"[..]), ("log/CURRENT", b""), ("log/1.sst", &[7; 300])] {
            stream.extend_from_slice(&(name.len() as u16).to_le_bytes());
            stream.extend_from_slice(name.as_bytes());
            stream.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            stream.extend_from_slice(bytes);
        }
        stream.extend_from_slice(&[0, 0]);
        for step in [1, 7, 1_000] {
            let into = tempfile::tempdir().expect("a directory");
            let cut = filled(into.path(), &mut stream[..stream.len() - 2].chunks(step)).await;
            assert_eq!(cut.expect_err("it has no end").to_string(), "the stream broke off");
            let into = tempfile::tempdir().expect("a directory");
            filled(into.path(), &mut stream.chunks(step)).await.expect("it fits");
            assert_eq!(fs::read(into.path().join("log/1.sst")).expect("it is there"), [7; 300]);
        }
        let into = tempfile::tempdir().expect("a directory");
        let outside = b"\x04\0../a\x01\0\0\0\0\0\0\0x";
        assert!(filled(into.path(), &mut [&outside[..]].into_iter()).await.is_err());
    }
}
