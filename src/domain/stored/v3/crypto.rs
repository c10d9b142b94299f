//! Version 3 of USDT payouts: what is known of the order at the network.

use crate::resources::crypto::payouts;
use crate::stored::layout::layout;
use crate::stored::v1::crypto::{Network, Status};
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::values::{ExternalRef, Id, Timestamp, Usdt};
use crate::stored::v3::trace::Trace;
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
    }
}
