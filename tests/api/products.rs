//! Products and payment links (`docs/contract.md, 12.1, 12.2`).

use crate::harness::check::{list, race, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{UNKNOWN, fresh, merged, number};
use crate::harness::server::Server;
use serde_json::{Value, json};

/// A product of 10 dollars; members of `over` are added or replaced.
fn product(api: &Api, over: Value) -> Value {
    api.post("/v1/products", &merged(json!({ "name": fresh("Café Ñandú"), "priceUsd": "10.00" }), over))
        .expect(201)
}

fn link(api: &Api, product: &Value, body: Value) -> Answer {
    api.post(&format!("/v1/products/{}/links", text(product, "id")), &body)
}

#[test]
fn a_product_has_every_member_and_changes_in_part() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let made = product(
        api,
        json!({ "name": "  Café  ", "priceUsd": "10.5", "description": "molido", "imageUrl": "https://shop.example/c.png" }),
    );
    assert_eq!(
        (text(&made, "object"), text(&made, "name"), text(&made, "priceUsd")),
        ("product", "Café", "10.50")
    );
    assert_eq!(
        (&made["active"], &made["links"], &made["livemode"]),
        (&json!(true), &json!([]), &json!(false))
    );
    let path = format!("/v1/products/{}", text(&made, "id"));
    assert_eq!(api.get(&path).expect(200), made);
    let changed =
        api.patch(&path, &json!({ "description": "", "imageUrl": "", "priceUsd": "11" })).expect(200);
    assert_eq!(
        (&changed["description"], &changed["imageUrl"], text(&changed, "priceUsd")),
        (&Value::Null, &Value::Null, "11.00")
    );
    assert_eq!(text(&changed, "name"), "Café", "what is not named stays");
    api.patch(&path, &json!({})).refused(400, "invalid_data");
    api.patch(&path, &json!({ "price": "1.00" })).refused(400, "invalid_data");
    for name in ["name", "priceUsd", "description", "imageUrl", "active"] {
        api.patch(&path, &json!({ name: null })).names(&["body"]);
    }
    let off = api.patch(&path, &json!({ "active": false })).expect(200);
    assert_eq!(api.query("/v1/products", &[("active", "true")]).expect(200)["items"], json!([]));
    assert_eq!(api.query("/v1/products", &[("active", "false")]).expect(200)["items"], json!([off]));
    assert_eq!(api.delete(&path).expect(200), json!({ "deleted": true, "id": made["id"] }));
    api.get(&path).refused(404, "not_found");
    api.delete(&path).refused(404, "not_found");
}

#[test]
fn bad_products_are_refused_field_by_field() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    for (member, bad) in [
        ("name", json!("")),
        ("name", json!("x".repeat(121))),
        ("priceUsd", json!(10)),
        ("priceUsd", json!("0.00")),
        ("priceUsd", json!("100000.01")),
        ("priceUsd", json!("1.234")),
        ("priceUsd", json!("-1.00")),
        ("priceUsd", json!("01.00")),
        ("imageUrl", json!("http://shop.example/a.png")),
        ("imageUrl", json!("javascript:alert(1)")),
        ("active", json!("true")),
        ("nmae", json!("x")),
    ] {
        let mut body = json!({ "name": "Café", "priceUsd": "10.00" });
        body[member] = bad.clone();
        let answer = api.post("/v1/products", &body).refused(400, "invalid_data");
        assert_eq!(answer["fields"][0]["field"], member, "{bad}");
    }
    let answer = api.post("/v1/products", &json!({})).refused(400, "invalid_data");
    assert_eq!(list(&answer, "fields").len(), 2);
}

#[test]
fn products_are_listed_newest_first_in_pages() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made: Vec<String> =
        (0..7).map(|_| text(&product(&tenant.test, json!({})), "id").to_owned()).collect();
    let listed: Vec<String> = tenant
        .test
        .walk("/v1/products", &[], 3)
        .iter()
        .map(|product| text(product, "id").to_owned())
        .collect();
    assert_eq!(listed, made.into_iter().rev().collect::<Vec<_>>());
    assert_eq!(
        server.tenant().test.get("/v1/products").expect(200)["items"],
        json!([]),
        "another tenant sees none of them"
    );
}

#[test]
fn slugs_come_from_the_name_and_are_unique_over_the_service() {
    let server = Server::shared();
    let (one, other) = (server.tenant(), server.tenant());
    let name = format!("Café Ñandú {}", fresh("x"));
    let (mine, theirs) =
        (product(&one.test, json!({ "name": name })), product(&other.test, json!({ "name": name })));
    let first = link(&one.test, &mine, json!({})).expect(201);
    assert!(text(&first, "slug").starts_with("cafe-nandu-x-"), "{first}");
    assert_eq!(text(&first, "hostedCheckoutPath"), format!("/pay/{}", text(&first, "slug")));
    let second = link(&other.test, &theirs, json!({})).expect(201);
    assert!(
        text(&second, "slug").starts_with(text(&first, "slug")) && second["slug"] != first["slug"],
        "{second}"
    );
    link(&other.test, &theirs, json!({ "slug": first["slug"] })).refused(409, "slug_taken");
    link(&other.live, &theirs, json!({})).refused(403, "live_mode_not_activated");
    for bad in ["ab", "Abc", "a b", "ñandu", &"a".repeat(65)] {
        link(&one.test, &mine, json!({ "slug": bad })).refused(400, "invalid_data");
    }
    // A slug is free again with its link, and with its product.
    let given = fresh("mi-slug");
    let third = link(&one.test, &mine, json!({ "slug": given })).expect(201);
    one.test.delete(&format!("/v1/payment-links/{}", text(&third, "id"))).expect(200);
    let fourth = link(&other.test, &theirs, json!({ "slug": given })).expect(201);
    assert_ne!(third["id"], fourth["id"]);
    other.test.delete(&format!("/v1/products/{}", text(&theirs, "id"))).expect(200);
    other.test.get(&format!("/v1/payment-links/{}", text(&fourth, "id"))).refused(404, "not_found");
    link(&one.test, &mine, json!({ "slug": given })).expect(201);
}

