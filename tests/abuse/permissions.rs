//! The calls that a key may not make, at every row of the route tables: without a key, without the
//! scope, with a test key where money is live, without the operators' token.

use crate::estate::{active, key, of_nothing};
use crate::harness::client::{Answer, Api};
use crate::harness::server::Server;
use api::routes::{Modes, Route, routes};
use domain::platform::Scope;
use hyper::Method;
use pasarela::admin;
use serde_json::json;

const SCOPES: [Scope; 6] = Scope::ALL;

/// A request with a method and path of a row; nothing of its body should be looked at.
#[track_caller]
fn ask(api: &Api, method: &Method, path: &str) -> Answer {
    let path = of_nothing(path);
    match *method {
        Method::GET | Method::DELETE => api.request(method.as_str(), &path),
        Method::PATCH => api.patch(&path, &json!({})),
        Method::PUT => api.put(&path, &json!({})),
        _ => api.post(&path, &json!({})),
    }
}

#[test]
fn no_row_does_anything_without_a_key() {
    let server = Server::shared();
    for route in routes() {
        ask(&server.nobody(), &route.method, route.path).refused(401, "unauthorized");
        ask(&server.api("pk_test_wrong"), &route.method, route.path).refused(401, "unauthorized");
    }
}

#[test]
fn no_row_does_anything_without_its_scope() {
    let server = Server::start();
    let tenant = active(&server);
    let mut writing = 0;
    for scope in SCOPES {
        let in_test = key(&server, &tenant, "test", &[scope.name()]);
        let in_live = key(&server, &tenant, "live", &[scope.name()]);
        // A GET is open to keys that may read, whatever else it is for, unless it is about keys.
        let is_read = |route: &Route| route.method == Method::GET && route.needs.scope != Scope::Keys;
        let allows = |route: &Route| route.needs.scope == scope || scope == Scope::Read && is_read(route);
        for route in routes().into_iter().filter(|route| !allows(route)) {
            ask(&in_test, &route.method, route.path).refused(403, "scope_missing");
            let live = ask(&in_live, &route.method, route.path);
            match route.needs.modes {
                Modes::TestOnly => live.refused(403, "test_mode_only"),
                Modes::Both => live.refused(403, "scope_missing"),
            };
            writing += usize::from(scope == Scope::Read && route.method != Method::GET);
        }
    }
    let all = routes().iter().filter(|route| route.method != Method::GET).count();
    assert_eq!(writing, all, "a row that writes is open to a key that may only read");
}

#[test]
fn no_row_does_anything_live_before_the_operator_allows_it() {
    let server = Server::shared();
    let tenant = server.tenant();
    for route in routes() {
        ask(&tenant.live, &route.method, route.path).refused(403, "live_mode_not_activated");
    }
}

#[test]
fn no_row_of_the_operators_does_anything_without_their_token() {
    let server = Server::start();
    let tenant = active(&server);
    let of_tenant = tenant.created["testKey"]["key"].as_str().expect("a key").to_owned();
    let before = server.admin().get("/admin/status").expect(200)["walSeq"].clone();
    for route in admin::routes::routes() {
        for token in ["wrong", &of_tenant] {
            ask(&server.admin_with(token), &route.method, route.path).refused(401, "unauthorized");
        }
        // The row is not on the listener that everybody reaches either.
        ask(&tenant.live, &route.method, route.path).refused(404, "not_found");
    }
    assert_eq!(server.admin().get("/admin/status").expect(200)["walSeq"], before, "something was written");
}
