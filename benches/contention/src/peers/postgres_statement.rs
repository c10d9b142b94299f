//! The same in one statement, so that the balance is locked for one round trip less.

use super::postgres::{CONCEPT, MERCHANT, Way, answer};
use crate::loader::{Answer, Soon};
use crate::peer::About;
use deadpool_postgres::Pool;

const BOTH: &str = "
WITH debited AS (
  UPDATE balance SET available = available - $2 WHERE tenant = 1 AND available >= $2 RETURNING tenant)
INSERT INTO movement (id, tenant, minor, merchant, concept) SELECT $1, tenant, $2, $3, $4 FROM debited";
/// Whoever waited for the row adds to what it was before.
const FROM_A_SNAPSHOT: &str = "
WITH was AS MATERIALIZED (SELECT available FROM balance WHERE tenant = 1),
debited AS (
  UPDATE balance SET available = (SELECT available FROM was) - $2
  WHERE tenant = 1 AND (SELECT available FROM was) >= $2 RETURNING tenant)
INSERT INTO movement (id, tenant, minor, merchant, concept) SELECT $1, tenant, $2, $3, $4 FROM debited";

/// Debits in one statement.
pub struct Statement {
    /// Whether the new balance is computed from the statement's snapshot.
    pub plant: bool,
}

impl Way for Statement {
    fn about(&self) -> About {
        About {
            title: "PostgreSQL, a statement each",
            per_call: 1,
            how: "one statement: a conditional UPDATE of the balance and the INSERT of what it returns",
            reached: "a pool of connections over its unix socket",
            durable: "fsync, full_page_writes, synchronous_commit on; wal_sync_method fdatasync",
            besides: [
                "refused by the movement's key",
                "none",
                "by SQL, once indexed",
                "by adding movements up",
            ],
            plant: "the new balance is computed from a subselect, which is of the statement's snapshot",
        }
    }

    fn debit<'a>(&'a self, pool: &'a Pool, id: i64, minor: i64) -> Soon<'a, Result<Answer, String>> {
        Box::pin(async move {
            let connection = pool.get().await.map_err(|error| error.to_string())?;
            let sql = if self.plant { FROM_A_SNAPSHOT } else { BOTH };
            let statement = connection.prepare_cached(sql).await.map_err(|error| error.to_string())?;
            let written = connection.execute(&statement, &[&id, &minor, &MERCHANT, &CONCEPT]).await;
            answer(written.map(|rows| rows == 1))
        })
    }
}
