//! Version 1 of payouts in pesos.

use crate::resources::cop_payouts;
use crate::stored::layout::layout;
use crate::stored::v1::payouts::Status;
use crate::stored::v1::values::{Cop, DocumentNumber, DocumentType, ExternalRef, Id, Timestamp};

layout! {
    enum AccountType of cop_payouts::AccountType {
        0 Savings,
        1 Checking,
        2 Wallet,
    }
}

layout! {
    value ColombianAccount(Box<str>) of cop_payouts::ColombianAccount;
}

layout! {
    struct Beneficiary of cop_payouts::Beneficiary {
        bank: String,
        account: ColombianAccount,
        account_type: AccountType,
        holder_name: String,
        document_type: DocumentType,
        document_number: DocumentNumber,
    }
}

layout! {
    struct CopPayout of cop_payouts::CopPayout {
        id: Id,
        external_ref: ExternalRef,
        status: Status,
        amount: Cop,
        to: Beneficiary,
        reference: Option<String>,
        failure_code: Option<String>,
        livemode: bool,
        created_at: Timestamp,
        settled_at: Option<Timestamp>,
    }
}
