//! Logging in to the console: tokens, roles that end, hosts and other sites.

use crate::harness::check::text;
use crate::harness::server::{ADMIN_TOKEN, Server};
use crate::visitor::{Visitor, encoded, page_of, token};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;

const COOKIE: &str = "pasarela_console_session";

/// Whoever has no token of the operators' API, but what a browser sends.
pub fn nobody(server: &Server) -> crate::harness::client::Api {
    server.admin_with("")
}

/// A visitor who logged in to the console.
#[track_caller]
pub fn operator(server: &Server, secret: &str) -> Visitor {
    let visitor = Visitor::new(nobody(server));
    let answer = visitor.log_in("/console/login", "token", secret);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/console/home")), "{}", answer.text());
    visitor
}

/// A new operator of this role, with the token.
#[track_caller]
pub fn hired(server: &Server, role: &str) -> (String, String) {
    let email = format!("{}@example.com", crate::harness::flows::fresh(role));
    let made = server
        .admin()
        .post("/admin/operators", &json!({ "name": "Ana", "email": email, "role": role }))
        .expect(201);
    (text(&made, "operatorId").to_owned(), text(&made, "token").to_owned())
}

#[test]
fn a_token_opens_pages_alone() {
    let server = Server::shared();
    let visitor = Visitor::new(nobody(&server));
    for path in ["/console", "/console/queues", "/console/tenants/x?lang=en"] {
        let answer = visitor.get(path);
        assert_eq!((answer.status, page_of(&answer).as_str()), (200, "login"), "{path}");
        assert!(answer.text().contains("data-field=\"token\""));
    }
    assert_eq!(visitor.log_in("/console/login", "token", "wrong").status, 401);
    let visitor = operator(&server, ADMIN_TOKEN);
    assert_eq!(page_of(&visitor.get("/console")), "home");
    let value = &visitor.cookies()[COOKIE];
    let with_cookie = nobody(&server).with("cookie", &format!("{COOKIE}={value}"));
    with_cookie.get("/admin/status").refused(401, "unauthorized");
    // The cookie of one site is none of the other's, wherever it is sent.
    let portal =
        server.nobody().with("cookie", &format!("pasarela_portal_session={value}; {COOKIE}={value}"));
    assert_eq!(page_of(&portal.get("/portal/home")), "login");
    assert_eq!(server.nobody().get("/console").status, 404, "the console is not on the API's listener");
}

/// Browsers choose HTTP/2 as soon as the listener has TLS; it names the host in no header.
#[test]
fn pages_and_acts_answer_over_http_2() {
    let server = Server::shared();
    let visitor = operator(&server, ADMIN_TOKEN);
    let cookie = format!("{COOKIE}={}", visitor.cookies()[COOKIE]);
    let (host, port) = server.admin_address();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect((host, port)).await.expect("a connection");
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .expect("a handshake");
        tokio::spawn(connection);
        for path in ["/console/home", "/console/queues", "/console/tenants"] {
            let request = Request::get(format!("http://{host}:{port}{path}")).header("cookie", &cookie);
            let request = request.body(Full::new(Bytes::new())).expect("a request");
            let response = sender.send_request(request).await.expect("a response");
            assert_eq!(response.status().as_u16(), 200, "{path}");
        }
    });
}

#[test]
fn other_hosts_and_other_sites_are_refused() {
    let server = Server::shared();
    let visitor = operator(&server, ADMIN_TOKEN);
    let csrf = token(&visitor.get("/console/home"));
    let client = nobody(&server).with("cookie", &format!("{COOKIE}={}", visitor.cookies()[COOKIE]));
    assert_eq!(client.with("host", "evil.example").get("/console/home").status, 421);
    for (name, value) in
        [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
    {
        let client = client.with(name, value);
        assert_eq!(client.get("/console/home").status, 403, "{name}: {value}");
        let answer = client.post_as(
            "/console/logout",
            "application/x-www-form-urlencoded",
            encoded(&[("csrf", &csrf)]),
        );
        assert_eq!(answer.status, 403, "{name}: {value}");
    }
    let wrong = visitor.send("/console/rates", &[("csrf", "x"), ("pair", "USD/VES")]);
    assert_eq!(wrong.status, 403);
    assert_eq!(page_of(&visitor.get("/console/home")), "home");
}

#[test]
fn an_operator_who_is_disabled_or_gets_a_new_token_is_out() {
    let server = Server::shared();
    let (id, secret) = hired(&server, "support");
    let visitor = operator(&server, &secret);
    assert!(visitor.get("/console/home").text().contains("support"));
    server.admin().patch(&format!("/admin/operators/{id}"), &json!({ "status": "disabled" })).expect(200);
    assert_eq!(page_of(&visitor.get("/console/home")), "login");
    server.admin().patch(&format!("/admin/operators/{id}"), &json!({ "status": "active" })).expect(200);
    assert_eq!(page_of(&visitor.get("/console/home")), "login", "the session is gone for good");
    let visitor = operator(&server, &secret);
    server.admin().act(&format!("/admin/operators/{id}/rotate")).expect(201);
    assert_eq!(page_of(&visitor.get("/console/home")), "login");
}
