//! A bank that speaks R4's wire: it takes every order at once, after a while, or never answers; or it keeps books, and
//! refuses some.

use crate::Outcome;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;

/// Connections that may wait in the kernel: all of a burst, as one that finds no place tries again after
/// a second.
const BACKLOG: u32 = 4_096;

/// The answer to an order, of which each has a reference and an id of its own.
fn taken() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(10_000_000);
    let reference = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(
        r#"{{"code":"ACCP","message":"Operacion aceptada","reference":"{reference:08}","id":"0b1f6c1e-5d3f-4c36-9b3e-{reference:012x}"}}"#
    )
}

/// What a bank paid, in cents by the phone that got it, and what it refused.
#[derive(Debug, Default)]
pub struct Books {
    paid: Mutex<HashMap<String, i64>>,
    refused: AtomicU64,
    orders: AtomicU64,
}

impl Books {
    /// Every so many orders one is refused.
    const REFUSED_EVERY: u64 = 5;
    /// An answer comes up to so many ms after the money went: a kill finds some that were paid and not answered.
    const LATE_MS: u64 = 25;

    pub fn paid(&self) -> HashMap<String, i64> {
        self.paid.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// The answer to an order, and how long after it.
    fn take(&self, body: &[u8]) -> (String, Duration) {
        let order: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |name: &str| order[name].as_str().unwrap_or_default();
        let cents: i64 = text("Monto").replace('.', "").parse().unwrap_or(0);
        let number = self.orders.fetch_add(1, Ordering::Relaxed);
        let late = Duration::from_millis(number * 7 % Books::LATE_MS);
        if number.is_multiple_of(Books::REFUSED_EVERY) || cents == 0 {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return (r#"{"code":"AM04","message":"Saldo insuficiente"}"#.to_owned(), late);
        }
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        *paid.entry(text("Telefono").to_owned()).or_default() += cents;
        (taken(), late)
    }
}

/// The way in which a bank answers.
#[derive(Clone, Debug)]
pub enum Manner {
    /// So long after the order.
    At(Duration),
    /// Never.
    Dead,
    /// By these books.
    Books(Arc<Books>),
}

/// A bank on a thread of its own, until it is dropped.
pub struct Bank {
    /// The address of its API.
    pub address: SocketAddr,
    _end: oneshot::Sender<()>,
}

impl Bank {
    /// Opens a bank on a free port.
    pub fn open(manner: Manner) -> Outcome<Bank> {
        let (end, ended) = oneshot::channel();
        let (say, said) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| error.to_string());
            match runtime {
                Ok(runtime) => runtime.block_on(async {
                    tokio::select! { () = serve(manner, &say) => {}, _ = ended => {} }
                }),
                Err(why) => drop(say.send(Err(why))),
            }
        });
        let address = said.recv().map_err(|_| "the bank ended at once".to_owned())??;
        Ok(Bank { address, _end: end })
    }
}

async fn serve(manner: Manner, say: &mpsc::Sender<Outcome<SocketAddr>>) {
    let listener = match listener() {
        Ok(listener) => listener,
        Err(error) => return drop(say.send(Err(error.to_string()))),
    };
    let _ = say.send(listener.local_addr().map_err(|error| error.to_string()));
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        let manner = manner.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request| answer(request, manner.clone()));
            // A connection that breaks is no failure here: the gateway gave the call up.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

fn listener() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(BACKLOG)
}

async fn answer(request: Request<Incoming>, manner: Manner) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let (said, after) = match manner {
        Manner::At(time) => (taken(), time),
        Manner::Dead => pending().await,
        Manner::Books(books) => books.take(&body),
    };
    tokio::time::sleep(after).await;
    let mut response = Response::new(Full::new(Bytes::from(said)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
