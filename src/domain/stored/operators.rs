//! Operators and of the audit, which came with it.

use crate::platform::audit;
use crate::platform::operators;
use crate::stored::layout::layout;
use crate::stored::values::Id;
use crate::stored::values::Timestamp;

layout! {
    enum Role of operators::Role {
        0 Viewer,
        1 Support,
        2 Treasury,
        3 Admin,
    }
}

layout! {
    enum OperatorStatus of operators::OperatorStatus {
        0 Active,
        1 Disabled,
    }
}

layout! {
    struct OperatorAccount of operators::OperatorAccount {
        id: Id,
        name: Box<str>,
        email: Box<str>,
        role: Role,
        status: OperatorStatus,
        token_hash: [u8; 32],
        created_at: Timestamp,
        makers: Vec<Maker>,
    }
}

layout! {
    struct Maker of operators::Maker {
        by: Option<Id>,
        at: Timestamp,
    }
}

layout! {
    struct Who of audit::Who {
        id: Option<Id>,
        name: Box<str>,
    }
}

layout! {
    struct Consent of audit::Consent {
        by: Who,
        note: Option<String>,
    }
}

layout! {
    struct AuditEntry of audit::AuditEntry {
        at: Timestamp,
        operator: Who,
        peer: Option<String>,
        action: String,
        tenant: Option<Id>,
        target: Option<String>,
        before: Option<String>,
        after: Option<String>,
        approval: Option<Id>,
        consent: Option<Consent>,
        request_id: Option<String>,
    }
}
