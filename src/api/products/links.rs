//! Payment links (`docs/contract.md, 12.2`). A link is part of its product.

use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, endpoints, run, shown};
use crate::fields::{Fields, Invalid, Kind, kind, read};
use crate::openapi::{kinds, schema, values};
use crate::page::list_json;
use crate::payments::{commission_percent, marketplace_of};
use crate::problem::Problem;
use crate::respond::Reply;
use crate::value::Value;
use crate::web_address::clearable;
use domain::entities::product::{Link, LinkStatus, Product, product_of};
use domain::entities::{Entity, OfKind};
use domain::resources::products;
use domain::resources::products::{LinkChange, NewLink, QUANTITY_MAX, slug};
use domain::values::ids::{EntityId, Id};

pub(crate) const CHAPTER: &str = "Products and links";

/// Slugs that are tried when the one made from the name is taken.
const SUFFIXED: usize = 3;

/// The address of a picture or a page; an empty one clears.
pub(super) fn address<'a>(livemode: bool) -> impl Kind<'a, Option<String>> {
    clearable(livemode).about("https; http to loopback in test mode. Empty clears it.")
}

/// The number of pieces that are bought at once.
pub(crate) fn quantity<'a>() -> impl Kind<'a, u16> {
    let read = |value: Value<'a>| {
        let quantity = value.integer(1..=i64::from(QUANTITY_MAX))?;
        Ok(u16::try_from(quantity).unwrap_or(QUANTITY_MAX))
    };
    kind(read, || schema::integer().range("1", &QUANTITY_MAX.to_string()))
}

endpoints! { CHAPTER;
    CREATE = run!(create), "Create a payment link" => {
        about "The slug is made from the product's name when none is sent. With `merchantId` the sale is a \
            marketplace sale.";
        body_optional "NewPaymentLink";
        example "with a quantity", r#"{"slug":"camisa-lino","allowQuantity":true,"maxQuantity":5}"#;
        answers 201, "PaymentLink", "The link";
        refuses 409, &["slug_taken", "too_many_links", "merchant_inactive"];
    } shows newest;
    LIST = run!(|cx| cx.one(EntityId::product(cx.id("id")?), show_all)), "List a product's links" => {
        answers 200, "PaymentLinkList", "Newest first";
    };
    READ = run!(read), "Read a payment link" => { answers 200, "PaymentLink", "The link"; };
    UPDATE = run!(update), "Change a payment link" => {
        body "PaymentLinkChange";
        example "disable", r#"{"status":"disabled"}"#;
        answers 200, "PaymentLink", "The link";
    } shows one;
    DELETE = run!(delete), "Delete a payment link" => {
        answers_with 200, deleted_schema(), "It is gone";
        refuses 409, &["product_has_sales"];
    } shows deleted;
}

async fn create(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let (given, link) = read_new(Fields::parse_optional(&cx.body)?, cx.caller.livemode())?;
    let fresh: Vec<Id> = (0..SUFFIXED).map(|_| cx.env.new_id()).collect();
    let product = EntityId::product(id);
    let found = cx.find(|records| Ok(records.entity(product)?.ok_or_else(Problem::not_found)?))?;
    let slug = cx.server.free_slug(slugs(&found, given, &fresh)).await?;
    cx.ask(product, products::Command::AddLink(Box::new(NewLink { slug, ..link }))).await
}