#[test]
fn slugs_have_letters_and_digits_and_signs_are_dashes() {
    let server = Server::shared();
    let api = server.tenant().test;
    // The digits keep them apart from those of other tests.
    let unique = fresh("q").split_once('-').map(|(_, digits)| digits.replace('-', "")).expect("digits");
    for (name, slug) in [
        (format!("Torta 🎂 {unique}"), format!("torta-{unique}")),
        (format!("N° 5 {unique}"), format!("n-5-{unique}")),
        (format!("50% de descuento ✨ {unique}"), format!("50-de-descuento-{unique}")),
        (format!("Cafe\u{301} Sen\u{303}orial {unique}"), format!("cafe-senorial-{unique}")),
        (format!("Café & Té™ {unique}"), format!("cafe-te-{unique}")),
    ] {
        let made = link(&api, &product(&api, json!({ "name": name })), json!({})).expect(201);
        assert_eq!(text(&made, "slug"), slug, "{name}");
    }
}

#[test]
fn one_of_many_gets_a_slug() {
    let server = Server::shared();
    let tenant = server.tenant();
    let slug = fresh("carrera");
    let products: Vec<Value> = (0..8).map(|_| product(&tenant.test, json!({}))).collect();
    let answers = race(8, |n| link(&tenant.test, &products[n], json!({ "slug": slug })));
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert!(answers.iter().filter(|answer| answer.status != 201).all(|answer| answer.status == 409));
}

#[test]
fn a_link_has_every_member_and_changes_in_part() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let product = product(api, json!({}));
    let made = link(
        api,
        &product,
        json!({ "allowQuantity": true, "maxQuantity": 5, "redirectUrl": "http://localhost:3000/gracias" }),
    )
    .expect(201);
    assert_eq!(
        (text(&made, "object"), text(&made, "status"), &made["productId"]),
        ("payment_link", "active", &product["id"])
    );
    assert_eq!(
        (&made["allowQuantity"], &made["maxQuantity"], text(&made, "redirectUrl")),
        (&json!(true), &json!(5), "http://localhost:3000/gracias")
    );
    let path = format!("/v1/payment-links/{}", text(&made, "id"));
    assert_eq!(api.get(&path).expect(200), made);
    let changed =
        api.patch(&path, &json!({ "status": "disabled", "redirectUrl": "", "maxQuantity": 9 })).expect(200);
    assert_eq!(
        (text(&changed, "status"), &changed["redirectUrl"], &changed["maxQuantity"]),
        ("disabled", &Value::Null, &json!(9))
    );
    api.patch(&path, &json!({ "slug": "otro-slug" })).refused(400, "invalid_data");
    api.patch(&path, &json!({ "status": "off" })).refused(400, "invalid_data");
    for name in ["status", "allowQuantity", "maxQuantity", "redirectUrl"] {
        api.patch(&path, &json!({ name: null })).names(&["body"]);
    }
    api.patch(&path, &json!({ "maxQuantity": 1000 })).refused(400, "invalid_data");
    let product_path = format!("/v1/products/{}", text(&product, "id"));
    assert_eq!(api.get(&format!("{product_path}/links")).expect(200)["items"], json!([changed]));
    assert_eq!(api.get(&product_path).expect(200)["links"], json!([changed]));
    assert_eq!(api.delete(&path).expect(200), json!({ "deleted": true, "id": made["id"] }));
    for answer in [
        api.get(&path),
        api.delete(&path),
        api.patch(&path, &json!({ "maxQuantity": 1 })),
        api.get(&format!("/v1/payment-links/{}", text(&product, "id"))),
    ] {
        answer.refused(404, "not_found");
    }
}

#[test]
fn a_link_of_a_seller_leaves_room_for_the_operators_share() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let (product, merchant) = (product(api, json!({})), api.merchant());
    let sale =
        |percent: Value| json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": percent });
    let made = link(api, &product, sale(number("0.5"))).expect(201);
    assert_eq!(
        (&made["merchantId"], made["applicationFeePercent"].to_string().as_str()),
        (&merchant["merchantId"], "0.5")
    );
    let refused = link(api, &product, sale(number("0.4999"))).refused(400, "invalid_data");
    assert_eq!(refused["fields"][0]["field"], "applicationFeePercent");
    link(api, &product, json!({ "applicationFeePercent": 5 })).refused(400, "invalid_data");
    link(api, &product, json!({ "merchantId": UNKNOWN, "applicationFeePercent": 5 }))
        .refused(404, "not_found");
    api.patch(&format!("/v1/merchants/{}", text(&merchant, "merchantId")), &json!({ "isActive": false }))
        .expect(200);
    link(api, &product, sale(json!(5))).refused(409, "merchant_inactive");
}

#[test]
fn a_link_survives_a_restart_and_its_idempotency_key() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let product = product(&tenant.test, json!({}));
    let made = link(&tenant.test.keyed("k-1"), &product, json!({ "slug": fresh("duradero") })).expect(201);
    server.kill();
    server.restart();
    let again = link(&tenant.test.keyed("k-1"), &product, json!({ "slug": made["slug"] }));
    assert_eq!((again.status, again.json()), (201, made.clone()));
    link(&tenant.test, &product, json!({ "slug": made["slug"] })).refused(409, "slug_taken");
}
