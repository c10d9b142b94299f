//! Products and their payment links (`docs/contract.md, 12.1, 12.2`).
//!
//! A product holds its links: one actor decides about all of them, and deleting the product deletes
//! them in the same record. The id of a link is the product's with a number in its lowest bits, so
//! it leads back to the product without an index. Sales are noted in the book, because a sale is a
//! payment's record.
//!
//! Offers and their names belong here. The sale does not: a link opens a checkout
//! session, and that is paid like any other.

pub mod slug;

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::product::{Link, LinkStatus, Product};
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::refusal::{MerchantRefusal, ProductRefusal, Refusal};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Rate, Usd};

/// The largest quantity that a buyer may take through a link.
pub const QUANTITY_MAX: u16 = 999;

/// The largest number of links of a product: they are shown and stored with it.
pub const LINKS_MAX: usize = 100;

/// A change of a product: `None` leaves a field, and an inner `None` clears it.
#[derive(Default)]
pub struct ProductChange {
    pub name: Option<String>,
    pub price: Option<Usd>,
    pub description: Option<Option<String>>,
    pub image_url: Option<Option<String>>,
    pub active: Option<bool>,
}

pub struct NewLink {
    /// The slug at the end of the address; `None` when the requested one is taken.
    pub slug: Option<String>,
    pub allow_quantity: bool,
    pub max_quantity: u16,
    pub redirect_url: Option<String>,
    /// The seller, and the percentage that the tenant keeps.
    pub marketplace: Option<(Id, Rate)>,
}

/// A change of a link: `None` leaves a field, and an inner `None` clears it.
#[derive(Default)]
pub struct LinkChange {
    /// The use of the link, if it changes.
    pub status: Option<LinkStatus>,
    pub allow_quantity: Option<bool>,
    pub max_quantity: Option<u16>,
    pub redirect_url: Option<Option<String>>,
}

/// Changes the fields that are given.
fn change(product: &Product, ask: ProductChange, turn: &Turn) -> Ruling {
    let mut changed = product.clone();
    changed.name = ask.name.unwrap_or(changed.name);
    changed.price = ask.price.unwrap_or(changed.price);
    changed.description = ask.description.unwrap_or(changed.description);
    changed.image_url = ask.image_url.unwrap_or(changed.image_url);
    changed.active = ask.active.unwrap_or(changed.active);
    written(Cause::ProductChanged, product, changed, turn)
}

/// Deletes the product with its links, unless something of it was sold.
fn delete(book: &Book, product: &Product) -> Ruled {
    if book.sold.contains(&product.id) {
        return Err(ProductRefusal::HasSales.into());
    }
    let mut draft = Draft::new(Cause::ProductDeleted);
    draft.record.freed = product.links.iter().map(|link| link.slug.clone()).collect();
    draft.remove(EntityId::product(product.id), product);
    Ok(Ruling::write(draft))
}

/// Adds a link. Refusals are in the order of `docs/contract.md, 1.12`.
fn add_link(book: &Book, product: &Product, new: NewLink, turn: &Turn) -> Ruled {
    if sellers::is_unknown(book, new.marketplace) {
        return Err(Refusal::NotFound);
    }
    if let Some((merchant, percent)) = new.marketplace {
        if percent < book.tenant_settings.settings.fees.link_percent {
            let message =
                "must be at least the operator's share of sales through links, which comes out of it";
            return Err(Refusal::Invalid { field: "applicationFeePercent", message });
        }
        if book.sellers.get(&merchant).is_some_and(|seller| !seller.active) {
            return Err(MerchantRefusal::Inactive.into());
        }
    }
    let slug = new.slug.ok_or(ProductRefusal::SlugTaken)?;
    let number = product.last_link.checked_add(1).filter(|_| product.links.len() < LINKS_MAX);
    let number = number.ok_or(ProductRefusal::TooManyLinks)?;
    let mut changed = product.clone();
    changed.last_link = number;
    changed.links.push(Link {
        id: product.id.operation(number),
        slug,
        status: LinkStatus::Active,
        allow_quantity: new.allow_quantity,
        max_quantity: new.max_quantity,
        redirect_url: new.redirect_url,
        marketplace: new.marketplace,
        created_at: turn.now,
    });
    Ok(written(Cause::LinkCreated, product, changed, turn))
}

/// Changes the fields of a link that are given.
fn change_link(product: &Product, id: Id, ask: LinkChange, turn: &Turn) -> Ruled {
    let mut changed = product.clone();
    let link = changed.links.iter_mut().find(|link| link.id == id).ok_or(Refusal::NotFound)?;
    link.status = ask.status.unwrap_or(link.status);
    link.allow_quantity = ask.allow_quantity.unwrap_or(link.allow_quantity);
    link.max_quantity = ask.max_quantity.unwrap_or(link.max_quantity);
    if let Some(redirect_url) = ask.redirect_url {
        link.redirect_url = redirect_url;
    }
    Ok(written(Cause::ProductChanged, product, changed, turn))
}

/// Deletes a link, unless something was sold through it; its slug is free again.
fn delete_link(book: &Book, product: &Product, id: Id, turn: &Turn) -> Ruled {
    let link = product.link(id).ok_or(Refusal::NotFound)?;
    if book.sold.contains(&id) {
        return Err(ProductRefusal::HasSales.into());
    }
    let slug = link.slug.clone();
    let mut changed = product.clone();
    changed.links.retain(|link| link.id != id);
    let mut outcome = written(Cause::LinkDeleted, product, changed, turn);
    if let Some(draft) = &mut outcome.record {
        draft.record.freed = vec![slug];
    }
    Ok(outcome)
}

fn written(cause: Cause, before: &Product, changed: Product, turn: &Turn) -> Ruling {
    if changed == *before {
        return Ruling::unchanged();
    }
    Ruling::write(Draft::changed(cause, before, Product { updated_at: turn.now, ..changed }))
}

pub enum Command {
    /// A new product; its mode and its instants are filled in.
    Create(Box<Product>),
    Change(Box<ProductChange>),
    /// A request to delete a product, with its links.
    Delete,
    AddLink(Box<NewLink>),
    ChangeLink(Id, Box<LinkChange>),
    DeleteLink(Id),
}

pub fn decide(book: &Book, product: Option<&Product>, command: Command, turn: &Turn<'_>) -> Ruled {
    match (command, product) {
        (Command::Create(new), None) => {
            let (livemode, now) = (turn.livemode, turn.now);
            let product = Product { livemode, created_at: now, updated_at: now, ..*new };
            Ok(Ruling::write(Draft::created(Cause::ProductCreated, product)))
        }
        (Command::Change(ask), Some(product)) => Ok(change(product, *ask, turn)),
        (Command::Delete, Some(product)) => delete(book, product),
        (Command::AddLink(new), Some(product)) => add_link(book, product, *new, turn),
        (Command::ChangeLink(link, ask), Some(product)) => change_link(product, link, *ask, turn),
        (Command::DeleteLink(link), Some(product)) => delete_link(book, product, link, turn),
        (Command::Create(_), Some(_)) | (_, None) => Err(Refusal::NotFound),
    }
}
