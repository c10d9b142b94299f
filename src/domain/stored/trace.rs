//! What is known of an order at its rail.

use crate::stored::layout::CurrentLayout;
use crate::stored::layout::layout;
use crate::stored::values::Timestamp;
use crate::trace;
use bincode::enc::Encoder;
use bincode::error::EncodeError;

layout! {
    enum Reach of trace::Reach {
        0 Sent,
        1 Queued,
        2 Unaskable,
        3 Ambiguous,
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
    past struct OneTrace of trace::Trace {
        reach: Reach,
        sent_at: Option<Timestamp>,
        asked_at: Option<Timestamp>,
        asks: Option<u32>,
        decided_at: Option<Timestamp>,
        id: Option<RailId>,
        word: Option<Box<BankWord>>,
    } then {
        // An earlier order has none before it.
        earlier: Vec::new(),
    }
}

impl CurrentLayout for OneTrace {
    fn write<E: Encoder>(working: &trace::Trace, to: &mut E) -> Result<(), EncodeError> {
        let trace::Trace { reach, sent_at, asked_at, asks, decided_at, id, word, earlier: _ } = working;
        Reach::write(reach, to)?;
        <Option<Timestamp>>::write(sent_at, to)?;
        <Option<Timestamp>>::write(asked_at, to)?;
        <Option<u32> as CurrentLayout>::write(asks, to)?;
        <Option<Timestamp>>::write(decided_at, to)?;
        <Option<RailId>>::write(id, to)?;
        <Option<Box<BankWord>>>::write(word, to)
    }
}

#[cfg(test)]
impl crate::stored::samples::Sampled for OneTrace {
    fn sample(full: bool, number: &mut u64) -> trace::Trace {
        trace::Trace {
            reach: Reach::sample(full, number),
            sent_at: <Option<Timestamp>>::sample(full, number),
            asked_at: <Option<Timestamp>>::sample(full, number),
            asks: <Option<u32>>::sample(full, number),
            decided_at: <Option<Timestamp>>::sample(full, number),
            id: <Option<RailId>>::sample(full, number),
            word: <Option<Box<BankWord>>>::sample(full, number),
            earlier: Vec::new(),
        }
    }
}

layout! {
    struct EarlierOrder of trace::EarlierOrder {
        operation: u16,
        trace: OneTrace,
    }
}

layout! {
    struct Trace of trace::Trace {
        reach: Reach,
        sent_at: Option<Timestamp>,
        asked_at: Option<Timestamp>,
        asks: Option<u32>,
        decided_at: Option<Timestamp>,
        id: Option<RailId>,
        word: Option<Box<BankWord>>,
        earlier: Vec<EarlierOrder>,
    }
}
