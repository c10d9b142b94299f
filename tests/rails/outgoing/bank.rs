//! A bank of the test's own on loopback: a small HTTP server whose answer to each call is set by
//! operation, and which remembers what it was asked.

use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What it does about a call.
#[derive(Clone, Debug)]
pub enum Act {
    /// A status and a body.
    Say(u16, String),
    /// The same after a while.
    Late(Duration, String),
    /// The same once the test lets it go.
    Held(String),
    /// Nothing, and the connection stays open.
    Silence,
    /// The connection is cut.
    Cut,
    /// A body as it is, whatever it is.
    Bytes(Vec<u8>),
}

/// The way in which it closes connections without a word.
#[derive(Clone, Copy, Debug)]
pub struct Closing {
    /// It reads nothing more once nothing was asked for so long.
    pub after: Duration,
    /// The other side hears of that so much later.
    pub heard: Duration,
    /// The seconds that its answers say.
    pub says: Option<u64>,
}

/// A readable answer.
pub fn say(body: Value) -> Act {
    Act::Say(200, body.to_string())
}

/// A code of success with a reference.
pub fn done(code: &str, reference: &str) -> Act {
    say(json!({ "code": code, "message": "TRANSACCION EXITOSA", "reference": reference }))
}

/// A code alone.
pub fn code(code: &str) -> Act {
    say(json!({ "code": code, "message": format!("codigo {code}") }))
}

#[derive(Default)]
struct Inner {
    next: HashMap<String, VecDeque<Act>>,
    always: HashMap<String, Act>,
    calls: Vec<(String, Value)>,
    connections: Vec<TcpStream>,
    lets_go: bool,
    closing: Option<Closing>,
    /// The references that it gave, by operation: none twice, as a bank's on one day, unless it repeats
    /// itself.
    given: HashSet<(String, String)>,
    repeats: bool,
}

/// The bank.
pub struct Bank {
    port: u16,
    inner: Arc<Mutex<Inner>>,
    ends: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Bank {
    /// One that is up, and refuses what it was not told about with 99.
    pub fn start() -> Bank {
        Bank::on(0)
    }

    /// One that is up on a port.
    pub fn on(port: u16) -> Bank {
        let deadline = Instant::now() + Duration::from_secs(10);
        let listener = loop {
            match TcpListener::bind(("127.0.0.1", port)) {
                Ok(listener) => break listener,
                Err(error) => assert!(Instant::now() < deadline, "port {port}: {error}"),
            }
            thread::sleep(Duration::from_millis(20));
        };
        let port = listener.local_addr().expect("an address").port();
        let (inner, ends) = (Arc::<Mutex<Inner>>::default(), Arc::new(AtomicBool::new(false)));
        let (served, over) = (Arc::clone(&inner), Arc::clone(&ends));
        let accepting = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (served, over) = (Arc::clone(&served), Arc::clone(&over));
                served.lock().expect("no panic of the bank").connections.extend(stream.try_clone());
                thread::spawn(move || serve(&stream, &served, &over));
            }
        });
        let bank = Bank { port, inner, ends, accepting: Some(accepting) };
        bank.always("MBbcv", say(json!({ "code": "00", "fechavalor": "2026-11-20", "tipocambio": 200.0 })));
        bank
    }

    /// Where it is.
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it does about every call of an operation, or of one about a bank (`MBc2p 0102`), unless something
    /// else comes first.
    pub fn always(&self, operation: &str, act: Act) {
        self.lock().always.insert(operation.to_owned(), act);
    }

    /// What it does about the next call of an operation.
    pub fn next(&self, operation: &str, act: Act) {
        self.lock().next.entry(operation.to_owned()).or_default().push_back(act);
    }

    /// From now on it closes connections so, but for those that it has.
    pub fn closes(&self, closing: Closing) {
        self.lock().closing = Some(closing);
    }

    /// From now on it gives a reference as often as it is told to.
    pub fn repeats(&self) {
        self.lock().repeats = true;
    }

    /// The connections that were made to it.
    pub fn connections(&self) -> usize {
        self.lock().connections.len()
    }

    /// Lets the answers go that are held.
    pub fn let_go(&self) {
        self.lock().lets_go = true;
    }

    /// What it was asked, without rates.
    pub fn calls(&self) -> Vec<(String, Value)> {
        self.lock().calls.iter().filter(|(operation, _)| operation != "MBbcv").cloned().collect()
    }

    /// The bodies of the calls of an operation.
    pub fn of(&self, operation: &str) -> Vec<Value> {
        let calls = self.lock().calls.clone();
        calls.into_iter().filter(|(called, _)| called == operation).map(|(_, body)| body).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no panic of the bank")
    }
}

