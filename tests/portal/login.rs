//! Logging in and out: sessions, cookies, tokens of forms, limits.

use crate::harness::check::text;
use crate::harness::server::{ADMIN_TOKEN, Server};
use crate::visitor::{Visitor, page_of, token};
use serde_json::json;

const COOKIE: &str = "pasarela_portal_session";

#[test]
fn without_a_session_every_page_is_the_login() {
    let server = Server::shared();
    let visitor = Visitor::new(server.nobody());
    for path in ["/portal", "/portal/home", "/portal/payments/x", "/portal/live?lang=en"] {
        let answer = visitor.get(path);
        assert_eq!((answer.status, page_of(&answer).as_str()), (200, "login"), "{path}");
        assert!(
            answer.text().contains("data-field=\"key\"") && answer.text().contains("data-action=\"login\"")
        );
    }
    assert!(visitor.get("/portal").text().contains("<html lang=\"es\">"));
    assert!(visitor.get("/portal?lang=en").text().contains("Log in"));
    assert_eq!(visitor.cookies().len(), 0);
}

#[test]
fn a_slash_at_the_end_leads_to_the_page() {
    let server = Server::shared();
    let visitor = Visitor::new(server.nobody());
    for (path, page) in [
        ("/portal/", "/portal"),
        ("/portal/payments/?lang=en", "/portal/payments?lang=en"),
        ("/portal///", "/portal"),
    ] {
        let answer = visitor.get(path);
        assert_eq!((answer.status, answer.header("location")), (303, Some(page)), "{path}");
    }
    assert_eq!(server.admin().get("/console/").header("location"), Some("/console"));
    let strange = server.admin().with("host", "evil.example").get("/console/");
    assert_eq!(strange.status, 421, "the address of the listener counts first");
}

