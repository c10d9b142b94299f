//! The connector to Ethereum-like networks: USDT in and out over a node's JSON-RPC
//! (`docs/contract.md, 18.4`). Keys are read here, transactions signed, a node's words read. Which
//! transaction is made when, and what becomes of a payout, is decided elsewhere: nothing here sends
//! what it was not given.

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

pub type Account = [u8; 20];
pub type Hash = [u8; 32];

pub fn keccak(bytes: &[u8]) -> Hash {
    use sha3::Digest;
    sha3::Keccak256::digest(bytes).into()
}

pub fn hex0x(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

pub fn read_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
    Some(bytes)
}
