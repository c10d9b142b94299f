//! The quorum kept by etcd. One of the configured endpoints is asked at a time; one that does not
//! answer within a second is left for the next. Calls wait on the caller's thread, which must not
//! be one of the server's own: a runtime of its own keeps signs of life apart from the load of
//! requests.

use crate::config;
use etcd_client::{
    Certificate, Client, CompactionOptions, Compare as EtcdCompare, CompareOp, ConnectOptions, DeleteOptions,
    Error, GetOptions, Identity, KvClient, TlsOptions, Txn, TxnOp, TxnOpResponse, TxnResponse,
};
use std::error::Error as _;
use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use wal::cluster::{Change, Compare, Pair, Quorum, Read, Transaction, TransactionOutcome, Unanswered};

const SILENCE: Duration = Duration::from_secs(1);
/// A failure without any answer counts as later by this.
const SILENT_MS: u64 = 1_000;
/// Some batches of a megabyte.
const ANSWER_BYTES_MAX: usize = 64 << 20;

#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}")]
pub struct EtcdError {
    what: &'static str,
    source: io::Error,
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> EtcdError {
    move |source| EtcdError { what, source }
}

pub struct Etcd {
    runtime: Option<Runtime>,
    endpoints: Vec<String>,
    options: ConnectOptions,
    clients: Vec<Mutex<Option<KvClient>>>,
    current: AtomicUsize,
    /// In milliseconds since `began`: the endpoint that failed longest ago is asked next. One that
    /// did not answer at all counts as if it had failed later: while etcd looks for a leader of its
    /// own, the others refuse at once, and would lead back to it.
    failed: Vec<AtomicU64>,
    began: Instant,
    revision: AtomicI64,
}

impl Etcd {
    pub fn new(config: &config::Cluster) -> Result<Etcd, EtcdError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("etcd")
            .enable_all()
            .build()
            .map_err(failed("the threads that speak to etcd did not start"))?;
        Ok(Etcd {
            runtime: Some(runtime),
            options: options(config)?,
            clients: config.etcd.iter().map(|_| Mutex::default()).collect(),
            endpoints: config.etcd.clone(),
            current: AtomicUsize::new(0),
            failed: config.etcd.iter().map(|_| AtomicU64::new(0)).collect(),
            began: Instant::now(),
            revision: AtomicI64::new(0),
        })
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        match &self.runtime {
            Some(runtime) => runtime.block_on(future),
            None => unreachable!("the runtime goes with this"),
        }
    }

    /// Without an answer in time the next endpoint is current.
    fn ask(&self, txn: Txn) -> Result<TxnResponse, Unanswered> {
        let at = self.current.load(Ordering::Relaxed) % self.endpoints.len();
        let asked = self.block_on(async {
            tokio::time::timeout(SILENCE, async { self.client(at).await?.txn(txn).await }).await
        });
        let why = match asked {
            Ok(Ok(answer)) => {
                if let Some(header) = answer.header() {
                    self.revision.fetch_max(header.revision(), Ordering::Relaxed);
                }
                return Ok(answer);
            }
            Ok(Err(error)) => {
                self.note_failure(at, if is_answer(&error) { 0 } else { SILENT_MS });
                error.to_string()
            }
            Err(_) => {
                self.note_failure(at, SILENT_MS);
                "no answer within a second".to_owned()
            }
        };
        let next = self.next();
        let _ = self.current.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed);
        *self.clients[at].lock().unwrap_or_else(PoisonError::into_inner) = None;
        Err(Unanswered { why: format!("{}: {why}", self.endpoints[at]) })
    }

    fn next(&self) -> usize {
        let failed = self.failed.iter().map(|failed| failed.load(Ordering::Relaxed)).enumerate();
        failed.min_by_key(|(_, failed)| *failed).map_or(0, |(at, _)| at)
    }

    fn note_failure(&self, at: usize, later_ms: u64) {
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX - SILENT_MS);
        self.failed[at].store(now_ms + later_ms, Ordering::Relaxed);
    }

    async fn client(&self, at: usize) -> Result<KvClient, Error> {
        let known = self.clients[at].lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(client) = known {
            return Ok(client);
        }
        let client = Client::connect([&self.endpoints[at]], Some(self.options.clone())).await?;
        let client = client.kv_client().max_decoding_message_size(ANSWER_BYTES_MAX);
        *self.clients[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(client.clone());
        Ok(client)
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background(); // it may be dropped where waiting is not allowed
        }
    }
}