/// Reads the body of a new link: the slug that is wished for, and the link without one.
pub(super) fn read_new(mut fields: Fields<'_>, livemode: bool) -> Result<(Option<String>, NewLink), Invalid> {
    let wished =
        kind(|value: Value<'_>| value.text_as(slug::parse), || schema::text().pattern("^[a-z0-9-]{3,64}$"));
    Ok(read!(fields {
        optional given = "slug", wished;
        optional allow_quantity = "allowQuantity", kinds::boolean().default("false") => allow_quantity.unwrap_or(false);
        optional max_quantity = "maxQuantity", quantity() => max_quantity.unwrap_or(QUANTITY_MAX);
        optional redirect_url = "redirectUrl", address(livemode) => redirect_url.flatten();
        got marketplace = marketplace_of(&mut fields, kinds::id(), commission_percent());
    } => (given, NewLink { slug: None, allow_quantity, max_quantity, redirect_url, marketplace })))
}

/// The slugs to try for a link of this product, in order: the given one alone, or the one made from
/// the name and the same with a suffix.
pub fn slugs(product: &Entity, given: Option<String>, fresh: &[Id]) -> Vec<String> {
    let (None, Entity::Product(product)) = (&given, product) else { return given.into_iter().collect() };
    let made = slug::of_name(&product.name);
    let suffixed: Vec<String> = fresh.iter().map(|id| slug::with_suffix(&made, *id)).collect();
    std::iter::once(made).chain(suffixed).collect()
}

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = link_id(cx)?;
    cx.read(|records| {
        let found = records.entity(product_of(id))?;
        let product = found.as_deref().and_then(Product::of).ok_or_else(Problem::not_found)?;
        let link = product.link(id).ok_or_else(Problem::not_found)?;
        Ok(show(product, link))
    })
}

async fn update(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = link_id(cx)?;
    let change = read_change(Fields::parse(&cx.body)?, cx.caller.livemode())?;
    cx.ask(product_of(id), products::Command::ChangeLink(id, Box::new(change))).await
}

pub(super) fn read_change(mut fields: Fields<'_>, livemode: bool) -> Result<LinkChange, Invalid> {
    fields.changes();
    Ok(read!(fields {
        optional status = "status", kinds::named_one(LinkStatus::ALL, LinkStatus::name);
        optional allow_quantity = "allowQuantity", kinds::boolean();
        optional max_quantity = "maxQuantity", quantity();
        optional redirect_url = "redirectUrl", address(livemode);
    } => LinkChange { status, allow_quantity, max_quantity, redirect_url }))
}

async fn delete(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = link_id(cx)?;
    cx.ask(product_of(id), products::Command::DeleteLink(id)).await
}

/// The id of a link in the path; a product's own id is a 404.
fn link_id(cx: &Context<'_>) -> Result<Id, Problem> {
    let id = cx.id("id")?;
    if id.entity_and_operation().1 == 0 { Err(Problem::not_found()) } else { Ok(id) }
}

fn newest(facts: &Facts<'_>) -> Option<Rendered> {
    let product: &Product = facts.the()?;
    Some((201, show(product, product.links.last()?)))
}

fn one(facts: &Facts<'_>) -> Option<Rendered> {
    let product: &Product = facts.the()?;
    Some((200, show(product, product.link(facts.about?)?)))
}

pub fn has(product: &Entity, id: Id) -> bool {
    Product::of(product).is_some_and(|product| product.link(id).is_some())
}

fn show_all(product: &Product) -> Vec<u8> {
    list_json(product.links.iter().rev().map(|link| show(product, link)))
}

shown! {
    pub fn show(product: &Product, link: &Link), schema, 512 {
        plain "id" = link.id, values::uuid();
        constant "object" = "payment_link";
        plain "productId" = product.id, values::uuid();
        plain "slug" = &link.slug, schema::text();
        plain "hostedCheckoutPath" = std::fmt::from_fn(|f| write!(f, "/pay/{}", link.slug)), schema::text();
        plain "status" = link.status.name(), schema::one_of(["active", "disabled"]);
        boolean "allowQuantity" = link.allow_quantity, schema::boolean();
        number "maxQuantity" = link.max_quantity, schema::integer();
        maybe text "redirectUrl" = link.redirect_url.as_deref(), schema::text();
        maybe plain "merchantId" = link.marketplace.map(|(merchant, _)| merchant), values::uuid();
        maybe number "applicationFeePercent" = link.marketplace.map(|(_, percent)| percent.0.normalize()), values::figure();
        boolean "livemode" = product.livemode, values::livemode();
        plain "createdAt" = link.created_at, values::instant();
    }
}

shown! {
    pub(crate) fn show_deleted(id: Id), deleted_schema, 64 {
        boolean "deleted" = true, schema::boolean();
        plain "id" = id, values::uuid();
    }
}

/// The answer to the deletion of the product, the link or the endpoint that the path names.
pub(crate) fn deleted(facts: &Facts<'_>) -> Option<Rendered> {
    Some((200, show_deleted(facts.about?)))
}
