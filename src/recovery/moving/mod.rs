//! The move of a tenant to another deployment, between two directories that no server uses
//! (`docs/contract.md, 22`). A tenant decides in one deployment at most: it is closed, for one
//! deployment that is named, before there is a file; the file opens in that deployment alone, and
//! once. A process that dies on any line leaves it closed or open there, whole or not at all.

mod export;
pub mod file;
mod import;

use domain::platform::settings::Deployment;
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::{Mode, PLATFORM, tenant_key};
pub use export::{Exported, export, reopen};
pub use import::{Imported, import};

use super::Failed;
use super::books::{Books, machine_of};
use super::directory::{self, LOG_DIRECTORY};
use super::restored_copy::RestoredCopy;
use super::writing::Writing;
use domain::commands::{Command, KeyedCommand};
use domain::machine::AnyBook;
use domain::platform::audit::{AuditEntry, Who};
use domain::platform::{PlatformBook, Tenant};
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wal::{OpenError, Reader};

#[derive(Debug, thiserror::Error)]
pub enum NotMoved {
    #[error(transparent)]
    Failed(#[from] Failed),
    #[error("{}: a server is running here; stop it first", .0.display())]
    Running(PathBuf),
    #[error("{}: this is a restored copy; tenants move between directories that are served", .0.display())]
    Copy(PathBuf),
    #[error("{}: this deployment has no name yet: bring mark.key and card.key of the one that tenants come \
        from, then run pasarela tenant id", .0.display())]
    Nameless(PathBuf),
    #[error("there is no tenant {0} here")]
    NoTenant(Id),
    #[error(
        "{0} is this deployment itself; name the one that the tenant goes to (pasarela tenant id, there)"
    )]
    Here(Deployment),
    #[error(
        "the tenant moves to {0} already; if it was never imported there, pasarela tenant reopen ends that"
    )]
    Elsewhere(Deployment),
    #[error("{}", open_line(.0, *.1))]
    Open(Vec<String>, usize),
    #[error("the tenant is open here; there is nothing to reopen")]
    NotMoved,
    #[error("the file is for the deployment {meant}, and this is {here}")]
    ForAnother { meant: Deployment, here: Deployment },
    #[error(
        "{file} here is not the one of the deployment that the tenant comes from: what it signed and hashed \
         would not be recognised; a deployment that tenants move to is founded with a copy of it"
    )]
    OtherKey { file: &'static str },
    #[error("the tenant {0} is here already; nothing was done")]
    Known(Id),
    #[error("the API key {0}… of the tenant is in use here; rotate and revoke one of the two first")]
    KeyTaken(Box<str>),
    #[error("record {seq} of the tenant has a name that a tenant here has: {name}")]
    NameTaken {
        /// By its place in the log that it comes from.
        seq: u64,
        name: String,
    },
    /// The parts of the file are whole and do not fit each other.
    #[error("{}: {what}; nothing was done", file.display())]
    Unsound { file: PathBuf, what: String },
    #[error(
        "the tenant is closed here, and its file is not there: {0}; repeat the export, to another place if \
         need be, or open the tenant again with pasarela tenant reopen --not-imported"
    )]
    Closed(Box<NotMoved>),
    #[error("a rule said no: {0}")]
    Refused(String),
}

/// Of more things under way there is the number.
const NAMED_MAX: usize = 20;

fn open_line(open: &[String], more: usize) -> String {
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("the tenant has something under way and stays: {}{more}", open.join("; "))
}

/// On this machine's clock, in milliseconds since 1970.
fn wall_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// No server has it for as long as its log is open.
struct OpenDirectory {
    data: PathBuf,
    log: Writing,
    name: Deployment,
}

impl OpenDirectory {
    fn open(data: &Path) -> Result<OpenDirectory, NotMoved> {
        OpenDirectory::with(data, &data.join(LOG_DIRECTORY))
    }

    fn with(data: &Path, path: &Path) -> Result<OpenDirectory, NotMoved> {
        if RestoredCopy::must_be_whole(data)?.is_some() {
            return Err(NotMoved::Copy(data.to_owned()));
        }
        if !path.join("CURRENT").is_file() {
            return Err(Failed::from(OpenError::NotFound { path: path.to_owned() }).into());
        }
        let mut log = opened(data, path)?;
        let name = name_of(&log.reader())?.ok_or_else(|| NotMoved::Nameless(data.to_owned()))?;
        let tip = log.tip().seq;
        log.books = Books::after(&log.reader(), &[PLATFORM], tip)?;
        log.books.machine = machine_of(data)?;
        Ok(OpenDirectory { data: data.to_owned(), log, name })
    }

