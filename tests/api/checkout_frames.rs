//! The page of a problem in a shop's own frame: whoever may frame a session may frame what went wrong
//! with it, and nobody learns by it which sessions there are.

use crate::checkout::send;
use crate::harness::buyers::session;
use crate::harness::check::text;
use crate::harness::client::Answer;
use crate::harness::flows::UNKNOWN;
use crate::harness::server::{Server, Tenant};
use serde_json::json;

const SHOP: &str = "https://shop.example";

fn shop(server: &Server) -> Tenant {
    server.tenant_with(json!({ "checkout": { "allowedOrigins": [SHOP] } }))
}

#[track_caller]
fn framed_by(answer: &Answer) -> &str {
    let policy = answer.header("content-security-policy").expect("a policy");
    let ancestors = policy.split("frame-ancestors ").nth(1).expect("frame-ancestors");
    let denies = answer.header("x-frame-options") == Some("DENY");
    assert_eq!(denies, ancestors == "'none'", "the older header says the same: {policy}");
    ancestors
}

#[test]
fn the_page_of_a_problem_is_seen_in_the_shops_frame() {
    let server = Server::shared();
    let made = session(&shop(&server), json!({}));
    let path = format!("/checkout/{}/c2p/request", text(&made, "id"));
    let refused =
        send(&server, &path, &[("secret", "x"), ("view", "embed")], &[("sec-fetch-dest", "iframe")]);
    assert_eq!((refused.status, framed_by(&refused)), (401, SHOP));
    assert!(refused.text().contains("class=\"embedded\""), "{}", refused.text());
    assert!(refused.text().contains("origin=https%3A%2F%2Fshop.example"), "the other language stays there");
    // A shop that names no page has none that may.
    let silent = session(&server.tenant(), json!({}));
    let refused = send(&server, &format!("/checkout/{}/c2p", text(&silent, "id")), &[("secret", "x")], &[]);
    assert_eq!((refused.status, framed_by(&refused)), (401, "'none'"));
}

#[test]
fn the_page_of_a_problem_tells_nobody_which_sessions_there_are() {
    let server = Server::start_with(&[("PASARELA__LIMITS__MISSES_BURST", "3")]);
    let made = session(&shop(&server), json!({}));
    let known = format!("/checkout/{}", text(&made, "id"));
    let foreign = |path: &str| send(&server, path, &[], &[("sec-fetch-site", "cross-site")]);
    assert_eq!(framed_by(&foreign(&format!("{known}/c2p"))), SHOP);
    // What is not there has no page that may frame it, and costs as much as any other look.
    for _ in 0..3 {
        let refused = foreign(&format!("/checkout/{UNKNOWN}/c2p"));
        assert_eq!((refused.status, framed_by(&refused)), (401, "'none'"));
    }
    let refused = server.nobody().get(&format!("/checkout/{UNKNOWN}/embed"));
    assert_eq!((refused.status, framed_by(&refused)), (429, "'none'"));
    // A session that is there is shown on: others come from that address too.
    assert_eq!(framed_by(&foreign(&format!("{known}/c2p"))), SHOP);
    assert_eq!(server.nobody().get(&format!("{known}/embed")).status, 200);
}
