//! Options of the R4 sandbox: credentials, and which of the variants that sources disagree on it
//! takes.

use super::signature::{HexCase, LeadingSpace};
use crate::common_options::CommonOptions;
use clap::{Args, ValueEnum};
use serde_json::{Number, Value};
use std::str::FromStr;

/// The token of a sandbox that was given none.
pub const DEFAULT_TOKEN: &str = "sandbox-r4-commerce-token-0123456789";

/// The `Authorization` of the bank's own calls unless another is given.
pub const DEFAULT_UUID: &str = "5a4d2b0e-0c1f-4a57-9d0a-7f6a1c3b9e21";

/// Families of names of paths.
#[derive(Clone, Copy, ValueEnum)]
pub enum PathFamily {
    /// Both families.
    Any,
    /// MBbcv, MBvuelto, MBc2p, MBanulacionC2P.
    #[value(name = "MB")]
    Mb,
    /// R4bcv, R4vuelto, R4c2p, R4anulacionC2P.
    #[value(name = "R4")]
    R4,
}

/// The member of an answer that has the id of an operation.
#[derive(Clone, Copy, ValueEnum)]
pub enum IdKey {
    /// `id`.
    #[value(name = "id")]
    Lower,
    /// `Id`.
    #[value(name = "Id")]
    Upper,
}

impl IdKey {
    /// The key's name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            IdKey::Lower => "id",
            IdKey::Upper => "Id",
        }
    }
}

/// Options of `pasarela-sandbox r4`.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    pub common: CommonOptions,
    /// Value of the header Commerce, and the key of signatures
    #[arg(long, default_value = DEFAULT_TOKEN)]
    #[arg(env = "PASARELA_SANDBOX_COMMERCE_TOKEN", hide_env_values = true)]
    pub commerce_token: String,
    /// What the bank sends in Authorization of its own calls
    #[arg(long, default_value = DEFAULT_UUID)]
    #[arg(env = "PASARELA_SANDBOX_CALLBACK_UUID", hide_env_values = true)]
    pub callback_uuid: String,
    /// The merchant's phone, to which customers transfer
    #[arg(long, default_value = "04129990000")]
    pub commerce_phone: String,
    /// The merchant's number in notices, 8 digits
    #[arg(long, default_value = "00000001")]
    pub commerce_id: String,
    /// The BCV rate of every working day up to today, in USD
    #[arg(long, default_value = "200.12340000")]
    pub rate: String,
    /// Family of paths that is served
    #[arg(long, value_enum, default_value = "any")]
    pub path_family: PathFamily,
    /// Case of signatures that is taken
    #[arg(long, value_enum, default_value = "any")]
    pub signature_case: HexCase,
    /// Whether the signed message of C2P begins with a space
    #[arg(long, value_enum, default_value = "any")]
    pub c2p_leading_space: LeadingSpace,
    /// Member of an answer that has the id of an operation
    #[arg(long, value_enum, default_value = "id")]
    pub id_key: IdKey,
    /// Status of HTTP of refusals and of AC00
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(200..500))]
    pub refusal_status: u16,
}

/// A rate as a number of JSON with its digits as they were given.
///
/// # Errors
/// When it is none.
pub fn rate_of(text: &str) -> Result<Value, String> {
    let are_digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = Number::from_str(text).ok().filter(|_| are_digits);
    number.map(Value::Number).ok_or_else(|| format!("{text}: no number"))
}
