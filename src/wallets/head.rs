//! A head that runs ahead of the clock by more than the network can have made, or below which the
//! node shows no blocks, is not believed. What is final follows from the head, so money does.

use super::TurnError;
use crate::rails::evm::Evm;
use crate::rails::evm::node::Block;
use crate::rails::evm::rpc::RpcError;
use domain::platform::Mark;
use domain::resources::crypto::transfers::final_block;
use domain::values::address::Network;
use domain::values::time::{SECOND_MS, Timestamp};

const AHEAD_SECONDS_MAX: u64 = 300;
/// Beyond the network's pace: chains of developers make blocks at will.
const BLOCKS_AT_WILL_MAX: u64 = 5_000;

pub struct Head {
    pub newest: Block,
    /// Others can no longer replace it; `None` on a chain that is too short.
    pub last: Option<Block>,
}

pub async fn head(evm: &Evm, now: Timestamp) -> Result<Head, TurnError> {
    let newest = evm.node.head().await?;
    let mut known = evm.state().known;
    if known.is_none() {
        known = match evm.node.block(0).await {
            Ok(first) => first.map(|first| first.mark()),
            Err(RpcError::Refused { .. } | RpcError::Unreadable(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let mut state = evm.state();
        state.known = state.known.or(known);
    }
    let implausible = |why: String| Err(TurnError::Head { block: newest.number, why });
    let now = u64::try_from(now.unix_ms() / SECOND_MS).unwrap_or(0);
    if newest.timestamp > now.saturating_add(AHEAD_SECONDS_MAX) {
        return implausible(format!("it is of {} s from now", newest.timestamp - now));
    }
    if let Some(known) = known
        && newest.number > reachable(evm.settings.network, known, newest.timestamp)
    {
        let (block, elapsed) = (known.block, newest.timestamp.saturating_sub(known.made_at));
        return implausible(format!(
            "the network cannot have made so many in the {elapsed} s since block {block}"
        ));
    }
    let last = match final_block(newest.number, evm.settings.confirmations) {
        None => None,
        Some(number) => match evm.node.block(number).await? {
            Some(last) if last.timestamp <= newest.timestamp => Some(last),
            Some(_) => return implausible(format!("block {number} below it is younger")),
            None => return implausible(format!("the node does not show block {number} below it")),
        },
    };
    Ok(Head { newest, last })
}

/// At this time, in seconds since 1970, if the network had the known one.
fn reachable(network: Network, known: Mark, at: u64) -> u64 {
    let elapsed_ms = at.saturating_sub(known.made_at).saturating_mul(1_000);
    known.block.saturating_add(elapsed_ms / block_ms_min(network)).saturating_add(BLOCKS_AT_WILL_MAX)
}

const fn block_ms_min(network: Network) -> u64 {
    match network {
        // Slots of 12 s.
        Network::Erc20 => 10_000,
        // 3 s.
        Network::Trc20 => 1_000,
        // 2 s.
        Network::Polygon => 500,
        // 0.45 s.
        Network::Bep20 => 250,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_makes_no_more_blocks_than_its_pace_allows() {
        let known = Mark { block: 1_000, hash: [0; 32], made_at: 500 };
        for (network, at, block) in [
            (Network::Polygon, 500, 6_000),
            (Network::Polygon, 100, 6_000),
            (Network::Polygon, 510, 6_020),
            (Network::Erc20, 620, 6_012),
            (Network::Bep20, u64::MAX, u64::MAX),
        ] {
            let reached = reachable(network, known, at);
            assert!(reached == block || at == u64::MAX && reached > 1 << 40, "{network:?} {at}: {reached}");
        }
    }
}
