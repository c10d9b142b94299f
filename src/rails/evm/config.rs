//! Settings of a network (`docs/contract.md, 18.1`).

use super::keys::{DepositKeys, WalletKey};
use super::units::Units;
use super::{Account, rpc};
use domain::values::address::Network;
use std::time::Duration;

pub struct Settings {
    pub network: Network,
    pub endpoint: rpc::Endpoint,
    pub chain_id: u64,
    pub contract: Account,
    pub units: Units,
    pub wallet: WalletKey,
    pub deposits: DepositKeys,
    /// Blocks, that of the transaction counted, after which it is final.
    pub confirmations: u64,
    pub max_fee_per_gas: u64,
    pub stuck_after: Duration,
}
