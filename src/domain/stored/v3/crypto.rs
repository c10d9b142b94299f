//! Version 3 of USDT: what is known of an order at its network, the transactions that the gateway
//! itself signs, and how far a network was searched for deposits.

use crate::platform;
use crate::resources::crypto::{payouts, transfers};
use crate::stored::layout::layout;
use crate::stored::parts::Bytes;
use crate::stored::v1::crypto::{Network, Status};
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::values::{ExternalRef, Id, Timestamp, Usdt};
use crate::stored::versions::Trace;
use std::sync::Arc;

layout! {
    struct CryptoPayout of payouts::CryptoPayout {
        id: Id,
        external_ref: ExternalRef,
        status: Status,
        amount: Usdt,
        fee: Usdt,
        network: Network,
        address: String,
        tx_hash: Option<String>,
        failure_code: Option<String>,
        sends: u32,
        looks: u32,
        next_look: Option<Timestamp>,
        kept: Option<Arc<KeepRef>>,
        livemode: bool,
        created_at: Timestamp,
        settled_at: Option<Timestamp>,
        trace: Trace,
        transfer: Option<Box<Transfer>>,
    }
}

layout! {
    struct Transfer of transfers::Transfer {
        chain_id: u64,
        wallet: [u8; 20],
        nonce: u64,
        since_block: u64,
        attempts: Vec<Attempt>,
        raw: Bytes,
    }
}

layout! {
    struct SearchedBlocks of platform::SearchedBlocks {
        network: Network,
        chain_id: u64,
        last: u64,
    }
}

layout! {
    struct Attempt of transfers::Attempt {
        hash: [u8; 32],
        fees: Fees,
        at: Timestamp,
    }
}

layout! {
    struct Fees of transfers::Fees {
        tip: u64,
        max: u64,
    }
}
