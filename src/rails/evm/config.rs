//! Settings of a network, as the connector needs them (`docs/contract.md, 18.1`). It must not know
//! how keys are read.

use super::keys::{DepositKeys, WalletKey};
use super::units::Units;
use super::{Account, rpc};
use domain::resources::crypto::address::Network;
use std::time::Duration;

/// The settings of one network.
pub struct Settings {
    pub network: Network,
    /// The node.
    pub endpoint: rpc::Endpoint,
    /// The chain that the node must be on.
    pub chain_id: u64,
    /// The contract of USDT.
    pub contract: Account,
    /// The form of the token's amounts.
    pub units: Units,
    /// The hot wallet.
    pub wallet: WalletKey,
    /// The keys that deposit addresses derive from.
    pub deposits: DepositKeys,
    /// Blocks, that of the transaction counted, after which it is final.
    pub confirmations: u64,
    /// The most that is paid for a unit of gas, in wei.
    pub max_fee_per_gas: u64,
    /// A transaction that no block has taken for so long is replaced.
    pub stuck_after: Duration,
}
