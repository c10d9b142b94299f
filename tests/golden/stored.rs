//! The bytes of every layout of the stored format, in `tests/golden/stored/`, a file per resource as in
//! `src/domain/stored/`. A line is a layout's name and a sample. `GOLDEN=write` writes them anew; once a release has
//! written a layout, its lines no longer change.
//!
//! This file is a module of the crate `domain`, which knows no files, in its tests alone.

use super::tests::Sampled;
use super::{Layout, NEWEST, Read, Written};
use bincode::config::standard;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The bytes of a value, without a version.
pub fn written<L: Layout>(value: &L) -> Vec<u8> {
    bincode::encode_to_vec(Written(value), standard()).expect("a layout refuses nothing")
}

/// The value that all these bytes are.
pub fn read<L: Layout>(bytes: &[u8]) -> L {
    let (Read(value), read) =
        bincode::decode_from_slice_with_context::<u8, Read<L>, _>(bytes, standard(), NEWEST)
            .expect("readable");
    assert_eq!(read, bytes.len(), "all of it is read");
    value
}

/// A layout as the goldens see it.
struct Golden {
    resource: &'static str,
    layout: &'static str,
    /// The bytes that are written today, in hex.
    samples: Vec<String>,
    /// Reads a line; returns how the same is written.
    read: fn(&str) -> String,
}

fn golden<L: Sampled>(resource: &'static str, layout: &'static str) -> Golden {
    let samples = L::samples(&mut 0).iter().map(|sample| hex::encode(written(sample))).collect();
    let read = |line: &str| hex::encode(written(&read::<L>(&hex::decode(line).expect("hex"))));
    Golden { resource, layout, samples, read }
}

macro_rules! goldens {
    ($($resource:ident: $($layout:ident)+;)+) => {
        vec![$($(
            golden::<super::$resource::$layout>(stringify!($resource), stringify!($layout)),
        )+)+]
    };
}

fn goldens() -> Vec<Golden> {
    goldens! {
        approvals: Approvable AskedCall Decision Approval;
        banks: BankCode Services Bank Catalogue Edit BankBook;
        beside: Place Beside;
        book: Seller SellerMethod Book;
        chargebacks: Status Reason Chargeback;
        checkout: Way Offered Bought Session Sale;
        conversions: Source End Accepted Stage Conversion Waiting Price Taken Day Totals;
        cop_payments: Channel Failure Telling Phase Marketplace ForSession Part Taken Aside EarlierRefund Live StepToken CopPayment;
        cop_payouts: AccountType ColombianAccount Beneficiary CopPayout;
        crypto: Network Asset DepositAddress Till Place LogEntry Deposit Status Transfer Attempt Fees Mark SearchedBlocks CryptoPayout;
        days: Column Day ClosedDay;
        events: EventKind Extra BalanceReason Event;
        kept: KeepRef;
        ledger: Ledger MovementKind Posting Row HoldChange Account Release;
        merchants: PayoutMethod Merchant;
        notices: Notice About Transfer NoticedDocument Claim;
        operators: Role OperatorStatus OperatorAccount Maker Who Consent AuditEntry;
        otp: Status Otp;
        own_account: Held OwnAccount;
        payments: Status CancelReason Phase Marketplace Debtor Means Aside EarlierReversal Payment;
        payouts: Status PayoutKind Destination Asked Place Batch PhoneHolder Receiver Payout;
        platform: Mode Scopes ApiKey PlatformChange Act Deed BackedUp Tenant PlatformBook;
        products: Product LinkStatus Link;
        rates: Placed Bucket Pair Series Quotation Sample Pin;
        record: Cause Entity IndexedState Written Record Kept Answer;
        refusals: StaticText Refusal PaymentRefusal PayoutRefusal MerchantRefusal VerificationRefusal ChargebackRefusal ProductRefusal CheckoutRefusal ConversionRefusal CryptoRefusal OperationRefusal CopPaymentRefusal CopPayoutRefusal WebhookRefusal PlatformRefusal ApprovalRefusal;
        settings: Fee Fees ConversionSettings LiveStatus SharedSettings Deployment Shop Receiver Settings TenantSettings;
        trace: Reach RailId BankWord OneTrace EarlierOrder Trace;
        values: AccountNumber ColombianPhone DocumentType DocumentNumber Buyer Brand Date ExternalRef IdentityDocument Id Kind EntityId Currency MobilePhone Ves Usd Usdt Cop Rate Timestamp;
        verification: MethodStatus Attempts Booked Word;
        webhooks: EventName Term EventRef Resend Delivered Retry Signature OlderSecret NextTry Exhausted Webhook;
    }
}

fn path(resource: &str) -> PathBuf {
    PathBuf::from("../../tests/golden/stored").join(format!("{resource}.txt"))
}

/// The lines of a file by the layout that they are of.
fn lines(resource: &str) -> BTreeMap<String, Vec<String>> {
    let mut lines = BTreeMap::<String, Vec<String>>::new();
    for line in fs::read_to_string(path(resource)).unwrap_or_default().lines() {
        let (layout, sample) = line.split_once(' ').expect("a name and a sample");
        lines.entry(layout.to_owned()).or_default().push(sample.to_owned());
    }
    lines
}

#[test]
fn every_layout_has_the_bytes_that_it_always_had() {
    let is_writing = std::env::var_os("GOLDEN").is_some_and(|value| value == "write");
    let goldens = goldens();
    if is_writing {
        let mut texts = BTreeMap::<&str, String>::new();
        for Golden { resource, layout, samples, .. } in &goldens {
            let text = texts.entry(resource).or_default();
            samples.iter().for_each(|sample| text.push_str(&format!("{layout} {sample}\n")));
        }
        for (resource, text) in texts {
            fs::write(path(resource), text).expect("a writable golden file");
        }
    }
    for Golden { resource, layout, samples, read } in goldens {
        let kept = lines(resource).remove(layout).unwrap_or_default();
        assert_eq!(samples, kept, "{layout} of {resource} is written otherwise, or has no golden");
        let written_again: Vec<String> = kept.iter().map(|line| read(line)).collect();
        assert_eq!(written_again, kept, "{layout} of {resource} is read otherwise");
    }
}
