//! Copies of a node's partitions that belong together: the first one's, in which the others are, as in the node's own
//! directory. They are made one after the other, the first partition's last, as it knows of whatever the others have
//! followed. Until all are there the others lie beside it, and it is refused, because its marker says how many there are.

use super::books::Books;
use super::directory::{self, LOG_DIRECTORY};
use super::restored_copy::RestoredCopy;
use super::{Failed, at};
use crate::config::PARTITIONS_DIRECTORY;
use domain::machine::AnyBook;
use domain::platform::PlatformBook;
use domain::values::ids::PLATFORM;
use std::fs;
use std::path::{Path, PathBuf};
use wal::Reader;

/// Of a further partition's copy, until it is in the first one's.
pub fn beside(set: &Path, partition: u8) -> PathBuf {
    set.with_added_extension(format!("partition-{partition}"))
}

/// The place of a partition in a set. Of the first that is the set itself.
pub(super) fn inside(set: &Path, partition: usize) -> PathBuf {
    match partition {
        0 => set.to_owned(),
        further => set.join(PARTITIONS_DIRECTORY).join(further.to_string()),
    }
}

/// Brings the copies of the further partitions into that of the first one, which says how many there are.
pub fn complete(set: &Path) -> Result<(), Failed> {
    let copy = RestoredCopy::must_be_whole(set)?.ok_or_else(|| Failed::refused(set, "is no copy"))?;
    let own = set.join(PARTITIONS_DIRECTORY);
    fs::create_dir(&own).map_err(at(&own))?;
    for partition in 1..copy.partitions {
        let (from, to) = (beside(set, partition), inside(set, partition.into()));
        let whole = RestoredCopy::must_be_whole(&from)?;
        whole.ok_or_else(|| Failed::refused(&from, "is no copy"))?;
        fs::rename(&from, &to).map_err(at(&from))?;
    }
    directory::sync(&own)?;
    directory::sync(set)?;
    let agreed = must_agree(set, copy.partitions.into());
    if agreed.is_err() {
        RestoredCopy { tip: None, ..copy }.write(set)?;
    }
    agreed
}

/// The number of partitions in a directory: a copy's marker says it, and of any other one what is there. A copy that
/// lacks one is refused.
pub fn number_in(set: &Path) -> Result<usize, Failed> {
    let is_there = |partition: &usize| inside(set, *partition).is_dir();
    let there = (1..=usize::from(u8::MAX)).take_while(is_there).count() + 1;
    let said = usize::from(RestoredCopy::read(set)?.map_or(1, |past| past.partitions));
    if there < said {
        let missing = inside(set, there);
        return Err(Failed::refused(&missing, format!("the directory of partition {there} is missing")));
    }
    Ok(there)
}

/// The number of partitions in a set, each of which is whole and has a log.
pub(super) fn number_of_whole(set: &Path) -> Result<usize, Failed> {
    let number = number_in(set)?;
    for partition in 0..number {
        let of = inside(set, partition);
        RestoredCopy::must_be_whole(&of)?;
        directory::must_have_log(&of.join(LOG_DIRECTORY))?;
    }
    Ok(number)
}

/// Refuses copies of instants between which a tenant moved, or of which the first partition's is the older one: what
/// one has the other would never get.
pub fn must_agree(set: &Path, partitions: usize) -> Result<(), Failed> {
    if partitions == 1 {
        return Ok(());
    }
    let (first, end) = platform(set)?;
    if let Some(tenant) = first.tenants.values().find(|tenant| tenant.moving.is_some()) {
        let why = format!("the tenant {} was about to move: make it again", tenant.id);
        return Err(Failed::refused(set, why));
    }
    for partition in 1..partitions {
        let path = inside(set, partition);
        let (own, _) = platform(&path)?;
        if own.followed > end {
            let followed = own.followed;
            let why = format!(
                "it has followed partition 0 up to record {followed}, and that ends at {end} here: make it again"
            );
            return Err(Failed::refused(&path, why));
        }
        let moved = first.tenants.values().filter(|tenant| usize::from(tenant.partition) == partition);
        for tenant in moved.filter(|tenant| tenant.moves > 0) {
            let known = own.tenants.get(&tenant.number);
            if known.is_none_or(|known| known.moves != tenant.moves || known.partition != tenant.partition) {
                let why = format!("the tenant {} has moved meanwhile: make it again", tenant.id);
                return Err(Failed::refused(&path, why));
            }
        }
    }
    Ok(())
}

/// The platform's book of a copy, and where its log ends.
fn platform(data: &Path) -> Result<(PlatformBook, u64), Failed> {
    let reader = Reader::open_read_only(data.join(LOG_DIRECTORY))?;
    let end = reader.last_seq();
    let mut books = Books::after(&reader, &[PLATFORM], end)?;
    match books.books.remove(&PLATFORM) {
        Some(AnyBook::Platform(book)) => Ok((book, end)),
        _ => Ok((PlatformBook::default(), end)),
    }
}
