//! A source on the other side of HTTP that does as it is told: answers, says nonsense, redirects,
//! stays silent, or never ends. For feeds of rates and banks.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The way in which a path answers.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Answers with a status and a body.
    Says(u16, String),
    /// Answers 200 with a body in which each `#` is the number of the request for its path.
    Counts(String),
    /// Redirects to a path of its own.
    SendsTo(String),
    /// Takes the request and says nothing.
    Silent,
    /// Says that all is well and sends bytes for ever.
    Endless,
    /// Sends half of an answer, one byte a second.
    Dribbles,
    /// Promises more than it sends.
    CutsOff,
}

type Paths = Arc<Mutex<HashMap<String, Behaviour>>>;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Method and path.
    pub line: String,
    /// Every header, lower case.
    pub headers: HashMap<String, String>,
    /// The request's body.
    pub body: String,
}

/// The source; it ends with the process.
pub struct Source {
    port: u16,
    paths: Paths,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Source {
    /// Starts a source that answers 404 until a path is set.
    pub fn start() -> Source {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let (paths, seen): (Paths, Arc<Mutex<Vec<Seen>>>) = Default::default();
        let (of_thread, told) = (Arc::clone(&paths), Arc::clone(&seen));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (paths, told) = (Arc::clone(&of_thread), Arc::clone(&told));
                thread::spawn(move || serve(stream, port, &paths, &told));
            }
        });
        Source { port, paths, seen }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Sets what the path does from now on.
    pub fn set(&self, path: &str, behaviour: Behaviour) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), behaviour);
    }

    /// The requests that came for a path.
    pub fn seen(&self, path: &str) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter().filter(|seen| seen.line.split(' ').nth(1) == Some(path)).cloned().collect()
    }
}

fn serve(stream: TcpStream, port: u16, paths: &Paths, told: &Mutex<Vec<Seen>>) {
    let Ok(mut out) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).is_err() {
        return;
    }
    let mut headers = HashMap::new();
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).is_err() || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':') {
            headers.insert(name.trim().to_lowercase(), value.trim().to_owned());
        }
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let path = line.split(' ').nth(1).unwrap_or("").to_owned();
    let seen =
        Seen { line: line.trim().to_owned(), headers, body: String::from_utf8_lossy(&body).into_owned() };
    let number = {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        told.push(seen);
        told.iter().filter(|seen| seen.line.split(' ').nth(1) == Some(path.as_str())).count()
    };
    let behaviour = paths
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&path)
        .cloned()
        .unwrap_or(Behaviour::Says(404, String::new()));
    // The client may go away in the middle: some of these behaviours are for that.
    let behaviour = match behaviour {
        Behaviour::Counts(body) => Behaviour::Says(200, body.replace('#', &number.to_string())),
        other => other,
    };
    let _ = act(&mut out, port, behaviour);
}

fn act(out: &mut TcpStream, port: u16, behaviour: Behaviour) -> std::io::Result<()> {
    match behaviour {
        Behaviour::Says(status, body) => {
            write!(
                out,
                "HTTP/1.1 {status} Told\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            )
        }
        Behaviour::Counts(_) => Ok(()),
        Behaviour::SendsTo(path) => {
            write!(
                out,
                "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{port}{path}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
        }
        Behaviour::Silent => {
            thread::sleep(Duration::from_secs(120));
            Ok(())
        }
        Behaviour::Endless => {
            out.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"price\":\"")?;
            loop {
                out.write_all(&[b'1'; 64 << 10])?;
            }
        }
        Behaviour::Dribbles => {
            out.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\nconnection: close\r\n\r\n")?;
            loop {
                out.write_all(b" ")?;
                thread::sleep(Duration::from_secs(1));
            }
        }
        Behaviour::CutsOff => out.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\nconnection: close\r\n\r\n{\"price\":\"1\"}",
        ),
    }
}
