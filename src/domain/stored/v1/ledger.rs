//! Version 1 of postings, holds and accounts.

use crate::ledger;
use crate::stored::layout::{CurrentLayout, Layout, layout};
#[cfg(test)]
use crate::stored::samples::Sampled;
use crate::stored::v1::values::{Currency, EntityId, ExternalRef, Id, Timestamp};
use crate::values::time;
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::goldens::{read, written};
    use crate::values::{ids, money};

    /// The end of a hold that waits for a bank's decision, as version 1 wrote it at first and as it
    /// writes it now.
    #[test]
    fn both_ways_to_say_until_decided_are_read_and_differ_at_the_end_of_the_calendar_alone() {
        let hold = |release_at| ledger::HoldChange {
            ledger: ledger::Ledger::Tenant,
            currency: money::Currency::Ves,
            release_at,
            hold: ids::Id::derived(1, 1, 0),
            minor: 5,
        };
        let (then, now) =
            (hold(ledger::Release::At(time::Timestamp::MAX)), hold(ledger::Release::WhenDecided));
        for change in [then, now] {
            assert_eq!(read::<HoldChange>(&written::<HoldChange>(&change)), change);
            assert_eq!(change.release_at.instant(), None);
        }
        assert_eq!(
            written::<Release>(&ledger::Release::At(time::Timestamp::MAX)),
            written::<Timestamp>(&time::Timestamp::MAX),
            "an instant is stored as it was"
        );
        let mut account = ledger::Account::default();
        account.hold(&then);
        account.hold(&now);
        assert_eq!(account.set_aside_for(now.hold).map(|(_, minor)| minor).sum::<i64>(), account.undecided());
        account.settle(time::Timestamp::CLOCKS_END);
        assert_eq!((account.held, account.next_release()), (10, None));
        account.settle(time::Timestamp::MAX);
        assert_eq!(
            (account.held, account.held_for(ledger::Release::WhenDecided, now.hold)),
            (5, 5),
            "what has no instant has no end"
        );
    }
}
