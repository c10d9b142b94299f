//! Cards that a page took from a buyer: charged in the session, or made a token of that the shop
//! charges (`docs/contract.md, 12.12`).

use crate::checkout::send;
use crate::harness::buyers::{Page, of, session};
use crate::harness::check::{race, text};
use crate::harness::client::Answer;
use crate::harness::flows::{UNKNOWN, fresh, merchant_body, merged};
use crate::harness::server::Server;
use serde_json::{Value, json};

const CARD: &str = "4111111111111111";

fn card(over: Value) -> Value {
    let card = json!({ "number": CARD, "expMonth": 12, "expYear": 2030, "cvv": "123", "holderName": "Ana Pérez", "holderId": "V12345678" });
    merged(card, over)
}

impl Page {
    /// Pays by card.
    fn card(&self, over: Value) -> Answer {
        self.api.post(&format!("{}/card", self.base), &json!({ "card": card(over) }))
    }

    /// Makes a token of a card.
    #[track_caller]
    fn token(&self, over: Value) -> Value {
        let body = json!({ "card": card(over), "tokenize": true });
        self.api.post(&format!("{}/card", self.base), &body).expect(201)
    }
}

fn with_token(token: &Value, external_ref: &str) -> Value {
    json!({ "usdAmount": 10, "card": { "token": token["token"] }, "externalRef": external_ref })
}

#[test]
fn a_session_is_paid_by_card_after_a_decline() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({ "reference": "P-7" }));
    let page = Page::of(&server, &made);
    let declined = page.card(json!({ "number": "4000000000000002" })).expect(200);
    assert_eq!(
        (text(&declined, "status"), text(&declined, "attemptStatus"), text(&declined, "failureCode")),
        ("open", "FAILED", "card_declined")
    );
    let paid = page.card(json!({})).expect(200);
    assert_eq!((text(&paid, "status"), text(&paid, "attemptStatus")), ("paid", "COMPLETED"));
    assert_eq!(of(&tenant, &made)["paymentId"], paid["paymentId"]);
    let payment = tenant.test.get(&format!("/v1/payments/{}", text(&paid, "paymentId"))).expect(200);
    assert_eq!((text(&payment, "method"), text(&payment, "cardLast4")), ("VPOS", "1111"));
    assert_eq!(payment["checkoutSession"]["reference"], "P-7");
    page.card(json!({})).refused(409, "session_paid");
    tenant.test.assert_books("1970.00", "1970.00", "0.00");
    let listed = tenant.test.query("/v1/payments", &[("externalRef", text(&made, "id"))]).expect(200);
    let statuses: Vec<_> =
        listed["items"].as_array().expect("a list").iter().map(|one| text(one, "status")).collect();
    assert_eq!(statuses, ["COMPLETED", "FAILED"], "the attempts are one chain");
}

#[test]
fn a_card_takes_the_place_of_an_intent_and_waits_for_its_bank() {
    let server = Server::shared();
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({})));
    let intent = page.request(json!({})).expect(201);
    assert_eq!(
        text(&page.card(json!({ "number": "4000000000000119" })).expect(200), "failureCode"),
        "processing_error"
    );
    page.execute(&intent, "12345678").refused(409, "intent_canceled");
    let next = page.request(json!({})).expect(201);
    assert_eq!(text(&page.execute(&next, "77777777").expect(200), "status"), "processing");
    page.card(json!({})).refused(409, "charge_in_progress");
    tenant.test.advance(60);
    page.card(json!({})).refused(409, "session_paid");
    tenant.test.assert_books("1970.00", "1970.00", "0.00");
}

#[test]
fn what_is_wrong_with_a_card_is_named() {
    let server = Server::shared();
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({})));
    for (over, field) in [
        (json!({ "number": "4111111111111112" }), "card.number"),
        (json!({ "expYear": 2020 }), "card.expYear"),
        (json!({ "expMonth": 13 }), "card.expMonth"),
        (json!({ "cvv": "12" }), "card.cvv"),
        (json!({ "holderName": " " }), "card.holderName"),
        (json!({ "holderId": "12" }), "card.holderId"),
        (json!({ "pin": "1" }), "card.pin"),
    ] {
        page.card(over).names(&[field]);
    }
    let named = page.api.post(&format!("{}/card", page.base), &json!({ "tokenize": "yes" }));
    named.names(&["card", "tokenize"]);
    page.api.post(&format!("{}/card", page.base), &json!({})).names(&["card"]);
    let stranger = server.nobody().post(&format!("{}/card", page.base), &json!({ "card": card(json!({})) }));
    stranger.refused(401, "unauthorized");
}

