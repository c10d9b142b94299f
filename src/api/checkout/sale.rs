//! What payments show of the checkout session through which they were paid.

use crate::openapi::schema::Schema;
use crate::openapi::{schema, values};
use crate::writer::Object;
use domain::entities::sale::Sale;

/// The member `checkoutSession`, as the description tells of it.
pub(crate) fn in_payment() -> Schema {
    schema::object()
        .member("id", values::uuid())
        .member("reference", schema::text().or_null())
        .member("metadata", schema::object())
        .about("The session through which it was paid.")
}

/// The member `checkoutSession` of a payment: the session's id, reference and metadata
/// (`docs/contract.md, 12.5`).
pub fn show_in_payment(sale: &Sale) -> Vec<u8> {
    Object::new()
        .plain("id", sale.session)
        .maybe_text("reference", sale.reference.as_deref())
        .json("metadata", sale.metadata.as_deref().unwrap_or("{}").as_bytes())
        .end()
}
