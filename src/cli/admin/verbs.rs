//! The commands of `pasarela admin`, made of the operators' table: a row names them, and their arguments are
//! what the description of the row's endpoint takes.

use crate::admin::routes::rows;
use crate::admin::{Route, document};
use api::openapi::document::Document;
use api::openapi::operation::{Fills, Operand, Verb};
use api::openapi::schema::Schema;
use std::sync::LazyLock;

pub struct Command {
    pub noun: &'static str,
    /// Empty for a noun alone.
    pub verb: &'static str,
    pub about: &'static str,
    /// After `pasarela admin`.
    pub example: String,
    pub method: &'static str,
    /// As in the table, with a parameter that the command sets itself.
    pub path: String,
    /// The names of the path, each with the name of its argument.
    pub ids: Vec<(&'static str, &'static str, &'static str)>,
    pub operand: Option<Operand>,
    pub options: Vec<Opt>,
    pub pages: bool,
}

pub struct Opt {
    /// In the API, which is taken too.
    pub member: &'static str,
    pub long: String,
    pub is: Is,
    pub required: bool,
    pub about: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    Text,
    Json,
    Truth,
    Whole,
    List,
}

/// One is made when none is said, which makes a repetition harmless.
pub const REFERENCE: &str = "externalRef";

pub static ALL: LazyLock<Vec<Command>> = LazyLock::new(|| {
    let document = document();
    let commands = rows().iter().flat_map(|row| row.verbs.iter().map(|verb| command(row, verb, &document)));
    commands.collect()
});

pub const NOUNS: &[(&str, &str)] = &[
    ("tenant", "Tenants"),
    ("key", "API keys"),
    ("chargeback", "Chargebacks of card payments"),
    ("adjustment", "Corrections of a balance"),
    ("cop-payout", "Payouts in pesos"),
    ("crypto-payout", "Review of large payouts in USDT"),
    ("operation", "Orders to banks"),
    ("payment", "Payments of all tenants"),
    ("payout", "Payouts of all tenants"),
    ("conversion", "Conversions of all tenants"),
    ("delivery", "Webhook deliveries of all tenants"),
    ("notice", "Transfers that banks reported by themselves"),
    ("bank", "The bank catalogue"),
    ("statement", "Statements, day by day"),
    ("operator", "Operators, each with a token and a role"),
    ("approval", "Calls that wait for a second operator"),
    ("audit", "The audit, who changed what"),
    ("merchant", "Sellers of any tenant"),
    ("event", "Events of any tenant"),
    ("reconciliation", "Bank statements, compared with the books"),
    ("cluster", "The machines of a cluster"),
    ("clock", "The server's clock"),
    ("rate", "Rates"),
];

/// What the description does not say of a member, because its name says it to a program.
pub const WORDS: &[(&str, &str)] = &[
    ("name", "The name for people"),
    ("settings", "Settings that differ from [tenant_defaults]"),
    ("mandate", "What it takes out at most, and whom it pays"),
    ("overlapSeconds", "For how long the old one works on; 0 if it is missing"),
    ("paymentId", "The payment"),
    ("description", "The purpose of the correction; the tenant sees it"),
    ("bank", "The bank"),
    ("accountNumber", "The account"),
    ("holderName", "The name of its holder"),
    ("documentNumber", "The number of the holder's document"),
    ("reference", "The bank's reference, or that of the checkout session"),
    ("failureCode", "The bank's code"),
    ("reason", "The reason"),
    ("note", "The evidence, or why"),
    ("rail", "Only of this bank"),
    ("tenantId", "The tenant"),
    ("from", "From this day or instant on: 2026-11-01"),
    ("unmatched", "true: only what no payment was verified by"),
    ("hidden", "Whether tenants do not see it"),
    ("logoUrl", "The address of its logo"),
    ("action", "Noun and verb, such as tenant.settings"),
    ("pair", "BASE/QUOTE"),
    ("source", "Whose rate it is"),
    ("side", "BUY, SELL, FLOOR or OFFICIAL"),
    ("method", "How it was made"),
    ("paymentMethod", "For which way of paying"),
];

fn command(row: &'static Route, verb: &Verb, document: &Document) -> Command {
    let (noun, word) = verb.name.split_once(' ').unwrap_or((verb.name, ""));
    let ids: Vec<_> =
        row.path.split('/').filter(|part| part.starts_with(':')).map(|id| argument(id, row, noun)).collect();
    let mut example = verb.name.to_owned();
    for (parameter, ..) in &ids {
        example.push_str(if *parameter == ":code" {
            " 0102"
        } else {
            " 01930a4b-5c6d-7e8f-9012-3456789a0000"
        });
    }
    if !verb.example.is_empty() {
        example = format!("{example} {}", verb.example);
    }
    let filled = |member: &str| match verb.operand.map(|operand| operand.fills) {
        Some(Fills::Member(filled) | Fills::Directory(filled)) => filled == member,
        Some(Fills::Body) => true,
        Some(Fills::File | Fills::Option(_)) | None => false,
    };
    let takes = document.takes(&(row.endpoint.description)());
    let is_set = |member: &str| filled(member) || verb.fixed.is_some_and(|(name, _)| name == member);
    let mut options: Vec<Opt> =
        takes.members.iter().filter(|(member, ..)| !is_set(member)).map(option).collect();
    if let Some(Fills::Option(by_name)) = verb.operand.map(|operand| operand.fills) {
        options
            .iter_mut()
            .filter(|option| option.member == by_name)
            .for_each(|option| option.required = false);
    }
    options
        .iter_mut()
        .filter(|option| verb.asks_for == Some(option.member))
        .for_each(|option| option.required = true);
    if takes.pages {
        let page = |member: &'static str, is, about: &str| Opt {
            member,
            long: member.to_owned(),
            is,
            required: false,
            about: about.to_owned(),
        };
        options.push(page("limit", Is::Whole, "How many at most, 1 to 100"));
        options.push(page("cursor", Is::Text, "The nextCursor of the page before"));
    }
    let path = match verb.fixed {
        Some((name, value)) => format!("{}?{name}={value}", row.path),
        None => row.path.to_owned(),
    };
    Command {
        noun,
        verb: word,
        about: verb.about,
        example,
        method: row.method.as_str(),
        path,
        ids,
        operand: verb.operand,
        options,
        pages: takes.pages,
    }
}