#[test]
fn a_key_opens_a_session_of_pages_alone() {
    let server = Server::shared();
    let tenant = server.tenant();
    let key = text(&tenant.created["testKey"], "key");
    let visitor = Visitor::new(server.nobody());
    visitor.plant(COOKIE, "0000");
    let answer = visitor.log_in("/portal/login", "key", key);
    let cookie = answer.header("set-cookie").expect("a cookie").to_owned();
    assert!(
        cookie.starts_with("pasarela_portal_session=")
            && cookie.contains("HttpOnly")
            && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    assert!(!cookie.contains("=0000;"), "the cookie that was there before is not the session's");
    let home = visitor.get("/portal/home");
    assert_eq!((home.status, page_of(&home).as_str()), (200, "home"));
    assert_eq!(home.header("cache-control"), Some("no-store"));
    let policy = home.header("content-security-policy").expect("a policy");
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    // The cookie is no key.
    let value = &visitor.cookies()[COOKIE];
    let with_cookie = server.nobody().with("cookie", &format!("{COOKIE}={value}"));
    with_cookie.get("/v1/balance").refused(401, "unauthorized");
    assert_eq!(
        server
            .admin()
            .with("authorization", "")
            .with("cookie", &format!("{COOKIE}={value}"))
            .get("/admin/status")
            .status,
        401
    );
    let answer = visitor.press(&home, "logout", &[]);
    assert_eq!(answer.status, 303);
    assert_eq!(page_of(&visitor.get("/portal/home")), "login");
    assert_eq!(
        page_of(&with_cookie_page(&server, value)),
        "login",
        "the cookie alone opens nothing any more"
    );
}

fn with_cookie_page(server: &Server, value: &str) -> crate::harness::client::Answer {
    server.nobody().with("cookie", &format!("{COOKIE}={value}")).get("/portal/home")
}

#[test]
fn forms_need_the_token_of_their_session() {
    let server = Server::shared();
    let (one, other) = (server.tenant(), server.tenant());
    let of = |tenant: &crate::harness::server::Tenant| {
        Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"))
    };
    let (visitor, stranger) = (of(&one), of(&other));
    let right = token(&visitor.get("/portal/home"));
    let foreign = token(&stranger.get("/portal/home"));
    assert_ne!(right, foreign);
    for wrong in ["", "x", &foreign, &right[1..]] {
        let answer = visitor.send(
            "/portal/webhooks",
            &[("csrf", wrong), ("url", "https://shop.example/hook"), ("events", "payment.completed")],
        );
        assert_eq!(answer.status, 403, "{wrong}: {}", answer.text());
    }
    assert_eq!(visitor.send("/portal/webhooks", &[("url", "https://shop.example/hook")]).status, 403);
    assert_eq!(visitor.send("/portal/login", &[("key", "x")]).status, 403);
    assert_eq!(one.test.get("/v1/webhooks").expect(200)["items"], json!([]));
    // A page of another site may have read nothing, and still sends.
    let client = server.nobody().with("cookie", &format!("{COOKIE}={}", visitor.cookies()[COOKIE]));
    for (name, value) in
        [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example"), ("origin", "null")]
    {
        let body = crate::visitor::encoded(&[("csrf", &right)]);
        let answer =
            client.with(name, value).post_as("/portal/logout", "application/x-www-form-urlencoded", body);
        assert_eq!(answer.status, 403, "{name}: {value}");
    }
    assert_eq!(page_of(&visitor.get("/portal/home")), "home");
}

#[test]
fn an_account_has_twenty_sessions_with_all_its_keys_and_ends_nobody_elses() {
    let server = Server::shared();
    let (tenant, other) = (server.tenant(), server.tenant());
    let stranger = Visitor::of_portal(server.nobody(), text(&other.created["testKey"], "key"));
    let made = server
        .admin()
        .post(&format!("/admin/tenants/{}/keys", tenant.id), &json!({ "mode": "test", "scopes": ["read"] }))
        .expect(201);
    let keys = [text(&tenant.created["testKey"], "key"), text(&made, "key")];
    let visitors: Vec<Visitor> =
        (0..21).map(|n| Visitor::of_portal(server.nobody(), keys[n % keys.len()])).collect();
    let pages: Vec<String> = visitors.iter().map(|visitor| page_of(&visitor.get("/portal/home"))).collect();
    assert_eq!(pages[0], "login", "its own oldest made room");
    assert!(pages[1..].iter().all(|page| page == "home"), "{pages:?}");
    assert_eq!(page_of(&stranger.get("/portal/home")), "home");
}

#[test]
fn a_key_that_ends_takes_its_sessions_along() {
    let server = Server::shared();
    let tenant = server.tenant();
    let visitor = Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"));
    let page = visitor.get("/portal/webhooks");
    assert_eq!(page_of(&page), "webhooks");
    server.admin().delete(&format!("/admin/keys/{}", text(&tenant.created["testKey"], "keyId"))).expect(200);
    assert_eq!(page_of(&visitor.get("/portal/home")), "login");
    let answer = visitor.press(&page, "test-webhook", &[]);
    assert_eq!(
        (answer.status, page_of(&answer).as_str()),
        (401, "login"),
        "a form of a session that is over does nothing"
    );
    let again = visitor.log_in("/portal/login", "key", text(&tenant.created["testKey"], "key"));
    assert_eq!(again.status, 401);
}

#[test]
fn wrong_keys_are_refused_and_then_even_the_right_one() {
    // Its own: the limit is of an address, and all tests come from one.
    let server = Server::start();
    let tenant = server.tenant();
    let key = text(&tenant.created["testKey"], "key");
    let visitor = Visitor::new(server.nobody());
    for wrong in ["", "pk_test_x", ADMIN_TOKEN, "pk_test_x", "pk_test_x"] {
        let answer = visitor.log_in("/portal/login", "key", wrong);
        assert_eq!((answer.status, page_of(&answer).as_str()), (401, "login"));
        assert!(answer.text().contains("data-status=\"error\"") && !answer.text().contains("pk_test_x"));
    }
    assert_eq!(
        visitor.log_in("/portal/login", "key", key).status,
        303,
        "a success in between is none of the failures"
    );
    for _ in 5..10 {
        assert_eq!(visitor.log_in("/portal/login", "key", "no").status, 401);
    }
    let answer = visitor.log_in("/portal/login", "key", key);
    assert_eq!(answer.status, 429);
    let seconds: u32 = answer.header("retry-after").expect("Retry-After").parse().expect("seconds");
    assert!((1..=600).contains(&seconds), "{seconds}");
    // Neither the API nor who is inside notices.
    tenant.test.get("/v1/balance").expect(200);
    assert_eq!(page_of(&visitor.get("/portal/home")), "home");
}

#[test]
fn nobody_is_led_elsewhere_by_a_login() {
    let server = Server::shared();
    let tenant = server.tenant();
    let key = text(&tenant.created["testKey"], "key");
    for (next, to) in [
        ("/portal/payouts", "/portal/payouts"),
        ("https://evil.example/", "/portal/home"),
        ("//evil.example", "/portal/home"),
        ("/portal\\@evil.example", "/portal/home"),
        ("/portalx", "/portal/home"),
    ] {
        let visitor = Visitor::new(server.nobody());
        let form = visitor.get("/portal/login");
        let answer = visitor.send("/portal/login", &[("csrf", &token(&form)), ("key", key), ("next", next)]);
        assert_eq!((answer.status, answer.header("location")), (303, Some(to)), "{next}");
    }
}

#[test]
fn whoever_is_not_logged_in_does_not_learn_what_a_page_takes() {
    let server = Server::shared();
    let visitor = Visitor::new(server.nobody());
    for act in ["/portal/keys/rotate", "/portal/payouts/confirm", "/portal/webhooks/test", "/portal/nothing"]
    {
        let answer = visitor.get(act);
        assert_eq!((answer.status, page_of(&answer).as_str()), (200, "login"), "{act}");
    }
    for page in ["/portal/home", "/portal/payments", "/portal/keys"] {
        assert_eq!(visitor.send(page, &[]).status, visitor.send("/portal/nothing", &[]).status, "{page}");
    }
    let tenant = server.tenant();
    let visitor =
        Visitor::of_portal(server.nobody(), tenant.created["testKey"]["key"].as_str().expect("a key"));
    assert_eq!(visitor.get("/portal/keys/rotate").status, 404);
}
