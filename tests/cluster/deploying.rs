//! The files of deploy/ and the lines of docs/deployment.md for three machines, carried out as they
//! stand: three addresses of loopback are the machines, and folders of a test their disks.

use crate::machines::Machines;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(60);
const PROGRAM: &str = env!("CARGO_BIN_EXE_pasarela");

fn text(path: &str) -> String {
    std::fs::read_to_string(path).expect("a file of the repository")
}

/// Three machines that have an address and a disk each.
struct Site {
    directory: TempDir,
    network: String,
    running: Vec<Child>,
}

/// A program of a machine: its words, and its environment.
type Words = Vec<String>;
type Environment = BTreeMap<String, String>;

impl Site {
    /// A network in which nobody uses these ports; `None` without etcd.
    fn new(ports: &[u16]) -> Option<Site> {
        if Command::new("etcd").arg("--version").stdout(Stdio::null()).status().is_err() {
            eprintln!("there is no etcd: nothing was tried");
            return None;
        }
        let own = std::process::id();
        let networks = (0..200).map(|n| format!("127.{}.{}", 1 + own % 250, 1 + (own / 250 + n) % 250));
        let is_free = |network: &String| {
            let each =
                |n| ports.iter().all(|port| TcpListener::bind((format!("{network}.{n}"), *port)).is_ok());
            (1..=3).all(each)
        };
        let network = networks.into_iter().find(is_free).expect("a free network");
        Some(Site { directory: tempfile::tempdir().expect("a directory"), network, running: Vec::new() })
    }

    fn address(&self, machine: usize) -> String {
        format!("{}.{machine}", self.network)
    }

    /// A path on a machine's disk.
    fn disk(&self, machine: usize, name: &str) -> PathBuf {
        let path = self.directory.path().join(format!("machine-{machine}"));
        std::fs::create_dir_all(&path).expect("made");
        path.join(name)
    }

    /// A text in which the machines are 10.0.0.1 to 10.0.0.3, with their addresses here.
    fn placed(&self, text: &str) -> String {
        text.replace("10.0.0.", &format!("{}.", self.network))
    }

    fn command(&self, machine: usize, words: &Words, environment: &Environment) -> Command {
        let mut command = Command::new(&words[0]);
        let log = self.disk(machine, "log");
        let log = std::fs::File::options().create(true).append(true).open(log).expect("a file");
        command
            .args(&words[1..])
            .env_clear()
            .envs(environment)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdout(log.try_clone().expect("a file")).stderr(log).current_dir(self.directory.path());
        command
    }

    fn start(&mut self, machine: usize, words: &Words, environment: &Environment) {
        let child = self.command(machine, words, environment).spawn();
        self.running.push(child.unwrap_or_else(|error| panic!("{words:?}: {error}")));
    }

    /// Runs a command until it succeeds: programs that were started beside it take their time.
    fn insist(&self, machine: usize, words: &Words, environment: &Environment) {
        let began = Instant::now();
        while !self.command(machine, words, environment).status().expect("it runs").success() {
            assert!(began.elapsed() < PATIENCE, "{words:?}: {}", self.log(machine));
        }
    }

    fn log(&self, machine: usize) -> String {
        std::fs::read_to_string(self.disk(machine, "log")).unwrap_or_default()
    }

