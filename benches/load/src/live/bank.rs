//! A bank that speaks R4's wire and keeps no books: it takes every order at once, after a while, or
//! never answers.

use crate::Outcome;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;

/// Connections that may wait in the kernel: all of a burst, as one that finds no place tries again after
/// a second.
const BACKLOG: u32 = 4_096;

/// The answer to an order, of which each has a reference of its own.
fn taken() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(10_000_000);
    let reference = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(
        r#"{{"code":"ACCP","message":"Operacion aceptada","reference":"{reference:08}","id":"0b1f6c1e-5d3f-4c36-9b3e-0d6f5a3d2c11"}}"#
    )
}

/// The way in which a bank answers.
#[derive(Clone, Copy, Debug)]
pub enum Manner {
    /// So long after the order.
    At(Duration),
    /// Never.
    Dead,
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
        tokio::spawn(async move {
            let answer = service_fn(move |request| answer(request, manner));
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
    let _ = request.into_body().collect().await;
    match manner {
        Manner::At(time) => tokio::time::sleep(time).await,
        Manner::Dead => pending().await,
    }
    let mut response = Response::new(Full::new(Bytes::from(taken())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
