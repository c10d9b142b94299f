//! Whose a request on the public listener is, as far as it says so: what a front passes it on by.

use super::{Audience, audience, mcp};
use crate::cluster::node_front::Whose;
use crate::cluster::questions::Question;
use crate::gateway::dispatch::sent_key;
use crate::pages::cookies::{self, Cookie};
use crate::portal;
use domain::resources::products::slug;
use domain::values::ids::Id;
use hyper::http::request::Parts;
use percent_encoding::percent_decode_str;

pub fn whose(head: &Parts) -> Whose<'_> {
    let path = head.uri.path();
    let whose = match audience(false, path) {
        Audience::Tenant if path == mcp::PATH => mcp::sent_key(&head.headers).ok().map(Whose::Key),
        Audience::Tenant => sent_key(&head.headers).map(Whose::Key),
        Audience::Buyer => bought(path).map(Whose::Of),
        // Whoever logs in says anew whose they are.
        Audience::Merchant if path == "/portal/login" => None,
        Audience::Merchant => [true, false].into_iter().find_map(|is_secure| {
            let session = Cookie { name: portal::SITE.cookie, is_secure }.find(&head.headers)?;
            Some(Whose::Partition(cookies::partition_of(&session)))
        }),
        Audience::Visitor | Audience::Bank | Audience::Operator | Audience::ConsoleOperator => None,
    };
    whose.unwrap_or(Whose::Anybody)
}

/// The session or the link that an address of buyers names.
fn bought(path: &str) -> Option<Question> {
    let mut parts = path.split('/').skip(1);
    let (kind, name) = (parts.next()?, percent_decode_str(parts.next()?).decode_utf8().ok()?);
    match kind {
        "checkout" => Id::parse(&name).map(Question::Session),
        "pay" => slug::parse(&name).ok().map(Question::Link),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    #[test]
    fn a_request_says_whose_it_is_in_one_place() {
        let id = Id::derived(1, 2, 3);
        let session = format!("/checkout/{id}/c2p");
        let (of_session, cookie) = (format!("session {id}"), "a=b; pasarela_portal_session=2.ab");
        for (path, name, value, expected) in [
            ("/v1/balance", "x-api-key", "pk_test_a", "key pk_test_a"),
            ("/v1/balance", "authorization", "Bearer pk_test_a", "anybody"),
            ("/mcp", "authorization", "Bearer pk_test_a", "key pk_test_a"),
            (&session, "x-api-key", "pk_test_a", &of_session),
            ("/pay/camisa%2Dlino/sessions", "x-api-key", "pk_test_a", "link camisa-lino"),
            ("/pay/Camisa Lino", "accept", "*/*", "anybody"),
            ("/checkout-assets/x.css", "accept", "*/*", "anybody"),
            ("/portal/home", "cookie", cookie, "partition 2"),
            ("/portal/home", "cookie", "__Host-pasarela_portal_session=ab", "partition 0"),
            ("/portal/login", "cookie", cookie, "anybody"),
            ("/api/v1/fx/latest", "x-api-key", "pk_test_a", "anybody"),
        ] {
            let request = Request::get(path.replace(' ', "%20")).header(name, value).body(());
            let (head, ()) = request.expect("a request").into_parts();
            let said = match whose(&head) {
                Whose::Key(key) => format!("key {key}"),
                Whose::Of(question) => question.to_string(),
                Whose::Partition(partition) => format!("partition {partition}"),
                Whose::Anybody => "anybody".to_owned(),
            };
            assert_eq!(said, expected, "{path} {value}");
        }
    }
}
