//! Settings of Wompi, as the client needs them (`docs/contract.md, 18.1`). It must not know how
//! keys are read.

use crate::rails::http::BaseUrl;
use crate::rails::secret::ApiSecret;
use std::time::Duration;

/// The beginning of the public keys of Wompi's sandbox.
const SANDBOX_KEY: &str = "pub_test_";

/// The settings that the client is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address of the API, with its version: `https://production.wompi.co/v1`.
    pub base_url: BaseUrl,
    /// Names the merchant.
    pub public_key: ApiSecret,
    /// Proves that it is the merchant.
    pub private_key: ApiSecret,
    /// The secret that events are signed with.
    pub events_secret: ApiSecret,
    /// The secret that transactions are signed with.
    pub integrity_secret: ApiSecret,
    /// Sent where the buyer gave none.
    pub customer_email: Option<String>,
    /// The time after which a call is given up.
    pub timeout: Duration,
    /// The time for which a connection is used again.
    pub idle: Duration,
}

impl Settings {
    /// Whether it is Wompi's sandbox, which wants to be told how a QR code ends.
    pub fn is_sandbox(&self) -> bool {
        self.public_key.expose().starts_with(SANDBOX_KEY)
    }
}
