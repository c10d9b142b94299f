//! The schedule of a machine: the clocks of tenants, and their deadlines.

use super::rules::Rules;

/// Before any record, in milliseconds since 1970.
pub const LONG_AGO_MS: i64 = i64::MIN / 4;

/// The clocks of tenants, and the deadlines that derive from their books.
pub trait Schedule: Rules {
    /// Never less than the time of the tenant's last record.
    fn now_ms(&self, book: &Self::Book, wall_ms: i64) -> i64;

    /// When the tenant's clock will say `tenant_ms`.
    fn wall_ms(&self, book: &Self::Book, tenant_ms: i64) -> i64;

    /// Whether a clock may be moved to this instant.
    fn may_reach(&self, _now_ms: i64) -> Result<(), Self::Refusal> {
        Ok(())
    }

    /// Of the book and its entity, without entities for which `skip` is true.
    fn next_due(
        &self,
        book: &Self::Book,
        skip: &dyn Fn(Self::EntityId) -> bool,
    ) -> Option<(i64, Self::EntityId)>;

    fn deadline(&self, id: Self::EntityId) -> Self::Command;
}
