//! A file is read into a copy of the log, which then takes the log's place in one step. The copy
//! shares the files of the log that never change, so it costs little. Until the step no server
//! looks at it, and the next import removes what is left of it.

use super::super::blocks::{self, Block, FileKey, Parts};
use super::super::directory::{self, LOG_DIRECTORY};
use super::super::{Failed, Progress, at};
use super::file::{END, FORM, HEAD, RECORDS, TENANT, member, tenant_in, unsound};
use super::{OpenDirectory, book_hash, fingerprints, known, running, signed};
use domain::index::{self, Space};
use domain::platform::settings::Deployment;
use domain::resources::tenants::moves::Taken;
use domain::resources::tenants::{PlatformAsk, moves};
use domain::values::ids::{Id, Mode, PLATFORM, is_live, tenant_key};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use wal::{IndexOps, OWNER_FILE, Reader, Tip};

/// The log is made here; no copy has it.
const MAKING: &str = "moving";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub id: Id,
    pub name: String,
    pub records: u64,
    pub digest: String,
}

/// All of it, or nothing.
pub fn import(
    data: &Path,
    card_key: Option<&Path>,
    file: &Path,
    progress: Progress<'_>,
) -> Result<Imported, Failed> {
    let making = data.join(MAKING);
    let (log, copy) = (data.join(LOG_DIRECTORY), making.join(LOG_DIRECTORY));
    // Everything is read before anything is made: most of what is wrong with a file is found here.
    let key = FileKey::read(data, card_key)?;
    let mut parts = Parts::open(file, FORM, key.clone())?;
    let (digest, id) = match looked_through(file, &mut parts, progress) {
        Err(why @ Failed::Unproved(_)) if parts.block == 1 => {
            return Err(misdirected(file, &key, data, card_key)?.unwrap_or(why));
        }
        looked => looked?,
    };
    let here = OpenDirectory::open(data)?;
    if here.platform().tenants.values().any(|tenant| tenant.id == id) {
        return Err(known(id));
    }
    directory::gone(&making, fs::remove_dir_all)?;
    fs::create_dir(&making).map_err(at(&making))?;
    here.log.checkpoint(&copy).map_err(|error| Failed::checkpoint(&copy, error))?;
    let into = OpenDirectory::with(data, &copy)?;
    let before = here.log.reader();
    let arrival = Arrival { into, before: &before, file, key: None, records: 0, checked: 0 };
    let imported = arrival.take((card_key, key), digest, progress)?;
    // With the last handle goes the lock, which the exchange takes.
    drop(before);
    let copied = here.log.close()?;
    exchange(&log, &copy, copied)?;
    directory::gone(&making, fs::remove_dir_all)?;
    Ok(imported)
}

fn looked_through(
    file: &Path,
    parts: &mut Parts<'_>,
    progress: Progress<'_>,
) -> Result<(String, Id), Failed> {
    let mut id = None;
    loop {
        let block = parts.next_block()?;
        progress("check", parts.at, parts.length);
        match block.kind {
            TENANT if id.is_none() => id = tenant_in(&block.body).map(|(tenant, _)| tenant.id),
            END => break,
            _ => {}
        }
    }
    parts.nothing_follows()?;
    let id = id.ok_or_else(|| unsound(file, "it holds no tenant that this release can read"))?;
    Ok((parts.digest(), id))
}

/// The file is for this deployment, and both hash alike.
fn fits(
    head: &Block,
    file: &Path,
    here: Deployment,
    data: &Path,
    card_key: Option<&Path>,
) -> Result<(), Failed> {
    let head = json(head, file)?;
    let meant = member(&head, "to", file)?;
    let meant = Deployment::parse(meant).ok_or_else(|| unsound(file, "to is no name"))?;
    if meant != here {
        let why = format!("the file is for the deployment {meant}, and this is {here}");
        return Err(Failed::Misdirected(why));
    }
    let ours = fingerprints(data, card_key)?;
    let files = [directory::MARK_KEY_FILE, directory::CARD_KEY_FILE];
    for ((ours, key), name) in ours.iter().zip(files).zip(["markKey", "cardKey"]) {
        if member(&head, name, file)? != ours {
            return Err(Failed::Misdirected(format!(
                "{key} here is not the one of the deployment that the tenant comes from: what it signed and \
                 hashed would not be recognised; a deployment that tenants move to is founded with a copy of it"
            )));
        }
    }
    Ok(())
}

/// None of a file that was changed.
fn misdirected(
    file: &Path,
    key: &FileKey,
    data: &Path,
    card_key: Option<&Path>,
) -> Result<Option<Failed>, Failed> {
    let here = OpenDirectory::open(data)?.name;
    let head = Parts::open(file, FORM, key.clone())?.next_unproved().ok();
    let why = head.and_then(|head| fits(&head, file, here, data, card_key).err());
    Ok(why.filter(|why| matches!(why, Failed::Misdirected(_))))
}

struct Arrival<'a> {
    into: OpenDirectory,
    before: &'a Reader,
    file: &'a Path,
    key: Option<u64>,
    records: u64,
    checked: u64,
}

