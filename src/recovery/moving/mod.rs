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

use super::books::{Books, machine_of};
use super::directory::{self, LOG_DIRECTORY};
use super::restored_copy::RestoredCopy;
use super::writing::Writing;
use super::{Failed, now_ms};
use domain::machine::AnyBook;
use domain::machine::{Command, KeyedCommand};
use domain::platform::audit::{AuditEntry, Who};
use domain::platform::{PlatformBook, Tenant};
use domain::refusal::Refusal;
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wal::{OpenError, Reader};

const NAMED_MAX: usize = 20;

fn running(directory: &Path) -> Failed {
    Failed::refused(directory, "a server is running here; stop it first")
}

fn known(tenant: Id) -> Failed {
    Failed::NotDone(format!("the tenant {tenant} is here already; nothing was done"))
}

fn nameless(data: &Path) -> Failed {
    Failed::refused(
        data,
        "this deployment has no name yet: bring mark.key and card.key of the one that tenants come from, then \
         run pasarela tenant id",
    )
}

/// No server has it for as long as its log is open.
struct OpenDirectory {
    data: PathBuf,
    log: Writing,
    name: Deployment,
}

impl OpenDirectory {
    fn open(data: &Path) -> Result<OpenDirectory, Failed> {
        OpenDirectory::with(data, &data.join(LOG_DIRECTORY))
    }

    fn with(data: &Path, path: &Path) -> Result<OpenDirectory, Failed> {
        if RestoredCopy::must_be_whole(data)?.is_some() {
            let why = "this is a restored copy; tenants move between directories that are served";
            return Err(Failed::refused(data, why));
        }
        directory::must_have_log(path)?;
        let mut log = opened(data, path)?;
        let name = name_of(&log.reader())?.ok_or_else(|| nameless(data))?;
        let tip = log.tip.seq;
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

    fn tenant(&self, id: Id) -> Result<Arc<Tenant>, Failed> {
        let book = self.platform();
        let found = book.tenants.values().find(|tenant| tenant.id == id).cloned();
        found.ok_or_else(|| Failed::NotDone(format!("there is no tenant {id} here")))
    }

    /// Durable after the next sync.
    fn decide(&mut self, tenant: u64, command: KeyedCommand) -> Result<(), Failed> {
        self.log.decide(tenant, command, now_ms())?.map_err(refused)
    }

    fn decide_platform(&mut self, ask: PlatformAsk, audit: Option<Box<AuditEntry>>) -> Result<(), Failed> {
        self.decide(PLATFORM, KeyedCommand::from(Command::Platform(Box::new(ask))).audited(audit))
    }

    /// Both books get the settings that the platform's book has; durable when this returns.
    fn push(&mut self, id: Id) -> Result<Arc<Tenant>, Failed> {
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
pub fn named(data: &Path) -> Result<Option<Deployment>, Failed> {
    let path = data.join(LOG_DIRECTORY);
    if !path.join("CURRENT").is_file() {
        return Ok(None);
    }
    name_of(&Reader::open_read_only(&path)?)
}

/// A directory without records gets a first, which says no more than that, unless a server has it.
pub fn deployment(data: &Path) -> Result<Deployment, Failed> {
    if let Some(name) = named(data)? {
        return Ok(name);
    }
    let path = data.join(LOG_DIRECTORY);
    if !path.join("CURRENT").is_file() && directory::read_mark_key(data)?.is_none() {
        // A log without the key that belongs to it would never be served.
        return Err(nameless(data));
    }
    let mut log = opened(data, &path)?;
    let first = KeyedCommand::from(Command::Platform(Box::new(PlatformAsk::Acted)));
    log.decide(PLATFORM, first, now_ms())?.map_err(refused)?;
    Ok(Deployment(log.close()?.hash))
}

fn refused(refusal: Refusal) -> Failed {
    Failed::NotDone(format!("a rule said no: {refusal:?}"))
}

fn opened(data: &Path, log: &Path) -> Result<Writing, Failed> {
    Writing::open(log).map_err(|failed| match failed {
        Failed::Open(OpenError::InUse { .. }) => running(data),
        failed => failed,
    })
}

fn signed(action: &str, tenant: Id, after: String) -> Option<Box<AuditEntry>> {
    let entry = AuditEntry::by(Who::root(), Timestamp::from_unix_ms(now_ms()), action);
    let (tenant, target) = (Some(tenant), Some(tenant.to_string()));
    Some(Box::new(AuditEntry { tenant, target, after: Some(after), ..entry }))
}

/// Of the two keys that a directory hashes with.
fn fingerprints(data: &Path, card_key: Option<&Path>) -> Result<[String; 2], Failed> {
    let mark = directory::read_mark_key(data)?.unwrap_or_default();
    let card = directory::read_card_key(data, card_key)?.unwrap_or_default();
    Ok([directory::fingerprint(&mark), directory::fingerprint(&card)])
}

/// By it two deployments compare a book.
fn book_hash(books: &Books, tenant: u64) -> String {
    use actors::Machine;
    let saved = books.get(tenant).map(|book| books.machine.save(book)).unwrap_or_default();
    hex::encode(&Sha256::digest(saved)[..16])
}
