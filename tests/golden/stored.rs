//! The bytes of every layout of the stored format, in `tests/golden/stored/`, a folder per version and a
//! file per resource as in `src/domain/stored/`. A line is a layout's name and a sample. The lines of every
//! version stay readable, and the newest of a layout are what it writes. Set `GOLDEN=write` to add the lines
//! of what is new; those of a released version never change.
//!
//! This file is a module of the crate `domain`, which knows no files, in its tests alone.

use super::layout::{CurrentLayout, Layout};
use super::samples::Sampled;
use super::{Stored, v1, v2, v3, v4};
use crate::ledger::book::Book;
use crate::platform::PlatformBook;
use crate::record::Record;
use crate::resources::rates::pins::Pin;
use bincode::config::standard;
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

struct Writing<'a, L: Layout>(&'a L::Working);

impl<L: CurrentLayout> Encode for Writing<'_, L> {
    fn encode<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        L::write(self.0, to)
    }
}

struct Reading<L: Layout>(L::Working);

impl<L: Layout> Decode<u8> for Reading<L> {
    fn decode<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self, DecodeError> {
        L::read(from).map(Reading)
    }
}

/// The bytes that a layout has, without a version.
pub fn written<L: CurrentLayout>(working: &L::Working) -> Vec<u8> {
    bincode::encode_to_vec(Writing::<L>(working), standard()).expect("a layout refuses nothing")
}

/// The value that all these bytes are, in this version.
pub fn read_in<L: Layout>(version: u8, bytes: &[u8]) -> L::Working {
    let (Reading(value), read) =
        bincode::decode_from_slice_with_context::<u8, Reading<L>, _>(bytes, standard(), version)
            .expect("readable");
    assert_eq!(read, bytes.len(), "all of it is read");
    value
}

/// The value that all these bytes are, in whatever version is the newest.
pub fn read<L: Layout>(bytes: &[u8]) -> L::Working {
    read_in::<L>(u8::MAX, bytes)
}

/// A layout as the goldens see it.
struct Golden {
    resource: &'static str,
    layout: &'static str,
    /// The bytes that are written today, in hex.
    samples: Vec<String>,
    /// Reads a line of a version; returns how the same is written today.
    read: fn(u8, &str) -> String,
}

fn golden<L: Sampled + CurrentLayout>(resource: &'static str, layout: &'static str) -> Golden {
    let samples = L::samples(&mut 0).iter().map(|sample| hex::encode(written::<L>(sample))).collect();
    let read = |version, line: &str| {
        hex::encode(written::<L>(&read_in::<L>(version, &hex::decode(line).expect("hex"))))
    };
    Golden { resource, layout, samples, read }
}

macro_rules! goldens {
    ($($module:ident { $($resource:ident: $($layout:ident)+;)+ })+) => {
        vec![$($($(
            golden::<$module::$resource::$layout>(stringify!($resource), stringify!($layout)),
        )+)+)+]
    };
}

/// Types with more than one layout: the newest is written, and each reads the lines of its version.
mod versions {
    pub mod book {
        pub use crate::stored::versions::Book;
    }
    pub mod cop_payments {
        pub use crate::stored::versions::CopPayment;
    }
    pub mod crypto {
        pub use crate::stored::versions::CryptoPayout;
    }
    pub mod payments {
        pub use crate::stored::versions::Payment;
    }
    pub mod payouts {
        pub use crate::stored::versions::Payout;
    }
    pub mod platform {
        pub use crate::stored::versions::{PlatformBook, Tenant};
    }
    pub mod record {
        pub use crate::stored::versions::Record;
    }
    pub mod settings {
        pub use crate::stored::versions::{Settings, TenantSettings};
    }
    pub mod trace {
        pub use crate::stored::versions::Trace;
    }
    pub mod verification {
        pub use crate::stored::versions::Word;
    }
}