impl Arrival<'_> {
    fn take(
        mut self,
        (card_key, key): (Option<&Path>, FileKey),
        digest: String,
        progress: Progress<'_>,
    ) -> Result<Imported, Failed> {
        let mut parts = Parts::open(self.file, FORM, key)?;
        let mut opened: Option<(Id, String)> = None;
        let mut is_ours = false;
        loop {
            let block = parts.next_block()?;
            progress("import", parts.at, parts.length);
            match block.kind {
                HEAD if !is_ours => {
                    fits(&block, self.file, self.into.name, &self.into.data, card_key)?;
                    is_ours = true;
                }
                TENANT if is_ours && opened.is_none() => opened = Some(self.open(&block, &digest)?),
                RECORDS if opened.is_some() => {
                    self.take_records(&block)?;
                    parts.last = self.checked;
                }
                END if opened.is_some() => {
                    self.end(&block)?;
                    break;
                }
                _ => return Err(block.bad(blocks::KIND)),
            }
        }
        parts.nothing_follows()?;
        let Some((id, name)) = opened else {
            return Err(unsound(self.file, "it holds no tenant"));
        };
        self.into.push(id)?;
        self.into.log.snapshot()?;
        self.into.log.close()?;
        Ok(Imported { id, name, records: self.records, digest })
    }

    /// This record comes first, so that every record of the tenant stands after the instant at which it came.
    fn open(&mut self, block: &Block, digest: &str) -> Result<(Id, String), Failed> {
        let held = tenant_in(&block.body);
        let (tenant, keys) = held.ok_or_else(|| unsound(self.file, "it holds no tenant"))?;
        let (id, name) = (tenant.id, tenant.name.to_string());
        match moves::taken(&self.into.platform(), &tenant, &keys) {
            Some(Taken::Tenant) => return Err(known(id)),
            Some(Taken::Key(prefix)) => {
                return Err(Failed::NotDone(format!(
                    "the API key {prefix}… of the tenant is in use here; rotate and revoke one of the two first"
                )));
            }
            None => {}
        }
        let audit = signed("tenant.import", id, json!({ "digest": digest }).to_string());
        self.into.decide_platform(PlatformAsk::Receive { tenant, keys }, audit)?;
        self.key = Some(tenant_key(self.into.tenant(id)?.number, Mode::Live));
        Ok((id, name))
    }

    fn take_records(&mut self, block: &Block) -> Result<(), Failed> {
        let live = self.key.unwrap_or(PLATFORM);
        let mut rest = &block.body[..];
        while !rest.is_empty() {
            let seq = rest.get(8..16).and_then(|seq| seq.try_into().ok()).map(u64::from_le_bytes);
            let seq = seq.ok_or_else(|| block.bad(blocks::OTHER_RECORDS))?;
            let (from, following) = wal::Record::split_off(rest, seq, None)?;
            rest = following;
            let tenant = live + u64::from(!is_live(from.tenant));
            let log = &mut self.into.log;
            let stored = log.following(tenant, from.time_ms, from.payload)?;
            let record = log.books.apply(&stored)?;
            let ops = log.books.entries(&stored, &record);
            self.refuse_taken(&ops, seq)?;
            self.into.log.write(stored, ops)?;
            self.records += 1;
            self.checked = seq;
        }
        Ok(())
    }

    /// A record must not take a name from a tenant of this deployment.
    fn refuse_taken(&self, ops: &IndexOps, seq: u64) -> Result<(), Failed> {
        for op in ops.resolved(seq).ops().filter(|op| op.value.is_some()) {
            let Some(name) = index::among_all(op.key) else { continue };
            // A payer's name says only that they paid somebody, and a bank may have given another of its
            // customers the same reference.
            let is_shared = [Space::Payer as u8, Space::BankName as u8].contains(&name.0);
            if !is_shared && self.before.index_get(op.key)?.is_some() {
                let name = String::from_utf8_lossy(name.1);
                return Err(Failed::NotDone(format!(
                    "record {seq} of the tenant has a name that a tenant here has: {name}"
                )));
            }
        }
        Ok(())
    }

    /// The books must be those that the other deployment had.
    fn end(&self, block: &Block) -> Result<(), Failed> {
        let end = json(block, self.file)?;
        if end["records"].as_u64() != Some(self.records) {
            return Err(unsound(self.file, "it holds another number of records than it says"));
        }
        let live = self.key.unwrap_or(PLATFORM);
        for (key, mode) in [(live, "live"), (live + 1, "test")] {
            if member(&end, mode, self.file)? != book_hash(&self.into.log.books, key) {
                let what = format!("its records lead to another book of {mode} mode than they did");
                return Err(unsound(self.file, &what));
            }
        }
        Ok(())
    }
}

fn json(block: &Block, file: &Path) -> Result<Value, Failed> {
    serde_json::from_slice(&block.body).map_err(|_| unsound(file, "a block of it is not JSON"))
}

/// Both are locked, so no server has either; none had the log since it was copied, for then it
/// would end elsewhere.
fn exchange(log: &Path, copy: &Path, copied: Tip) -> Result<(), Failed> {
    let held = [log, copy].map(|directory| {
        let path = directory.join(OWNER_FILE);
        let file = File::open(&path).map_err(at(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(_) => Err(running(directory)),
        }
    });
    let [one, other] = held;
    let _held = (one?, other?);
    if Reader::open_read_only(log)?.tip() != copied {
        return Err(running(log));
    }
    renameat_with(CWD, log, CWD, copy, RenameFlags::EXCHANGE).map_err(|error| at(log)(error.into()))?;
    for directory in [log, copy].into_iter().filter_map(Path::parent) {
        directory::sync(directory)?;
    }
    Ok(())
}
