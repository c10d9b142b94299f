//! Three etcd and three nodes, each a process; all end with this. Nodes reach etcd, and each other,
//! over wires that can be cut.

use crate::proxy::{Ways, Wire};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The longest wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest wait for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(6);

/// A free port. The kernel gives those from 32,768 on to whoever connects, also while a node is down. Twenty
/// processes of the tests that start one after the other have some hundreds each.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = (std::process::id() % 20 * 600) as u16;
    let nth = || 18_000 + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % 12_000;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (0..12_000).map(|_| nth()).find(is_free).expect("a port")
}

/// The machines, with the directory that has all their data.
pub struct Machines {
    /// One cluster at a time: two on one machine are slower than any of their bounds.
    _alone: MutexGuard<'static, ()>,
    directory: TempDir,
    etcd: Vec<Option<Child>>,
    /// An etcd of one member, beside the others.
    own_etcd: Option<Child>,
    own_etcd_ports: [u16; 2],
    /// Clients' and peers' ports of each etcd.
    etcd_ports: Vec<[u16; 2]>,
    /// From each node to each etcd.
    wires: Vec<Vec<Wire>>,
    /// From other nodes to each.
    peer_wires: Vec<Wire>,
    nodes: Vec<Option<Child>>,
    /// API, operators and peers of each node.
    ports: Vec<[u16; 3]>,
    /// What each node runs.
    programs: [PathBuf; 3],
    /// What their environment has more.
    environment: Vec<(String, String)>,
}

/// Status, headers and body of an answer; `None` if there is none.
pub type Answer = Option<(u16, HashMap<String, String>, Value)>;

/// The body of an answer that is a 200.
pub fn ok(answer: Option<(u16, Value)>) -> Value {
    match answer {
        Some((200, body)) => body,
        other => panic!("{other:?}"),
    }
}

impl Machines {
    pub const TOKEN: &str = "operators-token-that-is-long-enough";

    /// Three etcd, and configurations of three nodes; `None` without etcd.
    pub fn new() -> Option<Machines> {
        if Command::new("etcd").arg("--version").stdout(Stdio::null()).status().is_err() {
            eprintln!("there is no etcd: nothing was tried");
            return None;
        }
        let _alone = Machines::alone();
        let directory = tempfile::tempdir().expect("a directory");
        let etcd_ports: Vec<[u16; 2]> = (0..3).map(|_| [port(), port()]).collect();
        let ports: Vec<[u16; 3]> = (0..3).map(|_| [port(), port(), port()]).collect();
        let wires = (0..3).map(|_| etcd_ports.iter().map(|[client, _]| Wire::to(*client)).collect());
        let wires: Vec<Vec<Wire>> = wires.collect();
        let peer_wires = ports.iter().map(|[_, _, peer]| Wire::to(*peer)).collect();
        let (etcd, nodes) = (vec![None, None, None], vec![None, None, None]);
        let programs = [(); 3].map(|()| PathBuf::from(env!("CARGO_BIN_EXE_pasarela")));
        let (own_etcd, own_etcd_ports) = (None, [port(), port()]);
        let mut machines = Machines {
            _alone,
            directory,
            etcd,
            own_etcd,
            own_etcd_ports,
            etcd_ports,
            wires,
            peer_wires,
            nodes,
            ports,
            programs,
            environment: Vec::new(),
        };
        for n in 0..3 {
            machines.start_etcd(n);
            machines.configure(n, "");
        }
        Some(machines)
    }

    /// The right to be the only cluster.
    pub fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn start_etcd(&mut self, n: usize) {
        let members: Vec<String> = self
            .etcd_ports
            .iter()
            .enumerate()
            .map(|(n, [_, peer])| format!("e{n}=http://127.0.0.1:{peer}"))
            .collect();
        self.etcd[n] = Some(etcd(
            &format!("e{n}"),
            &members.join(","),
            self.path(&format!("etcd-{n}")),
            self.etcd_ports[n],
        ));
    }

    /// An etcd of one member, on the data that it had before.
    pub fn start_own_etcd(&mut self) {
        let member = format!("own=http://127.0.0.1:{}", self.own_etcd_ports[1]);
        self.own_etcd = Some(etcd("own", &member, self.path("etcd-own"), self.own_etcd_ports));
    }

