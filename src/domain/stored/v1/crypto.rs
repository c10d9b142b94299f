//! Version 1 of USDT payouts and deposits.

use crate::resources::crypto::address;
use crate::resources::crypto::deposits;
use crate::resources::crypto::payouts;
use crate::stored::layout::layout;
use crate::stored::v1::checkout::Sale;
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::values::{ExternalRef, Id, Rate, Timestamp, Usd, Usdt};
use crate::stored::v3::trace::of_looks;
use crate::trace::Trace;
use crate::values::time;
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
        available_at: Timestamp,
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
    past struct CryptoPayout of payouts::CryptoPayout {
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
    } then {
        // Orders were looked at by pauses that tell when it was.
        trace: trace(looks, next_look, created_at),
        transfer: None,
    }
}

/// The trace of the order before traces were kept, as the looks tell it.
fn trace(looks: u32, next_look: Option<time::Timestamp>, created_at: time::Timestamp) -> Trace {
    next_look.map_or_else(Trace::default, |next_look| of_looks(looks, next_look, created_at))
}
