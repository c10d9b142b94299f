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
        attempt: u32,
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
        attempt: u32,
    }
}

layout! {
    enum Retry of webhooks::Retry {
        0 None,
        1 Backoff,
    }
}

layout! {
    enum Signature of webhooks::Signature {
        0 Hex,
        1 Timestamped,
    }
}

layout! {
    struct OlderSecret of webhooks::OlderSecret {
        version: u32,
        until: Timestamp,
    }
}

layout! {
    struct NextTry of webhooks::NextTry {
        event: EventRef,
        attempt: u32,
        due: Timestamp,
    }
}

layout! {
    struct Exhausted of webhooks::Exhausted {
        event: EventRef,
        at: Timestamp,
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
        retry: Retry,
        signature: Signature,
        older_secrets: Vec<OlderSecret>,
        next_tries: Vec<NextTry>,
        exhausted: Vec<Exhausted>,
    }
}
