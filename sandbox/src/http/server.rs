//! Connections from the gateway: hyper reads requests and writes answers; what a fault makes of an
//! answer is written to the socket by hand.

use super::{Answer, Request};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::{Future, poll_fn};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The longest body that is read.
const BODY_BYTES_MAX: usize = 64 << 10;

/// The longest time that a silent bank keeps a connection whose caller does not hang up.
const SILENCE_MAX: Duration = Duration::from_secs(600);

/// The bytes that go out on a connection after a request, and how.
pub enum Delivery {
    /// The answer, as it should be.
    Answer(Answer),
    /// A status, and a body that is not written as it should be.
    Bytes(u16, Vec<u8>),
    /// The steps that are taken before the connection ends.
    ByHand(Vec<Step>),
}

/// A step of an answer that is written by hand.
pub enum Step {
    /// Bytes that are sent.
    Write(Vec<u8>),
    /// A pause.
    Pause(Duration),
    /// Silence, until the caller hangs up.
    Silence,
}

/// An error that tells hyper that the connection is taken out of its hands.
#[derive(Debug)]
struct TakenOver;

impl std::fmt::Display for TakenOver {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the answer is written by hand")
    }
}

impl std::error::Error for TakenOver {}

/// Serves requests until the process is asked to stop.
pub async fn serve<H, F>(listener: TcpListener, handle: H)
where
    H: Fn(Request) -> F + Clone + Send + Sync + Unpin + 'static,
    F: Future<Output = Delivery> + Send + 'static,
{
    let stopped = stop_asked();
    tokio::pin!(stopped);
    loop {
        tokio::select! {
            () = &mut stopped => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    tokio::spawn(converse(stream, handle.clone()));
                }
                // The peer left before it was accepted, or there are no file descriptors for a
                // while.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
}

/// Ends when the terminal or a supervisor asks the process to stop. Books are synced at any time.
async fn stop_asked() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

/// Serves a connection until it ends.
async fn converse<H, F>(stream: TcpStream, handle: H)
where
    H: Fn(Request) -> F + Clone + Send + Sync + Unpin + 'static,
    F: Future<Output = Delivery> + Send + 'static,
{
    let _ = stream.set_nodelay(true);
    let by_hand: Arc<OnceLock<Vec<Step>>> = Arc::default();
    let steps = Arc::clone(&by_hand);
    let service = service_fn(move |request| {
        let (handle, steps) = (handle.clone(), Arc::clone(&steps));
        // Boxed, so that the connection can be taken apart.
        Box::pin(async move {
            let request = match whole(request).await {
                Ok(request) => request,
                Err(problem) => return response(&problem),
            };
            // Spawned, so that a bank does not stop in the middle when its caller hangs up.
            match tokio::spawn(handle(request)).await {
                Ok(Delivery::Answer(answer)) => response(&answer),
                Ok(Delivery::Bytes(status, body)) => of_bytes(status, body),
                Ok(Delivery::ByHand(script)) => {
                    let _ = steps.set(script);
                    Err(TakenOver)
                }
                Err(_) => response(&Answer::problem(500, "the sandbox failed; its terminal says why")),
            }
        })
    });
    let mut connection = http1::Builder::new()
        .auto_date_header(false)
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    let _ = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut stream = connection.into_parts().io.into_inner();
    if let Some(steps) = by_hand.get() {
        let _ = perform(&mut stream, steps).await;
    }
    let _ = stream.shutdown().await;
}

/// Performs the steps of an answer by hand, as far as the caller takes them.
async fn perform(stream: &mut TcpStream, steps: &[Step]) -> io::Result<()> {
    for step in steps {
        match step {
            Step::Write(bytes) => stream.write_all(bytes).await?,
            Step::Pause(pause) => tokio::time::sleep(*pause).await,
            Step::Silence => {
                let _ = tokio::time::timeout(SILENCE_MAX, hung_up(stream)).await;
            }
        }
    }
    Ok(())
}

/// Ends when the caller has closed the connection; what it still sends is thrown away.
async fn hung_up(stream: &mut TcpStream) {
    let mut thrown_away = [0; 1024];
    while matches!(stream.read(&mut thrown_away).await, Ok(count) if count > 0) {}
}

/// A request with its whole body.
async fn whole(request: hyper::Request<Incoming>) -> Result<Request, Answer> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await;
    let body = body.map_err(|error| Answer::problem(413, format!("the body was not read: {error}")))?;
    Ok(Request {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body: body.to_bytes(),
    })
}

fn response(answer: &Answer) -> Result<Response<Full<Bytes>>, TakenOver> {
    of_bytes(answer.status, answer.body.to_string().into_bytes())
}

fn of_bytes(status: u16, body: Vec<u8>) -> Result<Response<Full<Bytes>>, TakenOver> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let json = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, json);
    Ok(response)
}
