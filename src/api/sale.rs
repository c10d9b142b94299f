//! What payments show of the checkout session through which they were paid.

use crate::endpoint::shown;
use crate::openapi::{schema, values};
use domain::entities::sale::Sale;

/// The member `checkoutSession`, as the description tells of it.
pub(crate) fn in_payment() -> schema::Schema {
    schema().about("The session through which it was paid.")
}

shown! {
    /// The session's id, reference and metadata (`docs/contract.md, 12.5`).
    pub(crate) fn show_in_payment(sale: &Sale), schema, 512 {
        plain "id" = sale.session, values::uuid();
        maybe text "reference" = sale.reference.as_deref(), schema::text();
        json "metadata" = sale.metadata.as_deref().unwrap_or("{}").as_bytes(), schema::object();
    }
}
