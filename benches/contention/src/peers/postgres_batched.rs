//! A task drains the waiting debits and writes them in one statement, which is one round trip, one
//! commit and one sync; then all are answered: as a careful service does it.
//!
//! What is rare is slow: a batch that did not go through as a whole (too little money, an id that is
//! known) is gone through one by one.

use super::postgres::{CONCEPT, MERCHANT, Way, answer, connect};
use crate::Outcome;
use crate::loader::{Answer, Soon};
use crate::peer::About;
use deadpool_postgres::Pool;
use std::sync::{Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::{Client, Config, Error, Statement};

/// The most debits in a batch.
const BATCH_MAX: usize = 2_000;

/// Writes a whole batch; returns how many ids were new. The balance's CHECK refuses the whole when
/// there is too little.
const WRITE: &str = "
WITH moved AS (
  INSERT INTO movement (id, tenant, minor, merchant, concept)
  SELECT id, 1, minor, $3, $4 FROM unnest($1::int8[], $2::int8[]) AS debit (id, minor)
  ON CONFLICT (id) DO NOTHING RETURNING minor),
debited AS (
  UPDATE balance SET available = $AVAILABLE - due.minor
  FROM (SELECT sum(minor)::int8 AS minor FROM moved HAVING count(*) > 0) AS due WHERE balance.tenant = 1)
SELECT count(*) FROM moved";

struct Waiting {
    id: i64,
    minor: i64,
    told: oneshot::Sender<Answer>,
}

/// Debits in batches.
pub struct Batched {
    plant: bool,
    task: Mutex<mpsc::UnboundedSender<Waiting>>,
}

impl Batched {
    /// With the fault there are two tasks, and each computes the balance from its statement's
    /// snapshot.
    pub fn new(plant: bool) -> Batched {
        Batched { plant, task: Mutex::new(mpsc::unbounded_channel().0) }
    }
}

impl Way for Batched {
    fn about(&self) -> About {
        About {
            title: "PostgreSQL, batched by a careful service",
            per_call: 1,
            how: "a task drains what waits (at most 2,000) and commits it in one statement",
            reached: "the service's own task, in process; one connection over the unix socket",
            durable: "fsync, full_page_writes, synchronous_commit on; wal_sync_method fdatasync",
            besides: [
                "refused by the movement's key",
                "none",
                "by SQL, once indexed",
                "by adding movements up",
            ],
            plant: "two tasks, and the new balance is of the statement's snapshot",
        }
    }

    fn is_pooled(&self) -> bool {
        false
    }

    fn started<'a>(&'a self, database: &'a Config) -> Soon<'a, Outcome<()>> {
        Box::pin(async move {
            let (give, take) = mpsc::unbounded_channel();
            let take = std::sync::Arc::new(tokio::sync::Mutex::new(take));
            let available = match self.plant {
                true => "(SELECT available FROM balance WHERE tenant = 1)",
                false => "available",
            };
            for _ in 0..=usize::from(self.plant) {
                let client = connect(database).await?;
                let write = client.prepare(&WRITE.replace("$AVAILABLE", available)).await;
                let write = write.map_err(|error| error.to_string())?;
                tokio::spawn(drain(client, write, std::sync::Arc::clone(&take)));
            }
            *self.task.lock().unwrap_or_else(PoisonError::into_inner) = give;
            Ok(())
        })
    }

    fn debit<'a>(&'a self, _pool: &'a Pool, id: i64, minor: i64) -> Soon<'a, Result<Answer, String>> {
        Box::pin(async move {
            let (told, answer) = oneshot::channel();
            let sent =
                self.task.lock().unwrap_or_else(PoisonError::into_inner).send(Waiting { id, minor, told });
            sent.map_err(|_| "the task is gone")?;
            answer.await.map_err(|_| "the task is gone".to_owned())
        })
    }
}

async fn drain(
    client: Client,
    write: Statement,
    take: std::sync::Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Waiting>>>,
) {
    let mut waiting = Vec::with_capacity(BATCH_MAX);
    while !client.is_closed() && take.lock().await.recv_many(&mut waiting, BATCH_MAX).await > 0 {
        let debits: Vec<(i64, i64)> = waiting.iter().map(|waiting| (waiting.id, waiting.minor)).collect();
        // A single statement is its own transaction, committed and synced when its answer is here. It
        // leaves known ids out, and their debits with them: those are gone through one by one.
        let is_whole = execute(&client, &write, &debits).await.is_ok_and(|written| written == debits.len());
        for Waiting { id, minor, told } in waiting.drain(..) {
            let answered = match is_whole {
                true => Ok(Answer::Done),
                false => answer(execute(&client, &write, &[(id, minor)]).await.map(|_| true)),
            };
            // A caller that does not wait any more does not need to know.
            let _ = told.send(answered.unwrap_or(Answer::Unknown));
        }
    }
}

/// Writes debits in one statement, and returns how many were written.
async fn execute(client: &Client, write: &Statement, debits: &[(i64, i64)]) -> Result<usize, Error> {
    let (ids, minors): (Vec<i64>, Vec<i64>) = debits.iter().copied().unzip();
    let written = client.query_one(write, &[&ids, &minors, &MERCHANT, &CONCEPT]).await?;
    Ok(usize::try_from(written.get::<_, i64>(0)).unwrap_or(0))
}
