//! A tenant is proved settled, closed for one deployment, and written to a file.

use super::super::blocks::{self, Blocks, FileKey};
use super::super::books::{Books, replay_records};
use super::super::{Failed, Progress, at, directory};
use super::file::{END, FORM, HEAD, RECORDS, TENANT, tenant_block};
use super::{NAMED_MAX, OpenDirectory, book_hash, fingerprints, signed};
use domain::cause::Cause;
use domain::platform::Tenant;
use domain::platform::settings::Deployment;
use domain::resources::tenants::{PlatformAsk, moves};
use domain::values::ids::{EntityId, Id, Mode, is_live, tenant_key};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    pub name: String,
    pub records: u64,
    pub bytes: u64,
    /// Covers all of the file.
    pub digest: String,
}

type Open = BTreeMap<(u64, EntityId), &'static str>;

/// A repeat writes the same again.
pub fn export(
    data: &Path,
    card_key: Option<&Path>,
    id: Id,
    to: Deployment,
    file: &Path,
    progress: Progress<'_>,
) -> Result<Exported, Failed> {
    if file.exists() {
        return Err(Failed::refused(file, blocks::EXISTS));
    }
    // A tenant is not closed for a file that cannot be written, or that nobody could prove.
    let key = FileKey::read(data, card_key)?;
    let part = Part::open(file)?;
    let mut place = OpenDirectory::open(data)?;
    if to == place.name {
        return Err(Failed::NotDone(format!(
            "{to} is this deployment itself; name the one that the tenant goes to (pasarela tenant id, there)"
        )));
    }
    let tenant = place.tenant(id)?;
    if let Some(other) = tenant.tenant_settings.moved_to.as_deref().filter(|other| **other != to) {
        return Err(Failed::NotDone(format!(
            "the tenant moves to {other} already; if it was never imported there, pasarela tenant reopen ends that"
        )));
    }
    let keys = Mode::ALL.map(|mode| tenant_key(tenant.number, mode));
    let (books, open) = derived(&place, keys, progress)?;
    if !open.is_empty() {
        return Err(named(&open));
    }
    place.log.books.books.extend(books.books);
    // From here on nothing is decided for the tenant here, whether or not there ever is a file.
    let (number, base) = (tenant.number, tenant.tenant_settings.version);
    let audit = signed("tenant.export", id, json!({ "movedTo": to.to_string() }).to_string());
    place.decide_platform(PlatformAsk::Move { number, base, to: Some(to) }, audit)?;
    let written =
        place.push(id).and_then(|tenant| written(&place, (card_key, key), &tenant, to, part, progress));
    written.map_err(|why| {
        Failed::NotDone(format!(
            "the tenant is closed here, and its file is not there: {why}; repeat the export, to another place \
             if need be, or open the tenant again with pasarela tenant reopen --not-imported"
        ))
    })
}

/// If the tenant was imported where it went, its money is in both.
pub fn reopen(data: &Path, id: Id) -> Result<Deployment, Failed> {
    let mut place = OpenDirectory::open(data)?;
    let tenant = place.tenant(id)?;
    let Some(to) = tenant.tenant_settings.moved_to.as_deref().copied() else {
        return Err(Failed::NotDone("the tenant is open here; there is nothing to reopen".to_owned()));
    };
    let keys = Mode::ALL.map(|mode| tenant_key(tenant.number, mode));
    let tip = place.log.tip.seq;
    let books = Books::after(&place.log.reader(), &keys, tip)?;
    place.log.books.books.extend(books.books);
    let (number, base) = (tenant.number, tenant.tenant_settings.version);
    let audit = signed("tenant.reopen", id, json!({ "movedTo": null }).to_string());
    place.decide_platform(PlatformAsk::Move { number, base, to: None }, audit)?;
    place.push(id)?;
    place.log.close()?;
    Ok(to)
}

