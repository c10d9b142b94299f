//! A server process: started on free loopback ports, killed, ended, started again, and gone when it
//! is dropped.

use super::client::{Answer, Api};
use serde_json::{Value, json};
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The operators' token of every server here.
pub const ADMIN_TOKEN: &str = "black-box-admin-token-0123456789";

/// The time that a server may take to become ready, and to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time that a command may take that is run beside the server.
const COMMAND_PATIENCE: Duration = Duration::from_secs(120);

/// Rates that every figure in the tests can be computed from by hand, and no holidays. The fixed ones
/// price test mode alone; live mode has what [`Server::price_live`] records, and nothing else.
const CONFIG: &str = r#"
[[rates.feeds]]
pair = "USD/VES"
source = "bcv"
side = "OFFICIAL"
method = "hand"
kind = "manual"

[[rates.feeds]]
pair = "USD/VES"
source = "bcv"
side = "OFFICIAL"
kind = "fixed"
price = "200.00000000"
every_seconds = 60

[[rates.feeds]]
pair = "USDT/VES"
source = "p2p"
side = "FLOOR"
method = "p2p_floor"
kind = "fixed"
price = "245.00000000"
every_seconds = 60

[[rates.feeds]]
pair = "USDT/COP"
source = "p2p"
side = "BUY"
kind = "fixed"
price = "4000.00000000"
every_seconds = 60

[calendar]
holidays = []
"#;

/// A server process with its data directory.
pub struct Server {
    directory: tempfile::TempDir,
    environment: Vec<(String, String)>,
    port: u16,
    admin_port: u16,
    child: Option<Child>,
    /// The data directory, if it is not the server's own.
    data: Option<PathBuf>,
    /// The further arguments of `serve`.
    pub arguments: Vec<&'static str>,
    /// The command that the server runs inside, such as a tracer; empty if none.
    wrapper: Vec<String>,
}

/// The server that tests share; it lives as long as one of them holds it.
static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());

