//! The schedule of a machine: the clocks of tenants, and their deadlines.

use super::rules::Rules;

/// The clocks of tenants, and the deadlines that derive from their books.
pub trait Schedule: Rules {
    /// The tenant's clock when the machine's clock says `wall_ms`; never less than the time of the
    /// tenant's last record.
    fn now_ms(&self, book: &Self::Book, wall_ms: i64) -> i64;

    /// The wall time at which the tenant's clock will say `tenant_ms`.
    fn wall_ms(&self, book: &Self::Book, tenant_ms: i64) -> i64;

    /// Checks whether a clock may be moved to this instant; the refusal says why not.
    fn may_reach(&self, _now_ms: i64) -> Result<(), Self::Refusal> {
        Ok(())
    }

    /// The earliest deadline of the book and its entity, skipping entities for which `skip` is
    /// true.
    fn next_due(
        &self,
        book: &Self::Book,
        skip: &dyn Fn(Self::EntityId) -> bool,
    ) -> Option<(i64, Self::EntityId)>;

    /// The command for an entity whose deadline has come.
    fn deadline(&self, id: Self::EntityId) -> Self::Command;
}
