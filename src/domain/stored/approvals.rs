//! Approvals, which came with it.

use crate::resources::approvals;
use crate::stored::layout::layout;
use crate::stored::operators::Who;
use crate::stored::parts::Bytes;
use crate::stored::values::Id;
use crate::stored::values::Timestamp;

layout! {
    enum Approvable of approvals::Approvable {
        0 Adjustments,
        1 Rates,
        2 LiveStatus,
        3 Operations,
        4 CryptoPayouts,
        5 TakeOver,
        6 Operators,
        7 CopPayouts,
    }
}

layout! {
    struct AskedCall of approvals::AskedCall {
        by: Who,
        peer: Option<String>,
        request_id: Option<String>,
        operation: String,
        path: String,
        query: Option<String>,
        body: Bytes,
        tenant: Option<Id>,
        target: Option<String>,
    }
}

layout! {
    struct Decision of approvals::Decision {
        approved: bool,
        by: Who,
        note: Option<String>,
        at: Timestamp,
    }
}

layout! {
    struct Approval of approvals::Approval {
        id: Id,
        action: Approvable,
        call: AskedCall,
        created_at: Timestamp,
        expires_at: Timestamp,
        decision: Option<Decision>,
    }
}