    fn platform(&self) -> PlatformBook {
        match self.log.books.get(PLATFORM) {
            Some(AnyBook::Platform(book)) => book.clone(),
            _ => PlatformBook::default(),
        }
    }

    fn tenant(&self, id: Id) -> Result<Arc<Tenant>, NotMoved> {
        let book = self.platform();
        let found = book.tenants.values().find(|tenant| tenant.id == id).cloned();
        found.ok_or(NotMoved::NoTenant(id))
    }

    /// Durable after the next sync.
    fn decide(&mut self, tenant: u64, command: KeyedCommand) -> Result<(), NotMoved> {
        self.log
            .decide(tenant, command, wall_ms())?
            .map_err(|refusal| NotMoved::Refused(format!("{refusal:?}")))
    }

    fn decide_platform(&mut self, ask: PlatformAsk, audit: Option<Box<AuditEntry>>) -> Result<(), NotMoved> {
        self.decide(PLATFORM, KeyedCommand::from(Command::Platform(Box::new(ask))).audited(audit))
    }

    /// Both books get the settings that the platform's book has; durable when this returns.
    fn push(&mut self, id: Id) -> Result<Arc<Tenant>, NotMoved> {
        let tenant = self.tenant(id)?;
        for mode in Mode::ALL {
            let settings = Command::TenantSettings(tenant.tenant_settings.clone());
            self.decide(tenant_key(tenant.number, mode), settings.into())?;
        }
        let (number, version) = (tenant.number, tenant.tenant_settings.version);
        self.decide_platform(PlatformAsk::Pushed { number, version }, None)?;
        self.log.sync()?;
        self.tenant(id)
    }
}

/// `None` of a log without records.
fn name_of(reader: &Reader) -> Result<Option<Deployment>, Failed> {
    Ok(reader.record(1)?.map(|first| Deployment(first.hash)))
}

/// A server may use the directory; `None` before its first record.
pub fn named(data: &Path) -> Result<Option<Deployment>, NotMoved> {
    let path = data.join(LOG_DIRECTORY);
    if !path.join("CURRENT").is_file() {
        return Ok(None);
    }
    let reader = Reader::open_read_only(&path).map_err(Failed::from)?;
    Ok(name_of(&reader)?)
}

/// A directory without records gets a first, which says no more than that, unless a server has it.
pub fn deployment(data: &Path) -> Result<Deployment, NotMoved> {
    if let Some(name) = named(data)? {
        return Ok(name);
    }
    let path = data.join(LOG_DIRECTORY);
    if !path.join("CURRENT").is_file() && directory::read_mark_key(data)?.is_none() {
        // A log without the key that belongs to it would never be served.
        return Err(NotMoved::Nameless(data.to_owned()));
    }
    let mut log = opened(data, &path)?;
    let first = KeyedCommand::from(Command::Platform(Box::new(PlatformAsk::Acted)));
    let refused = |refusal| NotMoved::Refused(format!("{refusal:?}"));
    log.decide(PLATFORM, first, wall_ms())?.map_err(refused)?;
    Ok(Deployment(log.close()?.hash))
}

fn opened(data: &Path, log: &Path) -> Result<Writing, NotMoved> {
    Writing::open(log).map_err(|failed| match failed {
        Failed::Open(OpenError::InUse { .. }) => NotMoved::Running(data.to_owned()),
        failed => failed.into(),
    })
}

fn signed(action: &str, tenant: Id, after: String) -> Option<Box<AuditEntry>> {
    Some(Box::new(AuditEntry {
        at: Timestamp::from_unix_ms(wall_ms()),
        operator: Who::root(),
        peer: None,
        action: action.to_owned(),
        tenant: Some(tenant),
        target: Some(tenant.to_string()),
        before: None,
        after: Some(after),
        approval: None,
        consent: None,
        request_id: None,
    }))
}

/// Of the two keys that a directory hashes with.
fn fingerprints(data: &Path, card_key: Option<&Path>) -> Result<[String; 2], Failed> {
    let mark = directory::read_mark_key(data)?.unwrap_or_default();
    let card = directory::read_card_key(data, card_key)?.unwrap_or_default();
    Ok([directory::fingerprint(&mark), directory::fingerprint(&card)])
}

/// By it two deployments compare a book.
fn book_hash(books: &Books, tenant: u64) -> String {
    use actors::Storage;
    let saved = books.get(tenant).map(|book| books.machine.save(book)).unwrap_or_default();
    hex::encode(&Sha256::digest(saved)[..16])
}
