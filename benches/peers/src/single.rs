//! Writes payouts one per transaction, over a pool of connections.

use crate::Outcome;
use crate::shape::Debit;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, Error, NoTls};

const DEBIT: &str = "UPDATE balance SET available = available - $2 WHERE tenant = $1 AND available >= $2";
const MOVE: &str = "INSERT INTO movement (id, tenant, minor, merchant, concept, external_ref) VALUES ($1, $2, $3, $4, $5, $6)";
const BOTH: &str = "WITH debited AS (UPDATE balance SET available = available - $3 WHERE tenant = $2 AND available >= $3 RETURNING tenant)
INSERT INTO movement (id, tenant, minor, merchant, concept, external_ref) SELECT $1, tenant, $3, $4, $5, $6 FROM debited";
const KNOWN: &str = "SELECT id FROM movement WHERE tenant = $1 AND external_ref = $2";

/// The pool, and whether a payout is one statement.
pub struct Single {
    pool: Pool,
    in_one_statement: bool,
}

impl Single {
    /// Opens connections as they are needed.
    pub fn new(database: Config, connections: usize, in_one_statement: bool) -> Result<Single, String> {
        let manager =
            Manager::from_config(database, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
        let pool = Pool::builder(manager).max_size(connections).build().map_err(|error| error.to_string())?;
        Ok(Single { pool, in_one_statement })
    }

    /// Writes a payout; returns when it is durable.
    pub async fn pay(&self, debit: &Debit) -> Result<Outcome, String> {
        let mut connection = self.pool.get().await.map_err(|error| error.to_string())?;
        let written = if self.in_one_statement {
            both(&connection, debit).await
        } else {
            transaction(&mut connection, debit).await
        };
        match written {
            Ok(true) => Ok(Outcome::Paid(debit.id)),
            Ok(false) => Ok(Outcome::TooLittle),
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                let known = connection.query_one(KNOWN, &[&debit.tenant, &debit.reference]).await;
                known.map(|row| Outcome::Known(row.get(0))).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Writes a payout in a transaction, as most write it; false if there was not enough money.
/// Dropping the transaction rolls it back.
async fn transaction(connection: &mut Object, debit: &Debit) -> Result<bool, Error> {
    let (update, insert) = (connection.prepare_cached(DEBIT).await?, connection.prepare_cached(MOVE).await?);
    let transaction = connection.transaction().await?;
    if transaction.execute(&update, &[&debit.tenant, &debit.minor]).await? == 0 {
        return Ok(false);
    }
    transaction
        .execute(
            &insert,
            &[&debit.id, &debit.tenant, &debit.minor, &debit.merchant, &debit.concept, &debit.reference],
        )
        .await?;
    transaction.commit().await?;
    Ok(true)
}

async fn both(connection: &Object, debit: &Debit) -> Result<bool, Error> {
    let statement = connection.prepare_cached(BOTH).await?;
    let written = connection
        .execute(
            &statement,
            &[&debit.id, &debit.tenant, &debit.minor, &debit.merchant, &debit.concept, &debit.reference],
        )
        .await?;
    Ok(written == 1)
}
