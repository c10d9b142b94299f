//! The checkout in a shop's own page: who may frame it, and what the shop is told.

use crate::bolivares::card;
use crate::browser::{Browser, DESKTOP};
use crate::c2p::{ask_for_key, pay_with, session};
use crate::harness::check::text;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

/// Serves the one page of a shop to whoever asks, as long as the tests run.
fn shop(listener: TcpListener, page: String) {
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                page.len()
            );
            let _ = (&stream).write_all(head.as_bytes()).and_then(|()| (&stream).write_all(page.as_bytes()));
        }
    });
}

/// A shop's page around what `page` makes of a session's secret and the server's address.
fn shop_of(server: &Server, page: impl Fn(&str, &str) -> String) -> (String, Tenant, Value) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let origin = format!("http://127.0.0.1:{}", listener.local_addr().expect("an address").port());
    let tenant = server.tenant_with(json!({ "checkout": { "allowedOrigins": [origin] } }));
    let made = session(&tenant);
    let body = page(text(&made, "clientSecret"), &server.url());
    shop(listener, format!("<!doctype html><title>Tienda</title>{body}"));
    (origin, tenant, made)
}

/// A shop whose page shows the checkout of a session, open in a browser.
struct Embedded {
    browser: Browser,
    made: Value,
    tenant: Tenant,
    server: Server,
}

/// A shop's page that runs `before` and mounts the checkout with these options; what its callbacks
/// get goes into `told`.
fn embedded(before: &str, options: &str) -> Embedded {
    let server = Server::start();
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let origin = format!("http://127.0.0.1:{}", listener.local_addr().expect("an address").port());
    let tenant = server.tenant_with(json!({ "checkout": { "allowedOrigins": [origin] } }));
    let made = session(&tenant);
    let (url, secret) = (server.url(), text(&made, "clientSecret"));
    shop(
        listener,
        format!(
            "<!doctype html><title>Tienda</title><div id=pay></div><script src=\"{url}/checkout.js\"></script><script>
            const told = []; {before}
            Pasarela.mount('#pay', {{ clientSecret: '{secret}', {options} }});
            </script>"
        ),
    );
    let browser = Browser::open(DESKTOP);
    browser.goto(&origin);
    Embedded { browser, made, tenant, server }
}

#[test]
fn a_shop_embeds_the_checkout_and_is_told() {
    let Embedded { server, made, browser, tenant: _ } = embedded(
        "const heard = []; addEventListener('message', (event) => heard.push([event.origin, event.data]));",
        "onPaid: (it) => told.push(['paid', it.sessionId]), onFailed: (it) => told.push(['failed', it.cause, it.sessionId])",
    );
    browser.enter("#pay iframe");
    browser.click("[data-action=choose-c2p]");
    ask_for_key(&browser);
    pay_with(&browser, "99999999");
    browser.wait_for("failed");
    browser.leave();
    browser.wait_until("return told.length === 1");
    browser.picture("embed");
    browser.enter("#pay iframe");
    ask_for_key(&browser);
    pay_with(&browser, "12345678");
    browser.wait_for("paid");
    browser.leave();
    browser.wait_until("return told.length === 2");
    assert_eq!(
        browser.script("return told"),
        json!([["failed", "insufficient_funds", made["id"]], ["paid", made["id"]]])
    );
    let heard = browser.script("return heard");
    assert!(!heard.to_string().contains("_secret_"), "the secret stays where it is");
    assert!(heard.as_array().is_some_and(|heard| {
        heard.iter().all(|each| each[0] == server.url() && each[1]["source"] == "pasarela")
    }));
    let height = browser.script("return document.querySelector('iframe').getBoundingClientRect().height");
    assert!(height.as_f64().is_some_and(|height| height > 300.0), "{height}");
}

#[test]
fn every_way_goes_in_a_frame() {
    let Embedded { tenant, made, browser, server: _server } = embedded(
        "",
        "lang: 'en', onPaid: (it) => told.push(it.sessionId), onFailed: () => told.push('failed')",
    );
    browser.enter("#pay iframe");
    browser.click("[data-action=choose-cop]");
    browser.click("[data-action=channel-qr]");
    browser.find("[data-field=transferKey]");
    let pending = tenant.test.query("/v1/payments", &[("method", "COP")]).expect(200);
    tenant.test.cop_buyer(&pending["items"][0], "decline").expect(200);
    browser.wait_for("failed");
    browser.click("[data-action=choose-usdt]");
    browser.find("[data-field=address]");
    let to = json!({ "address": browser.text("[data-field=address]"), "network": "TRC20", "asset": "USDT" });
    browser.picture("embed-usdt");
    tenant.test.buyer_sends(&to, "25.50");
    browser.wait_for("paid");
    assert!(browser.text("main").contains("Payment received"), "the language stays");
    browser.leave();
    browser.wait_until("return told.length === 2");
    assert_eq!(browser.script("return told"), json!(["failed", made["id"]]));
}

