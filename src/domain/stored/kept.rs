//! The uses of Idempotency-Keys. The answers are in `record.rs`.

use crate::kept;
use crate::stored::layout::layout;
use crate::stored::values::Timestamp;

layout! {
    struct KeepRef of kept::KeepRef {
        key: String,
        path: String,
        body_hash: [u8; 16],
        first_seen: Timestamp,
        request_id: String,
    }
}
