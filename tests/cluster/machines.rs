//! Three etcd and three nodes, each a process; all end with this.

use serde_json::Value;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const TOKEN: &str = "operators-token-that-is-long-enough";
/// The longest wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A free port, which nobody else takes in the next moment.
fn port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").expect("a port");
    socket.local_addr().expect("an address").port()
}

/// The machines, with the directory that has all their data.
pub struct Machines {
    directory: TempDir,
    etcd: Vec<Child>,
    nodes: Vec<Option<Child>>,
    /// API, operators and peers of each node.
    ports: Vec<[u16; 3]>,
}

/// The body of an answer that is a 200.
pub fn ok(answer: Option<(u16, Value)>) -> Value {
    match answer {
        Some((200, body)) => body,
        other => panic!("{other:?}"),
    }
}

impl Machines {
    /// Three etcd, and configurations of three nodes; `None` without etcd.
    pub fn new() -> Option<Machines> {
        if Command::new("etcd").arg("--version").stdout(Stdio::null()).status().is_err() {
            eprintln!("there is no etcd: nothing was tried");
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        let clients: Vec<u16> = (0..3).map(|_| port()).collect();
        let peers: Vec<u16> = (0..3).map(|_| port()).collect();
        let ports: Vec<[u16; 3]> = (0..3).map(|_| [port(), port(), port()]).collect();
        let members: Vec<String> =
            peers.iter().enumerate().map(|(n, port)| format!("e{n}=http://127.0.0.1:{port}")).collect();
        let etcd = (0..3)
            .map(|n| {
                let (client, peer) =
                    (format!("http://127.0.0.1:{}", clients[n]), format!("http://127.0.0.1:{}", peers[n]));
                Command::new("etcd")
                    .args(["--name", &format!("e{n}"), "--initial-cluster", &members.join(",")])
                    .arg("--data-dir")
                    .arg(directory.path().join(format!("etcd-{n}")))
                    .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
                    .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
                    .args(["--max-request-bytes", "4194304"])
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .expect("etcd starts")
            })
            .collect();
        let endpoints: Vec<String> =
            clients.iter().map(|port| format!("\"http://127.0.0.1:{port}\"")).collect();
        let machines = Machines { directory, etcd, nodes: vec![None, None, None], ports };
        for node in 0..3 {
            machines.configure(node, &endpoints.join(", "));
        }
        Some(machines)
    }

    fn configure(&self, node: usize, endpoints: &str) {
        let [api, admin, peer] = self.ports[node];
        let path = self.data(node);
        let text = format!(
            "[server]\nlisten = \"127.0.0.1:{api}\"\n[admin]\nlisten = \"127.0.0.1:{admin}\"\ntoken = \"{TOKEN}\"\n\
             [storage]\npath = \"{}\"\nreserve_bytes = 0\n[cluster]\netcd = [{endpoints}]\nnode = \"n{node}\"\n\
             peer_listen = \"127.0.0.1:{peer}\"\n[[bootstrap.tenants]]\nname = \"demo\"\ntest_key = \"pk_test_demo\"\n",
            path.display()
        );
        std::fs::write(self.file(node), text).expect("written");
    }

    fn file(&self, node: usize) -> PathBuf {
        self.directory.path().join(format!("n{node}.toml"))
    }

    pub fn data(&self, node: usize) -> PathBuf {
        self.directory.path().join(format!("data-{node}"))
    }

    pub fn peer(&self, node: usize) -> String {
        format!("http://127.0.0.1:{}", self.ports[node][2])
    }

    fn pasarela(&self, node: usize, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pasarela"));
        command.args(arguments).arg("--config").arg(self.file(node));
        command
    }

    /// Runs a command of a node to its end.
    pub fn command(&self, node: usize, arguments: &[&str]) -> Output {
        self.pasarela(node, arguments).output().expect("it runs")
    }

    /// Founds a cluster with the first node, and has the others join.
    pub fn found(&mut self) {
        let began = Instant::now();
        while !self.command(0, &["cluster", "init"]).status.success() {
            assert!(began.elapsed() < PATIENCE, "etcd does not start");
        }
        self.start(0);
        self.until(|machines| matches!(machines.get(0, "/readyz"), Some((200, _))));
        for node in 1..3 {
            let joined = self.command(node, &["cluster", "join", "--from", &self.peer(0)]);
            assert!(joined.status.success(), "{}", String::from_utf8_lossy(&joined.stderr));
            self.start(node);
        }
        self.until_ready();
    }

    pub fn start(&mut self, node: usize) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.directory.path().join(format!("n{node}.log")))
            .expect("a file");
        let child = self.pasarela(node, &["serve"]).stderr(log).spawn().expect("it starts");
        self.nodes[node] = Some(child);
    }

    pub fn kill(&mut self, node: usize) {
        if let Some(mut child) = self.nodes[node].take() {
            child.kill().expect("it is killed");
            child.wait().expect("it has ended");
        }
    }

    pub fn pid(&self, node: usize) -> u32 {
        self.nodes[node].as_ref().expect("it runs").id()
    }

    pub fn signal(&self, node: usize, signal: &str) {
        let sent = Command::new("kill").args([format!("-{signal}"), self.pid(node).to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    pub fn stop_etcd(&mut self, etcd: usize) {
        self.etcd[etcd].kill().expect("it is killed");
    }

    /// Waits until every node has synced what was agreed on.
    pub fn until_caught_up(&self) {
        self.until(|machines| {
            let synced = |node| machines.operator(node, "GET", "/admin/cluster", None);
            let synced: Vec<_> = (0..3).filter_map(synced).map(|(_, body)| body["walSeq"].clone()).collect();
            let agreed = machines.operator(machines.leader(), "GET", "/admin/cluster", None);
            agreed
                .is_some_and(|(_, body)| synced.iter().filter(|seq| **seq == body["agreedSeq"]).count() == 3)
        });
    }

    /// Stops the standbys, then the leader, each in good order.
    pub fn stop_all(&mut self) {
        self.until_caught_up();
        let leader = self.leader();
        for node in (0..3).filter(|node| *node != leader).chain([leader]) {
            self.signal(node, "TERM");
            let mut child = self.nodes[node].take().expect("it runs");
            assert!(child.wait().expect("it ends").success(), "n{node} did not end in good order");
        }
    }

    /// Every stopped node's log ends with the same record.
    pub fn tips_are_equal(&self) {
        let tip = |node| {
            let shown = self.command(node, &["wal", "info", "--json"]);
            let shown: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
            (shown["lastSeq"].clone(), shown["headHash"].clone())
        };
        assert_eq!((tip(0), tip(0)), (tip(1), tip(2)));
    }

    /// The node that leads.
    pub fn leader(&self) -> usize {
        let mut leader = None;
        self.until(|machines| {
            leader = (0..3).find(|node| {
                matches!(machines.get(*node, "/readyz"), Some((200, body)) if body["role"] == "leader")
            });
            leader.is_some()
        });
        leader.expect("somebody leads")
    }

    pub fn until_ready(&self) {
        self.until(|machines| (0..3).all(|node| matches!(machines.get(node, "/readyz"), Some((200, _)))));
    }

    pub fn until(&self, mut is_so: impl FnMut(&Machines) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "it does not come to that: {}", self.logs());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn logs(&self) -> String {
        let read = |node| std::fs::read_to_string(self.directory.path().join(format!("n{node}.log")));
        (0..3).filter_map(|node| read(node).ok()).collect()
    }

    pub fn get(&self, node: usize, path: &str) -> Option<(u16, Value)> {
        self.exchange(node, "GET", path, None).map(|(status, _, body)| (status, body))
    }

    pub fn post(&self, node: usize, path: &str, body: &Value) -> Option<(u16, Value)> {
        self.exchange(node, "POST", path, Some(body)).map(|(status, _, body)| (status, body))
    }

    pub fn operator(
        &self,
        node: usize,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        exchange(self.ports[node][1], method, path, body).map(|(status, _, body)| (status, body))
    }

    /// An answer of a node's API with its headers; `None` if there is none.
    pub fn exchange(
        &self,
        node: usize,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, HashMap<String, String>, Value)> {
        exchange(self.ports[node][0], method, path, body)
    }
}

fn exchange(
    port: u16,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Option<(u16, HashMap<String, String>, Value)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(6))).ok()?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-api-key: pk_test_demo\r\n\
         authorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    Some((status, headers.collect(), serde_json::from_str(body).unwrap_or_default()))
}

impl Drop for Machines {
    fn drop(&mut self) {
        for child in self.nodes.iter_mut().flatten().chain(&mut self.etcd) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
