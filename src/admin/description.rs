//! The description of the operators' API in OpenAPI 3.1: in the words of `api/openapi`, one entry
//! per row of the table.
//!
//! Only words belong here: a row of the table says path, method and scope.

mod accounts;
mod finding;
mod money;
mod operators;
mod reconciliations;
mod server;

use super::routes::routes;
use accounts::{keys, tenants};
use api::openapi::document::{Access, Document, ErrorShape, Row};
use api::writer::Object;
use hyper::Method;
use money::{cop_payouts, crypto_payouts, money, statements};
use operators::{approvals, audit, operators, people};
use server::{bank_changes, incoming, orders, rates_and_banks, server};

const ABOUT: &str = "What the operator of a Pasarela server does: tenants, their keys and settings, \
    corrections, chargebacks, banks, rates, and the state of the server.\n\n\
    Send `Authorization: Bearer <token>`: an operator's, or that of the configuration, which is the operator \
    `root`; a server for local work may need none. What a call takes, its least role says; less is refused \
    with 403 `role_missing`. Every call has a twin in the command line, `pasarela admin …`. Every POST takes \
    an `Idempotency-Key`, which belongs to operators and not to a tenant. Errors and conventions are those \
    of the tenants' API.";

/// The document of the admin listener.
pub fn document() -> Document {
    let rows = routes().into_iter().map(|route| Row {
        takes_key: route.method == Method::POST,
        method: route.method,
        path: route.path,
        operation: route.operation,
        access: Access::Operator { role: route.role.name() },
        errors: ErrorShape::Gateway,
    });
    let operator = Object::new()
        .plain("type", "http")
        .plain("scheme", "bearer")
        .text("description", "An operator's token, or that of `[admin] token`.")
        .end();
    Document {
        title: "Pasarela for operators",
        about: ABOUT,
        rows: rows.collect(),
        chapters: vec![
            operators(),
            approvals(),
            audit(),
            people(),
            tenants(),
            finding::finding(),
            keys(),
            money(),
            statements(),
            crypto_payouts(),
            cop_payouts(),
            orders(),
            reconciliations::reconciliations(),
            incoming(),
            rates_and_banks(),
            bank_changes(),
            server(),
        ],
        security: vec![("operator", operator)],
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_route_is_described() {
        assert_eq!(super::document().gaps(), Vec::<String>::new());
    }
}