impl Quorum for Etcd {
    fn transact(&self, transaction: &Transaction) -> Result<TransactionOutcome, Unanswered> {
        let compare = |compare: &Compare| match compare {
            Compare::Is(key, value) => EtcdCompare::value(key.clone(), CompareOp::Equal, value.clone()),
            Compare::Absent(key) => EtcdCompare::version(key.clone(), CompareOp::Equal, 0),
        };
        let txn = Txn::new()
            .when(transaction.compare.iter().map(compare).collect::<Vec<_>>())
            .and_then(transaction.then.iter().map(change).collect::<Vec<_>>())
            .or_else(transaction.otherwise.iter().map(read).collect::<Vec<_>>());
        let answer = self.ask(txn)?;
        Ok(if answer.succeeded() {
            TransactionOutcome::Done
        } else {
            TransactionOutcome::Refused(pairs(&answer))
        })
    }

    fn read(&self, reads: &[Read]) -> Result<Vec<Vec<Pair>>, Unanswered> {
        // A transaction of reads alone is answered by the majority's newest state.
        self.ask(Txn::new().and_then(reads.iter().map(read).collect::<Vec<_>>())).map(|answer| pairs(&answer))
    }

    fn compact(&self) {
        let at = self.current.load(Ordering::Relaxed) % self.endpoints.len();
        let revision = self.revision.load(Ordering::Relaxed);
        let compacted = self.block_on(async {
            let compact = async {
                self.client(at).await?.compact(revision, None::<CompactionOptions>).await.map(|_| ())
            };
            tokio::time::timeout(SILENCE, compact).await
        });
        // Another leader may have compacted further; what is left is taken the next time.
        if let Ok(Err(error)) = compacted {
            tracing::debug!(%error, revision, "etcd was not compacted");
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn rest(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// As that etcd has no leader at the moment.
fn is_answer(error: &Error) -> bool {
    matches!(error, Error::GRpcStatus(status) if status.source().is_none())
}

fn change(change: &Change) -> TxnOp {
    match change {
        Change::Put(key, value) => TxnOp::put(key.clone(), value.clone(), None),
        Change::Delete(key) => TxnOp::delete(key.clone(), None),
        Change::DeleteRange(from, to) => {
            TxnOp::delete(from.clone(), Some(DeleteOptions::new().with_range(to.clone())))
        }
    }
}

fn read(read: &Read) -> TxnOp {
    match read {
        Read::Key(key) => TxnOp::get(key.clone(), None),
        Read::Range { from, to, limit, keys_only } => {
            // In the order of keys anyway; to ask for it would make etcd read the whole range.
            let limit = i64::try_from(*limit).unwrap_or(i64::MAX);
            let mut options = GetOptions::new().with_range(to.clone()).with_limit(limit);
            if *keys_only {
                options = options.with_keys_only();
            }
            TxnOp::get(from.clone(), Some(options))
        }
    }
}

fn pairs(answer: &TxnResponse) -> Vec<Vec<Pair>> {
    let one = |response: TxnOpResponse| match response {
        TxnOpResponse::Get(mut get) => {
            get.take_kvs().into_iter().map(etcd_client::KeyValue::into_key_value).collect()
        }
        TxnOpResponse::Put(_) | TxnOpResponse::Delete(_) | TxnOpResponse::Txn(_) => Vec::new(),
    };
    answer.op_responses().into_iter().map(one).collect()
}

fn options(config: &config::Cluster) -> Result<ConnectOptions, EtcdError> {
    let read = |key, file: &Option<std::path::PathBuf>| {
        file.as_ref().map(std::fs::read).transpose().map_err(failed(key))
    };
    let mut options =
        ConnectOptions::new().with_connect_timeout(SILENCE).with_timeout(SILENCE).with_require_leader(true);
    let password = config.password().map_err(failed("cluster.password_file"))?;
    if let (Some(user), Some(password)) = (&config.username, password) {
        options = options.with_user(user, password.expose());
    }
    if config.etcd.iter().any(|endpoint| endpoint.starts_with("https://")) {
        let mut tls = TlsOptions::new();
        if let Some(ca) = read("cluster.ca_file", &config.ca_file)? {
            tls = tls.ca_certificate(Certificate::from_pem(ca));
        }
        let identity =
            (read("cluster.cert_file", &config.cert_file)?, read("cluster.key_file", &config.key_file)?);
        if let (Some(certificate), Some(key)) = identity {
            tls = tls.identity(Identity::from_pem(certificate, key));
        }
        options = options.with_tls(tls);
    }
    Ok(options)
}
