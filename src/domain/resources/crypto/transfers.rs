//! The transaction of a USDT payout on an Ethereum-like network: what a record says of it before
//! anybody is given it, and what follows from what a node says (`docs/contract.md, 18.4`).
//!
//! A wallet's transactions are numbered by the network: of those with the same number, the nonce,
//! one at most is ever carried out. The record that takes the nonce for a payout has the signed
//! bytes in it, so whatever happens afterwards the same bytes are broadcast. One that is stuck is
//! replaced by another of the same nonce that pays more; either of them pays once.
//!
//! Nothing here is decided by what a node says of transactions that no block has taken, and nothing
//! is final before `confirmations` blocks. It must not know how a node is asked.

use crate::entities::crypto_payout::{Attempt, Fees, Hash, Transfer};
use crate::values::time::Timestamp;

/// Transactions of one nonce: the first and its replacements.
pub const ATTEMPTS_MAX: usize = 32;

/// The code of a payout whose transaction was carried out without effect.
pub const REVERTED: &str = "transaction_reverted";
/// The code of a payout whose nonce another transaction has used.
pub const NONCE_USED: &str = "nonce_used";

/// Parts of a fee by which a replacement has to be more: nodes ask for a tenth.
const MORE: u64 = 8;

impl Fees {
    /// The price that is offered when a block charges `base` and makers get `tip`: room for six
    /// full blocks. `None` while a block charges more than `max`: then it is waited.
    pub fn offered(base: u64, tip: u64, max: u64) -> Option<Fees> {
        let fee = base.checked_mul(2)?.checked_add(tip)?.min(max);
        (base <= max && fee > 0).then(|| Fees { tip: tip.min(fee), max: fee })
    }

    /// The price that replaces a transaction of this price: an eighth more, or what is offered now
    /// if that is more. `None` when it would be beyond `max`.
    pub fn outbidding(self, offered: Fees, max: u64) -> Option<Fees> {
        let more = |fee: u64| fee.checked_add(fee.div_ceil(MORE).max(1));
        let fees = Fees { tip: more(self.tip)?.max(offered.tip), max: more(self.max)?.max(offered.max) };
        let fees = Fees { tip: fees.tip.min(max), max: fees.max.min(max) };
        fees.outbid(self).then_some(fees)
    }

    /// Whether nodes take a transaction with these fees for one with those.
    pub(crate) fn outbid(self, before: Fees) -> bool {
        let is_tenth_more =
            |fee: u64, before: u64| u128::from(fee) * 10 >= u128::from(before) * 11 && fee > before;
        self.tip <= self.max && is_tenth_more(self.tip, before.tip) && is_tenth_more(self.max, before.max)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signing {
    pub chain_id: u64,
    pub wallet: [u8; 20],
    pub nonce: u64,
    pub since_block: u64,
    pub hash: Hash,
    pub fees: Fees,
    pub raw: Vec<u8>,
}

impl Transfer {
    /// The transfer of a payout that had no transaction before this one.
    pub fn begun(signing: Signing, now: Timestamp) -> Transfer {
        let Signing { chain_id, wallet, nonce, since_block, hash, fees, raw } = signing;
        let attempts = vec![Attempt { hash, fees, at: now }];
        Transfer { chain_id, wallet, nonce, since_block, attempts, raw }
    }

    /// The transfer with one more transaction in the place of the newest; `None` when that cannot
    /// replace it.
    pub fn replaced(&self, signing: Signing, now: Timestamp) -> Option<Transfer> {
        let Signing { chain_id, wallet, nonce, since_block: _, hash, fees, raw } = signing;
        let is_same = (chain_id, wallet, nonce) == (self.chain_id, self.wallet, self.nonce);
        let is_more = self.newest().is_some_and(|newest| fees.outbid(newest.fees));
        let is_new = self.attempts.iter().all(|attempt| attempt.hash != hash);
        if !is_same || !is_more || !is_new || self.attempts.len() >= ATTEMPTS_MAX {
            return None;
        }
        let mut replaced = Transfer { raw, ..self.clone() };
        replaced.attempts.push(Attempt { hash, fees, at: now });
        Some(replaced)
    }
}

/// The word of a block about a transaction of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub hash: Hash,
    pub block: u64,
    /// Whether it was carried out, and not reverted.
    pub is_success: bool,
    /// Whether exactly the payout's amount went from the wallet to its address.
    pub has_paid: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub head: u64,
    /// The payout's transactions that are in the node's chain.
    pub taken: Vec<Taken>,
    /// A transaction of somebody else's making with the wallet's nonce, and the block that has it.
    pub other: Option<(Hash, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Done {
        hash: Hash,
    },
    /// The payout did not arrive and never will.
    Failed {
        code: &'static str,
    },
    /// A block has it, and others may yet take that block's place.
    Unconfirmed,
    Open,
    /// The node's words do not fit together, or money moved otherwise than it should. An operator
    /// has to look.
    Doubtful,
}

/// The newest block that others can no longer replace; `None` on a chain that is too short.
pub fn final_block(head: u64, confirmations: u64) -> Option<u64> {
    head.checked_add(1)?.checked_sub(confirmations.max(1))
}

impl Seen {
    /// The standing of a payout with these transactions.
    pub fn standing(&self, transfer: &Transfer, confirmations: u64) -> Standing {
        let last = final_block(self.head, confirmations);
        let is_final = |block: u64| last.is_some_and(|last| block <= last);
        let is_ours = |hash: Hash| transfer.attempts.iter().any(|attempt| attempt.hash == hash);
        match (self.taken.as_slice(), self.other) {
            ([], None) => Standing::Open,
            ([], Some((hash, _))) if is_ours(hash) => Standing::Doubtful,
            ([], Some((_, block))) if is_final(block) => Standing::Failed { code: NONCE_USED },
            ([], Some(_)) => Standing::Unconfirmed,
            ([taken], None) if !is_ours(taken.hash) || taken.block > self.head => Standing::Doubtful,
            ([taken], None) if !is_final(taken.block) => Standing::Unconfirmed,
            ([taken], None) if !taken.is_success => Standing::Failed { code: REVERTED },
            ([taken], None) if taken.has_paid => Standing::Done { hash: taken.hash },
            // A transaction was carried out and did not pay, or two have used one nonce.
            _ => Standing::Doubtful,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Broadcast,
    /// One that pays so much is signed in its place.
    Replace(Fees),
}

/// The state of the network when a transaction is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Market {
    /// The wallet's transactions in blocks, which is the nonce of the next.
    pub count: u64,
    pub offered: Option<Fees>,
    pub max: u64,
    /// One that is open for longer is stuck.
    pub stuck_after_ms: i64,
}

/// The next step for an open transaction: it is replaced only when it is the next one of the
/// wallet, as those after it wait for it and not for a better price.
pub fn next_move(transfer: &Transfer, market: Market, now: Timestamp) -> Move {
    let Market { count, offered, max, stuck_after_ms } = market;
    let replacement = || {
        let newest = transfer.newest()?;
        let is_stuck = now.since_ms(newest.at) >= stuck_after_ms && count == transfer.nonce;
        let may_more = is_stuck && transfer.attempts.len() < ATTEMPTS_MAX;
        newest.fees.outbidding(offered.filter(|_| may_more)?, max)
    };
    replacement().map_or(Move::Broadcast, Move::Replace)
}

#[cfg(test)]
mod tests;
