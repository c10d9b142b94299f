//! Products and payment links (`docs/contract.md, 12.1, 12.2`).
//!
//! The forms of calls and answers belong here; the rules are in `src/domain/resources/products/`,
//! and the page that a link leads to is in `src/checkout/`.

pub mod links;

use crate::endpoint::{Context, Handler, chapter, run, shown};
use crate::fields::{Fields, Invalid, Kind, kind, read};
use crate::fields::{Got, body};

use crate::openapi::{kinds, schema, values};
use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Reply;
use crate::value::{Bad, Lines, Value};
use domain::entities::product::{Product, facet};
use domain::resources::payments::charge::USD_MAX;
use domain::resources::products::{self, ProductChange};
use domain::values::ids::{EntityId, Id};
use domain::values::money::Usd;
use domain::values::time::Timestamp;
use rust_decimal::Decimal;
use std::borrow::Cow;
use std::str::FromStr;

const NAME_MAX: usize = 120;
const DESCRIPTION_MAX: usize = 1000;

fn price<'a>() -> impl Kind<'a, Usd> {
    kind(read_price, || {
        let decimal = schema::text().pattern(r"^(0|[1-9][0-9]{0,5})(\.[0-9]{1,2})?$");
        decimal.about("US dollars from \"0.01\" to \"100000.00\".")
    })
}

/// Reads a price: `10`, `10.5` and `10.50` are the same.
fn read_price(value: Value<'_>) -> Result<Usd, Bad> {
    const WANTED: &str = "must be a string from \"0.01\" to \"100000.00\" with at most 2 decimals";
    let text = value.string().map_err(|_| WANTED)?;
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let written = digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && whole.len() <= 6
        && digits(fraction)
        && fraction.len() <= 2;
    let price = written.then(|| Decimal::from_str(&text).ok()).flatten().and_then(Usd::exact);
    price.filter(|price| *price > Usd::ZERO && *price <= USD_MAX).ok_or(Bad::from(WANTED))
}

/// A text for buyers; an empty one clears.
fn text_for_buyers<'a>() -> impl Kind<'a, Option<String>> {
    let read = |value: Value<'a>| {
        let text = value.prose(0..=DESCRIPTION_MAX, Lines::Any)?;
        Ok((!text.is_empty()).then(|| text.into_owned()))
    };
    kind(read, || schema::text().chars(0..=DESCRIPTION_MAX))
}

chapter! { links::CHAPTER, "What you sell, and the links under which buyers pay for it at `/pay/{slug}`.", {
        "NewProduct" = body(|fields| read_new(fields, false, Id::from_bytes([0; 16])));
        "ProductChange" = body(|fields| read_change(fields, false));
        "Product" = schema();
        "ProductPage" = page("Product");
        "NewPaymentLink" = body(|fields| links::read_new(fields, false));
        "PaymentLinkChange" = body(|fields| links::read_change(fields, false));
        "PaymentLink" = links::schema()
            .example(r#"{"id":"01975a2e-7c00-7000-8000-000000000121","object":"payment_link",
                "productId":"01975a2e-7c00-7000-8000-000000000120","slug":"camisa-lino",
                "hostedCheckoutPath":"/pay/camisa-lino","status":"active","allowQuantity":true,
                "maxQuantity":5,"redirectUrl":null,"merchantId":null,"applicationFeePercent":null,
                "livemode":false,"createdAt":"2026-11-21T02:13:00.000Z"}"#);
        "PaymentLinkList" = items("PaymentLink");
    }
    CREATE = run!(create), "Create a product" => {
        body "NewProduct";
        example "a shirt", r#"{"name":"Camisa de lino","priceUsd":"25.50","description":"Talla M"}"#;
        answers 201, "Product", "The product";
    } shows |facts| Some((201, show(facts.the()?)));
    LIST = run!(list), "List products" => {
        filters active;
        answers 200, "ProductPage", "Newest first";
    };
    READ = run!(|cx| cx.one(EntityId::product(cx.id("id")?), show)), "Read a product and its links" => {
        answers 200, "Product", "The product";
    };
    UPDATE = run!(update), "Change a product" => {
        about "Only what is sent changes; an empty `description` or `imageUrl` clears it.";
        body "ProductChange";
        example "a new price", r#"{"priceUsd":"27.00"}"#;
        answers 200, "Product", "The product";
    } shows |facts| Some((200, show(facts.the()?)));
    DELETE = run!(|cx| cx.ask(EntityId::product(cx.id("id")?), products::Command::Delete).await),
        "Delete a product and its links" => {
        answers_with 200, links::deleted_schema(), "It is gone";
        refuses 409, &["product_has_sales"];
    } shows links::deleted;
}

async fn create(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.env.new_id();
    let new = read_new(Fields::parse(&cx.body)?, cx.caller.livemode(), id)?;
    cx.make(EntityId::product(id), products::Command::Create(Box::new(new))).await
}

fn read_new(mut fields: Fields<'_>, livemode: bool, id: Id) -> Result<Product, Invalid> {
    Ok(read!(fields {
        required name = "name", kinds::trimmed(1..=NAME_MAX) => name.into_owned();
        required price = "priceUsd", price();
        optional description = "description", text_for_buyers() => description.flatten();
        optional image_url = "imageUrl", links::address(livemode) => image_url.flatten();
        optional active = "active", kinds::boolean().default("true") => active.unwrap_or(true);
    } => Product {
        id,
        name,
        price,
        description,
        image_url,
        active,
        links: Vec::new(),
        last_link: 0,
        livemode,
        created_at: Timestamp::EPOCH,
        updated_at: Timestamp::EPOCH,
    }))
}

fn active(query: &mut Query<'_>) -> Got<Option<bool>> {
    query.optional("active", kinds::boolean())
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (active, page) = cx.listed("products", active)?;
    let facets = [true, false]
        .into_iter()
        .filter(|each| active.is_none_or(|active| active == *each))
        .map(facet)
        .collect();
    cx.page(facets, page, show).await
}

async fn update(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let change = read_change(Fields::parse(&cx.body)?, cx.caller.livemode())?;
    cx.ask(EntityId::product(id), products::Command::Change(Box::new(change))).await
}

fn read_change(mut fields: Fields<'_>, livemode: bool) -> Result<ProductChange, Invalid> {
    fields.changes();
    Ok(read!(fields {
        optional name = "name", kinds::trimmed(1..=NAME_MAX) => name.map(Cow::into_owned);
        optional price = "priceUsd", price();
        optional description = "description", text_for_buyers();
        optional image_url = "imageUrl", links::address(livemode);
        optional active = "active", kinds::boolean();
    } => ProductChange { name, price, description, image_url, active }))
}

shown! {
    pub fn show(product: &Product), schema, 512 {
        plain "id" = product.id, values::uuid();
        constant "object" = "product";
        text "name" = &product.name, schema::text();
        plain "priceUsd" = product.price, values::ves();
        maybe text "description" = product.description.as_deref(), schema::text();
        maybe text "imageUrl" = product.image_url.as_deref(), schema::text();
        boolean "active" = product.active, schema::boolean();
        list "links" = product.links.iter().map(|link| links::show(product, link)),
            schema::list(schema::named("PaymentLink"));
        boolean "livemode" = product.livemode, values::livemode();
        plain "createdAt" = product.created_at, values::instant();
        plain "updatedAt" = product.updated_at, values::instant();
    }
}
