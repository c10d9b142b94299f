//! Settings of Wompi (`docs/contract.md, 18.1`).

use crate::rails::http::BaseUrl;
use crate::rails::secret::ApiSecret;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// With its version: `https://production.wompi.co/v1`.
    pub base_url: BaseUrl,
    pub public_key: ApiSecret,
    pub private_key: ApiSecret,
    pub events_secret: ApiSecret,
    pub integrity_secret: ApiSecret,
    pub customer_email: Option<String>,
    pub timeout: Duration,
    pub idle: Duration,
}
