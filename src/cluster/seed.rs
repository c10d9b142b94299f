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
//! what it filled.

use crate::config::Config;
use crate::http::respond::{Broken, Rest};
use crate::recovery::directory::{CARD_KEY_FILE, MARK_CHECK_FILE, MARK_KEY_FILE};
use crate::recovery::restored_copy::MARKER;
use crate::recovery::{Failed, backup};
use bytes::Bytes;
use std::collections::VecDeque;
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

pub struct Filling {
    into: PathBuf,
    kept: Vec<u8>,
    open: Option<(File, u64)>,
    is_whole: bool,
}

impl Filling {
    pub fn new(into: &Path) -> Filling {
        Filling { into: into.to_owned(), kept: Vec::new(), open: None, is_whole: false }
    }

    pub fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.kept.extend_from_slice(bytes);
        loop {
            if let Some((file, left)) = &mut self.open {
                let part = usize::try_from(*left).unwrap_or(usize::MAX).min(self.kept.len());
                file.write_all(&self.kept[..part])?;
                self.kept.drain(..part);
                *left -= part as u64;
                if *left > 0 {
                    return Ok(());
                }
                file.sync_all()?;
                self.open = None;
            }
            let Some(length) = self.kept.first_chunk::<2>() else { return Ok(()) };
            let length = usize::from(u16::from_le_bytes(*length));
            if length == 0 {
                self.is_whole = true;
                return Ok(());
            }
            let Some(head) = self.kept.get(2..2 + length + 8) else { return Ok(()) };
            let name = std::str::from_utf8(&head[..length]).map_err(io::Error::other)?.to_owned();
            let left = u64::from_le_bytes(head[length..].try_into().map_err(io::Error::other)?);
            self.kept.drain(..2 + length + 8);
            self.open = Some((self.create(&name)?, left));
        }
    }

    fn create(&self, name: &str) -> io::Result<File> {
        let name = Path::new(name);
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(io::Error::other("a file of the stream is outside of the directory"));
        }
        let path = self.into.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        File::options().write(true).create_new(true).mode(0o600).open(path)
    }

    pub fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// From a peer listener, with the operators' token. One that sends nothing for so long is given up.
pub(super) async fn fetch(
    config: &Config,
    (from, token): (&str, &str),
    into: &Path,
    silence_max: Duration,
) -> io::Result<()> {
    let client = super::peers::client(config, Some(silence_max)).map_err(io::Error::other)?;
    let url = format!("{}/peer/checkpoint", from.trim_end_matches('/'));
    let asked = client.get(url).bearer_auth(token).send().await;
    let mut answer = asked.map_err(|error| of_peer(from, io::Error::other(error), silence_max))?;
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
    fill(into, &mut answer).await.map_err(|error| of_peer(from, error, silence_max))
}

/// The directory is there, and has none of the peer's files.
pub(super) async fn fill(data: &Path, answer: &mut reqwest::Response) -> io::Result<()> {
    let mut filling = Filling::new(data);
    while let Some(piece) = answer.chunk().await.map_err(io::Error::other)? {
        filling.take(&piece)?;
    }
    if filling.is_whole() { Ok(()) } else { Err(io::Error::other("the stream broke off")) }
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

    #[tokio::test]
    async fn a_peer_that_falls_silent_is_given_up_and_named() {
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".to_vec();
        let file = [&head[..], b"\x08\0mark.key\x06\0\0\0\0\0\0\0secret\x05\0log/1"].concat();
        for sent in [Vec::new(), head, file] {
            let into = tempfile::tempdir().expect("a directory");
            let config = Config::parse("", []).expect("it needs nothing");
            let from = silent_after(sent);
            let fetching = fetch(&config, (&from, "token"), into.path(), Duration::from_millis(200));
            let fetched = tokio::time::timeout(Duration::from_secs(20), fetching).await;
            let why = fetched.expect("it does not wait for ever").expect_err("nothing whole came");
            assert_eq!(why.to_string(), format!("{from}: it sent nothing for 200ms"));
        }
    }

    #[test]
    fn a_stream_in_any_pieces_fills_a_directory_and_leaves_it_for_no_name() {
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
            let mut filling = Filling::new(into.path());
            for piece in stream.chunks(step) {
                assert!(!filling.is_whole());
                filling.take(piece).expect("it fits");
            }
            assert!(filling.is_whole());
            assert_eq!(fs::read(into.path().join("log/1.sst")).expect("it is there"), [7; 300]);
        }
        let into = tempfile::tempdir().expect("a directory");
        let outside = b"\x04\0../a\x01\0\0\0\0\0\0\0x";
        assert!(Filling::new(into.path()).take(outside).is_err());
    }
}
