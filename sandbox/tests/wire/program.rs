//! The program as a child process, and HTTP to it byte by byte.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// The time that an answer may take before a test fails.
const ANSWER: Duration = Duration::from_secs(20);

/// A running sandbox; it is killed when it is dropped.
pub struct Sandbox {
    child: Child,
    address: String,
    printed: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

/// An answer of the sandbox.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Value,
    pub bytes: Vec<u8>,
}

impl Sandbox {
    /// Starts a bank on a free port with its books in a folder.
    pub fn start(bank: &str, data: &Path, options: &[&str]) -> Sandbox {
        Sandbox::start_by(command(bank, data, options))
    }

    /// Starts a bank by a command of the test.
    pub fn start_by(mut command: Command) -> Sandbox {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the sandbox starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its terminal")).lines();
        let printed = Arc::new(Mutex::new(Vec::new()));
        let address = loop {
            let line = lines.next().expect("a line with its address").expect("text");
            printed.lock().expect("lines").push(line.clone());
            if let Some((_, after)) = line.split_once("listens on http://") {
                break after.split(';').next().expect("an address").to_owned();
            }
        };
        let kept = Arc::clone(&printed);
        let reader = std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| kept.lock().expect("lines").push(line));
        });
        Sandbox { child, address, printed, reader: Some(reader) }
    }

    /// Kills the sandbox without a warning; returns what it printed.
    pub fn kill(mut self) -> String {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
        self.reader.take().expect("a reader").join().expect("all lines");
        self.printed.lock().expect("lines").join("\n")
    }

    /// Waits until it has ended by itself.
    pub fn ended(mut self) -> ExitStatus {
        self.child.wait().expect("ended")
    }

    /// Opens a connection and sends bytes.
    pub fn send(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("connected");
        stream.set_read_timeout(Some(ANSWER)).expect("a time limit");
        stream.write_all(bytes).expect("sent");
        stream
    }

    /// Sends bytes, and returns everything that comes back until the connection ends.
    pub fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.send(bytes);
        let mut answer = Vec::new();
        // A reset is an end too.
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// Makes a call and reads its answer.
    pub fn call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        reply(self.exchange(&request(method, path, headers, body)))
    }

    pub fn get(&self, path: &str) -> Value {
        let reply = self.call("GET", path, &[], "");
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.body
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.call("POST", path, &[("content-type", "application/json")], &body.to_string())
    }

    /// Sets the faults in force.
    pub fn faults(&self, faults: Value) {
        let reply = self.post("/sandbox/faults", &serde_json::json!({"faults": faults}));
        assert_eq!(reply.status, 200, "{reply:?}");
    }

    pub fn books(&self) -> Value {
        self.get("/sandbox/books")
    }

    /// Waits until something holds, and returns it.
    pub fn until<T>(&self, look: impl Fn(&Sandbox) -> Option<T>) -> T {
        let end = std::time::Instant::now() + ANSWER;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            assert!(std::time::Instant::now() < end, "it never came to that");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program with the options of every test.
pub fn command(bank: &str, data: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pasarela-sandbox"));
    command.arg(bank).args(["--listen", "127.0.0.1:0", "--data"]).arg(data).args(options);
    command
}

/// The same program with the same options, started by a line of the shell that has them as `$0` and `$@`.
pub fn through_shell(line: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).arg(command.get_program()).args(command.get_args());
    shell
}

/// A request as it goes over the wire.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: bank\r\nconnection: close\r\n{headers}");
    format!("{head}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// An answer, read.
pub fn reply(bytes: Vec<u8>) -> Reply {
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer of HTTP: {text:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Reply { status, body: serde_json::from_str(body).unwrap_or(Value::Null), bytes }
}
