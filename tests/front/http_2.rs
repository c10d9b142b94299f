//! HTTP/2 without TLS, as who knows beforehand that the server speaks it.

use crate::toy::Server;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pasarela::http::listen::{Drained, Limits};
use std::time::Duration;

#[test]
fn http_2_with_prior_knowledge() {
    let mut server = Server::start(Limits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(server.address).await.expect("a connection");
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .expect("a handshake");
        let connection = tokio::spawn(connection);
        let mut ask = |method: Method, path: &str, body: Vec<u8>| {
            let request = Request::builder()
                .method(method)
                .uri(format!("http://x{path}"))
                .header("content-type", "application/json")
                .body(Full::new(Bytes::from(body)))
                .expect("a request");
            let sent = sender.send_request(request);
            async move {
                let response = sent.await.expect("a response");
                assert!(response.headers().contains_key("x-request-id"));
                let status = response.status().as_u16();
                let body = response.into_body().collect().await.expect("a body");
                (status, String::from_utf8_lossy(&body.to_bytes()).into_owned())
            }
        };
        // The requests go out at once: the slow one must not hold up the others.
        let slow = ask(Method::GET, "/slow/300", Vec::new());
        let length = ask(Method::POST, "/length", vec![b' '; 70_000]);
        let unknown = ask(Method::POST, "/no-such", vec![b' '; 1_000]);
        let panic = ask(Method::GET, "/panic", Vec::new());
        assert_eq!(length.await, (200, "70000".to_owned()));
        assert_eq!(unknown.await.0, 404);
        assert_eq!(panic.await.0, 500);
        server.ask_to_stop();
        assert_eq!(slow.await, (200, "\"slow\"".to_owned()));
        tokio::time::timeout(Duration::from_secs(2), connection)
            .await
            .expect("the connection ends")
            .expect("no panic")
            .expect("a clean end");
    });
    assert_eq!(server.join(), Drained { cut_off: 0 });
}

#[test]
fn over_http_2_a_head_beyond_the_bound_is_a_431_and_the_connection_lives_on() {
    let server = Server::start(Limits { head_bytes_max: 8 << 10, ..Limits::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(server.address).await.expect("a connection");
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .expect("a handshake");
        tokio::spawn(connection);
        for (length, status) in [(1_000, 200), (9_000, 431), (1_000, 200)] {
            let request = Request::get("http://x/ok").header("x", "y".repeat(length));
            let request = request.body(Full::new(Bytes::new())).expect("a request");
            let response = sender.send_request(request).await.expect("a response");
            assert_eq!(response.status().as_u16(), status);
        }
    });
}