#[test]
fn a_token_is_charged_once_and_a_repeat_is_a_repeat() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    let token = page.token(json!({ "number": "5555555555554444" }));
    assert_eq!(
        (text(&token, "object"), text(&token, "cardBrand"), text(&token, "cardLast4")),
        ("card_token", "mastercard", "4444")
    );
    assert_eq!(
        (&token["expMonth"], &token["expYear"], &token["livemode"]),
        (&json!(12), &json!(2030), &json!(false))
    );
    let external_ref = fresh("token");
    let charged = tenant.test.post("/v1/payments/vpos", &with_token(&token, &external_ref)).expect(201);
    assert_eq!((text(&charged, "status"), text(&charged, "cardLast4")), ("COMPLETED", "4444"));
    // The card is gone, and the request is known all the same.
    assert_eq!(
        tenant.test.post("/v1/payments/vpos", &with_token(&token, &external_ref)).expect(200),
        charged
    );
    let other = with_token(&page.token(json!({})), &external_ref);
    assert_eq!(
        tenant.test.post("/v1/payments/vpos", &other).refused(409, "external_ref_conflict")["differs"],
        json!(["card"])
    );
    tenant
        .test
        .post("/v1/payments/vpos", &with_token(&token, &fresh("token")))
        .refused(410, "card_token_gone");
    // The session is as it was: what the shop charges is the shop's own payment.
    assert_eq!(text(&page.state(), "status"), "open");
    tenant.test.assert_books("1970.00", "1970.00", "0.00");
}

#[test]
fn ten_at_once_have_one_card() {
    let server = Server::shared();
    let tenant = server.tenant();
    let token = Page::of(&server, &session(&tenant, json!({}))).token(json!({}));
    let mut statuses = race(10, |n| {
        tenant.test.post("/v1/payments/vpos", &with_token(&token, &fresh(&format!("once-{n}")))).status
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![201], vec![410; 9]].concat());
    tenant.test.assert_books("1970.00", "1970.00", "0.00");
}

/// The body with more members.
fn with_token_and(token: &Value, external_ref: &str, over: Value) -> Value {
    merged(with_token(token, external_ref), over)
}

#[test]
fn a_refusal_leaves_the_token_good() {
    let server = Server::shared();
    let tenant = server.tenant();
    let token = Page::of(&server, &session(&tenant, json!({}))).token(json!({}));
    let vpos = |body: &Value| tenant.test.post("/v1/payments/vpos", body);
    let of = |seller: &str| {
        with_token_and(
            &token,
            &fresh("refused"),
            json!({ "merchantId": seller, "applicationFeePercent": 10 }),
        )
    };
    vpos(&of(UNKNOWN)).refused(404, "not_found");
    let seller = tenant.test.post("/v1/merchants", &merchant_body()).expect(201);
    let path = format!("/v1/merchants/{}", text(&seller, "merchantId"));
    tenant.test.patch(&path, &json!({ "isActive": false })).expect(200);
    vpos(&of(text(&seller, "merchantId"))).refused(409, "merchant_inactive");
    let charged = vpos(&with_token(&token, &fresh("charged"))).expect(201);
    assert_eq!(text(&charged, "status"), "COMPLETED");
    vpos(&with_token(&token, &fresh("again"))).refused(410, "card_token_gone");
    tenant.test.assert_books("1970.00", "1970.00", "0.00");
}

#[test]
fn a_token_outlives_a_refusal_of_another_charge_at_once() {
    let server = Server::shared();
    let tenant = server.tenant();
    for _ in 0..10 {
        let token = Page::of(&server, &session(&tenant, json!({}))).token(json!({}));
        // One of the two is refused by a rule; the other is charged, whichever of them came first.
        let statuses = race(2, |n| {
            let over = match n {
                0 => json!({ "merchantId": UNKNOWN, "applicationFeePercent": 10 }),
                _ => json!({}),
            };
            let body = with_token_and(&token, &fresh(&format!("two-{n}")), over);
            tenant.test.post("/v1/payments/vpos", &body).status
        });
        assert!(statuses == [404, 201] || statuses == [410, 201], "{statuses:?}");
    }
}

