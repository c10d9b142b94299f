//! Version 1 of payouts in bolívares and their batches.

use crate::resources::payouts;
use crate::resources::payouts::batch;
use crate::stored::layout::{CurrentLayout, layout};
use crate::stored::v1::banks::BankCode;
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::values::{
    AccountNumber, ExternalRef, Id, IdentityDocument, MobilePhone, Timestamp, Ves,
};
use crate::stored::v3::trace::of_looks;
use crate::trace::Trace;
use crate::values::money;
use crate::values::time;
use bincode::Encode;
use bincode::enc::Encoder;
use bincode::error::EncodeError;
use std::sync::Arc;

layout! {
    enum Status of payouts::Status {
        0 Pending,
        1 Completed,
        2 Failed,
    }
}

layout! {
    enum PayoutKind of payouts::PayoutKind {
        0 Merchant,
        1 Instant,
        2 Credit,
        3 Account,
        4 Change,
    }
}

layout! {
    enum Destination of payouts::Destination {
        0 Phone { bank: BankCode, phone: MobilePhone, identity: Option<IdentityDocument> },
        1 Account { account: AccountNumber, identity: IdentityDocument, name: String },
    }
}

layout! {
    past struct Payout of payouts::Payout {
        id: Id,
        external_ref: ExternalRef,
        kind: PayoutKind,
        status: Status,
        amount: Ves,
        fee: Ves,
        concept: String,
        merchant: Option<Id>,
        merchant_name: Option<String>,
        method: Option<Id>,
        method_named: bool,
        payment: Option<Id>,
        batch: Option<Id>,
        destination: Destination,
        from_merchant_balance: bool,
        reference: Option<String>,
        failure_code: Option<String>,
        sends: u32,
        looks: u32,
        next_look: Option<Timestamp>,
        kept: Option<Arc<KeepRef>>,
        livemode: bool,
        created_at: Timestamp,
        settled_at: Option<Timestamp>,
    } then {
        // Orders were looked at by pauses that tell when it was.
        trace: trace(looks, next_look, created_at),
    }
}

layout! {
    enum Place of batch::ItemEnd {
        0 Payout(it: Id),
        1 Refused { external_ref: Option<String>, code: String, error: String },
    }
}

layout! {
    struct Batch of batch::Batch {
        id: Id,
        external_ref: ExternalRef,
        mark: [u8; 16],
        items: Vec<Place>,
        livemode: bool,
        created_at: Timestamp,
    }
}

layout! {
    struct PhoneHolder of payouts::PhoneHolder {
        bank: BankCode,
        phone: MobilePhone,
        identity: IdentityDocument,
    }
}

layout! {
    enum Receiver of payouts::Receiver {
        0 Merchant { merchant: Id, method: Option<Id>, from_balance: bool },
        1 Credit(it: PhoneHolder),
        2 Change { to: PhoneHolder, payment: Option<Id> },
        3 Account { account: AccountNumber, identity: IdentityDocument, name: String },
        4 Own,
    }
}

/// The trace of the order before traces were kept, as the looks tell it.
fn trace(looks: u32, next_look: Option<time::Timestamp>, created_at: time::Timestamp) -> Trace {
    next_look.map_or_else(Trace::default, |next_look| of_looks(looks, next_look, created_at))
}

/// The question for a payout, whatever it was called in: of these bytes a batch keeps a keyed hash,
/// by which the same batch is recognised later. They are only ever written.
pub struct AskedPayout<'a> {
    /// The tenant's reference.
    pub external_ref: &'a str,
    /// The receiver.
    pub receiver: &'a payouts::Receiver,
    /// The amount.
    pub amount: money::Ves,
    /// The purpose.
    pub concept: &'a str,
}

impl Encode for AskedPayout<'_> {
    fn encode<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        self.external_ref.encode(to)?;
        Receiver::write(self.receiver, to)?;
        Ves::write(&self.amount, to)?;
        self.concept.encode(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec;
    use crate::stored::samples::Sampled;

    #[test]
    fn what_is_asked_has_the_bytes_of_which_batches_keep_the_hash() {
        let asked = |receiver: &payouts::Receiver| {
            let amount = money::Ves::from_minor(123_456);
            let payout = AskedPayout { external_ref: "nómina-7", receiver, amount, concept: "Pago" };
            hex::encode(codec::encode_asked(&payout))
        };
        let receivers = Receiver::samples(&mut 0);
        let of_merchant = receivers.iter().map(asked).next();
        assert_eq!(
            of_merchant.as_deref(),
            Some("01096ec3b36d696e612d37000102030405060708090a0b0c0d0e0f100000fc80c40300045061676f")
        );
        assert_eq!(asked(&payouts::Receiver::Own), "01096ec3b36d696e612d3704fc80c40300045061676f");
    }
}
