//! The headings under which endpoints are described, in reading order. What is said under each is in its
//! resource's description.

pub(crate) const PAYMENTS: &str = "Payments";
pub(crate) const BALANCE: &str = "Balance";
pub(crate) const STATEMENTS: &str = "Statements";
pub(crate) const MERCHANTS: &str = "Merchants";
pub(crate) const PAYOUTS: &str = "Payouts";
pub(crate) const CHARGEBACKS: &str = "Chargebacks";
pub(crate) const CONVERSIONS: &str = "Conversions";
pub(crate) const USDT: &str = "USDT";
pub(crate) const PESOS: &str = "Colombian pesos";
pub(crate) const PRODUCTS: &str = "Products and links";
pub(crate) const CHECKOUT_SESSIONS: &str = "Checkout sessions";
pub const CHECKOUT_PAGE: &str = "Checkout page";
pub(crate) const EVENTS: &str = "Events";
pub(crate) const WEBHOOKS: &str = "Webhook endpoints";
pub(crate) const REFERENCE: &str = "Reference";
pub(crate) const SEARCH: &str = "Finding things";
pub(crate) const PUBLIC: &str = "Public rates and fees";
pub(crate) const TEST_MODE: &str = "Test mode";
