//! How far networks of USDT were searched for deposits.

use crate::resources::crypto::address::Network;

/// How far a network was searched for deposits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchedBlocks {
    /// The network.
    pub network: Network,
    /// Its chain.
    pub chain_id: u64,
    /// The last block of those that were searched.
    pub last: u64,
}

impl SearchedBlocks {
    /// The name under which the newest record of a network is found.
    pub fn name(&self) -> String {
        format!("{} {}", self.network.name(), self.chain_id)
    }
}
