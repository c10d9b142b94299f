//! The tables, the tenants in them, and how the database is reached.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, Config, NoTls};

/// Tenants, each with a balance and a key.
const TENANTS: i32 = 1_000;

/// The tenant of each key.
pub type Keys = HashMap<String, i32>;

/// A balance has room for its next versions in its page, so that an update touches no index. The
/// movement's reference is unique per tenant: that is the idempotency.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS balance (tenant int PRIMARY KEY, api_key text NOT NULL UNIQUE, available bigint NOT NULL CHECK (available >= 0)) WITH (fillfactor = 20);
CREATE TABLE IF NOT EXISTS movement (
  id bigint PRIMARY KEY, tenant int NOT NULL, minor bigint NOT NULL, merchant text NOT NULL, concept text NOT NULL, external_ref text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(), UNIQUE (tenant, external_ref));
INSERT INTO balance SELECT n, 'pk_test_bench' || lpad(n::text, 8, '0'), 90000000000000 FROM generate_series(1, $TENANTS) n ON CONFLICT DO NOTHING;";

/// The lock under which one peer at a time prepares the database.
const LOCK: i64 = 4_711;

/// The configuration of a connection to the database.
pub fn database(socket: &Path, commit_delay_us: u32) -> Config {
    let mut config = Config::new();
    // Group commit in PostgreSQL: a transaction that commits alone does not wait.
    config.host_path(socket).user("postgres").dbname("postgres").options(format!(
        "-c commit_delay={commit_delay_us} -c commit_siblings=4 -c plan_cache_mode=force_generic_plan"
    ));
    config
}

/// A new connection, which is not from a pool.
pub async fn connect(config: &Config) -> Result<Client, String> {
    let (client, connection) =
        config.connect(NoTls).await.map_err(|error| format!("the database: {error}"))?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            eprintln!("peers: the database: {error}");
        }
    });
    Ok(client)
}

/// Waits until the database answers, makes what is missing, and returns the keys.
pub async fn prepare(config: &Config, patience: Duration) -> Result<Keys, String> {
    let began = Instant::now();
    let client = loop {
        match connect(config).await {
            Ok(client) => break client,
            Err(why) if began.elapsed() > patience => return Err(why),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let fail = |error: tokio_postgres::Error| format!("the tables: {error}");
    client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await.map_err(fail)?;
    client.batch_execute(&TABLES.replace("$TENANTS", &TENANTS.to_string())).await.map_err(fail)?;
    let rows = client.query("SELECT api_key, tenant FROM balance", &[]).await.map_err(fail)?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}
