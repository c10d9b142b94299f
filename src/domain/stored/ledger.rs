//! Postings, holds and accounts.

use crate::ledger;
use crate::stored::layout::CurrentLayout;
use crate::stored::layout::Layout;
use crate::stored::layout::layout;
#[cfg(test)]
use crate::stored::samples::Sampled;
use crate::stored::values::Currency;
use crate::stored::values::EntityId;
use crate::stored::values::ExternalRef;
use crate::stored::values::Id;
use crate::stored::values::Timestamp;
use crate::values::time;
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::DecodeError;
use bincode::error::EncodeError;
use persistent::SortedMap;

layout! {
    enum Ledger of ledger::Ledger {
        0 Tenant,
        1 Seller(it: Id),
        2 Fees,
        3 Rail,
        4 Operator,
        5 Exchange,
    }
}

layout! {
    enum MovementKind of ledger::MovementKind {
        0 Payment,
        1 Fee,
        2 FeeReversal,
        3 Reversal,
        4 Chargeback,
        5 ChargebackFee,
        6 ChargebackReversal,
        7 Payout,
        8 PayoutFee,
        9 PayoutReversal,
        10 Adjustment,
        11 SellerTransfer,
        12 SellerTransferReversal,
        13 Conversion,
        14 ConversionReversal,
        15 PlatformFee,
        16 Deposit,
    }
}

layout! {
    struct Posting of ledger::Posting {
        ledger: Ledger,
        currency: Currency,
        minor: i64,
        row: Option<Box<Row>>,
    }
}

layout! {
    struct Row of ledger::Row {
        kind: MovementKind,
        subject: Option<EntityId>,
        chargeback: Option<Id>,
        external_ref: Option<ExternalRef>,
        description: String,
        available_at: Option<Timestamp>,
    }
}

layout! {
    struct HoldChange of ledger::HoldChange {
        ledger: Ledger,
        currency: Currency,
        release_at: Release,
        hold: Id,
        minor: i64,
    }
}

layout! {
    struct Account of ledger::Account {
        net: i64,
        held: i64,
        holds: SortedMap<(Release, Id), i64>,
    }
}

/// The layout of [`ledger::Release`]: milliseconds since 1970, as an instant is; what has no instant is
/// later than all that have one.
pub enum Release {}

impl Layout for Release {
    type Working = ledger::Release;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<ledger::Release, DecodeError> {
        Ok(match i64::read(from)? {
            i64::MAX => ledger::Release::WhenDecided,
            ms => ledger::Release::At(time::Timestamp::from_unix_ms(ms)),
        })
    }
}

impl CurrentLayout for Release {
    fn write<E: Encoder>(working: &ledger::Release, to: &mut E) -> Result<(), EncodeError> {
        let ms = match working {
            ledger::Release::At(at) => at.unix_ms(),
            ledger::Release::WhenDecided => i64::MAX,
        };
        i64::write(&ms, to)
    }
}

#[cfg(test)]
impl Sampled for Release {
    fn sample(full: bool, number: &mut u64) -> ledger::Release {
        if full { ledger::Release::WhenDecided } else { Timestamp::sample(true, number).into() }
    }
}
