//! A transaction with an UPDATE of the balance and an INSERT of the movement, as most write it.

use super::postgres::{CONCEPT, MERCHANT, Way, answer};
use crate::loader::{Answer, Soon};
use crate::peer::About;
use deadpool_postgres::{Object, Pool};
use tokio_postgres::Error;

const DEBIT: &str = "UPDATE balance SET available = available - $1 WHERE tenant = 1 AND available >= $1";
const MOVE: &str = "INSERT INTO movement (id, tenant, minor, merchant, concept) VALUES ($1, 1, $2, $3, $4)";
const READ: &str = "SELECT available FROM balance WHERE tenant = 1";
const SET: &str = "UPDATE balance SET available = $1 WHERE tenant = 1";

/// Debits in a transaction.
pub struct Transaction {
    /// Whether the balance is read and written back, without a lock in between.
    pub plant: bool,
}

impl Way for Transaction {
    fn about(&self) -> About {
        About {
            title: "PostgreSQL, a transaction each",
            per_call: 1,
            how: "BEGIN; a conditional UPDATE of the balance; an INSERT of the movement; COMMIT",
            reached: "a pool of connections over its unix socket",
            durable: "fsync, full_page_writes, synchronous_commit on; wal_sync_method fdatasync",
            besides: [
                "refused by the movement's key",
                "none",
                "by SQL, once indexed",
                "by adding movements up",
            ],
            plant: "the balance is read, then written back (READ COMMITTED, no lock)",
        }
    }

    fn debit<'a>(&'a self, pool: &'a Pool, id: i64, minor: i64) -> Soon<'a, Result<Answer, String>> {
        Box::pin(async move {
            let mut connection = pool.get().await.map_err(|error| error.to_string())?;
            answer(debit(&mut connection, id, minor, self.plant).await)
        })
    }
}

/// Whether there was money enough. Dropping the transaction rolls it back.
async fn debit(connection: &mut Object, id: i64, minor: i64, plant: bool) -> Result<bool, Error> {
    let statement = connection.prepare_cached(MOVE).await?;
    let (update, read, set) = (
        connection.prepare_cached(DEBIT).await?,
        connection.prepare_cached(READ).await?,
        connection.prepare_cached(SET).await?,
    );
    let transaction = connection.transaction().await?;
    if plant {
        let left = transaction.query_one(&read, &[]).await?.get::<_, i64>(0) - minor;
        if left < 0 {
            return Ok(false);
        }
        transaction.execute(&set, &[&left]).await?;
    } else if transaction.execute(&update, &[&minor]).await? == 0 {
        return Ok(false);
    }
    transaction.execute(&statement, &[&id, &minor, &MERCHANT, &CONCEPT]).await?;
    transaction.commit().await?;
    Ok(true)
}
