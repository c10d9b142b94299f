//! Pasarela over HTTP, whatever way it is debited in: the server, its tenant, its list of payouts.
//! Each way is a file of its own (`pasarela_*.rs`).
//!
//! A debit is a credit to a phone in test mode: two durable records, the debit and what the simulated
//! bank said, with the events, list entries and movements that the API shows.

use crate::Outcome;
use crate::connection::Connection;
use crate::loader::{Answer, Caller, Callers, Soon};
use crate::peer::{About, Peer, Process, Setup, free_address, perhaps_forgetful, until_ready, version_of};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const ADMIN_TOKEN: &str = "lab-admin-token-0123456789-012345";

/// Nothing is fetched from outside, and no day is a holiday.
const CONFIG: &str = r#"
[[rates.feeds]]
pair = "USD/VES"
source = "bcv"
side = "OFFICIAL"
kind = "fixed"
price = "200.00000000"
every_seconds = 60

[calendar]
holidays = []
"#;

/// One test key may take all.
const NO_SHARES: [(&str, &str); 5] = [
    ("PASARELA__LIMITS__SHARE_PERCENT", "100"),
    ("PASARELA__LIMITS__LIVE_RESERVE_PERCENT", "0"),
    ("PASARELA__LIMITS__LIVE_SLOTS", "1048576"),
    ("PASARELA__LIMITS__TEST_SLOTS", "1048576"),
    ("PASARELA__LIMITS__WAITING_MAX", "1048576"),
];

/// What all its ways have in common on the page.
pub const ABOUT: About = About {
    title: "",
    per_call: 1,
    how: "",
    reached: "HTTP/1.1 over TCP, a connection for each caller",
    durable: "as it comes: every record is synced before it is answered",
    besides: [
        "answered as at first, by externalRef or Idempotency-Key",
        "a numbered event for each change, for webhooks",
        "by status, kind, merchant, time, reference",
        "at any past instant, and by day",
    ],
    plant: "every 97th debit is left out and acknowledged",
};

/// A way to debit.
pub trait Way: Send + Sync + 'static {
    /// What the page says of it.
    fn about(&self) -> About;

    /// A caller; `nth` of all.
    fn caller(&self, server: &Server, nth: usize) -> Box<dyn Caller>;

    /// What there is to do when the server has been started, and before callers are opened.
    fn opened(&self, _server: &Server, _callers: usize) {}
}

/// Where the server listens, and the tenant's key.
#[derive(Clone, Debug)]
pub struct Server {
    /// The address of its API.
    pub api: SocketAddr,
    /// The tenant's key.
    pub key: String,
}

/// The server.
pub struct Pasarela<W> {
    setup: Setup,
    way: W,
    program: PathBuf,
    api: SocketAddr,
    admin: SocketAddr,
    process: Process,
    key: Mutex<String>,
}

impl<W: Way> Pasarela<W> {
    /// A server that is debited in this way.
    pub fn new(setup: &Setup, way: W) -> Outcome<Pasarela<W>> {
        let program = crate::program("PASARELA_BIN", "pasarela")?;
        let (api, admin) = (free_address()?, free_address()?);
        Ok(Pasarela {
            setup: setup.clone(),
            way,
            program,
            api,
            admin,
            process: Process::default(),
            key: Mutex::default(),
        })
    }

    fn server(&self) -> Server {
        Server { api: self.api, key: self.key.lock().unwrap_or_else(PoisonError::into_inner).clone() }
    }

    /// A tenant with funds, the first time.
    async fn prepare(&self) -> Outcome<()> {
        if !self.server().key.is_empty() {
            return Ok(());
        }
        let operator = format!("authorization: Bearer {ADMIN_TOKEN}");
        let tenant = json!({ "name": "lab" });
        let created = ask(self.admin, "POST", "/admin/tenants", &operator, Some(&tenant)).await?;
        let key = created["testKey"]["key"].as_str().ok_or_else(|| format!("no key: {created}"))?.to_owned();
        let funds = json!({ "currency": "VES", "amount": amount(self.setup.funds) });
        ask(self.api, "POST", "/v1/test/fund", &format!("x-api-key: {key}"), Some(&funds)).await?;
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = key;
        Ok(())
    }
}

/// One request over a connection of its own; the answer must be a success.
async fn ask(to: SocketAddr, method: &str, path: &str, header: &str, body: Option<&Value>) -> Outcome<Value> {
    let request = request(to, method, path, header, &body.map(Value::to_string).unwrap_or_default());
    let mut connection = Connection::open(to).await?;
    let answer = connection.exchange(request.as_bytes()).await?;
    if !(200..300).contains(&answer.status) {
        return Err(format!("{path}: {}: {}", answer.status, String::from_utf8_lossy(answer.body)));
    }
    serde_json::from_slice(answer.body).map_err(|error| format!("{path}: {error}"))
}

async fn is_ready(api: SocketAddr) -> Outcome<()> {
    let mut connection = Connection::open(api).await?;
    match connection.exchange(request(api, "GET", "/readyz", "accept: */*", "").as_bytes()).await?.status {
        200 => Ok(()),
        status => Err(format!("not ready: {status}")),
    }
}

/// A request of HTTP/1.1.
pub fn request(to: SocketAddr, method: &str, path: &str, header: &str, body: &str) -> String {
    let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: {to}\r\n{header}\r\n{kind}content-length: {length}\r\n\r\n{body}"
    )
}

