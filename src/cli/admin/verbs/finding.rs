//! Verbs that find things among all tenants: the search, and lists over all of them.

use super::row::{CURSOR, Fills, ID, Is, LIMIT, Operand, Opt, Verb, may};

const OF_TENANT: Opt = may("tenantId", "tenant-id", Is::Text, "Of this tenant alone");
const OF_MODE: Opt = may("mode", "mode", Is::Text, "live or test; both without it");

const STATUS: Opt = may("status", "status", Is::Text, "Its status");
const EXTERNAL_REF: Opt = may("externalRef", "external-ref", Is::Text, "The tenant's reference");
const SELLER: Opt = may("merchantId", "merchant-id", Is::Text, "The seller");
const FROM: Opt = may("from", "from", Is::Text, "Made at this instant or later");
const TO: Opt = may("to", "to", Is::Text, "Made before this instant");

pub const FINDING: &[Verb] = &[
    Verb {
        noun: "chargeback",
        verb: "list",
        about: "List chargebacks, newest first",
        example: "chargeback list --status open",
        method: "GET",
        path: "/admin/chargebacks",
        operands: &[],
        options: &[STATUS, OF_TENANT, OF_MODE, LIMIT, CURSOR],
    },
    Verb {
        noun: "cop-payout",
        verb: "list",
        about: "List payouts in pesos, newest first",
        example: "cop-payout list --status pending",
        method: "GET",
        path: "/admin/cop-payouts",
        operands: &[],
        options: &[STATUS, OF_TENANT, OF_MODE, LIMIT, CURSOR],
    },
    Verb {
        noun: "cop-payout",
        verb: "get",
        about: "Show a payout in pesos; to treasury also to whom it goes",
        example: "cop-payout get 01930a4b-5c6d-7e8f-9012-3456789a0000",
        method: "GET",
        path: "/admin/cop-payouts/:id",
        operands: &[ID],
        options: &[],
    },
    Verb {
        noun: "crypto-payout",
        verb: "list",
        about: "List payouts in USDT",
        example: "crypto-payout list --status pending_review",
        method: "GET",
        path: "/admin/crypto/payouts",
        operands: &[],
        options: &[STATUS, OF_TENANT, OF_MODE, LIMIT, CURSOR],
    },
    Verb {
        noun: "search",
        verb: "",
        about: "Search all tenants by an id, reference, document, phone or name",
        example: "search order-81",
        method: "GET",
        path: "/admin/search",
        operands: &[Operand {
            name: "TEXT",
            fills: Fills::Option("q"),
            about: "An id, a reference, a document, a phone, a tenant's name",
        }],
        options: &[may("q", "q", Is::Text, "The same, by its name")],
    },
    Verb {
        noun: "payment",
        verb: "list",
        about: "List payments, newest first",
        example: "payment list --status PENDING",
        method: "GET",
        path: "/admin/payments",
        operands: &[],
        options: &[
            STATUS,
            may("method", "method", Is::Text, "How it was collected"),
            EXTERNAL_REF,
            may("bankReference", "bank-reference", Is::Text, "The bank's reference"),
            may("reference", "reference", Is::Text, "Of the checkout session, or of pesos"),
            SELLER,
            FROM,
            TO,
            OF_TENANT,
            OF_MODE,
            LIMIT,
            CURSOR,
        ],
    },
    Verb {
        noun: "payout",
        verb: "list",
        about: "List payouts, newest first",
        example: "payout list --status pending",
        method: "GET",
        path: "/admin/payouts",
        operands: &[],
        options: &[
            STATUS,
            may("kind", "kind", Is::Text, "Its kind"),
            SELLER,
            EXTERNAL_REF,
            FROM,
            TO,
            OF_TENANT,
            OF_MODE,
            LIMIT,
            CURSOR,
        ],
    },
    Verb {
        noun: "conversion",
        verb: "list",
        about: "List conversions, newest first",
        example: "conversion list --status PENDING",
        method: "GET",
        path: "/admin/conversions",
        operands: &[],
        options: &[
            STATUS,
            may("sourceCurrency", "source-currency", Is::Text, "VES or COP"),
            OF_TENANT,
            OF_MODE,
            LIMIT,
            CURSOR,
        ],
    },
    Verb {
        noun: "delivery",
        verb: "list",
        about: "List webhook deliveries, newest first",
        example: "delivery list --mode live",
        method: "GET",
        path: "/admin/webhooks/deliveries",
        operands: &[],
        options: &[OF_TENANT, OF_MODE, LIMIT, CURSOR],
    },
];
