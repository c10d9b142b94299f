//! Words of a node, put together as the rules want them: how the network and its wallet stand, and
//! what became of a payout's transactions.

use super::open::OpenPayout;
use super::{TurnError, Worker, head};
use crate::rails::evm::erc20::Transfer as Paid;
use crate::rails::evm::node::Block;
use crate::rails::evm::read_hex;
use crate::rails::evm::rpc::RpcError;
use domain::entities::crypto_payout::{CryptoPayout, Fees, Transfer};
use domain::resources::crypto::transfers::{Seen, Standing, Taken, final_block};

/// In wei, where the node does not say one.
const TIP: u64 = 1_000_000_000;

/// The most transactions that a wallet can have in the blocks that are not final.
const COUNT_AHEAD_MAX: u64 = 1_000;

pub struct Facts {
    pub head: Block,
    pub count: u64,
    /// What gas is paid from, in wei.
    pub gas: u128,
    /// In the token's units.
    pub usdt: u128,
    /// None while gas costs too much.
    pub offered: Option<Fees>,
}

impl Worker {
    pub(super) async fn facts(&self) -> Result<Facts, TurnError> {
        let (node, settings) = (&self.evm.node, &self.evm.settings);
        let wallet = settings.wallet.account;
        let head::Head { newest: head, last } = head::head(&self.evm, self.services.now()).await?;
        let count = node.count(&wallet, None).await?;
        if let Some(last) = last {
            match node.count(&wallet, Some(last.number)).await {
                // A nonce that is taken beyond the wallet's next is never carried out.
                Ok(settled) if !(settled..=settled.saturating_add(COUNT_AHEAD_MAX)).contains(&count) => {
                    return Err(TurnError::Count { count, settled });
                }
                // Nodes that keep no old states cannot say it.
                Ok(_) | Err(RpcError::Refused { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let gas = node.balance(&wallet).await?;
        let usdt = node.token_balance(&settings.contract, &wallet).await?;
        let tip = match node.tip().await {
            Err(RpcError::Refused { .. }) => TIP,
            tip => tip?,
        };
        {
            let figures = &mut self.evm.state().figures;
            (figures.head, figures.head_at) = (Some(head.number), Some(head.timestamp));
            (figures.gas, figures.usdt, figures.nonce) = (Some(gas), Some(usdt), Some(count));
        }
        let offered = Fees::offered(head.base_fee, tip, settings.max_fee_per_gas);
        Ok(Facts { head, count, gas, usdt, offered })
    }

    pub(super) async fn standing(
        &self,
        open: &OpenPayout,
        transfer: &Transfer,
        facts: &Facts,
    ) -> Result<Standing, TurnError> {
        if transfer.chain_id != self.evm.settings.chain_id {
            return Ok(Standing::Doubtful);
        }
        let mut taken = Vec::new();
        for attempt in &transfer.attempts {
            taken.extend(self.taken(&open.payout, transfer, attempt.hash).await?);
        }
        let other = if taken.is_empty() && facts.count > transfer.nonce {
            match self.other(transfer, facts).await {
                // Nodes that keep no old states cannot say who used the nonce: an operator has to.
                Err(RpcError::Refused { .. }) => return Ok(Standing::Doubtful),
                other => other?,
            }
        } else {
            None
        };
        let seen = Seen { head: facts.head.number, taken, other };
        Ok(seen.standing(transfer, self.evm.settings.confirmations))
    }

    async fn taken(
        &self,
        payout: &CryptoPayout,
        transfer: &Transfer,
        hash: [u8; 32],
    ) -> Result<Option<Taken>, TurnError> {
        let (node, settings) = (&self.evm.node, &self.evm.settings);
        let Some(receipt) = node.receipt(&hash, &settings.contract).await? else { return Ok(None) };
        let block = node.block(receipt.block).await?;
        if block.is_none_or(|block| block.hash != receipt.block_hash) {
            return Ok(None);
        }
        let to = read_hex(&payout.address.to_ascii_lowercase());
        let paid = to.zip(settings.units.of(payout.amount));
        let paid = paid.map(|(to, units)| Paid { from: transfer.wallet, to, units });
        Ok(Some(Taken {
            hash,
            block: receipt.block,
            is_success: receipt.is_success,
            has_paid: paid.is_some_and(|paid| receipt.transfers.contains(&paid)),
        }))
    }

    async fn other(&self, transfer: &Transfer, facts: &Facts) -> Result<Option<([u8; 32], u64)>, RpcError> {
        let (node, wallet) = (&self.evm.node, &transfer.wallet);
        let last = final_block(facts.head.number, self.evm.settings.confirmations);
        let Some(last) = last.filter(|last| *last > transfer.since_block) else { return Ok(None) };
        if node.count(wallet, Some(last)).await? <= transfer.nonce {
            return Ok(None);
        }
        // The first block after which the nonce was used is above `unused`, and not above `used`.
        let (mut unused, mut used) = (transfer.since_block, last);
        while used - unused > 1 {
            let middle = unused + (used - unused) / 2;
            if node.count(wallet, Some(middle)).await? > transfer.nonce {
                used = middle;
            } else {
                unused = middle;
            }
        }
        let found = node.transaction_with(wallet, transfer.nonce, used).await?;
        Ok(found.map(|hash| (hash, used)))
    }
}