    pub fn kill_own_etcd(&mut self) {
        end(&mut self.own_etcd);
    }

    pub fn own_etcd_endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.own_etcd_ports[0])
    }

    /// Every etcd anew, without any data.
    pub fn lose_etcd(&mut self) {
        for n in 0..3 {
            self.kill_etcd(n);
            std::fs::remove_dir_all(self.directory.path().join(format!("etcd-{n}"))).expect("it is there");
        }
        (0..3).for_each(|n| self.start_etcd(n));
    }

    /// Writes the configuration of a node, with more lines of `[cluster]`.
    pub fn configure(&self, node: usize, more: &str) {
        let endpoints: Vec<String> =
            self.wires[node].iter().map(|wire| format!("\"http://127.0.0.1:{}\"", wire.port())).collect();
        self.configure_with(node, &endpoints, more);
    }

    /// Has a node keep so many bytes of its disk free.
    pub fn keep_free(&self, node: usize, bytes: u64) {
        let path = self.directory.path().join(format!("n{node}.toml"));
        let text = std::fs::read_to_string(&path).expect("a configuration");
        let text = text.replace("reserve_bytes = 0", &format!("reserve_bytes = {bytes}"));
        std::fs::write(path, text).expect("it is written");
    }

    /// Has calls of this kind wait for a second person.
    pub fn approvals(&self, node: usize, of: &str) {
        let text = std::fs::read_to_string(self.file(node)).expect("a configuration");
        let text = text.replace("[admin]\n", &format!("[admin]\napprovals = [\"{of}\"]\n"));
        std::fs::write(self.file(node), text).expect("it is written");
    }

    /// Gives a node another name.
    pub fn rename(&self, node: usize, name: &str) {
        let text = std::fs::read_to_string(self.file(node)).expect("a configuration");
        let text = text.replace(&format!("node = \"n{node}\""), &format!("node = \"{name}\""));
        std::fs::write(self.file(node), text).expect("it is written");
    }

    /// Writes a configuration by which a node is one machine.
    pub fn configure_alone(&self, node: usize) {
        self.configure_with(node, &[], "");
    }

    fn configure_with(&self, node: usize, endpoints: &[String], more: &str) {
        let [api, admin, peer] = self.ports[node];
        let (endpoints, advertised) = (endpoints.join(", "), self.peer_wires[node].port());
        let path = self.data(node);
        let text = format!(
            "[server]\nlisten = \"127.0.0.1:{api}\"\n[admin]\nlisten = \"127.0.0.1:{admin}\"\ntoken = \"{}\"\n\
             [storage]\npath = \"{}\"\nreserve_bytes = 0\n[cluster]\netcd = [{endpoints}]\nnode = \"n{node}\"\n\
             peer_listen = \"127.0.0.1:{peer}\"\npeer_advertise = \"http://127.0.0.1:{advertised}\"\n{more}\n[[bootstrap.tenants]]\nname = \"demo\"\ntest_key = \"pk_test_demo\"\n",
            Machines::TOKEN,
            path.display()
        );
        std::fs::write(self.file(node), text).expect("written");
    }

    fn file(&self, node: usize) -> PathBuf {
        self.directory.path().join(format!("n{node}.toml"))
    }

    pub fn data(&self, node: usize) -> PathBuf {
        self.path(&format!("data-{node}"))
    }

    /// A path beside all the data.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn peer(&self, node: usize) -> String {
        format!("http://127.0.0.1:{}", self.ports[node][2])
    }

    /// A command of a node, which is not run yet.
    pub fn pasarela(&self, node: usize, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.programs[node]);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.args(arguments).arg("--config").arg(self.file(node));
        command
    }

    /// Has a node run another program from its next start on.
    pub fn run_by(&mut self, node: usize, program: &Path) {
        self.programs[node] = program.to_path_buf();
    }

    pub fn runs(&self, node: usize, program: &Path) -> bool {
        self.programs[node] == program
    }

    /// Has nodes that start find this in their environment.
    pub fn with_environment(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Runs a command of a node to its end.
    pub fn command(&self, node: usize, arguments: &[&str]) -> Output {
        self.pasarela(node, arguments).output().expect("it runs")
    }

    /// Founds a cluster with the first node's directory.
    pub fn found_without_serving(&self) {
        let began = Instant::now();
        while !self.command(0, &["cluster", "init"]).status.success() {
            assert!(began.elapsed() < PATIENCE, "etcd does not start");
        }
    }

    /// Founds a cluster with the first node, which serves.
    pub fn found_alone(&mut self) {
        self.found_without_serving();
        self.start(0);
        self.until(|machines| machines.is_ready(0));
    }

    /// Founds a cluster with the first node, and has the others join.
    pub fn found(&mut self) {
        self.found_alone();
        for node in 1..3 {
            let joined = self.command(node, &["cluster", "join", "--from", &self.peer(0)]);
            assert!(joined.status.success(), "{}", String::from_utf8_lossy(&joined.stderr));
            self.start(node);
        }
        self.until_ready();
    }

    pub fn start(&mut self, node: usize) {
        self.start_with(node, &[]);
    }

    /// Starts a node with more arguments.
    pub fn start_with(&mut self, node: usize, more: &[&str]) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.directory.path().join(format!("n{node}.log")))
            .expect("a file");
        let child = self.pasarela(node, &[&["serve"], more].concat()).stderr(log).spawn().expect("it starts");
        self.nodes[node] = Some(child);
    }

    pub fn kill(&mut self, node: usize) {
        end(&mut self.nodes[node]);
    }

    pub fn pid(&self, node: usize) -> u32 {
        self.nodes[node].as_ref().expect("it runs").id()
    }

    pub fn signal(&self, node: usize, signal: &str) {
        send(self.pid(node), signal);
    }

    pub fn kill_etcd(&mut self, etcd: usize) {
        end(&mut self.etcd[etcd]);
    }

    pub fn signal_etcd(&self, etcd: usize, signal: &str) {
        send(self.etcd[etcd].as_ref().expect("it runs").id(), signal);
    }

    /// The etcd that leads the others.
    pub fn etcd_leader(&self) -> usize {
        let leads = |etcd: &usize| {
            let asked = Some(Value::Object(Default::default()));
            let answer =
                exchange(self.etcd_ports[*etcd][0], "POST", "/v3/maintenance/status", asked.as_ref(), "");
            answer.is_some_and(|(_, _, shown)| shown["leader"] == shown["header"]["member_id"])
        };
        let mut leader = None;
        self.until(|_| {
            leader = (0..3).find(leads);
            leader.is_some()
        });
        leader.expect("one leads")
    }

    /// Cuts a node off from every etcd, and the other nodes from it.
    pub fn cut_off(&self, node: usize, is_cut: bool) {
        self.cut_etcd(node, Ways::Both, is_cut);
        self.cut_peer(node, Ways::Both, is_cut);
    }

    /// Cuts a node's wires to every etcd.
    pub fn cut_etcd(&self, node: usize, ways: Ways, is_cut: bool) {
        self.wires[node].iter().for_each(|wire| wire.cut(ways, is_cut));
    }

    /// Cuts the wires of other nodes to one.
    pub fn cut_peer(&self, node: usize, ways: Ways, is_cut: bool) {
        self.peer_wires[node].cut(ways, is_cut);
    }

    /// Breaks the connections of other nodes to one.
    pub fn break_peer(&self, node: usize, is_broken: bool) {
        self.peer_wires[node].break_off(is_broken);
    }

    /// A page of a node's operators, whatever it is.
    pub fn page(&self, node: usize, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.ports[node][1])).expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it takes it");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    /// What an operator reads at a node in this form, with its head.
    pub fn text(&self, node: usize, path: &str, form: &str) -> String {
        let token = Machines::TOKEN;
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\naccept: {form}\r\n\
             connection: close\r\n\r\n"
        );
        whole_answer(ANSWER_MAX, self.ports[node][1], &request).expect("an answer")
    }

    /// The port of a node's operators.
    pub fn admin_port(&self, node: usize) -> u16 {
        self.ports[node][1]
    }

    /// The port of a node's listener for other nodes.
    pub fn peer_port(&self, node: usize) -> u16 {
        self.ports[node][2]
    }

    /// Has a node go without a token.
    pub fn without_token(&self, node: usize) {
        let text = std::fs::read_to_string(self.file(node)).expect("a configuration");
        let token = format!("token = \"{}\"", Machines::TOKEN);
        std::fs::write(self.file(node), text.replace(&token, "insecure_dev_token = true")).expect("written");
    }

    /// The ports of the nodes' APIs.
    pub fn ports(&self) -> Vec<u16> {
        self.ports.iter().map(|[api, _, _]| *api).collect()
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

    /// Stops a node in good order.
    pub fn stop(&mut self, node: usize) {
        self.signal(node, "TERM");
        self.until_stopped(node);
    }

    /// Waits for a node that was told to stop.
    pub fn until_stopped(&mut self, node: usize) {
        let mut child = self.nodes[node].take().expect("it runs");
        assert!(child.wait().expect("it ends").success(), "n{node} did not end in good order");
    }

    /// Stops a node in good order, which must not take longer.
    pub fn stop_within(&mut self, node: usize, bound: Duration) {
        self.signal(node, "TERM");
        let began = Instant::now();
        let child = self.nodes[node].as_mut().expect("it runs");
        let ended = loop {
            if let Some(ended) = child.try_wait().expect("it can be asked") {
                break ended;
            }
            assert!(began.elapsed() < bound, "n{node} does not end: {}", self.log(node));
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(ended.success(), "n{node} did not end in good order: {}", self.log(node));
        self.nodes[node] = None;
    }

    /// Tells all nodes to stop, the leader first and the next after a while, and waits until each has ended
    /// in good order; the time from the last word on.
    pub fn stop_together(&mut self, after: Duration) -> Duration {
        let leader = self.leader();
        self.signal(leader, "TERM");
        for node in (0..3).filter(|node| *node != leader) {
            std::thread::sleep(after);
            self.signal(node, "TERM");
        }
        let began = Instant::now();
        for node in 0..3 {
            let mut child = self.nodes[node].take().expect("it runs");
            assert!(child.wait().expect("it ends").success(), "n{node} did not end in good order");
        }
        began.elapsed()
    }

    /// Stops the standbys, then the leader, each in good order.
    pub fn stop_all(&mut self) {
        self.until_caught_up();
        let leader = self.leader();
        for node in (0..3).filter(|node| *node != leader).chain([leader]) {
            self.stop(node);
        }
    }

    /// The stopped nodes' logs are the same. Those that stop later may have a sample of rates more.
    pub fn tips_are_equal(&self) {
        let last = self.logs_agree();
        let (first, end) = (last.iter().min().expect("three"), last.iter().max().expect("three"));
        assert!(end - first <= 1, "they end at {last:?}");
    }

    /// The stopped nodes' logs are the same as far as each goes; where they end.
    pub fn logs_agree(&self) -> [u64; 3] {
        let log = |node| wal::Reader::open_read_only(self.data(node).join("log")).expect("a log");
        let logs = [log(0), log(1), log(2)];
        let last = logs.each_ref().map(wal::Reader::last_seq);
        let end = last[0].min(last[1]).min(last[2]);
        let [first, rest @ ..] =
            logs.map(|log| log.record(end).expect("it can be read").expect("it is there").hash);
        assert_eq!(rest, [first; 2], "record {end} is not the same");
        last
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

    pub fn is_ready(&self, node: usize) -> bool {
        matches!(self.get(node, "/readyz"), Some((200, _)))
    }

    pub fn until_ready(&self) {
        self.until(|machines| (0..3).all(|node| machines.is_ready(node)));
    }

    pub fn until(&self, mut is_so: impl FnMut(&Machines) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "it does not come to that: {}", self.logs());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The lines that all nodes' processes wrote.
    pub fn logs(&self) -> String {
        (0..3).map(|node| self.log(node)).collect()
    }

    /// The lines that a node's processes wrote.
    pub fn log(&self, node: usize) -> String {
        std::fs::read_to_string(self.path(&format!("n{node}.log"))).unwrap_or_default()
    }

    /// The address of an etcd, not by a node's wire.
    pub fn etcd_endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.etcd_ports[0][0])
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
        exchange(self.ports[node][1], method, path, body, "").map(|(status, _, body)| (status, body))
    }

    /// An answer of a node's API with its headers; `None` if there is none.
    pub fn exchange(&self, node: usize, method: &str, path: &str, body: Option<&Value>) -> Answer {
        exchange(self.ports[node][0], method, path, body, "")
    }
}

