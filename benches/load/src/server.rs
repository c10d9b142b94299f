//! Servers as child processes: the gateway on a data directory, of this very binary the one that
//! does nothing.

use crate::cleanup::Ward;
use crate::machine::Spent;
use crate::prepare::Client;
use crate::{Outcome, machine};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The operators' token of every server here.
pub const ADMIN_TOKEN: &str = "bench-admin-token-0123456789-0123";

/// The time that a look at a server may take.
const PROBE: Duration = Duration::from_secs(2);

/// The time between two looks.
const PROBE_EVERY: Duration = Duration::from_millis(5);

/// The ports that servers get, from 10,000 on.
const PORTS: u32 = 10_000;

/// The time that a server may take to end by itself.
const STOP: Duration = Duration::from_secs(60);

/// The configuration: fixed rates, so that nothing is fetched from outside, and no holidays.
const CONFIG: &str = r#"
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

[calendar]
holidays = []
"#;

/// The settings that let one test key take all.
const NO_SHARES: [(&str, &str); 5] = [
    ("PASARELA__LIMITS__SHARE_PERCENT", "100"),
    ("PASARELA__LIMITS__LIVE_RESERVE_PERCENT", "0"),
    ("PASARELA__LIMITS__LIVE_SLOTS", "1048576"),
    ("PASARELA__LIMITS__TEST_SLOTS", "1048576"),
    ("PASARELA__LIMITS__WAITING_MAX", "1048576"),
];

/// The setting that a server runs in: its disk, its shares.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The cores that it may use; all if there are none here.
    pub cores: Vec<usize>,
    /// The library that makes the disk slower, and by how many microseconds.
    pub slow_sync: Option<(PathBuf, u64)>,
    /// Whether each tenant has a share, as by default. Without it the load of a benchmark is one
    /// tenant's, and may take all.
    pub with_shares: bool,
    /// The address of the bank of live mode, if there is one.
    pub r4: Option<SocketAddr>,
    /// The seconds between two rounds of snapshots; the default's if there are none here.
    pub snapshot_seconds: Option<u64>,
}

impl Setting {
    /// The environment of a gateway with a live bank, which may be called as often at once as a
    /// measurement likes.
    fn live_bank(&self) -> Vec<(&'static str, String)> {
        let Some(bank) = self.r4 else { return Vec::new() };
        vec![
            ("PASARELA__RAILS__R4__BASE_URL", format!("http://{bank}")),
            ("PASARELA__RAILS__R4__COMMERCE_TOKEN", "bench-r4-commerce-token-0123456789".to_owned()),
            ("PASARELA__RAILS__R4__CALLBACK_UUID", "5a4d2b0e-0c1f-4a57-9d0a-7f6a1c3b9e21".to_owned()),
            ("PASARELA__RAILS__R4__COMMERCE_PHONE", "04129990000".to_owned()),
            ("PASARELA__RAILS__R4__CREDIT_BY", "credito_inmediato".to_owned()),
            ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "2".to_owned()),
            ("PASARELA__RAILS__CALLS_MAX", "4096".to_owned()),
        ]
    }

    /// The environment of a process whose disk is to be slow.
    pub fn slow_disk(&self) -> Vec<(&'static str, String)> {
        let Some((library, us)) = &self.slow_sync else { return Vec::new() };
        vec![("LD_PRELOAD", library.display().to_string()), ("SLOW_SYNC_US", us.to_string())]
    }
}

/// A server that answers.
pub struct Server {
    /// Its process, if this one started it.
    ward: Option<Ward>,
    pid: u32,
    /// The other nodes' APIs, where it is one of several.
    others: Vec<SocketAddr>,
    /// The address of its API.
    pub api: SocketAddr,
    /// The address of its operators' API.
    pub admin: SocketAddr,
    /// The time from the start of the process to the first "ready".
    pub ready_after: Duration,
    log: PathBuf,
}

impl Server {
    /// The gateway on `dir/data`; what it logs goes to `dir/server.log`.
    pub fn gateway(dir: &Path, patience: Duration) -> Outcome<Server> {
        Server::gateway_in(dir, patience, &Setting::default())
    }

