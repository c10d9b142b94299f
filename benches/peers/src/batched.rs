//! The batched writer: a task drains the waiting payouts and writes them in one statement, which is
//! one round trip, one commit and one sync; then all are answered. A tenant's payouts all go to the
//! same task, so that no two transactions wait for one balance.
//!
//! What is rare is slow: a batch that did not go through as a whole (too little money, a reference
//! that is known or twice in it) is gone through one by one.

use crate::Outcome;
use crate::schema::connect;
use crate::shape::Debit;
use std::collections::HashSet;
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, Statement};

/// The most payouts in a batch.
const BATCH_MAX: usize = 2_000;

/// Writes a whole batch; returns how many references were new. The balance's CHECK refuses the
/// whole when there is too little.
const WRITE: &str = "
WITH moved AS (
  INSERT INTO movement (id, tenant, minor, merchant, concept, external_ref)
  SELECT * FROM unnest($1::int8[], $2::int4[], $3::int8[], $4::text[], $5::text[], $6::text[])
  ON CONFLICT (tenant, external_ref) DO NOTHING RETURNING tenant, minor),
debited AS (
  UPDATE balance SET available = available - due.minor
  FROM (SELECT tenant, sum(minor)::int8 AS minor FROM moved GROUP BY tenant) AS due WHERE balance.tenant = due.tenant)
SELECT count(*) FROM moved";
const KNOWN: &str = "SELECT id FROM movement WHERE tenant = $1 AND external_ref = $2";

struct Waiting {
    debit: Debit,
    told: oneshot::Sender<Result<Outcome, String>>,
}

/// The tasks.
pub struct Batches {
    tasks: Vec<mpsc::UnboundedSender<Waiting>>,
}

impl Batches {
    /// Starts so many tasks, each with a connection of its own.
    pub async fn start(database: &Config, tasks: usize) -> Result<Batches, String> {
        let mut started = Vec::new();
        for _ in 0..tasks.max(1) {
            let client = connect(database).await?;
            let write = client.prepare(WRITE).await.map_err(|error| error.to_string())?;
            let (give, take) = mpsc::unbounded_channel();
            tokio::spawn(drain(client, write, take));
            started.push(give);
        }
        Ok(Batches { tasks: started })
    }

    /// Writes a payout together with those that wait beside it; returns when it is durable.
    pub async fn pay(&self, debit: Debit) -> Result<Outcome, String> {
        let (told, answer) = oneshot::channel();
        let nth = usize::try_from(debit.tenant).unwrap_or(0) % self.tasks.len();
        self.tasks[nth].send(Waiting { debit, told }).map_err(|_| "the writer is gone")?;
        answer.await.map_err(|_| "the writer is gone".to_owned())?
    }
}

async fn drain(client: Client, write: Statement, mut take: mpsc::UnboundedReceiver<Waiting>) {
    let mut waiting = Vec::with_capacity(BATCH_MAX);
    while take.recv_many(&mut waiting, BATCH_MAX).await > 0 {
        let debits: Vec<&Debit> = waiting.iter().map(|waiting| &waiting.debit).collect();
        if let Ok(true) = whole(&client, &write, &debits).await {
            for Waiting { debit, told } in waiting.drain(..) {
                // A caller that does not wait any more does not need to know.
                let _ = told.send(Ok(Outcome::Paid(debit.id)));
            }
            continue;
        }
        for Waiting { debit, told } in waiting.drain(..) {
            let _ = told.send(alone(&client, &write, &debit).await.map_err(|error| error.to_string()));
        }
    }
}

/// Writes the debits in one transaction; true if every one of them was written. If not, `alone`
/// finds out about each.
async fn whole(client: &Client, write: &Statement, debits: &[&Debit]) -> Result<bool, Error> {
    let references: HashSet<(i32, &str)> =
        debits.iter().map(|debit| (debit.tenant, debit.reference.as_str())).collect();
    if references.len() < debits.len() {
        return Ok(false);
    }
    // A single statement is its own transaction, committed and synced when its answer is here. It
    // leaves known references out, and their debits with them: `alone` finds another id under
    // those.
    Ok(execute(client, write, debits).await? == debits.len())
}

async fn alone(client: &Client, write: &Statement, debit: &Debit) -> Result<Outcome, Error> {
    if let Some(known) = client.query_opt(KNOWN, &[&debit.tenant, &debit.reference]).await? {
        let id: i64 = known.get(0);
        return Ok(if id == debit.id { Outcome::Paid(id) } else { Outcome::Known(id) });
    }
    match execute(client, write, &[debit]).await {
        Ok(_) => Ok(Outcome::Paid(debit.id)),
        Err(error) if error.code() == Some(&SqlState::CHECK_VIOLATION) => Ok(Outcome::TooLittle),
        Err(error) => Err(error),
    }
}

/// Writes debits in one statement, and returns how many were written.
async fn execute(client: &Client, write: &Statement, debits: &[&Debit]) -> Result<usize, Error> {
    let ids: Vec<i64> = debits.iter().map(|debit| debit.id).collect();
    let tenants: Vec<i32> = debits.iter().map(|debit| debit.tenant).collect();
    let minors: Vec<i64> = debits.iter().map(|debit| debit.minor).collect();
    let text = |of: fn(&Debit) -> &str| debits.iter().map(|debit| of(debit)).collect::<Vec<&str>>();
    let (merchants, concepts, references) =
        (text(|debit| &debit.merchant), text(|debit| &debit.concept), text(|debit| &debit.reference));
    let written =
        client.query_one(write, &[&ids, &tenants, &minors, &merchants, &concepts, &references]).await?;
    Ok(usize::try_from(written.get::<_, i64>(0)).unwrap_or(0))
}
