//! A workload that reads: the same GET again and again.

use crate::Outcome;
use crate::requests::Workload;
use std::net::SocketAddr;

/// The number of answers of a connection of which one body is read.
const BODY_EVERY: usize = 64;

/// The same GET again and again; the body of an answer has to end so.
pub struct Reads {
    bytes: Vec<u8>,
    ending: &'static str,
}

impl Reads {
    /// GET of a path.
    pub fn new(address: SocketAddr, path: &str, ending: &'static str) -> Reads {
        Reads { bytes: format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").into_bytes(), ending }
    }
}

impl Workload for Reads {
    fn choices(&self) -> usize {
        1
    }

    fn write(&self, nth: usize, into: &mut Vec<u8>) -> Outcome<u64> {
        into.clear();
        into.extend_from_slice(&self.bytes);
        Ok(nth as u64)
    }

    fn status(&self) -> u16 {
        200
    }

    fn body_every(&self) -> usize {
        BODY_EVERY
    }

    fn check(&self, _number: u64, body: &[u8]) -> Outcome<()> {
        if body.ends_with(self.ending.as_bytes()) {
            Ok(())
        } else {
            Err(format!("does not end with {}: {}", self.ending, String::from_utf8_lossy(body)))
        }
    }
}
