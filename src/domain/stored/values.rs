//! Values: money, names, instants, people.

use crate::stored::banks::BankCode;
use crate::stored::layout::CurrentLayout;
use crate::stored::layout::Layout;
use crate::stored::layout::layout;
#[cfg(test)]
use crate::stored::samples::Sampled;
use crate::values::account;
use crate::values::buyer;
use crate::values::card;
use crate::values::date;
use crate::values::external_ref;
use crate::values::identity;
use crate::values::ids;
use crate::values::money;
use crate::values::phone;
use crate::values::time;
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::DecodeError;
use bincode::error::EncodeError;
use rust_decimal::Decimal;
use std::sync::Arc;

layout! {
    struct AccountNumber of account::AccountNumber {
        bank: BankCode,
        branch: u16,
        number: u64,
    }
}

layout! {
    value ColombianPhone(u64) of buyer::ColombianPhone;
}

layout! {
    enum DocumentType of buyer::DocumentType {
        0 Cc,
        1 Ce,
        2 Ti,
        3 Nit,
        4 Pp,
    }
}

layout! {
    value DocumentNumber(Box<str>) of buyer::DocumentNumber;
}

layout! {
    struct Buyer of buyer::Buyer {
        email: Option<String>,
        phone: Option<ColombianPhone>,
        document_type: Option<DocumentType>,
        document_number: Option<DocumentNumber>,
    }
}

layout! {
    enum Brand of card::Brand {
        0 Visa,
        1 Mastercard,
        2 Amex,
        3 Diners,
        4 Discover,
        5 Jcb,
        6 UnionPay,
        7 Maestro,
        8 Unknown,
    }
}

layout! {
    value Date(i32) of date::Date;
}

layout! {
    value ExternalRef(Arc<str>) of external_ref::ExternalRef;
}

layout! {
    struct IdentityDocument of identity::IdentityDocument {
        letter: u8,
        digits: u8,
        number: u32,
    }
}

layout! {
    value Id([u8; 16]) of ids::Id;
}

layout! {
    enum Kind of ids::Kind {
        0 Payment,
        1 Payout,
        2 Merchant,
        3 Batch,
        4 Chargeback,
        5 Otp,
        6 OwnAccount,
        7 Product,
        8 Session,
        9 Conversion,
        10 CryptoPayout,
        11 DepositAddress,
        12 CopPayment,
        13 CopPayout,
        14 Webhook,
        15 Notice,
        16 Approval,
    }
}

layout! {
    struct EntityId of ids::EntityId {
        kind: Kind,
        id: Id,
    }
}

layout! {
    enum Currency of money::Currency {
        0 Ves,
        1 Cop,
        2 Usdt,
    }
}

layout! {
    struct MobilePhone of phone::MobilePhone {
        prefix: u16,
        line: u32,
    }
}

layout! {
    value Ves(i64) of money::Ves;
}

layout! {
    value Usd(i64) of money::Usd;
}

layout! {
    value Usdt(i64) of money::Usdt;
}

layout! {
    value Cop(i64) of money::Cop;
}

/// The layout of [`money::Rate`]: an exact decimal as mantissa and scale.
pub enum Rate {}

impl Layout for Rate {
    type Working = money::Rate;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<money::Rate, DecodeError> {
        Decimal::try_from_i128_with_scale(i128::read(from)?, u32::read(from)?)
            .map(money::Rate)
            .map_err(|_| DecodeError::Other("a rate out of range"))
    }
}

impl CurrentLayout for Rate {
    fn write<E: Encoder>(working: &money::Rate, to: &mut E) -> Result<(), EncodeError> {
        i128::write(&working.0.mantissa(), to)?;
        u32::write(&working.0.scale(), to)
    }
}

#[cfg(test)]
impl Sampled for Rate {
    fn sample(full: bool, number: &mut u64) -> money::Rate {
        let scale = if full { 8 } else { 0 };
        money::Rate(Decimal::from_i128_with_scale(i64::sample(full, number).into(), scale))
    }
}

/// The layout of [`time::Timestamp`]: milliseconds since 1970.
pub enum Timestamp {}

impl Layout for Timestamp {
    type Working = time::Timestamp;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<time::Timestamp, DecodeError> {
        i64::read(from).map(time::Timestamp::from_unix_ms)
    }
}

impl CurrentLayout for Timestamp {
    fn write<E: Encoder>(working: &time::Timestamp, to: &mut E) -> Result<(), EncodeError> {
        i64::write(&working.unix_ms(), to)
    }
}

#[cfg(test)]
impl Sampled for Timestamp {
    fn sample(full: bool, number: &mut u64) -> time::Timestamp {
        let since = i64::from(u8::sample(false, number));
        time::Timestamp::from_unix_ms(if full { 1_795_226_000_000 + since } else { since })
    }
}
