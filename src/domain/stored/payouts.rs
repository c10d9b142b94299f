//! Payouts in bolívares and their batches.

use crate::resources::payouts;
use crate::resources::payouts::batch;
use crate::stored::banks::BankCode;
use crate::stored::kept::KeepRef;
use crate::stored::layout::CurrentLayout;
use crate::stored::layout::layout;
use crate::stored::trace::Trace;
use crate::stored::values::AccountNumber;
use crate::stored::values::ExternalRef;
use crate::stored::values::Id;
use crate::stored::values::IdentityDocument;
use crate::stored::values::MobilePhone;
use crate::stored::values::Timestamp;
use crate::stored::values::Ves;
use crate::values::money;
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
    enum Place of batch::ItemEnd {
        0 Payout(it: Id),
        1 Refused { external_ref: Option<String>, code: String, error: String, asked: Option<Asked> },
    }
}

layout! {
    struct Asked of batch::Asked {
        merchant: Option<Id>,
        method: Option<Id>,
        amount: Ves,
        concept: String,
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

/// The question for a payout, whatever it was called in: of these bytes a batch keeps a keyed hash,
/// by which the same batch is recognised later. They are only ever written.
pub struct AskedPayout<'a> {
    pub external_ref: &'a str,
    pub receiver: &'a payouts::Receiver,
    pub amount: money::Ves,
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

layout! {
    struct Payout of payouts::Payout {
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
        trace: Trace,
    }
}
