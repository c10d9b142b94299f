//! The bytes of every layout of the stored format, in `tests/golden/stored/`, a folder per version and a
//! file per resource as in `src/domain/stored/`. A line is a layout's name and a sample. A layout that is
//! written must go on writing these bytes; one that is past must go on reading them. Set `GOLDEN=write` to
//! add the lines of a new layout. The lines of a released version never change.
//!
//! This file is a module of the crate `domain`, which knows no files, in its tests alone.

use super::layout::{CurrentLayout, Layout};
use super::samples::Sampled;
use super::v1;
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
    file: &'static str,
    layout: &'static str,
    /// Samples in hex; none of a layout that is only read.
    samples: Vec<String>,
    /// Reads a line, which must give the same bytes again if the layout is written.
    check: fn(&str),
}

fn current<L: Sampled + CurrentLayout>(file: &'static str, layout: &'static str) -> Golden {
    let samples = L::samples(&mut 0);
    for sample in &samples {
        assert_eq!(written::<L>(&read::<L>(&written::<L>(sample))), written::<L>(sample), "{file} {layout}");
    }
    Golden {
        file,
        layout,
        samples: samples.iter().map(|sample| hex::encode(written::<L>(sample))).collect(),
        check: |line| {
            let bytes = hex::decode(line).expect("hex");
            assert_eq!(written::<L>(&read::<L>(&bytes)), bytes, "{line}");
        },
    }
}

macro_rules! goldens {
    ($($version:ident { $($file:ident: $($layout:ident)+;)+ })+) => {
        vec![$($($(
            current::<$version::$file::$layout>(
                concat!(stringify!($version), "/", stringify!($file)),
                stringify!($layout),
            ),
        )+)+)+]
    };
}

fn goldens() -> Vec<Golden> {
    goldens! {
        v1 {
            banks: BankCode Services Bank Catalogue Edit BankBook;
            book: Seller SellerMethod Book;
            chargebacks: Status Reason Chargeback;
            checkout: Way Offered Bought Session Sale;
            conversions: Source End Accepted Stage Conversion Waiting Price Taken Day Totals;
            cop_payments: Channel Failure Telling Phase Marketplace ForSession CopPayment Part Taken Aside;
            cop_payouts: AccountType ColombianAccount Beneficiary CopPayout;
            crypto: Network Asset DepositAddress Till Place Deposit Status CryptoPayout;
            events: EventKind Extra BalanceReason Event;
            kept: Shape KeepRef Kept;
            ledger: Ledger MovementKind Posting Row HoldChange Account Release;
            merchants: PayoutMethod Merchant;
            otp: Status Otp;
            own_account: Held OwnAccount;
            payments: Status CancelReason Phase Marketplace Debtor Means Payment Aside;
            payouts: Status PayoutKind Destination Payout Place Batch PhoneHolder Receiver;
            platform: Mode Scopes ApiKey Tenant PlatformChange PlatformBook Act Deed BackedUp;
            products: Product LinkStatus Link;
            rates: Placed Bucket Pair Series Quotation;
            record: Cause Entity IndexedState Written Record;
            settings: Fee Fees ConversionSettings Settings LiveStatus TenantSettings SharedSettings;
            values: AccountNumber ColombianPhone DocumentType DocumentNumber Buyer Brand Date ExternalRef IdentityDocument Id Kind EntityId Currency MobilePhone Ves Usd Usdt Cop Rate Timestamp;
            verification: MethodStatus Word;
            webhooks: EventName Term EventRef Resend Delivered Webhook;
        }
    }
}

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/golden/stored")
        .join(file)
        .with_extension("txt")
}

/// The lines of a file by the layout that they are of.
fn lines(file: &str) -> BTreeMap<String, Vec<String>> {
    let mut lines = BTreeMap::<String, Vec<String>>::new();
    for line in fs::read_to_string(path(file)).unwrap_or_default().lines() {
        let (layout, sample) = line.split_once(' ').expect("a name and a sample");
        lines.entry(layout.to_owned()).or_default().push(sample.to_owned());
    }
    lines
}

#[test]
fn every_layout_has_the_bytes_that_it_always_had() {
    let goldens = goldens();
    let files: BTreeMap<&str, _> = goldens.iter().map(|golden| (golden.file, lines(golden.file))).collect();
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "write") {
        for (file, mut lines) in files {
            for golden in goldens.iter().filter(|golden| golden.file == file && !golden.samples.is_empty()) {
                lines.insert(golden.layout.to_owned(), golden.samples.clone());
            }
            let text: String = lines
                .iter()
                .flat_map(|(layout, samples)| {
                    samples.iter().map(move |sample| format!("{layout} {sample}\n"))
                })
                .collect();
            fs::create_dir_all(path(file).parent().expect("a folder")).expect("a folder");
            fs::write(path(file), text).expect("a writable golden file");
        }
        return;
    }
    for golden in goldens {
        let lines = files[golden.file].get(golden.layout).map(Vec::as_slice).unwrap_or_default();
        let what = format!("{} of {}", golden.layout, golden.file);
        assert!(!lines.is_empty(), "{what} has no golden: run with GOLDEN=write");
        if !golden.samples.is_empty() {
            assert_eq!(golden.samples, lines, "{what} is written otherwise than it was");
        }
        lines.iter().for_each(|line| (golden.check)(line));
    }
}
