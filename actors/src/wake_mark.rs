//! Index entries for the tenants that have a deadline, so that a restart wakes their books.

use crate::machine::Machine;
use wal::IndexOps;

/// The host's own index keys; a machine's keys start with a tenant, which is smaller.
const HOST_PREFIX: u8 = 0xFF;

pub fn wake_key(tenant: u64) -> Vec<u8> {
    let mut key = vec![HOST_PREFIX, b'w'];
    key.extend_from_slice(&tenant.to_be_bytes());
    key
}

/// A book without a deadline has no mark.
pub(crate) fn mark<M: Machine>(machine: &M, tenant: u64, book: &M::Book, index: &mut IndexOps) {
    let key = wake_key(tenant);
    match machine.next_due(book, &|_| false) {
        Some(_) => index.put(&key, &[]),
        None => index.delete(&key),
    }
}