fn goldens() -> Vec<Golden> {
    goldens! {
        v1 {
            banks: BankCode Services Bank Catalogue Edit BankBook;
            book: Seller SellerMethod;
            chargebacks: Status Reason Chargeback;
            checkout: Way Offered Bought Session Sale;
            conversions: Source End Accepted Stage Conversion Waiting Price Taken Day Totals;
            cop_payments: Channel Failure Telling Phase Marketplace ForSession Part Taken Aside;
            cop_payouts: AccountType ColombianAccount Beneficiary CopPayout;
            crypto: Network Asset DepositAddress Till Place Deposit Status;
            events: EventKind Extra BalanceReason Event;
            kept: Shape KeepRef Kept;
            ledger: Ledger MovementKind Posting Row HoldChange Account Release;
            merchants: PayoutMethod Merchant;
            otp: Status Otp;
            own_account: Held OwnAccount;
            payments: Status CancelReason Phase Marketplace Debtor Means Aside;
            payouts: Status PayoutKind Destination Place Batch PhoneHolder Receiver;
            platform: Mode Scopes ApiKey PlatformChange Act Deed BackedUp;
            products: Product LinkStatus Link;
            rates: Placed Bucket Pair Series Quotation;
            record: Cause Entity IndexedState Written;
            settings: Fee Fees ConversionSettings LiveStatus SharedSettings;
            values: AccountNumber ColombianPhone DocumentType DocumentNumber Buyer Brand Date ExternalRef IdentityDocument Id Kind EntityId Currency MobilePhone Ves Usd Usdt Cop Rate Timestamp;
            verification: MethodStatus;
            webhooks: EventName Term EventRef Resend Delivered Webhook;
        }
        v2 {
            cop_payments: EarlierRefund;
            notices: Notice About Transfer Claim;
            payments: EarlierReversal;
        }
        v3 {
            cop_payments: Live;
            crypto: Transfer Attempt Fees SearchedBlocks;
            trace: Reach RailId BankWord;
        }
        v4 {
            approvals: Approvable AskedCall Decision Approval;
            beside: Place Beside;
            days: Column Day ClosedDay;
            operators: Role OperatorStatus OperatorAccount Who Consent AuditEntry;
            rates: Sample Pin;
            settings: Deployment Shop Receiver;
            trace: OneTrace EarlierOrder;
            verification: Booked;
        }
        versions {
            book: Book;
            cop_payments: CopPayment;
            crypto: CryptoPayout;
            payments: Payment;
            payouts: Payout;
            platform: Tenant PlatformBook;
            record: Record;
            settings: Settings TenantSettings;
            trace: Trace;
            verification: Word;
        }
    }
}

fn path(version: u8, resource: &str) -> PathBuf {
    let folder = PathBuf::from("../../tests/golden/stored");
    folder.join(format!("v{version}/{resource}.txt"))
}

/// The lines of a file by the layout that they are of.
fn lines(version: u8, resource: &str) -> BTreeMap<String, Vec<String>> {
    let mut lines = BTreeMap::<String, Vec<String>>::new();
    for line in fs::read_to_string(path(version, resource)).unwrap_or_default().lines() {
        let (layout, sample) = line.split_once(' ').expect("a name and a sample");
        lines.entry(layout.to_owned()).or_default().push(sample.to_owned());
    }
    lines
}

/// The newest version of anything.
fn newest() -> u8 {
    [Record::VERSIONS, Book::VERSIONS, PlatformBook::VERSIONS, Pin::VERSIONS]
        .concat()
        .into_iter()
        .max()
        .expect("a version")
}

fn add(version: u8, resource: &str, layout: &str, samples: &[String]) {
    let mut lines = lines(version, resource);
    lines.insert(layout.to_owned(), samples.to_vec());
    let text: String = lines
        .iter()
        .flat_map(|(layout, samples)| samples.iter().map(move |sample| format!("{layout} {sample}\n")))
        .collect();
    let path = path(version, resource);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a writable golden file");
}

/// Lines of an earlier version are read; those of the newest version in which a layout has any are what it
/// writes today.
#[test]
fn every_layout_has_the_bytes_that_it_always_had() {
    let is_writing = std::env::var_os("GOLDEN").is_some_and(|value| value == "write");
    for Golden { resource, layout, samples, read } in goldens() {
        let (mut newest_lines, mut written_again) = (Vec::new(), Vec::new());
        for version in 1..=newest() {
            if let Some(lines) = lines(version, resource).remove(layout) {
                written_again = lines.iter().map(|line| read(version, line)).collect();
                newest_lines = lines;
            }
        }
        if is_writing && newest_lines != samples {
            add(newest(), resource, layout, &samples);
            continue;
        }
        assert_eq!(samples, newest_lines, "{layout} of {resource} is written otherwise, or has no golden");
        assert_eq!(written_again, newest_lines, "{layout} of {resource} is read otherwise");
    }
}