fn argument(parameter: &'static str, row: &Route, noun: &str) -> (&'static str, &'static str, &'static str) {
    match parameter {
        ":keyId" => (parameter, "KEY", "The key's id"),
        ":code" => (parameter, "CODE", "Its four digits"),
        _ if row.path.starts_with("/admin/tenants/") && noun != "tenant" => {
            (parameter, "TENANT", "The tenant's id")
        }
        _ => (parameter, "ID", "Its id"),
    }
}

fn option((member, schema, required): &(&'static str, Schema, bool)) -> Opt {
    let mut long = String::new();
    for letter in member.chars() {
        if letter.is_ascii_uppercase() {
            long.push('-');
        }
        long.push(letter.to_ascii_lowercase());
    }
    let is = match schema.type_name() {
        Some("boolean") => Is::Truth,
        Some("integer") => Is::Whole,
        Some("array") => Is::List,
        Some("object") => Is::Json,
        _ => Is::Text,
    };
    let known = || WORDS.iter().find(|(known, _)| known == member).map(|(_, words)| (*words).to_owned());
    let about = if *member == REFERENCE {
        "Makes a repetition harmless; if it is missing, one is made, and shown in the answer".to_owned()
    } else {
        schema.words().or_else(known).unwrap_or_default()
    };
    Opt { member, long, is, required: *required && *member != REFERENCE, about }
}
