//! The one admission: whatever is asked of the server, by a key, a page, a buyer, an operator or a bank,
//! passes here before any work is put into it: refusing must cost next to nothing, or there is nothing
//! left for those who are not refused.
//!
//! Shares, rates, Idempotency-Keys and the audit are steps of the pipeline (`pipeline.rs`), which every
//! surface takes, and a page acts by nothing but calls of an API.

use crate::cluster::Cluster;
use crate::gateway::ask::failure;
use crate::gateway::services::Services;
use api::problem::Problem;
use domain::platform::PLATFORM;

impl Services {
    /// Admits a call that only reads. Reads of a halted book are refused too: a list that is right beside a
    /// balance that cannot be shown would be taken for all there is.
    pub fn admit_read(&self, tenant: Option<u64>) -> Result<(), Problem> {
        match tenant.is_some_and(|tenant| self.engine.is_halted(tenant)) {
            true => Err(Problem::account_halted()),
            false => Ok(()),
        }
    }

    /// Admits what is asked of a tenant in a mode, or without one of the platform, and writes.
    pub fn admit(&self, tenant: Option<u64>) -> Result<(), Problem> {
        self.admit_read(tenant)?;
        if let Some(refused) = tenant.and_then(|tenant| self.engine.refuses(tenant)) {
            return Err(failure(refused));
        }
        if !self.site.disk.has_room(tenant.unwrap_or(PLATFORM)) {
            return Err(Problem::disk_nearly_full());
        }
        if self.cluster.as_ref().is_some_and(Cluster::is_window_full) {
            return Err(Problem::window_full());
        }
        tenant.map_or(Ok(()), |tenant| self.may_decide(tenant))
    }
}
