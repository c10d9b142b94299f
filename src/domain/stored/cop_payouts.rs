//! Payouts in pesos.

use crate::resources::cop_payouts;
use crate::stored::layout::layout;
use crate::stored::payouts::Status;
use crate::stored::values::Cop;
use crate::stored::values::DocumentNumber;
use crate::stored::values::DocumentType;
use crate::stored::values::ExternalRef;
use crate::stored::values::Id;
use crate::stored::values::Timestamp;

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
