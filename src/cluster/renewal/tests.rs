//! Tests of renewals against a peer on loopback that stops, has another log, or one that is too short.

use super::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wal::{Append, Log, ReportTo};

/// The longest wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// Makes a log with these payloads; its end.
fn log_with(path: &Path, payloads: &[&str]) -> Tip {
    let store = RocksStore::open(path).expect("a store");
    let log = Log::<ReportTo>::open(Box::new(store), wal::Config::default()).expect("a log");
    for payload in payloads {
        let payload = payload.as_bytes().to_vec();
        log.append(Append { tenant: 1, time_ms: 1, payload, ..Append::default() }, ReportTo(None));
    }
    log.close();
    Reader::open_read_only(path).expect("it opens").tip()
}

/// The stream of a directory, as a peer sends it.
fn stream(root: &Path, inside: &Path, out: &mut Vec<u8>) {
    for entry in fs::read_dir(root.join(inside)).expect("a directory") {
        let entry = entry.expect("an entry");
        let name = inside.join(entry.file_name());
        if entry.file_type().expect("a kind").is_dir() {
            stream(root, &name, out);
            continue;
        }
        let (name, bytes) = (name.to_str().expect("text"), fs::read(entry.path()).expect("bytes"));
        out.extend_from_slice(&(name.len() as u16).to_le_bytes());
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(&bytes);
    }
}

/// A peer that answers with the first bytes of a stream and keeps the connection, and counts who asks.
fn peer(stream: Vec<u8>, sent: usize) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let asked = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut open: Vec<TcpStream> = Vec::new();
        for connection in listener.incoming() {
            let mut connection = connection.expect("a connection");
            counted.fetch_add(1, Ordering::SeqCst);
            let mut head = [0; 4096];
            let _ = connection.read(&mut head).expect("a request");
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", stream.len());
            connection.write_all(head.as_bytes()).expect("it takes it");
            connection.write_all(&stream[..sent]).expect("it takes it");
            open.push(connection);
        }
    });
    (address, asked)
}

fn client(silence_max: Duration) -> Client {
    let config = Config::parse("", []).expect("it needs nothing");
    peers::client(&config, Some(silence_max)).expect("a client")
}

#[test]
fn a_peer_that_stops_in_the_middle_is_given_up() {
    let data = tempfile::tempdir().expect("a directory");
    let (address, _) = peer(vec![7; 10_000], 5_000);
    let asked = client(Duration::from_millis(200)).get(&address);
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        done.send(take(asked, &address, data.path(), Tip::default()).map_err(|why| why.to_string()))
    });
    let ended = ended.recv_timeout(PATIENCE).expect("it does not wait for ever");
    assert!(ended.is_err(), "it was not whole");
}

#[test]
fn a_log_of_another_branch_is_asked_for_once_and_its_copy_goes() {
    let (theirs, data) =
        (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    log_with(&theirs.path().join(LOG_DIRECTORY), &["one", "two", "three"]);
    let ours = log_with(&data.path().join(LOG_DIRECTORY), &["one", "other"]);
    let mut bytes = Vec::new();
    stream(theirs.path(), Path::new(""), &mut bytes);
    bytes.extend_from_slice(&[0, 0]);
    let sent = bytes.len();
    let (address, asked) = peer(bytes, sent);
    let mut renewal = Renewal {
        client: client(PATIENCE),
        key: PeerKey::derived(&[7; 32]),
        data: data.path().to_owned(),
        under_way: None,
        tried_at: None,
        tries: 0,
    };
    let view = view_with(&address);
    let began = Instant::now();
    let renewed = loop {
        match renewal.turn(&view, ours) {
            Renewed::NotYet => std::thread::sleep(Duration::from_millis(5)),
            renewed => break renewed,
        }
        assert!(began.elapsed() < PATIENCE, "nothing comes of it");
    };
    let why = "record 2 is another one than in the log of the other nodes";
    assert_eq!(renewed, Renewed::Branched(why.to_owned()));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(!data.path().join(FOLDER).exists(), "the copy is gone");
}

#[test]
fn a_copy_goes_on_from_the_end_of_the_log_or_is_too_short() {
    let folder = tempfile::tempdir().expect("a directory");
    let (copy, shorter) = (folder.path().join("copy"), folder.path().join("shorter"));
    log_with(&copy, &["one", "two", "three"]);
    log_with(&shorter, &["one"]);
    let ours = log_with(&folder.path().join("ours"), &["one", "two"]);
    assert!(check(&copy, ours).is_ok() && check(&copy, Tip::default()).is_ok());
    let why = check(&shorter, ours).expect_err("it is too short");
    assert_eq!(why.to_string(), "the copy ends at record 1, this log at 2");
}

/// The view of a node that knows one other, which leads.
fn view_with(address: &str) -> View {
    let other = Member {
        node: "b".to_owned(),
        role: Role::Leader,
        wal_seq: 3,
        seen_at_ms: now_ms(),
        format: 1,
        peer_advertise: address.to_owned(),
        ..Member::default()
    };
    View {
        partition: "main".to_owned(),
        node: "a".to_owned(),
        role: Role::Standby,
        leader: Some("b".to_owned()),
        epoch: 1,
        wal_seq: 2,
        agreed_seq: 3,
        window_bytes: 0,
        stored_version: domain::codec::NEWEST,
        members: vec![other],
        read_at: None,
        read_since: None,
        diverged: None,
        held_up: None,
        waits_for: "".into(),
    }
}

fn folder_with(data: &Path, store: &str, content: &str) {
    fs::create_dir_all(data.join(store)).expect("a folder");
    fs::write(data.join(store).join("file"), content).expect("a file");
}

#[test]
fn a_copy_takes_the_place_of_the_old_only_when_it_is_whole_also_after_a_death() {
    let data = tempfile::tempdir().expect("a directory");
    let (data, new) = (data.path(), data.path().join(FOLDER));
    let has = |store: &str| fs::read_to_string(data.join(store).join("file")).unwrap_or_default();
    for store in [LOG_DIRECTORY, RATES_DIRECTORY] {
        folder_with(data, store, "old");
        folder_with(&new, store, "new");
    }
    finish(data).expect("it is thrown away");
    assert_eq!((has("log"), new.exists()), ("old".to_owned(), false));
    // A death after the log was moved.
    folder_with(data, LOG_DIRECTORY, "moved");
    folder_with(&new, RATES_DIRECTORY, "new");
    fs::write(new.join(WHOLE), "").expect("a file");
    finish(data).expect("it goes on");
    assert_eq!((has("log"), has("rates"), new.exists()), ("moved".to_owned(), "new".to_owned(), false));
    finish(data).expect("nothing is left to do");
}
