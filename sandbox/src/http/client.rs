//! Calls to the gateway: one connection each, plain HTTP, JSON.

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::time::Duration;
use tokio::net::TcpStream;

/// The time that the gateway has for its answer.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The longest answer that is read.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// The gateway's answer.
pub struct Reply {
    /// The status of HTTP.
    pub status: u16,
    /// The body, null if it is no JSON.
    pub body: Value,
}

/// Posts a body under further headers.
///
/// # Errors
/// Why there was no answer.
pub async fn post(address: &str, headers: &[(&'static str, String)], body: Vec<u8>) -> Result<Reply, String> {
    match tokio::time::timeout(TIME_LIMIT, exchange(address, headers, body)).await {
        Ok(outcome) => outcome.map_err(|error| format!("{address}: {error}")),
        Err(_) => Err(format!("{address}: no answer within {} s", TIME_LIMIT.as_secs())),
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn exchange(
    address: &str,
    headers: &[(&'static str, String)],
    body: Vec<u8>,
) -> Result<Reply, Failure> {
    let uri: Uri = address.parse()?;
    let host = uri.host().ok_or("the address has no host")?;
    let port = uri.port_u16().unwrap_or(80);
    let bare_host = host.trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((bare_host, port)).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request =
        Request::post(path).header(HOST, format!("{host}:{port}")).header(CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let answer = sender.send_request(request.body(Full::new(Bytes::from(body)))?).await?;
    let status = answer.status().as_u16();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await?.to_bytes();
    Ok(Reply { status, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}