/// Minor units as `12.30`.
pub fn amount(minor: i64) -> String {
    format!("{}.{:02}", minor / 100, minor % 100)
}

/// The body of a credit under an id.
pub fn credit(id: u64, minor: i64) -> String {
    let monto = amount(minor);
    format!(
        r#"{{"banco":"0134","telefono":"04147654321","cedula":"V87654321","monto":"{monto}","concepto":"pago de prueba","externalRef":"lab-{id}"}}"#
    )
}

/// The members of a payout, or of a refusal, that say what became of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Paid<'a> {
    #[serde(borrow, default)]
    status: Option<&'a str>,
    #[serde(borrow, default)]
    error: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    failure_code: Option<&'a str>,
}

/// The time for which a server may be too busy for a call.
const BUSY_MAX: Duration = Duration::from_secs(10);
const RETRY_AFTER: Duration = Duration::from_secs(1);
const TOO_LITTLE: Option<&str> = Some("insufficient_balance");

impl Paid<'_> {
    /// What became of a debit that was answered so. One whose bank has not answered is durable.
    pub fn answer(&self) -> Answer {
        match self.status {
            Some("completed" | "pending") => Answer::Done,
            _ if self.error.as_deref() == TOO_LITTLE || self.failure_code == TOO_LITTLE => Answer::Refused,
            _ => Answer::Unknown,
        }
    }
}

/// A kept connection, which is opened again when it broke.
pub struct Kept {
    server: Server,
    open: Option<Connection>,
}

impl Kept {
    /// One that is opened when it is used.
    pub fn new(server: &Server) -> Kept {
        Kept { server: server.clone(), open: None }
    }

    /// Sends a request of the tenant, again after a second (`Retry-After`) where the server is too busy for it; nothing
    /// where there is no answer.
    pub async fn ask<T>(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Option<T> {
        let header = format!("x-api-key: {}", self.server.key);
        let request = request(self.server.api, method, path, &header, body);
        let mut connection = match self.open.take() {
            Some(open) => open,
            None => Connection::open(self.server.api).await.ok()?,
        };
        let until = Instant::now() + BUSY_MAX;
        let seen = loop {
            let answer = connection.exchange(request.as_bytes()).await.ok()?;
            if answer.status != 503 || Instant::now() > until {
                break read(answer.body);
            }
            tokio::time::sleep(RETRY_AFTER).await;
        };
        self.open = Some(connection);
        seen
    }

    /// The balance.
    pub async fn balance(&mut self) -> Option<i64> {
        let read = |body: &[u8]| {
            let balance: Value = serde_json::from_slice(body).ok()?;
            balance["availableVes"].as_str()?.replace('.', "").parse().ok()
        };
        self.ask("GET", "/v1/balance", "", read).await
    }
}

impl<W: Way> Peer for Pasarela<W> {
    fn about(&self) -> About {
        self.way.about()
    }

    fn version(&self) -> String {
        version_of(&self.program, "--version")
    }

    fn start(&self) -> Soon<'_, Outcome<()>> {
        Box::pin(async move {
            let config = self.setup.dir.join("config.toml");
            std::fs::write(&config, CONFIG).map_err(|error| format!("{}: {error}", config.display()))?;
            let mut command = Command::new(&self.program);
            for (name, _) in
                std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PASARELA"))
            {
                command.env_remove(name);
            }
            command.arg("serve").arg("--config").arg(config).envs(NO_SHARES).envs([
                ("PASARELA__SERVER__LISTEN", self.api.to_string()),
                ("PASARELA__ADMIN__LISTEN", self.admin.to_string()),
                ("PASARELA__ADMIN__TOKEN", ADMIN_TOKEN.to_owned()),
                ("PASARELA__STORAGE__PATH", self.setup.dir.join("data").display().to_string()),
                ("PASARELA__LOG__LEVEL", "warn".to_owned()),
            ]);
            self.process.run(command, &self.setup.dir, false)?;
            until_ready(&self.process, &self.setup.dir, || Box::pin(is_ready(self.api))).await?;
            self.prepare().await
        })
    }

    fn kill(&self) {
        self.process.kill();
    }

    fn open(&self, callers: usize) -> Soon<'_, Outcome<Callers>> {
        Box::pin(async move {
            let server = self.server();
            self.way.opened(&server, callers);
            let callers = (0..callers).map(|nth| self.way.caller(&server, nth)).collect();
            Ok(perhaps_forgetful(callers, self.setup.plant))
        })
    }

    fn debited<'a>(&'a self, _asked: &'a [u64]) -> Soon<'a, Outcome<Vec<u64>>> {
        Box::pin(async move {
            let mut kept = Kept::new(&self.server());
            let (mut debited, mut cursor) = (Vec::new(), String::new());
            loop {
                let path = format!("/v1/payouts?limit=100{cursor}");
                let read = |body: &[u8]| serde_json::from_slice::<Value>(body).ok();
                let page = kept.ask("GET", &path, "", read).await.ok_or("the list of payouts breaks off")?;
                let items = page["items"].as_array().ok_or_else(|| format!("no list: {page}"))?;
                let paid = items.iter().filter(|item| item["status"] != "failed");
                debited.extend(paid.filter_map(|item| {
                    item["externalRef"].as_str()?.strip_prefix("lab-")?.parse::<u64>().ok()
                }));
                match page["nextCursor"].as_str() {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => return Ok(debited),
                }
            }
        })
    }
}
