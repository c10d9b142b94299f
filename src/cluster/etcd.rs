//! The quorum kept by etcd. One of the configured endpoints is asked, and while that does not answer
//! the next ones too: what a member has passed to an etcd leader that died is lost without a word.
//! Whoever answers in a moment is asked first from then on; where nobody answers within a second, the call fails.
//! Calls wait on the caller's thread, which must not be one of the server's own: a runtime of its own
//! keeps signs of life apart from the load of requests.

use crate::config;
use etcd_client::{
    Certificate, Client, CompactionOptions, Compare as EtcdCompare, CompareOp, ConnectOptions, DeleteOptions,
    Error, GetOptions, Identity, KvClient, TlsOptions, Txn, TxnOp, TxnOpResponse, TxnResponse,
};
use futures_util::stream::{FuturesUnordered, StreamExt};
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
/// Without an answer after this the same is asked of the next endpoint: a transaction that is carried out twice
/// is refused the second time. So an etcd that changes its leader is found as soon as it has one.
const REPEAT_AFTER: Duration = Duration::from_millis(125);
const ATTEMPTS_MAX: usize = 5;
/// What is longer is not sent again before it failed: a slow network would only get slower.
const REPEATED_BYTES_MAX: usize = 64 << 10;
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
    /// Of the last answer to a read, for which the next one's is taken: a node that catches up reads long ones.
    read_bytes: AtomicUsize,
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
            read_bytes: AtomicUsize::new(0),
        })
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        match &self.runtime {
            Some(runtime) => runtime.block_on(future),
            None => unreachable!("the runtime goes with this"),
        }
    }

    /// Without an answer in time the next endpoint is current. `bytes` go one way or the other.
    fn ask(&self, txn: Txn, bytes: usize) -> Result<TxnResponse, Unanswered> {
        let first = self.current.load(Ordering::Relaxed) % self.endpoints.len();
        let attempts_max = if bytes <= REPEATED_BYTES_MAX { ATTEMPTS_MAX } else { 1 };
        let asked = self.block_on(async {
            tokio::time::timeout(SILENCE, self.first_answer(first, &txn, attempts_max)).await
        });
        let why = match asked {
            Ok(Ok((at, answer, took))) => {
                if let Some(header) = answer.header() {
                    self.revision.fetch_max(header.revision(), Ordering::Relaxed);
                }
                // Where the other takes as long, all of etcd is slow.
                if at != first && took < REPEAT_AFTER {
                    self.leave(first, SILENT_MS, at);
                }
                return Ok(answer);
            }
            Ok(Err(error)) => {
                self.leave(first, if is_answer(&error) { 0 } else { SILENT_MS }, self.next(first));
                error.to_string()
            }
            Err(_) => {
                self.leave(first, SILENT_MS, self.next(first));
                "no answer within a second".to_owned()
            }
        };
        Err(Unanswered { why: format!("{}: {why}", self.endpoints[first]) })
    }

    /// With who answered, and after how long. The error is the last one, once every attempt has failed.
    async fn first_answer(
        &self,
        first: usize,
        txn: &Txn,
        attempts_max: usize,
    ) -> Result<(usize, TxnResponse, Duration), Error> {
        let attempt = async |at: usize| {
            let began = Instant::now();
            let answer = async { self.client(at).await?.txn(txn.clone()).await };
            answer.await.map(|answer| (at, answer, began.elapsed()))
        };
        let mut under_way = FuturesUnordered::from_iter([attempt(first)]);
        let mut attempts = 1;
        loop {
            tokio::select! {
                Some(answer) = under_way.next() => match answer {
                    Err(_) if !under_way.is_empty() => {}
                    answered => return answered,
                },
                () = tokio::time::sleep(REPEAT_AFTER), if attempts < attempts_max => {
                    under_way.push(attempt((first + attempts) % self.endpoints.len()));
                    attempts += 1;
                }
            }
        }
    }

    /// The one that failed longest ago.
    fn next(&self, but: usize) -> usize {
        let failed = self.failed.iter().map(|failed| failed.load(Ordering::Relaxed)).enumerate();
        let others = failed.filter(|(at, _)| *at != but);
        others.min_by_key(|(_, failed)| *failed).map_or(but, |(at, _)| at)
    }

    /// An endpoint that has failed, by so much later than now, for another one.
    fn leave(&self, at: usize, later_ms: u64, next: usize) {
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX - SILENT_MS);
        self.failed[at].store(now_ms + later_ms, Ordering::Relaxed);
        let _ = self.current.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed);
        *self.clients[at].lock().unwrap_or_else(PoisonError::into_inner) = None;
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
        let bytes = transaction.then.iter().map(|change| match change {
            Change::Put(_, value) => value.len(),
            Change::Delete(_) | Change::DeleteRange(..) => 0,
        });
        let answer = self.ask(txn, bytes.sum())?;
        Ok(if answer.succeeded() {
            TransactionOutcome::Done
        } else {
            TransactionOutcome::Refused(pairs(&answer))
        })
    }

    fn read(&self, reads: &[Read]) -> Result<Vec<Vec<Pair>>, Unanswered> {
        // A transaction of reads alone is answered by the majority's newest state.
        let txn = Txn::new().and_then(reads.iter().map(read).collect::<Vec<_>>());
        let pairs = pairs(&self.ask(txn, self.read_bytes.swap(0, Ordering::Relaxed))?);
        let bytes = pairs.iter().flatten().map(|(_, value)| value.len()).sum();
        self.read_bytes.store(bytes, Ordering::Relaxed);
        Ok(pairs)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use bytes::Bytes;
    use hyper::header::HeaderValue;
    use hyper::{HeaderMap, Response};
    use std::sync::Arc;
    use tokio::net::{TcpListener, TcpStream};

    /// A member that answers each transaction with a message, after a while.
    struct Member {
        endpoint: String,
        asked: Arc<AtomicUsize>,
    }

    impl Member {
        fn start(runtime: &Runtime, after: Duration, message: &[u8]) -> Member {
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
            let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
            let asked = Arc::<AtomicUsize>::default();
            let length = u32::try_from(message.len()).expect("it is small").to_be_bytes();
            let (counted, framed) = (Arc::clone(&asked), Bytes::from([&[0][..], &length, message].concat()));
            runtime.spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, after, framed.clone(), Arc::clone(&counted)));
                }
            });
            Member { endpoint, asked }
        }
    }

    async fn serve(
        stream: TcpStream,
        after: Duration,
        message: Bytes,
        asked: Arc<AtomicUsize>,
    ) -> Option<()> {
        let mut connection = h2::server::handshake(stream).await.ok()?;
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            asked.fetch_add(1, Ordering::SeqCst);
            let message = message.clone();
            tokio::spawn(async move {
                let mut body = request.into_body();
                while body.data().await.is_some() {}
                tokio::time::sleep(after).await;
                let head = Response::builder().header("content-type", "application/grpc").body(()).ok()?;
                let mut answer = respond.send_response(head, false).ok()?;
                answer.send_data(message, false).ok()?;
                let mut trailers = HeaderMap::new();
                trailers.insert("grpc-status", HeaderValue::from_static("0"));
                answer.send_trailers(trailers).ok()
            });
        }
        Some(())
    }

    fn etcd(members: &[&Member]) -> Etcd {
        let endpoints: Vec<String> = members.iter().map(|member| format!("{:?}", member.endpoint)).collect();
        let text = format!("[cluster]\netcd = [{}]\nnode = \"a\"", endpoints.join(", "));
        Etcd::new(&Config::parse(&text, []).expect("a configuration").cluster).expect("threads")
    }

    /// A field of a message of protocol buffers that has bytes.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let (mut field, mut left) = (vec![(number << 3) | 2], bytes.len());
        while left >= 0x80 {
            field.push(u8::try_from(left % 0x80).expect("seven bits") | 0x80);
            left /= 0x80;
        }
        field.push(u8::try_from(left).expect("seven bits"));
        field.extend_from_slice(bytes);
        field
    }

    #[test]
    fn a_member_is_left_for_one_that_answers_in_a_moment_and_not_while_all_are_slow() {
        let runtime = Runtime::new().expect("threads");
        let member = |ms| Member::start(&runtime, Duration::from_millis(ms), &[]);
        let (slow, slower, silent, fast) = (member(140), member(320), member(60_000), member(0));
        let of_slow = etcd(&[&slower, &slow, &slow]);
        of_slow.read(&[]).expect("it answers");
        assert!(slow.asked.load(Ordering::SeqCst) > 0, "the next is asked too");
        assert_eq!(of_slow.current.load(Ordering::Relaxed), 0);
        let of_silent = etcd(&[&silent, &fast]);
        let is_left =
            (0..10).any(|_| of_silent.read(&[]).is_ok() && of_silent.current.load(Ordering::Relaxed) == 1);
        assert!(is_left, "one that is silent is left");
    }

    #[test]
    fn while_answers_are_long_each_is_asked_for_once() {
        let runtime = Runtime::new().expect("threads");
        let pair = field(2, &[field(1, b"key"), field(5, &vec![7; 2 * REPEATED_BYTES_MAX])].concat());
        let message = field(3, &field(1, &pair));
        let [a, b] = [(); 2].map(|()| Member::start(&runtime, Duration::from_millis(300), &message));
        let etcd = etcd(&[&a, &b]);
        let asked = || a.asked.load(Ordering::SeqCst) + b.asked.load(Ordering::SeqCst);
        let read = etcd.read(&[]).expect("it answers");
        assert_eq!(read[0][0].1.len(), 2 * REPEATED_BYTES_MAX);
        assert!(asked() > 1, "the first one's length is not known");
        std::thread::sleep(Duration::from_millis(100));
        let before = asked();
        etcd.read(&[]).expect("it answers");
        assert_eq!(asked(), before + 1);
    }
}
