//! USDT payouts and deposits.

use crate::platform;
use crate::resources::crypto::address;
use crate::resources::crypto::deposits;
use crate::resources::crypto::payouts;
use crate::resources::crypto::transfers;
use crate::stored::checkout::Sale;
use crate::stored::kept::KeepRef;
use crate::stored::layout::layout;
use crate::stored::parts::Bytes;
use crate::stored::trace::Trace;
use crate::stored::values::ExternalRef;
use crate::stored::values::Id;
use crate::stored::values::Rate;
use crate::stored::values::Timestamp;
use crate::stored::values::Usd;
use crate::stored::values::Usdt;
use std::sync::Arc;

layout! {
    enum Network of address::Network {
        0 Trc20,
        1 Erc20,
        2 Bep20,
        3 Polygon,
    }
}

layout! {
    enum Asset of deposits::Asset {
        0 Usdt,
        1 Usdc,
    }
}

layout! {
    struct DepositAddress of deposits::DepositAddress {
        id: Id,
        customer_ref: ExternalRef,
        network: Network,
        asset: Asset,
        address: String,
        livemode: bool,
        created_at: Timestamp,
        till: Option<Box<Till>>,
    }
}

layout! {
    struct Till of deposits::Till {
        sale: Sale,
        amount: Usd,
        marketplace: Option<(Id, Rate)>,
        more: Vec<Place>,
        received: Usdt,
        seller_received: Usdt,
        paid: Option<(Timestamp, Id)>,
        generation: u64,
    }
}

layout! {
    struct Place of deposits::TillAddress {
        network: Network,
        asset: Asset,
        address: String,
    }
}

layout! {
    struct Deposit of deposits::Deposit {
        id: Id,
        to: DepositAddress,
        amount: Usdt,
        tx_hash: String,
        entry: Option<LogEntry>,
        available_at: Timestamp,
    }
}

layout! {
    struct LogEntry of deposits::LogEntry {
        chain_id: u64,
        index: u64,
        block: [u8; 32],
    }
}

layout! {
    enum Status of payouts::Status {
        0 PendingReview,
        1 Processing,
        2 Completed,
        3 Failed,
        4 Rejected,
    }
}

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
    struct Mark of platform::Mark {
        block: u64,
        hash: [u8; 32],
        made_at: u64,
    }
}

layout! {
    struct SearchedBlocks of platform::SearchedBlocks {
        network: Network,
        chain_id: u64,
        last: u64,
        since: Timestamp,
        marks: Vec<Mark>,
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
