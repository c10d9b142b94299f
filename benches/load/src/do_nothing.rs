//! The baseline over HTTP: the same hyper, a payout read with serde into a struct, an answer of the
//! same size, and nothing in between. No key is looked up, no money moves, nothing is kept. What it
//! does per second is what hyper, JSON, the kernel and the generator leave to everybody on this
//! machine. With `--file` it does one thing: it appends a record to a plain file with group commit
//! before it answers, which is the ceiling of whatever is durable.

use crate::Outcome;
use crate::payout::{self, NewPayout};
use crate::plain_file::PlainFile;
use bytes::Bytes;
use clap::Args;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::net::TcpListener;

/// A record of the plain file: as much as a debit takes in the gateway's log.
const RECORD_BYTES: usize = 200;

/// The longest blank answer.
const BLANK_BYTES_MAX: usize = 1 << 20;

/// The server that the figures over HTTP are compared with
#[derive(Args, Debug)]
pub struct DoNothing {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:8089")]
    listen: SocketAddr,
    /// Append every request to this file, synced, before it is answered
    #[arg(long)]
    file: Option<PathBuf>,
}

static ANSWERS: AtomicI64 = AtomicI64::new(0);

impl DoNothing {
    /// Serves until it is killed, on as many threads as there are cores, like the gateway.
    pub fn run(self) -> Outcome<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("the runtime did not start: {error}"))?;
        let file = self.file.map(|path| PlainFile::create(&path, RECORD_BYTES)).transpose()?.map(Arc::new);
        runtime.block_on(serve(self.listen, file))
    }
}

async fn serve(listen: SocketAddr, file: Option<Arc<PlainFile>>) -> Outcome<()> {
    let listener = TcpListener::bind(listen).await.map_err(|error| format!("{listen}: {error}"))?;
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        let file = file.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request| answer(request, file.clone()));
            // A connection that breaks is no failure here: the client has left.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    file: Option<Arc<PlainFile>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (mut status, body) = if request.method() == Method::GET {
        (StatusCode::OK, blank(request.uri().query()))
    } else {
        match request.into_body().collect().await.map(|body| pay(&body.to_bytes())) {
            Ok(Some(body)) => (StatusCode::CREATED, body),
            Ok(None) | Err(_) => (StatusCode::BAD_REQUEST, b"{}".to_vec()),
        }
    };
    if status == StatusCode::CREATED
        && let Some(file) = file
        && file.append(body.len()).await.is_err()
    {
        status = StatusCode::SERVICE_UNAVAILABLE;
    }
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// An answer of as many bytes as `?bytes=` asks for, so that an answer is compared with one of its
/// size.
fn blank(query: Option<&str>) -> Vec<u8> {
    let bytes = query
        .and_then(|query| query.strip_prefix("bytes="))
        .and_then(|bytes| bytes.parse().ok())
        .unwrap_or(2_usize);
    let mut body = vec![b' '; bytes.clamp(2, BLANK_BYTES_MAX)];
    let end = body.len() - 1;
    (body[0], body[end]) = (b'{', b'}');
    body
}

fn pay(body: &[u8]) -> Option<Vec<u8>> {
    let new: NewPayout<'_> = serde_json::from_slice(body).ok()?;
    Some(payout::show(ANSWERS.fetch_add(1, Ordering::Relaxed), &new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_a_payout_and_gives_its_values_back() {
        let body = br#"{"merchantId":"m","monto":"1.00","concepto":"pago","externalRef":"r-1"}"#;
        let answer: serde_json::Value = serde_json::from_slice(&pay(body).expect("an answer")).expect("JSON");
        assert_eq!(
            (&answer["externalRef"], &answer["monto"], &answer["status"]),
            (&"r-1".into(), &"1.00".into(), &"completed".into())
        );
        assert_eq!(pay(b"{}"), None);
        assert_eq!((blank(None), blank(Some("bytes=4"))), (b"{}".to_vec(), b"{  }".to_vec()));
    }
}