    /// Waits until a machine is ready; the part that it plays.
    fn until_ready(&mut self, machine: usize) -> String {
        let began = Instant::now();
        loop {
            if let Some(shown) = get(&self.address(machine), "/readyz") {
                return shown["role"].as_str().expect("a role").to_owned();
            }
            let ended = self.running.iter_mut().any(|child| matches!(child.try_wait(), Ok(Some(_))));
            assert!(!ended && began.elapsed() < PATIENCE, "machine {machine}: {}", self.log(machine));
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for child in self.running.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The body of a 200 from port 8080 of an address.
fn get(address: &str, path: &str) -> Option<Value> {
    let mut stream = TcpStream::connect((address, 8080)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.1 200").then(|| serde_json::from_str(body).ok())?
}

fn words(line: &str) -> Words {
    line.split_whitespace().map(str::to_owned).collect()
}

/// The pairs that a pattern's two groups find in a text.
fn pairs(pattern: &str, text: &str) -> Environment {
    let pattern = Regex::new(pattern).expect("a pattern");
    pattern.captures_iter(text).map(|found| (found[1].to_owned(), found[2].to_owned())).collect()
}

/// A text with `${NAME}` and `${NAME:-otherwise}` replaced.
fn filled(text: &str, values: &Environment) -> String {
    let name = Regex::new(r"\$\{([A-Z_]+)(?::-[^}]*)?\}").expect("a pattern");
    let value = |found: &regex::Captures<'_>| {
        values.get(&found[1]).unwrap_or_else(|| panic!("{} has no value", &found[1])).clone()
    };
    name.replace_all(text, value).into_owned()
}

/// The part of a text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("{from} is not there"));
    rest.split_once(to).unwrap_or_else(|| panic!("{to} is not there")).0
}

#[test]
fn the_containers_of_three_machines_become_a_cluster() {
    let _alone = Machines::alone();
    let Some(mut site) = Site::new(&[2379, 2380, 8080, 9091]) else { return };
    let file = text("deploy/cluster-compose.yml");
    let (head, services) = file.split_once("services:\n").expect("services");
    // Lines of a file .env, and of a shell, are in the head.
    let values = pairs(r"(?m)^#   ([A-Z_]+)=(\S+)", &site.placed(head));
    let once = Regex::new(r"docker compose run --rm pasarela (\S[^\n]*?)  +\S").expect("a pattern");
    let once: Vec<Words> = once
        .captures_iter(head)
        .map(|found| words(&format!("{PROGRAM} {}", site.placed(&found[1]))))
        .collect();
    assert_eq!(once.len(), 2, "one founds, one joins");
    let of_image =
        pairs(r"(PASARELA__[A-Z_]+)=(\S+)", between(&text("deploy/Dockerfile"), "\nENV ", "VOLUME"));
    assert_eq!(of_image["PASARELA__SERVER__LISTEN"], "0.0.0.0:8080");
    let (etcd, node) = services.split_once("  pasarela:\n").expect("two services");
    let machine = |site: &Site, n: usize| {
        let mut values = values.clone();
        values.insert("NODE".to_owned(), format!("node-{n}"));
        values.insert("ADDRESS".to_owned(), site.address(n));
        values.insert("ADMIN_TOKEN".to_owned(), Machines::TOKEN.to_owned());
        let disk = |name: &str| site.disk(n, name).to_str().expect("text").to_owned();
        let etcd = filled(between(etcd, "command: >-\n", "    volumes:"), &values);
        let etcd = words(&etcd.replace("--data-dir /etcd", &format!("--data-dir {}", disk("etcd"))));
        let set = pairs(
            r"(?m)^      (PASARELA__[A-Z_]+): (\S+)$",
            &filled(between(node, "environment:\n", "    volumes:"), &values),
        );
        let mut environment = of_image.clone();
        environment.extend(set);
        environment.insert("PASARELA__STORAGE__PATH".to_owned(), disk("data"));
        // Three machines share what is one's own: every address, and loopback.
        for (key, port) in [("SERVER", 8080), ("ADMIN", 9090)] {
            environment.insert(format!("PASARELA__{key}__LISTEN"), format!("{}:{port}", site.address(n)));
        }
        (etcd, environment)
    };
    let machines: Vec<_> = (1..=3).map(|n| machine(&site, n)).collect();
    for (n, (etcd, _)) in (1..).zip(&machines) {
        site.start(n, etcd, &Environment::new());
    }
    for (n, (_, environment)) in (1..).zip(&machines) {
        site.insist(n, &once[usize::from(n > 1)], environment);
        site.start(n, &words(&format!("{PROGRAM} serve")), environment);
        assert_eq!(site.until_ready(n), if n == 1 { "leader" } else { "standby" });
    }
}

/// The lines that a document has a shell write to a file.
fn written(document: &str, file: &str) -> String {
    let lines = Regex::new(&format!(r"(?s)    cat >>?{file} <<'([A-Z]+)'\n(.*?)\n    ([A-Z]+)\n"))
        .expect("a pattern");
    let found = lines.captures(document).unwrap_or_else(|| panic!("nothing is written to {file}"));
    assert_eq!(&found[1], &found[3]);
    found[2].lines().map(|line| format!("{}\n", line.trim())).collect()
}

#[test]
fn the_packages_of_three_machines_become_a_cluster_whose_units_are_ready() {
    let _alone = Machines::alone();
    let Some(mut site) = Site::new(&[2379, 2380, 8080, 9091]) else { return };
    let document = text("docs/deployment.md");
    let join = Regex::new(r"pasarela (cluster join --from [^\s`]+)").expect("a pattern");
    let join = site.placed(&join.captures(&document).expect("a command")[1]);
    let unit = text("deploy/pasarela.service");
    let started = between(&unit, "ExecStart=/usr/bin/pasarela ", "\n");
    let of_unit = pairs(r"(?m)^Environment=([A-Z_]+)=(\S+)$", &unit);
    let mut shipped = Command::new("sh");
    shipped.args(["-c", "deploy/service-config <config.toml"]);
    let shipped = shipped.output().expect("it runs");
    assert!(shipped.status.success());
    let mut waiting = Vec::new();
    for n in 1..=3 {
        let disk = |name: &str| site.disk(n, name).to_str().expect("text").to_owned();
        // On the others their own name and address; the lists of all three are the same everywhere.
        let own = |(key, value): (String, String)| {
            let is_list = value.contains("10.0.0.3");
            let own =
                value.replace("node-1", &format!("node-{n}")).replace("10.0.0.1", &format!("10.0.0.{n}"));
            (key, site.placed(if is_list { &value } else { &own }))
        };
        let lines = |file: &str| pairs(r"(?m)^([A-Z_]+)=(\S+)$", &written(&document, file));
        let mut etcd: Environment = lines("/etc/default/etcd").into_iter().map(own).collect();
        etcd.insert("ETCD_DATA_DIR".to_owned(), disk("etcd"));
        let mut node: Environment = lines("/etc/pasarela/environment").into_iter().map(own).collect();
        node.extend(of_unit.clone());
        node.insert("PASARELA__ADMIN__TOKEN".to_owned(), Machines::TOKEN.to_owned());
        node.insert("PASARELA__STORAGE__PATH".to_owned(), disk("data"));
        // Loopback is one for all three here.
        node.insert("PASARELA__ADMIN__LISTEN".to_owned(), format!("{}:9090", site.address(n)));
        std::fs::write(disk("config.toml"), &shipped.stdout).expect("written");
        let command = format!(
            "{PROGRAM} {} --config {}",
            if n == 1 { "cluster init" } else { &join },
            disk("config.toml")
        );
        let serve = started.replace("/etc/pasarela/config.toml", &disk("config.toml"));
        let systemd = UnixDatagram::bind(disk("notify")).expect("a socket");
        systemd.set_read_timeout(Some(PATIENCE)).expect("it may");
        node.insert("NOTIFY_SOCKET".to_owned(), disk("notify"));
        waiting.push((words(&command), words(&format!("{PROGRAM} {serve}")), etcd, node, systemd));
    }
    for (n, (_, _, etcd, _, _)) in (1..).zip(&waiting) {
        site.start(n, &words("etcd"), etcd);
    }
    for (n, (command, serve, _, node, systemd)) in (1..).zip(waiting) {
        site.insist(n, &command, &node);
        site.start(n, &serve, &node);
        assert_eq!(site.until_ready(n), if n == 1 { "leader" } else { "standby" });
        let mut said = [0; 4096];
        loop {
            let length =
                systemd.recv(&mut said).unwrap_or_else(|error| panic!("READY was not said: {error}"));
            if String::from_utf8_lossy(&said[..length]).lines().any(|line| line == "READY=1") {
                break;
            }
        }
    }
}

#[test]
fn the_unit_is_one_that_systemd_accepts() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("pasarela.service");
    std::fs::write(&path, text("deploy/pasarela.service").replace("/usr/bin/pasarela", PROGRAM))
        .expect("written");
    let Ok(verified) = Command::new("systemd-analyze").arg("verify").arg(&path).output() else {
        eprintln!("there is no systemd-analyze: nothing was tried");
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && !said.contains("pasarela.service"), "{said}");
}

#[test]
fn the_unit_hides_nothing_that_a_node_of_a_cluster_reads() {
    let unit = text("deploy/pasarela.service");
    // The file of the boot's identifier lies beside the processes in /proc.
    assert!(std::fs::exists("/proc/sys/kernel/random/boot_id").expect("it may be asked"));
    assert!(!unit.lines().any(|line| line == "ProcSubset=pid"), "no node starts");
}

#[test]
fn the_unit_is_started_again_after_every_end_but_a_refused_configuration_and_damage() {
    let unit = text("deploy/pasarela.service");
    for line in ["StartLimitIntervalSec=0", "Restart=on-failure", "RestartPreventExitStatus=2 74"] {
        assert!(unit.lines().any(|each| each == line), "{line}");
    }
}
