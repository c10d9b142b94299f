//! Options of the Wompi sandbox: keys and secrets, and how soon things happen.

use crate::common_options::CommonOptions;
use clap::{Args, ValueEnum};

/// The public key of a sandbox that was given none.
pub const DEFAULT_PUBLIC_KEY: &str = "pub_test_sandbox0123456789";
/// The private key of a sandbox that was given none.
pub const DEFAULT_PRIVATE_KEY: &str = "prv_test_sandbox0123456789";
/// The secret of events of a sandbox that was given none.
pub const DEFAULT_EVENTS_SECRET: &str = "test_events_sandbox0123456789";
/// The secret of the integrity signature of a sandbox that was given none.
pub const DEFAULT_INTEGRITY_SECRET: &str = "test_integrity_sandbox0123456789";

/// The place of Daviplata's rotated token in an answer.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TokenPlace {
    /// `authorization.access_token`.
    Top,
    /// `data.authorization.access_token`.
    Data,
}

/// Options of `pasarela-sandbox wompi`.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    pub common: CommonOptions,
    /// Key of the merchant that may be shown
    #[arg(long, default_value = DEFAULT_PUBLIC_KEY)]
    pub public_key: String,
    /// Key of the merchant that makes transactions
    #[arg(long, default_value = DEFAULT_PRIVATE_KEY)]
    #[arg(env = "PASARELA_SANDBOX_PRIVATE_KEY", hide_env_values = true)]
    pub private_key: String,
    /// Secret that events are signed with
    #[arg(long, default_value = DEFAULT_EVENTS_SECRET)]
    #[arg(env = "PASARELA_SANDBOX_EVENTS_SECRET", hide_env_values = true)]
    pub events_secret: String,
    /// Secret of the integrity signature
    #[arg(long, default_value = DEFAULT_INTEGRITY_SECRET)]
    #[arg(env = "PASARELA_SANDBOX_INTEGRITY_SECRET", hide_env_values = true)]
    pub integrity_secret: String,
    /// Milliseconds until a transaction shows its QR code or url_services, or its outcome
    #[arg(long, default_value_t = 1_000)]
    pub settle_ms: u64,
    /// Seconds that a code of Daviplata is good for
    #[arg(long, default_value_t = 180)]
    pub otp_seconds: u64,
    /// Where the rotated token of Daviplata stands
    #[arg(long, value_enum, default_value = "top")]
    pub token_in: TokenPlace,
    /// Pauses before an event is sent again, in seconds
    #[arg(long, value_delimiter = ',', default_values_t = [1_800, 10_800, 86_400])]
    pub event_retry_seconds: Vec<u64>,
    /// Members of the transaction that an event's checksum is over, in this order
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "transaction.id,transaction.status,transaction.amount_in_cents"
    )]
    pub event_properties: Vec<String>,
    /// Address in url_services, if it is not the one that it listens on
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
}