    /// The gateway on `dir/data` in another setting.
    pub fn gateway_in(dir: &Path, patience: Duration, setting: &Setting) -> Outcome<Server> {
        let config = dir.join("config.toml");
        std::fs::write(&config, CONFIG).map_err(|error| format!("{}: {error}", config.display()))?;
        let (api, admin) = (free_address()?, free_address()?);
        let mut command = gateway_binary()?;
        command.arg("serve").arg("--config").arg(config);
        for (name, value) in [
            ("PASARELA__SERVER__LISTEN", api.to_string()),
            ("PASARELA__ADMIN__LISTEN", admin.to_string()),
            ("PASARELA__ADMIN__TOKEN", ADMIN_TOKEN.to_owned()),
            ("PASARELA__STORAGE__PATH", dir.join("data").display().to_string()),
            ("PASARELA__LOG__LEVEL", "warn".to_owned()),
            // The bytes that the server writes are read from the kernel.
            ("PASARELA__SERVER__TRACEABLE", "true".to_owned()),
            ("PASARELA__WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true".to_owned()),
        ] {
            command.env(name, value);
        }
        if !setting.with_shares {
            command.envs(NO_SHARES);
        }
        command.envs(setting.slow_disk()).envs(setting.live_bank());
        if let Some(seconds) = setting.snapshot_seconds {
            command.env("PASARELA__STORAGE__SNAPSHOT_SECONDS", seconds.to_string());
        }
        machine::on_cores(&setting.cores, || {
            Server::start(command, api, admin, dir.join("server.log"), patience)
        })
    }

    /// Nodes that somebody else started; the operators' address is the first one's.
    pub fn running(apis: &[SocketAddr], admin: SocketAddr) -> Outcome<Server> {
        let [api, others @ ..] = apis else { return Err("there must be a node".to_owned()) };
        let (others, log) = (others.to_vec(), PathBuf::new());
        Ok(Server { ward: None, pid: 0, others, api: *api, admin, ready_after: Duration::ZERO, log })
    }

    /// The address for the connection with this number: all nodes in turn.
    pub fn api_of(&self, connection: usize) -> SocketAddr {
        let nth = connection % (self.others.len() + 1);
        nth.checked_sub(1).map_or(self.api, |nth| self.others[nth])
    }

    /// The server that does nothing.
    pub fn do_nothing(dir: &Path) -> Outcome<Server> {
        let api = free_address()?;
        let mut command = this_binary()?;
        command.args(["do-nothing", "--listen"]).arg(api.to_string());
        Server::start(command, api, api, dir.join("do-nothing.log"), Duration::from_secs(10))
    }

    /// The server that writes every request to a plain file before it answers.
    pub fn plain_file(dir: &Path, setting: &Setting) -> Outcome<Server> {
        let api = free_address()?;
        let mut command = this_binary()?;
        command.args(["do-nothing", "--listen"]).arg(api.to_string()).arg("--file").arg(dir.join("plain"));
        command.envs(setting.slow_disk());
        Server::start(command, api, api, dir.join("plain-file.log"), Duration::from_secs(10))
    }

    fn start(
        mut command: Command,
        api: SocketAddr,
        admin: SocketAddr,
        log: PathBuf,
        patience: Duration,
    ) -> Outcome<Server> {
        let fail = |error: std::io::Error| format!("{}: {error}", log.display());
        let out = File::options().create(true).append(true).open(&log).map_err(fail)?;
        let errors = out.try_clone().map_err(fail)?;
        let began = Instant::now();
        let child = command
            // A group of its own: Ctrl-C comes to us alone, and we end it.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(errors)
            .spawn()
            .map_err(|error| format!("the server cannot be started: {error}"))?;
        let pid = child.id();
        let ready_after = Duration::ZERO;
        let mut server =
            Server { ward: Some(Ward::new(child)), pid, others: Vec::new(), api, admin, ready_after, log };
        while !is_ready(api) {
            if let Some(Ok(Some(status))) = server.ward.as_ref().map(|ward| ward.child().try_wait()) {
                return Err(format!("the server ended with {status}: {}", server.last_words()));
            }
            if began.elapsed() > patience {
                return Err(format!("the server was not ready within {patience:?}: {}", server.last_words()));
            }
            std::thread::sleep(PROBE_EVERY);
        }
        server.ready_after = began.elapsed();
        Ok(server)
    }

    /// The id of its process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The processor time and the writes of the server so far.
    pub fn spent(&self) -> Outcome<Spent> {
        if self.ward.is_none() { Ok(Spent::default()) } else { machine::spent(self.pid) }
    }

