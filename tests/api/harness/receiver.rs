//! A receiver of webhooks over real sockets: it notes what arrives and answers as it is told to,
//! well or badly.

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// The time that a test waits for a request to arrive.
const PATIENCE: Duration = Duration::from_secs(90);

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// Method and path.
    pub target: String,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body, byte by byte.
    pub body: Vec<u8>,
    /// The number of the request on its connection, from 1.
    pub nth: usize,
}

impl Arrived {
    /// A header, or the empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The event's number.
    #[track_caller]
    pub fn sequence(&self) -> u64 {
        self.header("svc-event-sequence").parse().expect("a number")
    }
}

/// The way in which a request is answered.
#[derive(Clone, Debug)]
pub enum Manner {
    /// A status, at once.
    Status(u16),
    /// A 200, after a while.
    After(Duration),
    /// No answer; the connection stays open.
    Never,
    /// The connection is reset.
    Reset,
    /// The connection ends before an answer begins.
    Close,
    /// A 200, and after a while the connection ends.
    ThenClose(Duration),
    /// A redirect to this address.
    Redirect(String),
    /// A 200 with a body without end.
    Huge,
}

struct Shared {
    arrived: Mutex<Vec<Arrived>>,
    manner: Box<dyn Fn(&Arrived) -> Manner + Send + Sync>,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    over: AtomicBool,
    tls: Option<Arc<ServerConfig>>,
}

/// The receiver; it ends when it is dropped.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Receiver {
    /// Starts a receiver that answers as `manner` says.
    pub fn start(manner: impl Fn(&Arrived) -> Manner + Send + Sync + 'static) -> Receiver {
        Receiver::start_with(None, manner)
    }

    /// Starts a receiver that answers 200.
    pub fn good() -> Receiver {
        Receiver::start(|_| Manner::Status(200))
    }

    /// Starts a receiver, with TLS if `tls` is given.
    pub fn start_with(
        tls: Option<Arc<ServerConfig>>,
        manner: impl Fn(&Arrived) -> Manner + Send + Sync + 'static,
    ) -> Receiver {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new(Shared {
            arrived: Mutex::new(Vec::new()),
            manner: Box::new(manner),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            tls,
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if serving.over.load(Ordering::SeqCst) {
                    return;
                }
                let serving = Arc::clone(&serving);
                thread::spawn(move || serving.talk(stream));
            }
        });
        Receiver { address, shared }
    }

    /// The receiver's URL.
    pub fn url(&self) -> String {
        format!(
            "{}://127.0.0.1:{}/hook",
            if self.shared.tls.is_some() { "https" } else { "http" },
            self.address.port()
        )
    }

    /// The requests that arrived so far, in the order in which they arrived.
    pub fn arrived(&self) -> Vec<Arrived> {
        self.shared.arrived.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of requests that arrived so far.
    pub fn count(&self) -> usize {
        self.shared.arrived.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Waits until so many have arrived.
    #[track_caller]
    pub fn wait_for(&self, count: usize) -> Vec<Arrived> {
        let deadline = Instant::now() + PATIENCE;
        while self.count() < count {
            assert!(Instant::now() < deadline, "{} of {count} arrived within {PATIENCE:?}", self.count());
            sleep(Duration::from_millis(5));
        }
        self.arrived()
    }

    /// The most requests that were being answered at once.
    pub fn most_at_once(&self) -> usize {
        self.shared.most_at_once.load(Ordering::SeqCst)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the thread that listens.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn talk(&self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let raw = stream.try_clone().expect("a socket");
        match &self.tls {
            None => self.serve(BufReader::new(stream), &raw),
            Some(config) => {
                if let Ok(connection) = ServerConnection::new(Arc::clone(config)) {
                    self.serve(BufReader::new(StreamOwned::new(connection, stream)), &raw);
                }
            }
        }
    }

    fn serve<S: Read + Write>(&self, mut stream: BufReader<S>, raw: &TcpStream) {
        for nth in 1.. {
            let Some(arrived) = read(&mut stream, nth) else { return };
            let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_at_once.fetch_max(now, Ordering::SeqCst);
            let manner = (self.manner)(&arrived);
            self.arrived.lock().unwrap_or_else(PoisonError::into_inner).push(arrived);
            self.wait(&manner, raw);
            // Before the answer: whoever has it sends the next.
            self.at_once.fetch_sub(1, Ordering::SeqCst);
            if !self.answer(&manner, stream.get_mut(), raw) {
                return;
            }
        }
    }

    fn wait(&self, manner: &Manner, raw: &TcpStream) {
        match manner {
            Manner::After(time) => sleep(*time),
            Manner::Never => {
                let until = Instant::now() + PATIENCE;
                while Instant::now() < until && !self.over.load(Ordering::SeqCst) && !is_closed(raw) {
                    sleep(Duration::from_millis(20));
                }
            }
            _ => {}
        }
    }

    fn answer(&self, manner: &Manner, stream: &mut impl Write, raw: &TcpStream) -> bool {
        let mut say = |text: &str| stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).is_ok();
        match manner {
            Manner::Status(status) => say(&format!("HTTP/1.1 {status} X\r\ncontent-length: 2\r\n\r\nok")),
            Manner::After(_) => say("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
            Manner::Never => false,
            Manner::Reset => {
                // The connection ends in the middle of the head of an answer.
                let _ = say("HTTP/1.1 2");
                let _ = raw.shutdown(Shutdown::Both);
                false
            }
            Manner::Close => {
                let _ = raw.shutdown(Shutdown::Both);
                false
            }
            Manner::ThenClose(time) => {
                let _ = say("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
                sleep(*time);
                let _ = raw.shutdown(Shutdown::Both);
                false
            }
            Manner::Redirect(to) => {
                say(&format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"))
            }
            Manner::Huge => {
                let mut goes_on = say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
                let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
                while goes_on && !self.over.load(Ordering::SeqCst) {
                    goes_on = say(&chunk);
                }
                false
            }
        }
    }
}

fn is_closed(raw: &TcpStream) -> bool {
    let _ = raw.set_nonblocking(true);
    let closed = matches!(raw.peek(&mut [0]), Ok(0));
    let _ = raw.set_nonblocking(false);
    closed
}

fn read(stream: &mut impl BufRead, nth: usize) -> Option<Arrived> {
    let mut line = || {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|read| *read > 0).map(|_| line.trim_end().to_owned())
    };
    let target = line()?.trim_end_matches(" HTTP/1.1").to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let header = line()?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':')?;
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = vec![0; headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(Arrived { target, headers, body, nth })
}
