//! The progress of the search of USDT's networks for deposits.

use crate::resources::crypto::address::Network;

/// The progress of the search of a network for deposits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchedBlocks {
    /// The network.
    pub network: Network,
    /// The network's chain.
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
