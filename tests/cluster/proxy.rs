//! A wire between two processes that can be cut: nothing arrives then, and nobody is told. When it is
//! whole again what was under way goes on.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A wire to a port of this machine. Its threads end with the process.
pub struct Wire {
    port: u16,
    is_cut: Arc<AtomicBool>,
}

impl Wire {
    pub fn to(target: u16) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let is_cut = Arc::new(AtomicBool::new(false));
        let cut = Arc::clone(&is_cut);
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let cut = Arc::clone(&cut);
                std::thread::spawn(move || join(near, target, &cut));
            }
        });
        Wire { port, is_cut }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }
}

fn join(near: TcpStream, target: u16, cut: &Arc<AtomicBool>) {
    while_whole(cut);
    let Ok(far) = TcpStream::connect(("127.0.0.1", target)) else { return };
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let (Ok(from), Ok(to)) = (far.try_clone(), near.try_clone()) else { return };
    let back = Arc::clone(cut);
    std::thread::spawn(move || carry(from, to, &back));
    carry(near, far, cut);
}

fn carry(mut from: TcpStream, mut to: TcpStream, cut: &AtomicBool) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        while_whole(cut);
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Read), to.shutdown(Shutdown::Write));
}

fn while_whole(cut: &AtomicBool) {
    while cut.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(5));
    }
}
