//! The connector to Ethereum-like networks: USDT in and out over a node's JSON-RPC
//! (`docs/contract.md, 18.4`).
//!
//! Keys are read here, transactions signed, a node's words read, and amounts written in the token's
//! units. Which transaction is made when, and what becomes of a payout, is decided elsewhere:
//! nothing here knows a rule about money, and nothing here sends what it was not given.
//!
//! In reading order: `config.rs` what can be set · `units.rs` amounts · `keystore.rs` and `keys.rs`
//! the hot wallet and the deposit addresses · `erc20.rs` and `transaction.rs` bytes of the chain ·
//! `rpc.rs` one call to a node · `node.rs` what nodes are asked · `check.rs` whether a node will do ·
//! `network.rs` the rail.

mod check;
pub mod config;
pub mod erc20;
pub mod keys;
pub mod keystore;
mod network;
pub mod node;
pub mod rpc;
pub mod transaction;
pub mod units;

pub use check::tried;
pub use config::Settings;
pub use keys::{DepositKeys, TenantKeys, WalletKey};
pub use network::{Evm, Figures, Waits, name};
pub use node::Node;

/// An account or a contract.
pub type Account = [u8; 20];
/// A hash: of a block, a transaction or a topic.
pub type Hash = [u8; 32];

/// Keccak-256, the hash of these networks.
pub fn keccak(bytes: &[u8]) -> Hash {
    use sha3::Digest;
    sha3::Keccak256::digest(bytes).into()
}

/// Bytes as JSON-RPC writes them.
pub fn hex0x(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

/// The bytes of a text as JSON-RPC writes them, if there are `N` of them.
pub fn read_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
    Some(bytes)
}