    /// The log's size as the gateway reports it: records, batches, bytes and snapshots.
    pub fn log_status(&self) -> Outcome<LogStatus> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let status = runtime.block_on(async {
            let mut client = Client::open(self.admin).await?;
            client.get(&format!("authorization: Bearer {ADMIN_TOKEN}"), "/admin/status", 200).await
        })?;
        let number = |name: &str| {
            status["log"][name].as_u64().ok_or_else(|| format!("/admin/status says no {name}: {status}"))
        };
        Ok(LogStatus {
            records: number("records")?,
            batches: number("batches")?,
            bytes: number("bytes")?,
            snapshots: number("snapshots")?,
        })
    }

    /// Asks the server to end and waits until it has.
    pub fn stop(self) -> Outcome<()> {
        let Some(ward) = &self.ward else { return Ok(()) };
        let asked = Command::new("kill").args(["-TERM", &self.pid.to_string()]).status();
        if !asked.is_ok_and(|status| status.success()) {
            return Err("the server cannot be asked to end".to_owned());
        }
        let deadline = Instant::now() + STOP;
        while Instant::now() < deadline {
            match ward.child().try_wait() {
                Ok(Some(status)) if ExitStatus::success(&status) => return Ok(()),
                Ok(Some(status)) => {
                    return Err(format!("the server ended with {status}: {}", self.last_words()));
                }
                Ok(None) => std::thread::sleep(PROBE_EVERY),
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(format!("the server did not end within {STOP:?}"))
    }

    /// The end of the server's log.
    pub fn last_words(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&text[text.len().saturating_sub(2_000)..]).trim().to_owned()
    }

    /// Waits, within bounds, until the server does next to nothing, so that what is left of one
    /// case is not counted in the next.
    pub fn rest(&self) -> Outcome<()> {
        for _ in 0..50 {
            let before = self.spent()?.cpu;
            std::thread::sleep(Duration::from_millis(100));
            if self.spent()?.cpu <= before + Duration::from_millis(10) {
                break;
            }
        }
        Ok(())
    }
}

/// The size of the gateway's log.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogStatus {
    /// Durable records.
    pub records: u64,
    /// Synced writes.
    pub batches: u64,
    /// Bytes in those: keys and values.
    pub bytes: u64,
    /// Snapshots that became durable.
    pub snapshots: u64,
}

impl LogStatus {
    /// The difference to an earlier reading.
    pub fn since(self, before: LogStatus) -> LogStatus {
        LogStatus {
            records: self.records.saturating_sub(before.records),
            batches: self.batches.saturating_sub(before.batches),
            bytes: self.bytes.saturating_sub(before.bytes),
            snapshots: self.snapshots.saturating_sub(before.snapshots),
        }
    }
}

/// The gateway that is measured.
static GATEWAY: OnceLock<PathBuf> = OnceLock::new();

/// Chooses the gateway that is measured: `pasarela` beside this binary unless it is named. Called
/// once, before anything is measured; fails where there is no such file.
pub fn measure(gateway: Option<PathBuf>) -> Outcome<()> {
    let path = match gateway {
        Some(path) => path,
        None => this_path()?.with_file_name("pasarela"),
    };
    if !path.is_file() {
        return Err(format!("{} is not there: build it, or name the gateway with --server", path.display()));
    }
    GATEWAY.set(path).map_err(|_| "the gateway is chosen once".to_owned())
}

fn gateway_binary() -> Outcome<Command> {
    Ok(clean(GATEWAY.get().ok_or("no gateway was chosen")?))
}

/// A command that runs this binary as something else.
pub fn this_binary() -> Outcome<Command> {
    Ok(clean(&this_path()?))
}

fn this_path() -> Outcome<PathBuf> {
    std::env::current_exe().map_err(|error| format!("this binary cannot be found: {error}"))
}

/// A command that does not see the variables that were meant for us.
fn clean(path: &Path) -> Command {
    let mut command = Command::new(path);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PASARELA__"))
    {
        command.env_remove(name);
    }
    command
}

/// An address that nobody listens on. It is below the ports that the kernel gives to whoever connects: one of
/// those might be taken before its server binds it.
fn free_address() -> Outcome<SocketAddr> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id() % PORTS;
    let next = |_| 10_000 + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % PORTS;
    let mut addresses = (0..PORTS).map(next).map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port as u16)));
    addresses.find(|address| TcpListener::bind(address).is_ok()).ok_or_else(|| "no free port".to_owned())
}

fn is_ready(address: SocketAddr) -> bool {
    let look = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&address, PROBE)?;
        stream.set_read_timeout(Some(PROBE))?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
        let mut start = [0; 12];
        stream.read_exact(&mut start)?;
        Ok(start.ends_with(b" 200"))
    };
    look().unwrap_or(false)
}
