//! What etcd itself can do: each writer has a log of its own, and adds a batch to it after the other, as the leader of a
//! partition does: the epoch and the tip are compared, the batch and the new tip are put.

use crate::Outcome;
use crate::load::{histogram, microseconds};
use crate::table::per_second;
use clap::Args;
use etcd_client::{Client, Compare, CompareOp, DeleteOptions, Txn, TxnOp};
use hdrhistogram::Histogram;
use std::time::{Duration, Instant};

/// Where nothing of a cluster is.
const PREFIX: &str = "/pasarela-bench/";
/// Batches of a log that are kept, as pruning keeps some.
const KEPT: u64 = 64;

/// The batches that etcd agrees on, by the number of logs
#[derive(Args, Clone, Debug)]
pub struct Etcd {
    /// Its members
    #[arg(long, value_delimiter = ',', required = true, value_name = "URL,…")]
    endpoints: Vec<String>,
    /// Logs at the same time
    #[arg(long, value_delimiter = ',', default_values_t = [1, 3, 6, 16, 64])]
    logs: Vec<usize>,
    /// Bytes of a batch
    #[arg(long, default_value_t = 4_000)]
    bytes: usize,
    /// Seconds for each number of logs
    #[arg(long, default_value_t = 3)]
    seconds: u64,
}

impl Etcd {
    /// Measures, and prints a line for each number of logs.
    pub fn run(self) -> Outcome<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        runtime.block_on(async {
            for logs in self.logs.iter().copied().filter(|logs| *logs > 0) {
                let latency = self.measured(logs).await?;
                println!(
                    "logs={logs} batches/s={} p50_us={} p99_us={}",
                    per_second(latency.len(), self.time()),
                    latency.value_at_quantile(0.5),
                    latency.value_at_quantile(0.99)
                );
            }
            Ok(())
        })
    }

    fn time(&self) -> Duration {
        Duration::from_secs(self.seconds.max(1))
    }

    async fn measured(&self, logs: usize) -> Outcome<Histogram<u64>> {
        let end = Instant::now() + self.time();
        let mut writers = Vec::new();
        for log in 0..logs {
            let (endpoint, bytes) = (self.endpoints[log % self.endpoints.len()].clone(), self.bytes);
            writers.push(tokio::spawn(written(endpoint, log, bytes, end)));
        }
        let mut all = histogram();
        for writer in writers {
            let latency = writer.await.map_err(|error| error.to_string())?;
            all.add(latency.map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
        }
        Ok(all)
    }
}

async fn written(
    endpoint: String,
    log: usize,
    bytes: usize,
    end: Instant,
) -> Result<Histogram<u64>, etcd_client::Error> {
    let mut client = Client::connect([endpoint], None).await?;
    let key = |name: &str| format!("{PREFIX}{log}/{name}");
    let (epoch, tip, batch) = (key("epoch"), key("tip"), vec![7; bytes]);
    client.put(epoch.as_str(), "1", None).await?;
    client.put(tip.as_str(), "0", None).await?;
    let mut latency = histogram();
    for number in 0_u64.. {
        let began = Instant::now();
        if began >= end {
            break;
        }
        let txn = Txn::new()
            .when([
                Compare::value(epoch.as_str(), CompareOp::Equal, "1"),
                Compare::value(tip.as_str(), CompareOp::Equal, number.to_string()),
            ])
            .and_then([
                TxnOp::put(key(&format!("batch/{}", number % KEPT)), batch.clone(), None),
                TxnOp::put(tip.as_str(), (number + 1).to_string(), None),
            ]);
        if !client.txn(txn).await?.succeeded() {
            return Err(etcd_client::Error::InvalidArgs(format!("log {log} was written by somebody else")));
        }
        latency.saturating_record(microseconds(began.elapsed()));
    }
    client.delete(key(""), Some(DeleteOptions::new().with_prefix())).await?;
    Ok(latency)
}
