//! The description of the interface of tenants and buyers: the rows of its tables, and what each
//! resource says of its own. New resources have a chapter here.

use crate::checkout::{OPEN_LINK_SESSION, calls as checkout_calls};
use crate::openapi::document::{Access, Chapter, Document, ErrorShape, Row};
use crate::routes::{Modes, routes};
use crate::writer::Object;
use crate::{
    balance, chargebacks, checkout, conversions, cop_payments, crypto, events, merchants, payments, payouts,
    products, public, reference, search, statements, testing, webhooks,
};
use hyper::Method;

const ABOUT: &str = include_str!("openapi/about.md");

pub fn public() -> Document {
    let open = |path, operation| Row {
        method: Method::GET,
        path,
        operation,
        access: Access::Open,
        errors: ErrorShape::Gateway,
        takes_key: false,
    };
    let keyed = routes().into_iter().map(|route| Row {
        takes_key: route.method == Method::POST,
        method: route.method,
        path: route.path,
        operation: route.operation,
        access: Access::Key { scope: route.scope.name(), test_only: route.modes == Modes::TestOnly },
        errors: ErrorShape::Gateway,
    });
    let public = public::routes::routes().into_iter().map(|route| Row {
        method: Method::GET,
        path: route.path,
        operation: route.operation,
        access: Access::Open,
        errors: ErrorShape::Public,
        takes_key: false,
    });
    let of_page = checkout_calls().into_iter().map(|(method, path, operation)| {
        let access = if operation == OPEN_LINK_SESSION { Access::Open } else { Access::Buyer };
        Row { method, path, operation, access, errors: ErrorShape::Gateway, takes_key: false }
    });
    let api_key = Object::new().plain("type", "apiKey").plain("in", "header").plain("name", "x-api-key");
    let api_key = api_key
        .text(
            "description",
            "The account's key, `pk_test_…` or `pk_live_…`. Send it from a trusted server only.",
        )
        .end();
    let client_secret = Object::new().plain("type", "http").plain("scheme", "bearer");
    let client_secret =
        client_secret.text("description", "The `clientSecret` of a checkout session: it opens that session for its buyer, and nothing else.").end();
    let mut chapters = chapters();
    let of_tenants = routes().into_iter().map(|route| (route.chapter, route.description, route.operation));
    let of_visitors = public::routes::routes().into_iter();
    let of_visitors =
        of_visitors.map(|route| (route.endpoint.chapter, route.endpoint.description, route.operation));
    for (tag, description, operation) in of_tenants.chain(of_visitors) {
        if let Some(chapter) = chapters.iter_mut().find(|chapter| chapter.tag == tag) {
            chapter.operations.push(description().of(operation));
        }
    }
    Document {
        title: "Pasarela",
        about: ABOUT,
        rows: keyed
            .chain(of_page)
            .chain(public)
            .chain([open("/healthz", "getHealth"), open("/readyz", "getReadiness")])
            .collect(),
        chapters,
        security: vec![("apiKey", api_key), ("clientSecret", client_secret)],
    }
}

/// The chapters in reading order, with the operations that are in no table.
fn chapters() -> Vec<Chapter> {
    vec![
        payments::description::chapter(),
        balance::description::chapter(),
        statements::description::chapter(),
        merchants::description::chapter(),
        payouts::description::chapter(),
        chargebacks::description::chapter(),
        conversions::description::chapter(),
        crypto::description::chapter(),
        cop_payments::description::chapter(),
        products::description::chapter(),
        checkout::description::sessions(),
        checkout::description::chapter(),
        events::description::chapter(),
        webhooks::description::chapter(),
        reference::description::chapter(),
        search::description::chapter(),
        public::description::chapter(),
        testing::description::chapter(),
        reference::description::health(),
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_route_is_described() {
        assert_eq!(super::public().gaps(), Vec::<String>::new());
    }

    #[test]
    fn every_event_that_can_be_listed_is_described() {
        let document: serde_json::Value = serde_json::from_slice(&super::public().to_json()).expect("JSON");
        let mut described: Vec<&str> =
            document["webhooks"].as_object().expect("webhooks").keys().map(String::as_str).collect();
        let mut listed = domain::entities::webhook::EVENT_NAMES.to_vec();
        described.sort_unstable();
        listed.sort_unstable();
        assert_eq!(described, listed);
    }
}
