//! Whether a node is there, on the chain that is configured, and keeps up with it; and whether the
//! wallet can pay for gas (`docs/contract.md, 18.1`).

use super::node::Node;
use super::rpc::RpcError;
use super::{Settings, hex0x};
use crate::rails::checking::Finding;
use std::time::{SystemTime, UNIX_EPOCH};

const LAG_SECONDS_MAX: u64 = 300;

const CHAIN: &str = "chain";
const HEAD: &str = "head";
const GAS: &str = "gas";

pub async fn tried(settings: &Settings) -> Vec<Finding> {
    let node = match Node::new(settings.endpoint.clone()) {
        Ok(node) => node,
        Err(why) => return vec![Finding::wrong("reach", why.to_string())],
    };
    let chain = match node.chain_id().await {
        Ok(id) => chain(id, settings.chain_id),
        Err(error) => return vec![Finding::wrong("reach", described(&error))],
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let head = match node.head().await {
        Ok(block) => head(block.number, block.timestamp, now.as_secs()),
        Err(error) => Finding::wrong(HEAD, described(&error)),
    };
    let wallet = settings.wallet.account;
    let gas = match node.balance(&wallet).await {
        Ok(0) => Finding::wrong(GAS, format!("{} has nothing to pay gas from", hex0x(&wallet))),
        Ok(wei) => Finding::fine(GAS, format!("{} has {wei} wei", hex0x(&wallet))),
        Err(error) => Finding::wrong(GAS, described(&error)),
    };
    vec![chain, head, gas]
}

/// Without the node's own words: they may repeat the key in its address.
fn described(error: &RpcError) -> String {
    match error {
        RpcError::Refused { method, code, .. } => format!("the node refuses {method} ({code})"),
        error => error.to_string(),
    }
}

fn chain(id: u64, expected: u64) -> Finding {
    match id == expected {
        true => Finding::fine(CHAIN, format!("{id}, as configured")),
        false => Finding::wrong(CHAIN, format!("the node is on chain {id}, and chain_id is {expected}")),
    }
}

fn head(number: u64, made_at: u64, now: u64) -> Finding {
    let lag = now.saturating_sub(made_at);
    match lag <= LAG_SECONDS_MAX {
        true => Finding::fine(HEAD, format!("block {number}, {lag} s old")),
        false => {
            Finding::wrong(HEAD, format!("block {number} is {lag} s old: the node lags, or a clock is wrong"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rails::checking::Verdict;

    #[test]
    fn the_chain_has_to_be_the_one_and_its_head_fresh() {
        assert_eq!(chain(137, 137).verdict, Verdict::Fine);
        assert_eq!(chain(1, 137).verdict, Verdict::Wrong);
        for (now, verdict) in [(1_000, Verdict::Fine), (1_300, Verdict::Fine), (1_301, Verdict::Wrong)] {
            assert_eq!(head(7, 1_000, now).verdict, verdict, "{now}");
        }
    }
}
