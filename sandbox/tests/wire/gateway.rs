//! A gateway that the bank calls: it keeps the requests and answers as a test wants.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request that the bank sent.
#[derive(Clone, Debug)]
pub struct Received {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// The gateway.
pub struct Gateway {
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
    answers: Arc<Mutex<Vec<(u16, Value)>>>,
}

impl Gateway {
    /// Listens, and gives these answers, one after the other, and the last one from then on.
    pub fn start(answers: &[(u16, Value)]) -> Gateway {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let answers = Arc::new(Mutex::new(answers.to_vec()));
        let (kept, queue) = (Arc::clone(&received), Arc::clone(&answers));
        // The thread ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let request = read(&stream);
                kept.lock().expect("requests").push(request);
                let mut queue = queue.lock().expect("answers");
                let (status, body) = if queue.len() > 1 { queue.remove(0) } else { queue[0].clone() };
                let body = body.to_string();
                let head =
                    format!("HTTP/1.1 {status} -\r\ncontent-type: application/json\r\nconnection: close\r\n");
                let _ = (&stream)
                    .write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes());
            }
        });
        Gateway { url, received, answers }
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().expect("requests").clone()
    }

    pub fn answers(&self, status: u16, body: Value) {
        *self.answers.lock().expect("answers") = vec![(status, body)];
    }
}

fn read(stream: &TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let mut next = |reader: &mut BufReader<&TcpStream>| {
        line.clear();
        reader.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    };
    let path = next(&mut reader).split(' ').nth(1).expect("a path").to_owned();
    let mut headers = Vec::new();
    while let Some((name, value)) = next(&mut reader).split_once(": ") {
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).expect("a body");
    Received { path, headers, body: String::from_utf8(body).expect("text") }
}
