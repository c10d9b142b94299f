//! Version 3 of what is known of an order at its rail; there was none before.

use crate::stored::layout::layout;
use crate::stored::v1::values::Timestamp;
use crate::trace;
use crate::values::time;

layout! {
    enum Reach of trace::Reach {
        0 Sent,
        1 Queued,
        2 Unaskable,
    }
}

layout! {
    value RailId(Box<str>) of trace::RailId;
}

layout! {
    struct BankWord of trace::BankWord {
        code: String,
        text: String,
    }
}

layout! {
    past struct Trace of trace::Trace {
        reach: Reach,
        sent_at: Option<Timestamp>,
        asked_at: Option<Timestamp>,
        id: Option<RailId>,
        word: Option<Box<BankWord>>,
    } then {
        // The looks at it were counted, in the phase of its entity.
        asks: None,
        decided_at: None,
        earlier: Vec::new(),
    }
}

/// The trace of an order of an earlier version, which was looked at so often, by the pauses of then.
pub fn of_looks(looks: u32, next_look: time::Timestamp, since: time::Timestamp) -> trace::Trace {
    trace::Trace {
        sent_at: Some(trace::sent_at(next_look, looks).max(since)),
        asked_at: trace::asked_at(next_look, looks).map(|at| at.max(since)),
        ..trace::Trace::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::stored::goldens::read_in;
    use crate::stored::versions::Trace;

    #[test]
    fn an_order_of_version_3_has_looks_for_questions() {
        let read = read_in::<Trace>(3, &[0, 1, 2, 1, 4, 0, 0]);
        assert_eq!(
            (read.sent_at.map(|at| at.unix_ms()), read.asked_at.map(|at| at.unix_ms())),
            (Some(1), Some(2))
        );
        assert_eq!((read.asks, read.decided_at, read.earlier), (None, None, Vec::new()));
    }
}