fn end(process: &mut Option<Child>) {
    if let Some(mut child) = process.take() {
        child.kill().expect("it is killed");
        child.wait().expect("it has ended");
    }
}

/// `ports` are those of clients and peers.
fn etcd(name: &str, members: &str, data: PathBuf, ports: [u16; 2]) -> Child {
    let [client, peer] = ports.map(|port| format!("http://127.0.0.1:{port}"));
    let child = Command::new("etcd")
        .args(["--name", name, "--initial-cluster", members])
        .arg("--data-dir")
        .arg(data)
        .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
        .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
        .args(["--max-request-bytes", "4194304", "--heartbeat-interval", "25", "--election-timeout", "250"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    child.expect("etcd starts")
}

fn send(pid: u32, signal: &str) {
    let sent = Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

/// Asks a port of this machine as tenant and operator; `key` is the Idempotency-Key, if it is not
/// empty.
pub fn exchange(port: u16, method: &str, path: &str, body: Option<&Value>, key: &str) -> Answer {
    attempt(ANSWER_MAX, port, method, path, body, key)
}

/// The same, by a caller who waits for so long.
pub fn attempt(
    patience: Duration,
    port: u16,
    method: &str,
    path: &str,
    body: Option<&Value>,
    key: &str,
) -> Answer {
    let key = if key.is_empty() { String::new() } else { format!("idempotency-key: {key}\r\n") };
    let token = Machines::TOKEN;
    let head =
        format!("host: localhost\r\nx-api-key: pk_test_demo\r\nauthorization: Bearer {token}\r\n{key}");
    exchange_within(patience, port, method, path, body, &head)
}

/// Asks a port of this machine with these lines in the head. Why there is no answer is printed.
pub fn exchange_as(port: u16, method: &str, path: &str, body: Option<&Value>, head: &str) -> Answer {
    exchange_within(ANSWER_MAX, port, method, path, body, head)
}

/// The same, by a caller who waits for so long.
pub fn exchange_within(
    patience: Duration,
    port: u16,
    method: &str,
    path: &str,
    body: Option<&Value>,
    head: &str,
) -> Answer {
    let body = body.map(Value::to_string).unwrap_or_default();
    let answer = text_within(patience, port, (method, path), ("application/json", &body), head);
    answer.map(|(status, headers, body)| (status, headers, serde_json::from_str(&body).unwrap_or_default()))
}

/// The same, of a body of any type, with the answer as it is.
pub fn page_as(
    port: u16,
    method: &str,
    path: &str,
    body: (&str, &str),
    head: &str,
) -> Option<(u16, HashMap<String, String>, String)> {
    text_within(ANSWER_MAX, port, (method, path), body, head)
}

fn text_within(
    patience: Duration,
    port: u16,
    (method, path): (&str, &str),
    (content_type, body): (&str, &str),
    head: &str,
) -> Option<(u16, HashMap<String, String>, String)> {
    let request = format!(
        "{method} {path} HTTP/1.1\r\n{head}connection: close\r\ncontent-type: {content_type}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let began = Instant::now();
    let answer = whole_answer(patience, port, &request)
        .inspect_err(|why| eprintln!("{method} {path} to port {port}, after {:?}: {why}", began.elapsed()))
        .ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    Some((status, headers.collect(), body.to_owned()))
}

fn whole_answer(patience: Duration, port: u16, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), patience)?;
    stream.set_read_timeout(Some(patience))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

impl Drop for Machines {
    fn drop(&mut self) {
        for child in self.nodes.iter_mut().chain(&mut self.etcd).chain([&mut self.own_etcd]).flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