#[test]
fn a_token_is_of_one_account_and_of_nobody_else() {
    let server = Server::shared();
    let (mine, other) = (server.tenant(), server.tenant());
    let token = Page::of(&server, &session(&mine, json!({}))).token(json!({}));
    let body = with_token(&token, &fresh("theirs"));
    other.test.post("/v1/payments/vpos", &body).names(&["card.token"]);
    let changed = format!("{}A", text(&token, "token"));
    for wrong in ["", "card_", "4111111111111111", &changed] {
        let body = with_token(&json!({ "token": wrong }), &fresh("wrong"));
        mine.test.post("/v1/payments/vpos", &body).names(&["card.token"]);
    }
    let mut both = with_token(&token, &fresh("both"));
    both["card"]["number"] = json!(CARD);
    mine.test.post("/v1/payments/vpos", &both).names(&["card.number"]);
    mine.test.post("/v1/payments/vpos", &body).expect(201);
}

#[test]
fn a_restart_loses_tokens_and_no_card_was_ever_on_the_disk() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({})));
    let (used, lost) = (page.token(json!({})), page.token(json!({})));
    let paid = with_token(&used, "paid");
    let first = tenant.test.post("/v1/payments/vpos", &paid).expect(201);
    page.card(json!({})).expect(200);
    for secret in [CARD, text(&used, "token"), text(&lost, "token"), "Ana P"] {
        assert!(!server.has_on_disk(secret.as_bytes()), "{secret} is on the disk");
    }
    server.kill();
    server.restart();
    assert_eq!(tenant.test.post("/v1/payments/vpos", &paid).expect(200), first, "a repeat needs no card");
    tenant.test.post("/v1/payments/vpos", &with_token(&lost, "lost")).refused(410, "card_token_gone");
    assert!(!server.log_tail().contains(CARD));
}

#[test]
fn the_form_of_a_token_charges_nothing() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let shown = server.nobody().get(&format!("/checkout/{}/embed?fields=card", text(&made, "id")));
    // Whatever is in the form, as a browser sends it that has not run the page's script.
    let hidden = shown.text().split("<input type=\"hidden\" name=\"").skip(1).filter_map(|input| {
        let (name, rest) = input.split_once("\" value=\"")?;
        Some((name, rest.split_once('"')?.0))
    });
    let typed = [
        ("cardNumber", "5555555555554444"),
        ("cardExpiry", "12/30"),
        ("cardCvv", "123"),
        ("cardName", "Ana Perez"),
        ("holderId", "V12345678"),
    ];
    let sent: Vec<(&str, &str)> = hidden.chain(typed).collect();
    assert!(sent.contains(&("secret", text(&made, "clientSecret"))), "{}", shown.text());
    let refused = send(&server, &format!("/checkout/{}/card", text(&made, "id")), &sent, &[]);
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("JavaScript") && !refused.text().contains("4444"));
    assert_eq!(text(&of(&tenant, &made), "status"), "open");
    tenant.test.assert_books("0.00", "0.00", "0.00");
    // Until the script has run, there is nothing to press.
    assert!(shown.text().contains("type=\"submit\" disabled"), "{}", shown.text());
}

#[test]
fn a_session_that_is_over_takes_no_token() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    let places = ["embed?fields=card", "embed/check?fields=card&origin=https://shop.example"];
    let look = |place: &str| server.nobody().get(&format!("{}/{place}", page.base));
    assert_eq!(look(places[0]).status, 200);
    page.card(json!({})).expect(200);
    assert_eq!(look(places[0]).status, 404);
    assert_eq!(look(places[1]).expect(200)["cause"], "session_not_found");
}

