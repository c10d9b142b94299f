//! Types with more than one layout. Whoever has one as a part names it here, and so reads every version.

use crate::resources::cop_payments;
use crate::resources::crypto::payouts;
use crate::resources::payments;
use crate::stored::layout::versions;
use crate::stored::{v1, v2, v3};

versions! {
    CopPayment of cop_payments::CopPayment { 2 v2::cop_payments::CopPayment, 1 v1::cop_payments::CopPayment }
}

versions! {
    Payment of payments::Payment { 2 v2::payments::Payment, 1 v1::payments::Payment }
}

versions! {
    CryptoPayout of payouts::CryptoPayout { 3 v3::crypto::CryptoPayout, 1 v1::crypto::CryptoPayout }
}
