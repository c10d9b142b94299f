//! Webhook endpoints.

use crate::resources::webhooks;
use crate::stored::events::EventKind;
use crate::stored::layout::layout;
use crate::stored::values::Id;
use crate::stored::values::Timestamp;

layout! {
    value EventName(u8) of webhooks::EventName;
}

layout! {
    struct Term of webhooks::Term {
        from: u64,
        events: Vec<EventName>,
        enabled: bool,
    }
}

layout! {
    struct EventRef of webhooks::EventRef {
        number: u64,
        id: Id,
        kind: EventKind,
    }
}

layout! {
    struct Resend of webhooks::Resend {
        delivery: Id,
        event: EventRef,
        created_at: Timestamp,
    }
}

layout! {
    struct Delivered of webhooks::Delivered {
        id: Id,
        event: EventRef,
        created_at: Timestamp,
        http_status: Option<u16>,
        latency_ms: u32,
        error: Option<String>,
    }
}

layout! {
    struct Webhook of webhooks::Webhook {
        id: Id,
        url: String,
        secret_version: u32,
        terms: Vec<Term>,
        reached: u64,
        open: Vec<u64>,
        resends: Vec<Resend>,
        outcomes: Vec<Delivered>,
        livemode: bool,
        created_at: Timestamp,
    }
}
