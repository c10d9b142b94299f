//! Payment links: the list, making one, and one with its QR code, to be printed.

use super::{Here, Made, may};
use crate::pages::inside::{Refused, segment};
use crate::pages::qr;
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Cell, Input, Kind, Note, Page, Qr, Row, Tone};
use api::problem::Problem;
use domain::platform::Scope;
use domain::resources::products::slug;
use serde_json::{Map, Value, json};

const HERE: &str = "/portal/links";
const PRODUCTS: &str = "20";

/// However the API calls it.
pub fn id_of<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name].as_str().or(of["id"].as_str()).unwrap_or_default()
}

fn address(visit: &Here<'_>, link: &Value) -> String {
    format!("{}{}", visit.services.site.base_url, str_of(link, "hostedCheckoutPath"))
}

pub async fn list(visit: &Here<'_>) -> Made {
    let language = visit.language;
    let (products, next) = visit.list("/v1/products", HERE, &[], PRODUCTS).await?;
    let (mut rows, mut names) = (Vec::new(), Vec::new());
    for product in items(&products) {
        let id = id_of(product, "productId");
        names.push((id.to_owned(), str_of(product, "name").to_owned()));
        let links = visit.inside.get(&format!("/v1/products/{}/links", segment(id))).await?;
        for link in items(&links) {
            let cells = vec![
                Cell::text(str_of(product, "name")).to(format!("/portal/links/{}", id_of(link, "linkId"))),
                show::cell(language, "priceUsd", &product["priceUsd"]),
                Cell::code(address(visit, link)),
                show::cell(language, "status", &link["status"]),
                show::cell(language, "createdAt", &link["createdAt"]),
            ];
            rows.push(Row::new(cells).status(str_of(link, "status")));
        }
    }
    let mut page = Page::new("links", visit.say("Enlaces de pago", "Payment links")).maybe(visit.done());
    if may(visit, Scope::Manage) {
        page = page.with(form(visit, names));
    }
    let table = visit.table(
        ["Enlaces de pago", "Payment links"],
        "Producto, Precio (US$), Dirección, Estado, Creado",
        "Product, Price (US$), Address, State, Created",
    );
    Ok(page.with(table.rows(rows).next(next)))
}

fn form(visit: &Here<'_>, names: Vec<(String, String)>) -> view::Form {
    let say = |spanish, english| visit.say(spanish, english);
    let mut products = vec![(String::new(), say("Un producto nuevo", "A new product").to_owned())];
    products.extend(names);
    let of_new = say("(de un producto nuevo)", "(of a new product)");
    let input = |name, label: &str| Input::new(name, label).value(visit.typed(HERE, name));
    view::Form::new(HERE, "create-link", say("Crear el enlace", "Create the link"))
        .title(say("Nuevo enlace", "New link"))
        .input(input("productId", say("Producto", "Product")).kind(Kind::Choice).options(products).optional())
        .input(input("name", say("Nombre del producto", "Name of the product")).needed(of_new))
        .input(
            input("priceUsd", say("Precio en dólares", "Price in dollars"))
                .hint(say(
                    "Por ejemplo, 25,50. El comprador paga en bolívares, pesos o USDT.",
                    "Such as 25.50. The buyer pays in bolívares, pesos or USDT.",
                ))
                .needed(of_new),
        )
        .input(
            input("slug", say("Final de la dirección", "End of the address"))
                .hint(say(
                    "Por ejemplo, camisa-de-lino. Si lo dejas vacío, se forma con el nombre.",
                    "For example, linen-shirt. If you leave it empty, it is made from the name.",
                ))
                .optional(),
        )
}

pub async fn create(visit: &Here<'_>) -> Result<Shown, Problem> {
    let (refused, product) = match created(visit).await {
        Ok(link) => return Ok(Shown::See(format!("{HERE}/{}?done=link", id_of(&link, "linkId")))),
        Err(not_made) => not_made,
    };
    let mut shown = list(visit).await;
    if let (Ok(page), Some(product)) = (&mut shown, product) {
        // The next try is for the product that is there, so that no second one is made.
        for block in &mut page.blocks {
            if let Block::Form(form) = block {
                form.inputs[0].value.clone_from(&product);
            }
        }
        let said = visit.say(
            "El producto ya quedó creado y está elegido abajo. Falta el enlace: corrígelo y vuelve a intentarlo.",
            "The product has been made and is chosen below. The link is missing: mend it and try again.",
        );
        page.blocks.insert(0, Note::new(Tone::Plain, said).into());
    }
    visit.failed(shown, &refused)
}

/// The link, or why there is none, with the product that was made for it before.
async fn created(visit: &Here<'_>) -> Result<Value, (Refused, Option<String>)> {
    let form = &visit.form;
    let once = form.text("once");
    let slug = form.filled("slug").map(slug::parse).transpose();
    // Before the product, so that a slip of the pen makes none.
    let slug = slug.map_err(|message| (Problem::invalid_field("slug", message).into(), None))?;
    let (product, made) = match form.filled("productId") {
        Some(product) => (product.to_owned(), None),
        None => {
            let price = visit.language.typed(form.text("priceUsd"), 2);
            let body = json!({ "name": form.text("name"), "priceUsd": price });
            let product = visit.inside.post("/v1/products", &body, &key(once, "product")).await;
            let product = product.map_err(|refused| (refused, None))?;
            let id = id_of(&product, "productId").to_owned();
            (id.clone(), Some(id))
        }
    };
    let mut body = Map::new();
    body.extend(slug.map(|slug| ("slug".to_owned(), slug.into())));
    let path = format!("/v1/products/{}/links", segment(&product));
    let link = visit.inside.post(&path, &Value::Object(body), &key(once, "link")).await;
    link.map_err(|refused| (refused, made))
}

/// One of the two calls of a form; none for a form that has none.
fn key(once: &str, what: &str) -> String {
    if once.is_empty() { String::new() } else { format!("{once}-{what}") }
}

pub async fn one(visit: &Here<'_>) -> Made {
    let link = visit.inside.get(&format!("/v1/payment-links/{}", segment(visit.id()))).await?;
    let url = &address(visit, &link);
    let product = visit
        .inside
        .find(&format!("/v1/products/{}", segment(str_of(&link, "productId"))))
        .await?
        .unwrap_or_default();
    let mut page = Page::new("links", str_of(&product, "name"))
        .status(str_of(&link, "status"))
        .maybe(visit.done())
        .with(show::facts(visit.language, &product, &["name", "description", "priceUsd"]));
    if url.contains("/pay/") {
        page = page.with(Qr { label: url.clone(), drawing: qr::drawing(url) });
        page = page.with(visit.code("url", ["Dirección del enlace", "Address of the link"], url.clone()));
    }
    Ok(page)
}
