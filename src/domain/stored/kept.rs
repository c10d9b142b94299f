//! Kept answers.

use crate::kept;
use crate::stored::layout::layout;
use crate::stored::parts::Bytes;
use crate::stored::record::Entity;
use crate::stored::refusals::Refusal;
use crate::stored::values::Timestamp;
use std::sync::Arc;

layout! {
    struct KeepRef of kept::KeepRef {
        key: String,
        path: String,
        body_hash: [u8; 16],
        first_seen: Timestamp,
        request_id: String,
    }
}

layout! {
    struct Kept of kept::Kept {
        of: Arc<KeepRef>,
        answer: Answer,
    }
}

layout! {
    enum Answer of kept::Answer {
        0 Record { shown: Vec<Arc<Entity>> },
        1 Refused(it: Refusal),
        2 Bytes(status: u16, body: Bytes),
        3 Void,
    }
}