#[test]
fn a_shop_gets_a_token_and_never_a_card() {
    let server = Server::start();
    let (origin, tenant, made) = shop_of(&server, |secret, url| {
        format!(
            "<div id=card></div><script src=\"{url}/checkout.js\"></script><script>const told = []; const heard = []; addEventListener('message', (event) => heard.push(event.data));
            Pasarela.mountCard('#card', {{ clientSecret: '{secret}', onToken: (it) => told.push(it), onError: (it) => told.push(it) }});</script>"
        )
    });
    let browser = Browser::open(DESKTOP);
    browser.goto(&origin);
    browser.enter("#card iframe");
    card(&browser, "4111 1111 1111 1111");
    browser.picture("embed-card");
    // A proxy answers in the server's place: nothing was charged, and the button works again.
    browser.script("const real = window.fetch; window.fetch = async () => { window.fetch = real; return new Response('<h1>Bad Gateway</h1>', { status: 502 }); };");
    browser.click("[data-action=tokenize]");
    browser.wait_until("const net = document.getElementById('net'); return !net.hidden && net.textContent.includes('no se te cobró nada')");
    browser.click("[data-action=tokenize]");
    browser.wait_until("return document.querySelector('form').hidden");
    browser.leave();
    browser.wait_until("return told.length === 1");
    let token = browser.script("return told[0]");
    assert_eq!((text(&token, "cardLast4"), text(&token, "sessionId")), ("1111", text(&made, "id")));
    assert!(!browser.script("return heard").to_string().contains("4111111111111111"));
    let body = json!({ "usdAmount": 10, "card": { "token": token["token"] }, "externalRef": "embedded" });
    let paid = tenant.test.post("/v1/payments/vpos", &body).expect(201);
    assert_eq!(text(&paid, "status"), "COMPLETED");
}

#[test]
fn a_shop_is_told_why_nothing_is_shown() {
    let mut server = Server::start();
    let url = server.url();
    let (origin, _, made) =
        shop_of(&server, |_, url| format!("<div id=pay></div><script src=\"{url}/checkout.js\"></script>"));
    let tenant = server.tenant_with(json!({ "checkout": { "allowedOrigins": ["https://shop.example"] } }));
    let elsewhere = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(&origin);
    let cause = |target: &str, secret: &str, wanted: &str| {
        browser.script(&format!("window.told = []; Pasarela.mount('{target}', {{ clientSecret: '{secret}', onError: ({{ cause }}) => told.push(cause) }});"));
        browser.wait_until(&format!("return told.length === 1 && told[0] === '{wanted}'"));
    };
    let (mine, theirs) = (text(&made, "clientSecret"), text(&elsewhere, "clientSecret"));
    cause("#nothing", mine, "element_not_found");
    cause("#pay", "pk_test_demo", "invalid_client_secret");
    cause("#pay", theirs, "origin_not_allowed");
    cause("#pay", &mine.replace(&mine[..8], "00000000"), "session_not_found");
    server.kill();
    cause("#pay", mine, "unreachable");
    assert!(!url.is_empty());
}

#[test]
fn others_may_not_frame_it() {
    let server = Server::start();
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let origin = format!("http://127.0.0.1:{}", listener.local_addr().expect("an address").port());
    let tenant = server.tenant_with(json!({ "checkout": { "allowedOrigins": ["https://shop.example"] } }));
    let made = session(&tenant);
    let address = text(&made, "url");
    shop(
        listener,
        format!(
            "<!doctype html><title>Otra</title><iframe id=whole src=\"{address}\"></iframe><iframe id=embedded src=\"{address}/embed?origin={origin}\"></iframe>"
        ),
    );
    let browser = Browser::open(DESKTOP);
    browser.goto(&origin);
    for frame in ["#whole", "#embedded"] {
        browser.enter(frame);
        assert!(!browser.has("main"), "{frame} shows the checkout");
        browser.leave();
    }
}