#[test]
fn a_card_is_charged_no_more_than_its_page_said() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    let seen = page.state();
    assert_eq!(text(&seen, "amountVes"), "2000.00");
    let rate = |price: &str| {
        let body = json!({ "pair": "USD/VES", "source": "bcv", "side": "MID", "price": price });
        server.admin().post("/admin/rates", &body).expect(201);
    };
    let shown = server.nobody().get(&format!("{}?method=card", page.base));
    let hidden = format!("name=\"quote\" value=\"{}\"", text(&seen, "quote"));
    assert!(shown.text().contains(&hidden), "{}", shown.text());
    let form = |quote: &str| {
        let path = format!("{}/card", page.base);
        let typed = [
            ("secret", text(&made, "clientSecret")),
            ("quote", quote),
            ("cardNumber", CARD),
            ("cardExpiry", "12/30"),
            ("cardCvv", "123"),
            ("cardName", "Ana Perez"),
            ("holderId", "V12345678"),
        ];
        send(&server, &path, &typed, &[])
    };
    rate("210.00000000");
    let body = |quote: &Value| json!({ "card": card(json!({})), "quote": quote });
    page.api.post(&format!("{}/card", page.base), &body(&seen["quote"])).refused(409, "amount_changed");
    page.api.post(&format!("{}/card", page.base), &body(&json!("210~00"))).names(&["quote"]);
    let refused = form(text(&seen, "quote"));
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert!(refused.text().contains("El total en bolívares subió") && refused.text().contains("2.100,00"));
    assert_eq!(text(&page.state(), "status"), "open");
    // What has fallen is charged as it is now.
    let shown = page.state();
    rate("190.00000000");
    assert_eq!(
        page.api.post(&format!("{}/card", page.base), &body(&shown["quote"])).expect(200)["status"],
        "paid"
    );
    let paid = tenant.test.get(&format!("/v1/payments/{}", text(&page.state(), "paymentId"))).expect(200);
    assert_eq!(paid["vesAmount"], 1900.0);
    assert_eq!(form("200").status, 303, "and a paid one shows its page");
}

#[test]
fn cards_cannot_be_tried_out() {
    let server = Server::shared();
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({})));
    for _ in 0..10 {
        page.card(json!({ "number": "4000000000000002" })).expect(200);
    }
    page.card(json!({})).refused(429, "rate_limited");
    // Another session of the same shop does not help.
    Page::of(&server, &session(&tenant, json!({}))).card(json!({})).refused(429, "rate_limited");
    tenant.test.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn a_form_pays_by_card_and_never_shows_the_number_again() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let path = format!("/checkout/{}/card", text(&made, "id"));
    let form = |number: &'static str, expiry: &'static str| {
        [
            ("secret", text(&made, "clientSecret")),
            ("cardNumber", number),
            ("cardExpiry", expiry),
            ("cardCvv", "987"),
            ("cardName", "Ana Pérez"),
            ("holderId", "V-12.345.678"),
        ]
    };
    let wrong = send(&server, &path, &form("4111 1111 1111 1112", "1/20"), &[]);
    assert_eq!(wrong.status, 400);
    let html = wrong.text();
    assert!(html.contains("13 a 19 dígitos") && html.contains("MM/AA") && html.contains("Ana Pérez"));
    assert!(!html.contains("1111 1111") && !html.contains("\"987\""), "what is secret is not shown again");
    let paid = send(&server, &path, &form("4111 1111 1111 1111", "12/30"), &[]);
    assert_eq!(paid.status, 303, "{}", paid.text());
    assert_eq!(text(&of(&tenant, &made), "status"), "paid");
}

#[test]
fn a_key_that_ends_while_it_charges_a_token_has_charged_it_or_left_it_good() {
    let server = Server::shared();
    for ms in 0..12 {
        let tenant = server.tenant();
        let token = Page::of(&server, &session(&tenant, json!({}))).token(json!({}));
        let made = tenant.test.post("/v1/keys", &json!({})).expect(201);
        let other = server.api(text(&made, "key"));
        let charged = std::thread::scope(|scope| {
            let charging =
                scope.spawn(|| other.post("/v1/payments/vpos", &with_token(&token, &fresh("ending"))).status);
            std::thread::sleep(std::time::Duration::from_millis(ms));
            tenant.test.delete(&format!("/v1/keys/{}", text(&made, "keyId"))).expect(200);
            charging.join().expect("no panic")
        });
        let next = tenant.test.post("/v1/payments/vpos", &with_token(&token, &fresh("after"))).status;
        assert!([(201, 410), (401, 201)].contains(&(charged, next)), "{charged}, {next}");
    }
}
