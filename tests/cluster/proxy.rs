//! A wire between two processes that can be cut, both ways or one: nothing arrives then, and nobody is told. When it is
//! whole again what was under way goes on. And one that breaks, as everybody is told.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A wire to a port of this machine. Its threads end with the process.
pub struct Wire {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// What is sent to the port does not arrive.
    there: AtomicBool,
    /// What the port sends does not arrive.
    back: AtomicBool,
    is_broken: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

/// The ways of a wire that are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ways {
    There,
    Back,
    Both,
}

impl Wire {
    pub fn to(target: u16) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::<State>::default();
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || join(near, target, &state));
            }
        });
        Wire { port, state }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn cut(&self, ways: Ways, is_cut: bool) {
        if ways != Ways::Back {
            self.state.there.store(is_cut, Ordering::SeqCst);
        }
        if ways != Ways::There {
            self.state.back.store(is_cut, Ordering::SeqCst);
        }
    }

    /// Ends every connection, and each new one at once while it is broken.
    pub fn break_off(&self, is_broken: bool) {
        self.state.is_broken.store(is_broken, Ordering::SeqCst);
        let connections =
            std::mem::take(&mut *self.state.connections.lock().unwrap_or_else(PoisonError::into_inner));
        for connection in connections {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn join(near: TcpStream, target: u16, state: &Arc<State>) {
    if state.is_broken.load(Ordering::SeqCst) {
        return;
    }
    // One that comes while only one way is cut is taken: the worst of what there may be.
    while state.there.load(Ordering::SeqCst) && state.back.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let Ok(far) = TcpStream::connect(("127.0.0.1", target)) else { return };
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let (Ok(from), Ok(to), Ok(ours)) = (far.try_clone(), near.try_clone(), near.try_clone()) else { return };
    let mut connections = state.connections.lock().unwrap_or_else(PoisonError::into_inner);
    connections.retain(|connection| connection.peer_addr().is_ok());
    connections.push(ours);
    drop(connections);
    let back = Arc::clone(state);
    std::thread::spawn(move || carry(from, to, &back.back));
    carry(near, far, &state.there);
}

fn carry(mut from: TcpStream, mut to: TcpStream, cut: &AtomicBool) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        while_whole(cut);
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    // The end of a connection is a packet too.
    while_whole(cut);
    let _ = (from.shutdown(Shutdown::Read), to.shutdown(Shutdown::Write));
}

fn while_whole(cut: &AtomicBool) {
    while cut.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(5));
    }
}
