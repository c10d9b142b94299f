//! Joining, refused before anything is copied, and broken off at each step of it.

use crate::machines::Machines;
use crate::{insist_at, sellers};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The bytes of a copy that come through at first: its keys, and nothing of its log.
const KEYS: usize = 2_000;
/// The time in which a command gives up an etcd that is silent, and a little.
const GIVEN_UP: Duration = Duration::from_secs(15);

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A way to a port that lets only so many bytes of each answer through.
#[derive(Clone)]
struct Strait {
    port: u16,
    width: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
}

impl Strait {
    fn to(target: u16) -> Strait {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (width, connections) = (Arc::new(AtomicUsize::new(KEYS)), Arc::default());
        let strait = Strait { port, width, connections };
        let known = strait.clone();
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let known = known.clone();
                std::thread::spawn(move || known.carry(near, target));
            }
        });
        strait
    }

    fn carry(&self, mut near: TcpStream, target: u16) -> Option<()> {
        let mut far = TcpStream::connect(("127.0.0.1", target)).ok()?;
        let mut bytes = [0; 500];
        let asked = near.read(&mut bytes).ok()?;
        far.write_all(&bytes[..asked]).ok()?;
        let mut passed = 0;
        while let Ok(read @ 1..) = far.read(&mut bytes) {
            near.write_all(&bytes[..read]).ok()?;
            let before = passed;
            passed += read;
            if before < KEYS && passed >= KEYS {
                self.connections.fetch_add(1, Ordering::SeqCst);
            }
            while passed >= self.width.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Some(())
    }

    /// Copies whose keys have come through.
    fn held(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

#[test]
fn a_machine_that_cannot_be_a_node_copies_nothing() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found_alone();
    let join = |machines: &Machines| {
        let began = Instant::now();
        let refused = machines.command(1, &["cluster", "join", "--from", &machines.peer(0)]);
        assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
        assert!(!machines.data(1).exists(), "{}", said(&refused));
        assert!(began.elapsed() < GIVEN_UP, "{:?}", began.elapsed());
        said(&refused)
    };
    machines.configure(1, "partition = \"other\"");
    assert!(join(&machines).contains("no cluster under the partition other"));
    machines.configure(1, "");
    machines.rename(1, "n0");
    assert!(join(&machines).contains("another node called n0"));
    machines.configure(1, "");
    machines.cut_off(1, true);
    assert!(join(&machines).contains("etcd does not answer: http://127.0.0.1:"));
    machines.cut_off(1, false);
    let joined = machines.command(1, &["cluster", "join", "--from", &machines.peer(0)]);
    assert!(joined.status.success(), "{}", said(&joined));
    machines.start(1);
    machines.until(|machines| machines.is_ready(1));
    let again = machines.command(1, &["cluster", "join", "--from", &machines.peer(0)]);
    assert_eq!(again.status.code(), Some(1));
    assert!(said(&again).contains("in a cluster already"), "{}", said(&again));
}

#[test]
fn a_join_that_breaks_off_is_done_again_by_the_same_command() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found_alone();
    insist_at(&machines, &[0], "before");
    let peer = machines.peer(0);
    let strait = Strait::to(peer.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port"));
    let from = format!("http://127.0.0.1:{}", strait.port);
    let begin = |machines: &Machines| {
        let mut joining = machines.pasarela(1, &["cluster", "join", "--from", &from]);
        joining.stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let mut killed = begin(&machines);
    machines.until(|machines| strait.held() == 1 && machines.data(1).join("join/mark.key").is_file());
    let beside = machines.command(1, &["cluster", "join", "--from", &peer]);
    assert_eq!(beside.status.code(), Some(1));
    assert!(said(&beside).contains("under way here"), "{}", said(&beside));
    killed.kill().expect("it is killed");
    killed.wait().expect("it has ended");
    let refused = machines.command(1, &["serve"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("cluster join"), "{}", said(&refused));

    // Another copy, in the middle of which etcd falls silent.
    let unanswered = begin(&machines);
    machines.until(|_| strait.held() == 2);
    machines.cut_off(1, true);
    strait.width.store(usize::MAX, Ordering::SeqCst);
    let unanswered = unanswered.wait_with_output().expect("it ends");
    assert_eq!(unanswered.status.code(), Some(1), "{}", said(&unanswered));
    assert!(said(&unanswered).contains("the copy is kept"), "{}", said(&unanswered));
    machines.cut_off(1, false);
    // Nobody is asked for another copy.
    let joined = machines.command(1, &["cluster", "join", "--from", "http://127.0.0.1:1"]);
    assert!(joined.status.success(), "{}", said(&joined));
    assert!(!machines.data(1).join("join").exists());
    machines.start(1);
    machines.until(|machines| machines.is_ready(1));
    assert_eq!(sellers(&machines, 1).len(), 1);
    machines.kill(0);
    insist_at(&machines, &[1], "it leads");
}

#[test]
fn a_copy_of_another_cluster_is_not_kept() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found_alone();
    // Another cluster on the same etcd, of one node, with other secrets.
    machines.configure(2, "partition = \"other\"");
    let founded = machines.command(2, &["cluster", "init"]);
    assert!(founded.status.success(), "{}", said(&founded));
    machines.start(2);
    machines.until(|machines| machines.is_ready(2));
    let refused = machines.command(1, &["cluster", "join", "--from", &machines.peer(2)]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("a node of another cluster"), "{}", said(&refused));
    assert_eq!(std::fs::read_dir(machines.data(1)).expect("it was made").count(), 0);
    let joined = machines.command(1, &["cluster", "join", "--from", &machines.peer(0)]);
    assert!(joined.status.success(), "{}", said(&joined));
}
