//! Types with more than one layout. Whoever has one as a part names it here, and so reads every version.

use crate::ledger::book;
use crate::platform::{self, settings};
use crate::record;
use crate::resources::crypto::payouts as crypto_payouts;
use crate::resources::{cop_payments, payments, payouts, verification};
use crate::stored::layout::versions;
use crate::stored::{v1, v2, v3, v4};
use crate::trace;

versions! {
    Payment of payments::Payment { 3 v3::payments::Payment, 2 v2::payments::Payment, 1 v1::payments::Payment }
}

versions! {
    Payout of payouts::Payout { 3 v3::payouts::Payout, 1 v1::payouts::Payout }
}

versions! {
    CryptoPayout of crypto_payouts::CryptoPayout { 3 v3::crypto::CryptoPayout, 1 v1::crypto::CryptoPayout }
}

versions! {
    CopPayment of cop_payments::CopPayment { 4 v4::cop_payments::CopPayment, 3 v3::cop_payments::CopPayment, 2 v2::cop_payments::CopPayment, 1 v1::cop_payments::CopPayment }
}

versions! {
    Trace of trace::Trace { 4 v4::trace::Trace, 3 v3::trace::Trace }
}

versions! {
    Word of verification::Word { 4 v4::verification::Word, 3 v3::verification::Word, 1 v1::verification::Word }
}

versions! {
    Book of book::Book { 4 v4::book::Book, 1 v1::book::Book }
}

versions! {
    Record of record::Record { 4 v4::record::Record, 1 v1::record::Record }
}

versions! {
    Settings of settings::Settings { 4 v4::settings::Settings, 1 v1::settings::Settings }
}

versions! {
    TenantSettings of settings::TenantSettings { 4 v4::settings::TenantSettings, 1 v1::settings::TenantSettings }
}

versions! {
    Tenant of platform::Tenant { 4 v4::platform::Tenant, 1 v1::platform::Tenant }
}

versions! {
    PlatformBook of platform::PlatformBook { 4 v4::platform::PlatformBook, 1 v1::platform::PlatformBook }
}