/// From their first records, each proved on the way, with what is under way.
fn derived(place: &OpenDirectory, keys: [u64; 2], progress: Progress<'_>) -> Result<(Books, Open), Failed> {
    let (mut books, mut open, last) = (Books::default(), Open::new(), place.log.tip.seq);
    replay_records(&place.log.reader(), last, ("proof", progress), |stored| {
        if !keys.contains(&stored.tenant) {
            return Ok(());
        }
        let record = books.apply(&stored)?;
        if record.cause == Cause::TestReset {
            open.retain(|(key, _), _| *key != stored.tenant);
        }
        for written in &record.entities {
            match moves::open(&written.state) {
                Some(why) => open.insert((stored.tenant, written.state.id()), why),
                None => open.remove(&(stored.tenant, written.state.id())),
            };
        }
        for (gone, _) in &record.removed {
            open.remove(&(stored.tenant, *gone));
        }
        Ok(())
    })?;
    Ok((books, open))
}

fn named(open: &Open) -> Failed {
    let line = |((key, id), why): (&(u64, EntityId), &&'static str)| {
        let mode = if is_live(*key) { Mode::Live } else { Mode::Test };
        format!("{:?} {} ({}) {why}", id.kind, id.id, mode.name())
    };
    let lines: Vec<String> = open.iter().take(NAMED_MAX).map(line).collect();
    let more = match open.len() - lines.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Failed::NotDone(format!("the tenant has something under way and stays: {}{more}", lines.join("; ")))
}

/// Under another name until the file is whole and on the disk. What is not whole goes with it.
struct Part {
    file: PathBuf,
    path: PathBuf,
    opened: Option<File>,
}

impl Part {
    /// What an export left that was killed is replaced; a file of anybody else is not.
    fn open(file: &Path) -> Result<Part, Failed> {
        let path = file.with_added_extension("new");
        match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(at(&path)(error)),
            Ok(left) => {
                let mut begins = Vec::new();
                left.take(FORM.magic.len() as u64).read_to_end(&mut begins).map_err(at(&path))?;
                if !FORM.magic.starts_with(&begins) {
                    return Err(Failed::refused(&path, blocks::EXISTS));
                }
                fs::remove_file(&path).map_err(at(&path))?;
            }
        }
        let opened = Some(blocks::create(&path).map_err(at(&path))?);
        Ok(Part { file: file.to_owned(), path, opened })
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // One that has its own name is not there any more.
        let _ = fs::remove_file(&self.path);
    }
}

fn written(
    place: &OpenDirectory,
    (card_key, key): (Option<&Path>, FileKey),
    tenant: &Arc<Tenant>,
    to: Deployment,
    mut into: Part,
    progress: Progress<'_>,
) -> Result<Exported, Failed> {
    let part = into.path.clone();
    let opened = into.opened.take().ok_or_else(|| at(&part)(ErrorKind::NotFound.into()))?;
    let mut blocks = Blocks::begin(BufWriter::new(opened), FORM, key).map_err(at(&part))?;
    let [mark, card] = fingerprints(&place.data, card_key)?;
    let from = place.name.to_string();
    let head = json!({ "to": to.to_string(), "from": from, "markKey": mark, "cardKey": card });
    blocks.put(HEAD, 0, head.to_string().as_bytes()).map_err(at(&part))?;
    let of_tenant = place.platform().keys.of(tenant.number).cloned().collect();
    blocks.put(TENANT, 0, &tenant_block(Arc::clone(tenant), of_tenant)).map_err(at(&part))?;
    let keys = Mode::ALL.map(|mode| tenant_key(tenant.number, mode));
    let log = (&place.log.reader(), place.log.tip.seq);
    let is_meant = |stored: &wal::Record| keys.contains(&stored.tenant);
    let records = blocks.put_records((RECORDS, &part), log, is_meant, progress)?;
    let [live, test] = keys.map(|key| book_hash(&place.log.books, key));
    let end = json!({ "records": records, "live": live, "test": test });
    blocks.put(END, 0, end.to_string().as_bytes()).map_err(at(&part))?;
    let (digest, bytes) = blocks.finish().map_err(at(&part))?;
    fs::rename(&part, &into.file).map_err(at(&into.file))?;
    directory::sync_parent(&into.file)?;
    Ok(Exported { name: tenant.name.to_string(), records, bytes, digest })
}