impl Server {
    /// A server that other tests use too. For tests that stay within tenants of their own.
    pub fn shared() -> Arc<Server> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Server::start());
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// A server of one's own.
    pub fn start() -> Server {
        Server::start_with(&[])
    }

    /// A server of one's own with more in its environment, such as `PASARELA__LIMITS__BURST`.
    pub fn start_with(environment: &[(&str, &str)]) -> Server {
        Server::start_on(None, environment)
    }

    /// A server on a data directory that is there, made by a command, say.
    pub fn on(data: &Path) -> Server {
        Server::start_on(Some(data.to_path_buf()), &[])
    }

    /// A server on a data directory that is there, or why it did not start.
    pub fn try_on(data: &Path) -> Result<Server, String> {
        Server::try_start_on(Some(data.to_path_buf()), &[])
    }

    fn start_on(data: Option<PathBuf>, environment: &[(&str, &str)]) -> Server {
        Server::try_start_on(data, environment).unwrap_or_else(|reason| panic!("{reason}"))
    }

    /// A server on a data directory, which it makes if it is not there, with more in its environment;
    /// or why it did not start.
    pub fn try_start_on(data: Option<PathBuf>, environment: &[(&str, &str)]) -> Result<Server, String> {
        let directory =
            tempfile::Builder::new().prefix("pasarela-").tempdir().expect("a temporary directory");
        std::fs::write(directory.path().join("config.toml"), CONFIG).expect("the configuration is written");
        let environment =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut server = Server {
            directory,
            environment,
            port: 0,
            admin_port: 0,
            child: None,
            data,
            arguments: Vec::new(),
            wrapper: Vec::new(),
        };
        for attempt in 1.. {
            // Another process may take a port between finding it free and listening on it: then
            // others are tried.
            (server.port, server.admin_port) = (free_port(), free_port());
            match server.run() {
                Ok(()) => return Ok(server),
                Err(reason) if attempt < 3 && reason.to_lowercase().contains("address") => {}
                Err(reason) => return Err(reason),
            }
        }
        unreachable!("the loop returns or panics");
    }

    /// Changes its configuration, for the next start.
    #[track_caller]
    pub fn configure(&self, change: impl FnOnce(&str) -> String) {
        let path = self.directory.path().join("config.toml");
        let before = std::fs::read_to_string(&path).expect("the configuration is read");
        let after = change(&before);
        assert_ne!(before, after, "nothing changed");
        std::fs::write(path, after).expect("the configuration is written");
    }

    /// Starts it again on the same directory and ports.
    #[track_caller]
    pub fn restart(&mut self) {
        assert!(self.child.is_none(), "it is still running");
        if let Err(reason) = self.run() {
            panic!("{reason}");
        }
    }

    /// Starts it again like [`Server::restart`]; the error says why it did not come up.
    pub fn try_restart(&mut self) -> Result<(), String> {
        assert!(self.child.is_none(), "it is still running");
        self.run()
    }

    /// Ends it at once, as a power cut or the kernel would: SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Asks it to end (SIGTERM) and waits until it has.
    #[track_caller]
    pub fn terminate(&mut self) -> ExitStatus {
        self.ask_to_end();
        self.wait()
    }

    /// Asks it to end (SIGTERM) without waiting.
    pub fn ask_to_end(&self) {
        self.signal_term(self.child.as_ref().expect("it is running"));
    }

    /// Tells it to read its certificates anew (SIGHUP).
    pub fn hang_up(&self) {
        signal(self.child.as_ref().expect("it is running"), "-HUP");
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let mut child = self.child.take().expect("it is running");
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait().expect("its state can be read") {
                return status;
            }
            if Instant::now() > deadline {
                let _ = child.kill();
                let _ = child.wait();
                panic!("it did not end within {PATIENCE:?}: {}", self.log_tail());
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// The base address of the API.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The address of the API, for tests that speak raw HTTP.
    pub fn address(&self) -> (&'static str, u16) {
        ("127.0.0.1", self.port)
    }

    /// The address of the operators' API.
    pub fn admin_address(&self) -> (&'static str, u16) {
        ("127.0.0.1", self.admin_port)
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| self.directory.path().join("data"))
    }

    /// The API with a tenant's key.
    pub fn api(&self, key: &str) -> Api {
        Api::new(&self.url(), &[("x-api-key", key)])
    }

    /// The API without any key.
    pub fn nobody(&self) -> Api {
        Api::new(&self.url(), &[])
    }

    /// The operators' API.
    pub fn admin(&self) -> Api {
        self.admin_with(ADMIN_TOKEN)
    }

    /// The operators' address.
    pub fn admin_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.admin_port)
    }

    /// The operators' API with another token.
    pub fn admin_with(&self, token: &str) -> Api {
        Api::new(&self.admin_url(), &[("authorization", &format!("Bearer {token}"))])
    }

    /// Records the prices of the configuration for live mode too, by hand as an operator does.
    #[track_caller]
    pub fn price_live(&self) {
        for (pair, source, side, price) in [
            ("USD/VES", "bcv", "OFFICIAL", "200"),
            ("USDT/VES", "p2p", "FLOOR", "245"),
            ("USDT/COP", "p2p", "BUY", "4000"),
        ] {
            let rate =
                json!({ "pair": pair, "source": source, "side": side, "method": "hand", "price": price });
            self.admin().post("/admin/rates", &rate).expect(201);
        }
    }

    /// A new tenant with default settings.
    #[track_caller]
    pub fn tenant(&self) -> Tenant {
        self.tenant_with(json!({}))
    }

    /// A new tenant with some settings of its own.
    #[track_caller]
    pub fn tenant_with(&self, settings: Value) -> Tenant {
        let mut body = json!({ "name": super::flows::fresh("tenant") });
        if settings != json!({}) {
            body["settings"] = settings;
        }
        let created = self.admin().post("/admin/tenants", &body).expect(201);
        let api = |member: &str| self.api(created[member]["key"].as_str().expect("a key"));
        Tenant {
            id: created["tenantId"].as_str().expect("an id").to_owned(),
            test: api("testKey"),
            live: api("liveKey"),
            created,
        }
    }

    /// Sets a variable of the environment, from the next start on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// The id of the process.
    #[track_caller]
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it is running").id()
    }

    /// The number of times that these bytes are in its memory; nothing where the kernel lets nobody
    /// look.
    #[track_caller]
    pub fn times_in_memory(&self, wanted: &[u8]) -> Option<usize> {
        let pid = self.pid();
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        let mut times = 0;
        for line in maps.lines() {
            let mut words = line.split_whitespace();
            let (Some(range), Some(modes)) = (words.next(), words.next()) else { continue };
            let (Some((from, to)), true) = (range.split_once('-'), modes.starts_with("rw")) else { continue };
            let number = |text: &str| u64::from_str_radix(text, 16).expect("an address");
            let (from, to) = (number(from), number(to));
            let mut part = vec![0; usize::try_from(to - from).expect("it fits")];
            // A region that is gone, or was never readable, has nothing.
            let read = memory.read_at(&mut part, from).unwrap_or(0);
            times += memchr::memmem::find_iter(&part[..read], wanted).count();
        }
        Some(times)
    }

    /// The resident memory, in KiB.
    #[track_caller]
    pub fn memory_kib(&self) -> u64 {
        self.figure_kib("VmRSS:")
    }

    /// Of all its threads, in user and kernel mode.
    #[track_caller]
    pub fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("its times");
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        // Linux shows a hundredth of a second on every architecture.
        Duration::from_millis(ticks * 10)
    }

    /// The most that its resident memory ever was, in KiB.
    #[track_caller]
    pub fn memory_peak_kib(&self) -> u64 {
        self.figure_kib("VmHWM:")
    }

    #[track_caller]
    fn figure_kib(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("its state");
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("its memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// Runs the command beside the server, on its directory and its admin API. One that does not
    /// end, because it serves where it should refuse, is ended.
    pub fn command(&self, arguments: &[&str]) -> Output {
        let child = self.begin(arguments);
        let pid = child.id();
        let (ended, waiting) = channel::<()>();
        let watching = std::thread::spawn(move || {
            if waiting.recv_timeout(COMMAND_PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
            }
        });
        let output = child.wait_with_output().expect("the command runs");
        drop(ended);
        watching.join().expect("nobody panics there");
        output
    }

    /// Begins a command like [`Server::command`]; the caller sees to it that it ends.
    pub fn begin(&self, arguments: &[&str]) -> Child {
        let mut command = self.program();
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs")
    }

    /// Whether these bytes are anywhere in its data directory.
    pub fn has_on_disk(&self, wanted: &[u8]) -> bool {
        let mut folders = vec![self.data()];
        let mut looked_at = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                    continue;
                }
                // A file that is gone since it was listed has nothing any more.
                let bytes = std::fs::read(entry.path()).unwrap_or_default();
                looked_at += bytes.len();
                if bytes.windows(wanted.len()).any(|window| window == wanted) {
                    return true;
                }
            }
        }
        assert!(looked_at > 1_000, "there is next to nothing to look at");
        false
    }

    /// The end of the server's log.
    pub fn log_tail(&self) -> String {
        let text = std::fs::read(self.log_path()).unwrap_or_default();
        String::from_utf8_lossy(&text[text.len().saturating_sub(3000)..]).into_owned()
    }

    fn run(&mut self) -> Result<(), String> {
        self.run_until(&|answer| answer.status == 200)
    }

    /// Starts it again and waits until `/readyz` answers as wanted, such as for a server that lives
    /// and takes no writes.
    #[track_caller]
    pub fn restart_until(&mut self, is_wanted: &dyn Fn(&Answer) -> bool) {
        assert!(self.child.is_none(), "it is still running");
        if let Err(reason) = self.run_until(is_wanted) {
            panic!("{reason}");
        }
    }

    /// Runs the server inside this command from here on; the command is given the program and its
    /// arguments.
    pub fn wrap(&mut self, wrapper: &[&str]) {
        self.wrapper = wrapper.iter().map(|word| (*word).to_owned()).collect();
    }

    fn run_until(&mut self, is_wanted: &dyn Fn(&Answer) -> bool) -> Result<(), String> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log_path())
            .map_err(|error| error.to_string())?;
        let errors = log.try_clone().map_err(|error| error.to_string())?;
        let mut command = self.wrapped(self.program());
        command
            .arg("serve")
            .arg("--config")
            .arg(self.directory.path().join("config.toml"))
            .args(&self.arguments);
        let child = command
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(|error| error.to_string())?;
        self.child = Some(child);
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten()) {
                self.child = None;
                let log = self.log_tail();
                let reason = log.trim_end().lines().last().unwrap_or_default();
                return Err(format!("the server ended with {status}: {reason}\nbefore that: {log}"));
            }
            let listens = TcpStream::connect(self.address()).is_ok();
            if listens && self.nobody().try_get("/readyz").is_ok_and(|answer| is_wanted(&answer)) {
                return Ok(());
            }
            sleep(Duration::from_millis(10));
        }
        self.kill();
        Err(format!("the server was not ready within {PATIENCE:?}: {}", self.log_tail()))
    }

    /// The program inside the command that wraps it.
    fn wrapped(&self, program: Command) -> Command {
        let Some((wrapper, words)) = self.wrapper.split_first() else { return program };
        let mut command = Command::new(wrapper);
        command.args(words).arg(program.get_program()).current_dir(self.directory.path());
        for (name, value) in program.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        command
    }

    /// The command that was built with the tests, or the one that `PASARELA_BIN` names (a release
    /// build, say).
    pub fn program(&self) -> Command {
        let binary =
            std::env::var_os("PASARELA_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_pasarela").into());
        let mut command = Command::new(binary);
        // The program runs outside the source folder, whose `config.toml` must not matter.
        command.current_dir(self.directory.path());
        for (name, value) in [
            ("PASARELA__SERVER__LISTEN", format!("127.0.0.1:{}", self.port)),
            ("PASARELA__SERVER__PUBLIC_BASE_URL", self.url()),
            ("PASARELA__ADMIN__LISTEN", format!("127.0.0.1:{}", self.admin_port)),
            ("PASARELA__ADMIN__TOKEN", ADMIN_TOKEN.to_owned()),
            ("PASARELA__STORAGE__PATH", self.data().display().to_string()),
            ("PASARELA__WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true".to_owned()),
        ] {
            command.env(name, value);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn log_path(&self) -> PathBuf {
        Path::new(self.directory.path()).join("server.log")
    }

    fn signal_term(&self, child: &Child) {
        signal(child, "-TERM");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the end of the server's log:\n{}", self.log_tail());
        }
        self.kill();
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "{name} could not be sent");
}

/// A tenant and its two first keys.
pub struct Tenant {
    /// The tenant's id.
    pub id: String,
    /// The API with its test key.
    pub test: Api,
    /// The API with its live key.
    pub live: Api,
    /// The answer to creating it.
    pub created: Value,
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}
