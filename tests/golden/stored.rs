//! The bytes of every layout of the stored format, in `tests/golden/stored/`, a file per resource.
//! A line is a type's name and a sample. `GOLDEN=write` writes them anew; once a release has
//! written a layout, its lines no longer change.
//!
//! This file is a module of the crate `domain`, which knows no files, in its tests alone.

use super::tests::Sampled;
use super::{BEFORE, Decode, Encode, NEWEST, encode_as};
use bincode::config::standard;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The bytes of a value, without a version.
pub fn written<L: Encode>(value: &L) -> Vec<u8> {
    bincode::encode_to_vec(value, standard()).expect("a layout refuses nothing")
}

/// The value that all these bytes are.
pub fn read<L: Decode<u8>>(bytes: &[u8]) -> L {
    let (value, read) =
        bincode::decode_from_slice_with_context::<u8, L, _>(bytes, standard(), NEWEST).expect("readable");
    assert_eq!(read, bytes.len(), "all of it is read");
    value
}

/// A layout as the goldens see it.
struct Golden {
    resource: &'static str,
    layout: &'static str,
    /// The bytes that are written today, in hex.
    samples: Vec<String>,
    /// The samples that are written for the version before the newest.
    before: usize,
    /// Reads a line; returns how the same is written.
    read: fn(&str) -> String,
}

fn golden<L: Sampled + Encode + Decode<u8>>(resource: &'static str, layout: &'static str) -> Golden {
    let all = L::samples(&mut 0);
    let samples = all.iter().map(|sample| hex::encode(written(sample))).collect();
    let is_written = |sample: &&L| encode_as::<L, { BEFORE as usize }>(sample).is_ok();
    let before = all.iter().filter(is_written).count();
    let read = |line: &str| hex::encode(written(&read::<L>(&hex::decode(line).expect("hex"))));
    Golden { resource, layout, samples, before, read }
}

macro_rules! goldens {
    ($($resource:ident: $($($module:ident)::+ { $($layout:ident)+ })+;)+) => {{
        let mut all = Vec::new();
        $($({
            use crate::$($module)::+::*;
            $(all.push(golden::<$layout>(stringify!($resource), stringify!($layout)));)+
        })+)+
        all
    }};
}

