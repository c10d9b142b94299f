//! The file with a tenant that moves: its history in the log's own bytes.
//!
//! # Format, version 1
//!
//! A file of blocks (`recovery/blocks.rs`) with the first bytes "PASARTEN":
//!
//! Each block is proved under the key of both deployments, so that nobody on the way writes a key of theirs
//! into the tenant.
//!
//! ```text
//! body   HEAD     JSON: to and from (deployments), markKey and cardKey (fingerprints)
//!        TENANT   the payload of a record that opens the tenant with its keys, as it was when it
//!                 was closed
//!        RECORDS  the records of its two books, one after the other, in the log's own bytes; the
//!                 last of each closes it
//!        END      JSON: records (their number), live and test (hashes of the books that they
//!                 lead to)
//! ```
//!
//! The stored format of what is in the records is that of the log (`docs/formats.md`).

use super::super::Failed;
use super::super::blocks::Form;
use domain::cause::Cause;
use domain::codec;
use domain::platform::{ApiKey, PlatformChange, Tenant};
use domain::record::Record;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

pub const FORM: Form = Form { magic: b"PASARTEN", version: 1 };

pub const HEAD: u8 = 1;
pub const TENANT: u8 = 2;
pub const RECORDS: u8 = 3;
pub const END: u8 = 4;

pub fn tenant_block(tenant: Arc<Tenant>, keys: Vec<Arc<ApiKey>>) -> Vec<u8> {
    codec::encode(&Record {
        platform: Some(Box::new(PlatformChange::Opened { tenant, keys })),
        ..Record::new(Cause::PlatformChanged)
    })
}

pub fn tenant_in(block: &[u8]) -> Option<(Arc<Tenant>, Vec<Arc<ApiKey>>)> {
    match codec::decode::<Record>(block).ok()?.platform.map(|change| *change) {
        Some(PlatformChange::Opened { tenant, keys }) => Some((tenant, keys)),
        _ => None,
    }
}

pub fn member<'v>(block: &'v Value, name: &str, file: &Path) -> Result<&'v str, Failed> {
    block[name].as_str().ok_or_else(|| unsound(file, &format!("{name} is missing")))
}

/// Parts of the file do not fit each other.
pub fn unsound(file: &Path, what: &str) -> Failed {
    Failed::refused(file, format!("{what}; nothing was done"))
}
