//! USDT on Ethereum-like networks in live mode, by the real server (`docs/contract.md, 18.4`).
//!
//! Most tests speak to a chain of their own in this process ([`chain`]), which can be told to lie,
//! to fall silent and to reorganise. Those of [`hardhat`] speak to a real local chain with a real
//! ERC-20; `tests/evm/run.sh` has it installed and runs them.

#[path = "../api/harness/mod.rs"]
mod harness;

mod chain;
mod checking;
mod deposits;
mod hardhat;
mod payouts;
mod world;
