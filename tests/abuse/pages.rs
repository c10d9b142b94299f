//! A page in an operator's browser, which reaches the operators' listener on the same machine but
//! must not drive it: by its own address, by a name that it points there, by a form, an image or a
//! script, with the operator's token even.

use crate::estate::of_nothing;
use crate::harness::client::{Answer, Api};
use crate::harness::server::Server;
use hyper::Method;
use pasarela::admin;
use serde_json::json;

/// The paths that the listener has besides the rows of its table.
const OTHERS: [&str; 4] = ["/metrics", "/docs", "/openapi.json", "/nowhere"];

#[track_caller]
fn ask(api: &Api, method: &Method, path: &str) -> Answer {
    match *method {
        Method::GET | Method::DELETE => api.request(method.as_str(), path),
        Method::PATCH => api.patch(path, &json!({})),
        _ => api.post(path, &json!({})),
    }
}

#[test]
fn a_page_of_another_site_drives_nothing() {
    let server = Server::start();
    let rows = admin::routes::routes().into_iter().map(|route| (route.method, of_nothing(route.path)));
    let rows: Vec<(Method, String)> = rows.chain(OTHERS.map(|path| (Method::GET, path.to_owned()))).collect();
    let before = server.admin().get("/admin/status").expect(200)["walSeq"].clone();
    let admin = server.admin();
    for (method, path) in &rows {
        // A name of the attacker's that leads to 127.0.0.1 (DNS rebinding).
        for host in ["rebind.evil.example", "127.0.0.1.nip.example:9090", "localhost.evil.example"] {
            ask(&admin.with("host", host), method, path).refused(421, "misdirected");
        }
        // Requests of a script, a form and a link of the attacker's page.
        for origin in ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"] {
            ask(&admin.with("origin", origin), method, path).refused(403, "cross_site");
        }
        ask(&admin.with("sec-fetch-site", "cross-site"), method, path).refused(403, "cross_site");
    }
    assert_eq!(server.admin().get("/admin/status").expect(200)["walSeq"], before, "something was written");
}

#[test]
fn a_browser_is_not_told_that_it_may_ask() {
    let server = Server::shared();
    for (api, paths) in
        [(server.admin(), ["/admin/status", "/metrics"]), (server.nobody(), ["/v1/balance", "/v1/payments"])]
    {
        for path in paths {
            let preflight = api
                .with("origin", "https://evil.example")
                .with("access-control-request-method", "POST")
                .with("access-control-request-headers", "authorization, x-api-key")
                .request("OPTIONS", path);
            assert_eq!(preflight.header("access-control-allow-origin"), None, "{path}: {}", preflight.status);
            let asked = api.with("origin", "https://evil.example").get(path);
            assert_eq!(asked.header("access-control-allow-origin"), None, "{path}: {}", asked.status);
        }
    }
}

#[test]
fn a_form_writes_nothing() {
    let server = Server::start();
    let before = server.admin().get("/admin/status").expect(200)["walSeq"].clone();
    // The types that a browser sends to another site without asking first.
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        for path in ["/admin/tenants", "/admin/rates"] {
            let answer = server.admin().post_as(path, content_type, r#"{"name":"evil"}"#);
            answer.refused(415, "unsupported_media_type");
        }
    }
    assert_eq!(server.admin().get("/admin/status").expect(200)["walSeq"], before, "something was written");
}
