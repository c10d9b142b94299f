//! A standby passes requests on over one connection to the leader, whatever some of its callers do.

use crate::machines::{Machines, ok};
use crate::{insist, seller};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

const CALLERS: usize = 16;
const CALLS: usize = 25;
const SLOW: usize = 24;
/// Of the document that describes the API: more than the kernel keeps for a connection.
const ASKED_AT_ONCE: usize = 8;

#[test]
fn what_is_passed_on_shares_one_connection() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    insist(&machines, "before");
    assert!(machines.get(1, "/v1/balance").is_some());
    let before = machines.taken_from_peers(0);
    let port = machines.ports()[1];
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let machines = &machines;
            scope.spawn(move || {
                for call in 0..CALLS {
                    let reference = format!("{caller}-{call}");
                    let made = machines.post(1, "/v1/merchants", &seller(&reference));
                    assert!(matches!(made, Some((201, _))), "{reference}: {made:?}");
                }
            });
        }
    });
    assert_eq!(machines.taken_from_peers(0), before, "no call has made a connection");

    // Callers who ask for much and read nothing of it.
    let ask = "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(ASKED_AT_ONCE);
    let slow: Vec<TcpStream> = (0..SLOW)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
            stream.write_all(ask.as_bytes()).expect("it takes it");
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_secs(3));
    let began = Instant::now();
    for _ in 0..CALLS {
        ok(machines.get(1, "/v1/balance"));
    }
    assert!(began.elapsed() < Duration::from_secs(5), "the others waited {:?}", began.elapsed());
    assert_eq!(machines.taken_from_peers(0), before);
    drop(slow);

    // The connection breaks: the next call makes another.
    machines.break_peer(0, true);
    machines.break_peer(0, false);
    machines.until(|machines| matches!(machines.get(1, "/v1/balance"), Some((200, _))));
}
