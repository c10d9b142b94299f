//! Commands to products and their payment links, and the rule that answers each.

use super::{
    LinkChange, NewLink, NewProduct, ProductChange, add_link, change, change_link, create, delete,
    delete_link,
};
use crate::decision::{Ruling, Turn};
use crate::entities::product::Product;
use crate::ledger::book::Book;
use crate::refusal::Refusal;
use crate::values::ids::Id;

pub enum Command {
    Create(Box<NewProduct>),
    Change(Box<ProductChange>),
    /// A request to delete a product, with its links.
    Delete,
    AddLink(Box<NewLink>),
    ChangeLink(Id, Box<LinkChange>),
    DeleteLink(Id),
}

pub fn decide(book: &Book, product: Option<&Product>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, product) {
        (Command::Create(new), None) => create(*new, turn),
        (Command::Change(ask), Some(product)) => change(product, *ask, turn),
        (Command::Delete, Some(product)) => delete(book, product),
        (Command::AddLink(new), Some(product)) => add_link(book, product, *new, turn),
        (Command::ChangeLink(link, ask), Some(product)) => change_link(product, link, *ask, turn),
        (Command::DeleteLink(link), Some(product)) => delete_link(book, product, link, turn),
        (Command::Create(_), Some(_))
        | (
            Command::Change(_)
            | Command::Delete
            | Command::AddLink(_)
            | Command::ChangeLink(..)
            | Command::DeleteLink(_),
            None,
        ) => Ruling::refuse(Refusal::NotFound),
    }
}