impl Drop for Bank {
    /// It is gone: nobody listens there any more, and no connection is left.
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        for connection in &self.lock().connections {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn serve(stream: &TcpStream, inner: &Mutex<Inner>, ends: &AtomicBool) {
    let mut reader = BufReader::new(stream);
    let closing = inner.lock().expect("no panic of the bank").closing;
    let _ = stream.set_read_timeout(closing.map(|closing| closing.after));
    loop {
        let Some((operation, body)) = read(&mut reader) else {
            // What is sent meanwhile is lost.
            thread::sleep(closing.map_or(Duration::ZERO, |closing| closing.heard));
            let _ = stream.shutdown(Shutdown::Both);
            return;
        };
        if ends.load(Ordering::SeqCst) {
            return;
        }
        let act = {
            let mut inner = inner.lock().expect("no panic of the bank");
            let at_bank = format!("{operation} {}", body["Banco"].as_str().unwrap_or_default());
            inner.calls.push((operation.clone(), body));
            let next = inner.next.get_mut(&operation).and_then(VecDeque::pop_front);
            let always = || inner.always.get(&at_bank).or(inner.always.get(&operation)).cloned();
            next.or_else(always).unwrap_or_else(|| code("99"))
        };
        let (status, body) = match act {
            Act::Say(status, body) => (status, once(&operation, body, inner).into_bytes()),
            Act::Bytes(body) => (200, body),
            Act::Late(pause, body) => {
                thread::sleep(pause);
                (200, body.into_bytes())
            }
            Act::Held(body) => {
                while !ends.load(Ordering::SeqCst) && !inner.lock().expect("no panic of the bank").lets_go {
                    thread::sleep(Duration::from_millis(20));
                }
                (200, body.into_bytes())
            }
            Act::Silence => {
                thread::sleep(Duration::from_secs(60));
                return;
            }
            Act::Cut => return,
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n",
            closing
                .and_then(|closing| closing.says)
                .map(|says| format!("Keep-Alive: timeout={says}\r\n"))
                .unwrap_or_default(),
            body.len()
        );
        let mut stream = stream;
        if stream.write_all(&[head.as_bytes(), &body].concat()).is_err() {
            return;
        }
    }
}

/// An answer whose reference was not given to such a call before, as a bank's on one day.
fn once(operation: &str, body: String, inner: &Mutex<Inner>) -> String {
    let mut inner = inner.lock().expect("no panic of the bank");
    let mut said: Value = serde_json::from_str(&body).unwrap_or_default();
    let Some(reference) = said["reference"].as_str().map(str::to_owned) else { return body };
    if inner.repeats || inner.given.insert((operation.to_owned(), reference.clone())) {
        return body;
    }
    said["reference"] = json!(format!("{reference}00{}", inner.calls.len()));
    said.to_string()
}

/// The operation and the body of the next call.
fn read(reader: &mut BufReader<&TcpStream>) -> Option<(String, Value)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let operation = line.split(' ').nth(1)?.trim_start_matches('/').to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok().filter(|read| *read > 0)?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((operation, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}