/// Every stored type, by the file of its golden and the module that it is in.
fn goldens() -> Vec<Golden> {
    goldens! {
        approvals:
            entities::approval { Approvable AskedCall Decision Approval };
        banks:
            values::venezuela { BankCode }
            resources::banks { Services Bank Catalogue Edit BankBook };
        beside:
            resources::rates::pins { PinPlace }
            platform::beside { Beside };
        book:
            ledger::book { Seller SellerMethod Book };
        chargebacks:
            entities::chargeback { Status Reason Chargeback };
        checkout:
            entities::session { Way Bought Session }
            entities::sale { Sale };
        conversions:
            entities::conversion { Source End Accepted Stage Conversion Waiting Price }
            ledger::totals { Day Totals };
        cop_payments:
            values::colombia { Channel }
            entities::cop_payment { Failure Telling Waiting Phase Marketplace ForSession Live CopPayment }
            entities::cop_payment { EarlierRefund }
            values::token { StepToken };
        cop_payouts:
            entities::cop_payout { AccountType ColombianAccount Beneficiary CopPayout };
        crypto:
            values::address { Network }
            entities::deposit_address { Asset DepositAddress Till TillAddress Deposit LogEntry }
            entities::crypto_payout { Status CryptoPayout Transfer Attempt Fees }
            platform { Mark SearchedBlocks };
        days:
            ledger::days { Column Day ClosedDay };
        events:
            events { EventKind Extra BalanceReason Event };
        kept:
            kept { KeepRef };
        ledger:
            ledger { Ledger MovementKind Posting Row HoldChange Account Release };
        mandates:
            platform::mandate { Limits Payee Mandate Limit }
            entities::mandate_approval { MandateApproval WaitingCall Subject Member MandateDecision Waiting }
            ledger::spending { Purse Spending Spent }
            refusal { MandateRefusal };
        merchants:
            entities::merchant { PayoutMethod Merchant };
        notices:
            entities::notice { Notice About Transfer NoticedDocument Claim Traits };
        operators:
            platform::operators { Role OperatorStatus OperatorAccount Maker }
            platform::audit { Who Consent AuditEntry };
        otp:
            entities::otp { Status Otp };
        own_account:
            entities::own_account { OwnPhone OwnAccount };
        payments:
            entities::payment { Status CancelReason Phase Marketplace EarlierReversal Payment }
            entities::means { Debtor Means }
            entities::sale { Part Taken Aside };
        payouts:
            entities::payout { Status PayoutKind Destination Payout }
            resources::payouts { PhoneHolder Receiver }
            entities::batch { ItemEnd Asked Batch }
            resources::payouts::batch { CanonicalItem };
        platform:
            values::ids { Mode }
            platform { Scopes ApiKey KeyDetails Followed PlatformChange Tenant PlatformBook }
            platform { Act BackedUp }
            platform::test_accounts { Opener TestAccount }
            platform::copies { MoveAsk Copied Page };
        live_asks:
            platform::live_asks { LiveAsk TransferSearch AcceptedLine Candidates Guesses };
        products:
            entities::product { Product LinkStatus Link };
        rates:
            resources::rates::buckets { Placed Bucket }
            resources::rates::samples { Pair Series Quotation Sample }
            resources::rates::pins { Pin };
        record:
            cause { Cause }
            entities { Entity }
            entities::resource { IndexedState }
            record { Written Record Kept Answer };
        refusals:
            refusal { Refusal PaymentRefusal PayoutRefusal MerchantRefusal VerificationRefusal ChargebackRefusal ProductRefusal CheckoutRefusal ConversionRefusal CryptoRefusal OperationRefusal CopPaymentRefusal CopPayoutRefusal WebhookRefusal PlatformRefusal ApprovalRefusal };
        settings:
            platform::settings { Fee Fees ConversionSettings LiveStatus Settings TenantSettings Shop Receiver }
            platform::settings { Deployment };
        trace:
            trace { Reach RailId BankWord EarlierOrder Trace OrderState };
        values:
            values::venezuela { AccountNumber }
            values::colombia { ColombianPhone DocumentType DocumentNumber Buyer }
            values::card { Brand }
            values::time { Date }
            values::text { ExternalRef }
            values::venezuela { IdentityDocument }
            values::ids { Id Kind EntityId }
            values::money { Currency Ves Usd Usdt Cop Rate }
            values::venezuela { MobilePhone }
            values::time { Timestamp };
        verification:
            entities::verification { Standing MethodStatus Word Attempts Booked };
        webhooks:
            entities::webhook { Term EventRef Resend Delivered Retry Signature OlderSecret NextTry Exhausted Webhook };
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
    for Golden { resource, layout, samples, read, .. } in goldens {
        let kept = lines(resource).remove(layout).unwrap_or_default();
        assert_eq!(samples, kept, "{layout} of {resource} is written otherwise, or has no golden");
        let written_again: Vec<String> = kept.iter().map(|line| read(line)).collect();
        assert_eq!(written_again, kept, "{layout} of {resource} is read otherwise");
    }
}

/// `tests/golden/before.txt` has the version before the newest, and of each layout the lines that it has in
/// `tests/golden/stored/` of the last release that wrote that version. A variant that came later says so (`since`): that
/// release would take what it cannot read for damage.
#[test]
fn no_variant_that_the_version_before_does_not_know_is_written_in_it() {
    let text = fs::read_to_string("../../tests/golden/before.txt").expect("a file");
    let mut lines = text.lines();
    assert_eq!(
        lines.next().map(str::to_owned),
        Some(BEFORE.to_string()),
        "the release before stores another"
    );
    let counts: BTreeMap<(&str, &str), usize> = lines
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [resource, layout, count] => ((resource, layout), count.parse().expect("a count")),
            _ => panic!("{line}"),
        })
        .collect();
    assert!(counts.len() > 100, "{counts:?}");
    for Golden { resource, layout, before, .. } in goldens() {
        if let Some(count) = counts.get(&(resource, layout)) {
            assert_eq!(before, *count, "{layout} of {resource}: a new variant needs its `since`");
        }
    }
}
