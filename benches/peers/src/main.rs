//! The same request as the gateway's (`POST /v1/payouts`: an API key, a JSON body, a reference that
//! may be used once, 201 with a JSON body when it is durable) over PostgreSQL, in the three ways in
//! which services do it:
//!
//! - `plain`, as most write it: a transaction with a conditional UPDATE of the balance and an
//!   INSERT of the movement under a unique key (`single.rs`);
//! - `statement`, the same in one statement, so that the balance is locked for one round trip less
//!   (`single.rs`);
//! - `batched`, as a careful team writes it: a task drains what waits and commits it all in one
//!   transaction, then everybody is answered (`batched.rs`).
//!
//! What is durable is durable: `synchronous_commit` and `fsync` are on (`../database`). Keys are
//! looked up in memory, statements are prepared once, the database is reached over its unix socket.
//! In favour of PostgreSQL, a payout is one record here, and nothing else is written: no second
//! record for the bank's answer, no event, no kept answer, no list to read it from.

mod batched;
mod payout;
mod schema;
mod shape;
mod single;

use batched::Batches;
use bytes::Bytes;
use clap::{Parser, ValueEnum};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use payout::NewPayout;
use schema::Keys;
use shape::Debit;
use single::Single;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// The allocator, the same as the gateway's, so that nobody has a better one.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The time until the database must answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that takes payouts and keeps them in PostgreSQL.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// How a payout is written down
    #[arg(long, value_enum)]
    mode: Mode,
    /// Where to listen
    #[arg(long)]
    listen: SocketAddr,
    /// The directory of the database's socket
    #[arg(long)]
    socket: PathBuf,
    /// Connections to the database; of `batched` the batches under way at once
    #[arg(long, default_value_t = 16)]
    pool: usize,
    /// Microseconds that a commit waits for others (PostgreSQL's commit_delay)
    #[arg(long, default_value_t = 0)]
    commit_delay_us: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    Plain,
    Statement,
    Batched,
}

/// The writer of payouts.
enum Writer {
    Single(Single),
    Batches(Batches),
}

struct Service {
    keys: Keys,
    writer: Writer,
}

/// The outcome of a payout.
enum Outcome {
    /// The payout is durable, under this id.
    Paid(i64),
    /// The reference was used before, by the payout with this id.
    Known(i64),
    /// The balance is not enough.
    TooLittle,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome =
        runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(serve(arguments)));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("peers: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(arguments: Arguments) -> Result<(), String> {
    let database = schema::database(&arguments.socket, arguments.commit_delay_us);
    let keys = schema::prepare(&database, PATIENCE).await?;
    let writer = match arguments.mode {
        Mode::Plain => Writer::Single(Single::new(database, arguments.pool, false)?),
        Mode::Statement => Writer::Single(Single::new(database, arguments.pool, true)?),
        Mode::Batched => Writer::Batches(Batches::start(&database, arguments.pool).await?),
    };
    let service = Arc::new(Service { keys, writer });
    let listener = TcpListener::bind(arguments.listen)
        .await
        .map_err(|error| format!("{}: {error}", arguments.listen))?;
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let answer = service_fn(move |request| answer(Arc::clone(&service), request));
            // A connection that breaks is no failure here: the client has left.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

async fn answer(
    service: Arc<Service>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, body) = if request.method() == Method::GET {
        (StatusCode::OK, b"{}".to_vec())
    } else {
        pay(&service, request).await
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn pay(service: &Service, request: Request<Incoming>) -> (StatusCode, Vec<u8>) {
    let problem = |status, why: &str| {
        (status, serde_json::to_vec(&serde_json::json!({ "error": why })).unwrap_or_default())
    };
    let key = request.headers().get("x-api-key").and_then(|key| key.to_str().ok());
    let Some(tenant) = key.and_then(|key| service.keys.get(key)).copied() else {
        return problem(StatusCode::UNAUTHORIZED, "unknown key");
    };
    let Ok(body) = request.into_body().collect().await else {
        return problem(StatusCode::BAD_REQUEST, "the body broke off");
    };
    let body = body.to_bytes();
    let Ok(new) = serde_json::from_slice::<NewPayout<'_>>(&body) else {
        return problem(StatusCode::BAD_REQUEST, "not a payout");
    };
    let Some(minor) = shape::minor(new.monto) else {
        return problem(StatusCode::BAD_REQUEST, "not an amount");
    };
    let debit = Debit {
        id: shape::next_id(),
        tenant,
        minor,
        merchant: new.merchant_id.to_owned(),
        concept: new.concepto.to_owned(),
        reference: new.external_ref.to_owned(),
    };
    let written = match &service.writer {
        Writer::Single(single) => single.pay(&debit).await,
        Writer::Batches(batches) => batches.pay(debit).await,
    };
    match written {
        Ok(Outcome::Paid(id)) => (StatusCode::CREATED, payout::show(id, &new)),
        Ok(Outcome::Known(id)) => (StatusCode::OK, payout::show(id, &new)),
        Ok(Outcome::TooLittle) => problem(StatusCode::UNPROCESSABLE_ENTITY, "insufficient funds"),
        Err(why) => problem(StatusCode::INTERNAL_SERVER_ERROR, &why),
    }
}
