//! The description of the interface of tenants and buyers: the rows of its tables, and what each
//! resource says of its own.

use crate::openapi::document::{Access, Document, ErrorShape, Row};
use crate::routes::{self, Modes, Needs, Route};
use crate::{public, reference, streams, testing};
use hyper::Method;

const ABOUT: &str = include_str!("openapi/about.md");

/// The description of all of it, with the rows of buyers, whose endpoints are their pages'.
pub fn public(of_buyers: Vec<Row>) -> Document {
    let of_tenants = routes::routes().into_iter().map(
        |Route {
             method, path, needs: Needs { scope, modes, leads_money, .. }, operation, endpoint, ..
         }| {
            let access = Access::Key { scope: scope.name(), test_only: modes == Modes::TestOnly };
            let row = endpoint.described(method, path, operation, access);
            if !leads_money {
                return row;
            }
            Row { description: row.description.refuses(403, &["mandate_payee"]), ..row }
        },
    );
    let of_visitors = public::routes::routes().into_iter().map(|route| Row {
        errors: ErrorShape::Public,
        ..route.endpoint.described(Method::GET, route.path, route.operation, Access::Open)
    });
    let api_key = r#"{"type":"apiKey","in":"header","name":"x-api-key","description":"The account's key, `pk_test_…` or `pk_live_…`. Send it from a trusted server only."}"#;
    let client_secret = r#"{"type":"http","scheme":"bearer","description":"The `clientSecret` of a checkout session: it opens that session for its buyer, and nothing else."}"#;
    Document {
        title: "Pasarela",
        about: ABOUT,
        rows: of_tenants
            .chain([streams::row(), testing::row()])
            .chain(of_buyers)
            .chain(of_visitors)
            .chain(reference::health_rows())
            .collect(),
        chapters: routes::chapters(),
        security: vec![("apiKey", api_key.into()), ("clientSecret", client_secret.into())],
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_route_is_described() {
        assert_eq!(super::public(Vec::new()).gaps(), Vec::<&str>::new());
    }

    #[test]
    fn every_event_that_can_be_listed_is_described() {
        let document: serde_json::Value =
            serde_json::from_slice(&super::public(Vec::new()).to_json()).expect("JSON");
        let mut described: Vec<&str> =
            document["webhooks"].as_object().expect("webhooks").keys().map(String::as_str).collect();
        let mut listed = domain::entities::webhook::EVENT_NAMES.to_vec();
        described.sort_unstable();
        listed.sort_unstable();
        assert_eq!(described, listed);
    }
}
