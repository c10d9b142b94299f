//! The rows about rates.

use super::row::{Is, Opt, Verb, may, must};

const PAIR: Opt = must("pair", "pair", Is::Text, "BASE/QUOTE");
const SOURCE: Opt = must("source", "source", Is::Text, "Whose rate it is");

pub const PRICING: &[Verb] = &[
    Verb {
        noun: "rate",
        verb: "add",
        about: "Enter a sample of a rate",
        example: "rate add --pair USD/VES --source bcv --side OFFICIAL --price 231.0462",
        method: "POST",
        path: "/admin/rates",
        operands: &[],
        options: &[
            PAIR,
            SOURCE,
            may("side", "side", Is::Text, "BUY, SELL, FLOOR or OFFICIAL"),
            may("method", "method", Is::Text, "How it was made"),
            may("paymentMethod", "payment-method", Is::Text, "For which way of paying"),
            must("price", "price", Is::Text, "At most 8 decimals"),
            may("asOf", "as-of", Is::Text, "When it held; of bcv its value date; now if it is missing"),
            may("pinnedUntil", "pinned-until", Is::Text, "No feed replaces it until then; 30 days at most"),
            may("reason", "reason", Is::Text, "Why it is pinned"),
        ],
    },
    Verb {
        noun: "rate",
        verb: "list",
        about: "List the newest sample of every rate, and what is pinned",
        example: "rate list",
        method: "GET",
        path: "/admin/rates",
        operands: &[],
        options: &[],
    },
    Verb {
        noun: "rate",
        verb: "unpin",
        about: "Unpin a rate; its feed sets it again",
        example: "rate unpin --pair USDT/VES --source p2p --side FLOOR",
        method: "DELETE",
        path: "/admin/rates/pin",
        operands: &[],
        options: &[
            PAIR,
            SOURCE,
            must("side", "side", Is::Text, "BUY, SELL, FLOOR or OFFICIAL; empty for none"),
        ],
    },
];
