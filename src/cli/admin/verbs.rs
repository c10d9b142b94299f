//! THE TABLE of the administrative command line: one row per verb, in the order of the help.

/// A verb and the call that it makes.
pub struct Verb {
    /// What it is about; a verb without a name of its own is its noun alone.
    pub noun: &'static str,
    /// What is done.
    pub verb: &'static str,
    /// What that means.
    pub about: &'static str,
    /// How it looks, after `pasarela admin`.
    pub example: &'static str,
    /// The call.
    pub method: &'static str,
    /// Its path, as in the table of the operators' API.
    pub path: &'static str,
    /// What must be named, in order.
    pub operands: &'static [Operand],
    /// What may be said besides.
    pub options: &'static [Opt],
}

/// Something that must be named.
pub struct Operand {
    /// As the help shows it.
    pub name: &'static str,
    /// Where it goes.
    pub fills: Fills,
    /// What it is.
    pub about: &'static str,
}

/// Where an operand goes.
pub enum Fills {
    /// Into this parameter of the path.
    Path(&'static str),
    /// Into this member of the body.
    Member(&'static str),
    /// Into this member of the body, as a path from the root.
    Directory(&'static str),
    /// It is the body.
    Body,
}

/// A member of the body, or a parameter of a list.
pub struct Opt {
    /// Its name in the API, which is taken too.
    pub member: &'static str,
    /// Its name here.
    pub long: &'static str,
    /// What it looks like.
    pub is: Is,
    /// Whether it must be said.
    pub required: bool,
    /// Whether one is made when none is said.
    pub fresh: bool,
    /// What it is.
    pub about: &'static str,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// A string.
    Text,
    /// Any JSON.
    Json,
    /// A truth value.
    Truth,
    /// A whole number.
    Whole,
    /// Strings, separated by commas.
    List,
}

const fn named(name: &'static str, parameter: &'static str, about: &'static str) -> Operand {
    Operand { name, fills: Fills::Path(parameter), about }
}

const fn may(member: &'static str, long: &'static str, is: Is, about: &'static str) -> Opt {
    Opt { member, long, is, required: false, fresh: false, about }
}

const fn must(member: &'static str, long: &'static str, is: Is, about: &'static str) -> Opt {
    Opt { required: true, ..may(member, long, is, about) }
}

const TENANT: Operand = named("TENANT", ":id", "The tenant's id");
const KEY: Operand = named("KEY", ":keyId", "The key's id");
const ID: Operand = named("ID", ":id", "Its id");
const MODE: Opt = must("mode", "mode", Is::Text, "live or test");
const LIMIT: Opt = may("limit", "limit", Is::Whole, "How many at most, 1 to 100");
const CURSOR: Opt = may("cursor", "cursor", Is::Text, "The nextCursor of the page before");
const REFERENCE: Opt = Opt {
    fresh: true,
    ..may(
        "externalRef",
        "external-ref",
        Is::Text,
        "Makes a repetition harmless; if it is missing, one is made, and shown in the answer",
    )
};

/// What a noun is, in the help.
pub fn nouns(noun: &str) -> &'static str {
    match noun {
        "tenant" => "Tenants:",
        "key" => "API keys:",
        "chargeback" => "Card payments that a bank takes back:",
        "adjustment" => "Corrections of a balance:",
        "cop-payout" => "Payouts in pesos:",
        "crypto-payout" => "Review of large payouts in USDT:",
        "operation" => "Orders to banks:",
        "bank" => "The catalogue of banks:",
        _ => "Rates:",
    }
}

/// All of them.
pub const VERBS: &[Verb] = &[
    Verb {
        noun: "tenant",
        verb: "create",
        about: "Open a tenant; its first two keys are shown only now",
        example: "tenant create --name \"Tienda Sol\" --settings '{\"reserveVes\": \"100.00\"}'",
        method: "POST",
        path: "/admin/tenants",
        operands: &[],
        options: &[
            must("name", "name", Is::Text, "Its name for people"),
            may("settings", "settings", Is::Json, "Settings that differ from [tenant_defaults]"),
        ],
    },
    Verb {
        noun: "tenant",
        verb: "list",
        about: "List tenants, newest first",
        example: "tenant list --limit 100",
        method: "GET",
        path: "/admin/tenants",
        operands: &[],
        options: &[LIMIT, CURSOR],
    },
    Verb {
        noun: "tenant",
        verb: "get",
        about: "Show a tenant",
        example: "tenant get 01930a4b-5c6d-7e8f-9012-3456789a0000",
        method: "GET",
        path: "/admin/tenants/:id",
        operands: &[ID],
        options: &[],
    },
    Verb {
        noun: "tenant",
        verb: "settings",
        about: "Change settings; what is not named stays",
        example: "tenant settings 01930a4b-5c6d-7e8f-9012-3456789a0000 '{\"fees\": {\"c2p\": {\"percent\": \"1.2500\"}}}'",
        method: "PATCH",
        path: "/admin/tenants/:id/settings",
        operands: &[ID, Operand { name: "JSON", fills: Fills::Body, about: "The settings to change" }],
        options: &[],
    },
    Verb {
        noun: "tenant",
        verb: "live-status",
        about: "Say whether a tenant may use live mode",
        example: "tenant live-status 01930a4b-5c6d-7e8f-9012-3456789a0000 active --reason \"contract signed\"",
        method: "POST",
        path: "/admin/tenants/:id/live-status",
        operands: &[
            ID,
            Operand {
                name: "STATUS",
                fills: Fills::Member("status"),
                about: "active, suspended or inactive",
            },
        ],
        options: &[may("reason", "reason", Is::Text, "Why")],
    },
    Verb {
        noun: "tenant",
        verb: "resume",
        about: "Have a tenant's halted books go on, if their records prove right",
        example: "tenant resume 01930a4b-5c6d-7e8f-9012-3456789a0000",
        method: "POST",
        path: "/admin/tenants/:id/resume",
        operands: &[ID],
        options: &[],
    },
    Verb {
        noun: "key",
        verb: "create",
        about: "Make an API key, which is shown only now",
        example: "key create 01930a4b-5c6d-7e8f-9012-3456789a0000 --mode test --scopes read,collect",
        method: "POST",
        path: "/admin/tenants/:id/keys",
        operands: &[TENANT],
        options: &[
            MODE,
            may(
                "scopes",
                "scopes",
                Is::List,
                "read, collect, payout, convert, manage; all of them if it is missing",
            ),
            may("expiresAt", "expires-at", Is::Text, "When it stops working: 2027-01-01T00:00:00Z"),
        ],
    },
    Verb {
        noun: "key",
        verb: "list",
        about: "List a tenant's keys",
        example: "key list 01930a4b-5c6d-7e8f-9012-3456789a0000",
        method: "GET",
        path: "/admin/tenants/:id/keys",
        operands: &[TENANT],
        options: &[],
    },
    Verb {
        noun: "key",
        verb: "rotate",
        about: "Make a successor of a key, which works on for a while",
        example: "key rotate 01930a4b-5c6d-7e8f-9012-3456789a0000 --overlap-seconds 3600",
        method: "POST",
        path: "/admin/keys/:keyId/rotate",
        operands: &[KEY],
        options: &[may(
            "overlapSeconds",
            "overlap-seconds",
            Is::Whole,
            "For how long the old one works on; 0 if it is missing",
        )],
    },
    Verb {
        noun: "key",
        verb: "revoke",
        about: "End a key at once",
        example: "key revoke 01930a4b-5c6d-7e8f-9012-3456789a0000",
        method: "DELETE",
        path: "/admin/keys/:keyId",
        operands: &[KEY],
        options: &[],
    },
    Verb {
        noun: "chargeback",
        verb: "create",
        about: "Record that a bank takes a card payment back",
        example: "chargeback create 01930a4b-5c6d-7e8f-9012-3456789a0000 --payment-id 01930a4b-5c6d-7e8f-9012-3456789b0000 --reason fraud",
        method: "POST",
        path: "/admin/tenants/:id/chargebacks",
        operands: &[TENANT],
        options: &[
            must("paymentId", "payment-id", Is::Text, "The payment"),
            may("amountVes", "amount-ves", Is::Text, "How much of it; all that is left if it is missing"),
            may("feeVes", "fee-ves", Is::Text, "What that costs the tenant; the setting if it is missing"),
            may("reason", "reason", Is::Text, "fraud, not_recognized, not_received, duplicate or other"),
            may("bankDebitedAt", "bank-debited-at", Is::Text, "When the bank took it: 2026-11-21T12:00:00Z"),
        ],
    },
    Verb {
        noun: "chargeback",
        verb: "close",
        about: "Record how the dispute ended",
        example: "chargeback close 01930a4b-5c6d-7e8f-9012-3456789a0000 --outcome won",
        method: "POST",
        path: "/admin/chargebacks/:id/close",
        operands: &[ID],
        options: &[must("outcome", "outcome", Is::Text, "won or lost")],
    },
    Verb {
        noun: "adjustment",
        verb: "create",
        about: "Correct a balance",
        example: "adjustment create 01930a4b-5c6d-7e8f-9012-3456789a0000 --mode live --currency VES --amount=-12.50 --description \"bank fee\"",
        method: "POST",
        path: "/admin/tenants/:id/adjustments",
        operands: &[TENANT],
        options: &[
            MODE,
            must("currency", "currency", Is::Text, "VES, COP or USDT"),
            must("amount", "amount", Is::Text, "Signed; write it with =, as in --amount=-12.50"),
            must("description", "description", Is::Text, "What it is for; the tenant sees it"),
            REFERENCE,
        ],
    },
    Verb {
        noun: "cop-payout",
        verb: "create",
        about: "Pay pesos out; the balance is debited at once",
        example: "cop-payout create 01930a4b-5c6d-7e8f-9012-3456789a0000 --mode live --amount-cop 50000 --bank Bancolombia --account-number 12345678901 --account-type savings --holder-name \"Ana Paz\" --document-type CC --document-number 1020304050",
        method: "POST",
        path: "/admin/tenants/:id/cop-payouts",
        operands: &[TENANT],
        options: &[
            MODE,
            must("amountCop", "amount-cop", Is::Whole, "Whole pesos"),
            must("bank", "bank", Is::Text, "The bank"),
            must("accountNumber", "account-number", Is::Text, "The account"),
            must("accountType", "account-type", Is::Text, "savings, checking or wallet"),
            must("holderName", "holder-name", Is::Text, "Whose it is"),
            must("documentType", "document-type", Is::Text, "The kind of the holder's document"),
            must("documentNumber", "document-number", Is::Text, "Its number"),
            REFERENCE,
        ],
    },
    Verb {
        noun: "cop-payout",
        verb: "complete",
        about: "Record that pesos have arrived",
        example: "cop-payout complete 01930a4b-5c6d-7e8f-9012-3456789a0000 --reference 778899",
        method: "POST",
        path: "/admin/cop-payouts/:id/complete",
        operands: &[ID],
        options: &[must("reference", "reference", Is::Text, "The bank's reference")],
    },
    Verb {
        noun: "cop-payout",
        verb: "fail",
        about: "Record that pesos have not arrived; the balance gets them back",
        example: "cop-payout fail 01930a4b-5c6d-7e8f-9012-3456789a0000 --failure-code AC01",
        method: "POST",
        path: "/admin/cop-payouts/:id/fail",
        operands: &[ID],
        options: &[must("failureCode", "failure-code", Is::Text, "Why")],
    },
    Verb {
        noun: "crypto-payout",
        verb: "list",
        about: "List payouts in USDT",
        example: "crypto-payout list --status pending_review",
        method: "GET",
        path: "/admin/crypto/payouts",
        operands: &[],
        options: &[may("status", "status", Is::Text, "Only those in this state"), LIMIT, CURSOR],
    },
    Verb {
        noun: "crypto-payout",
        verb: "approve",
        about: "Let a large payout go",
        example: "crypto-payout approve 01930a4b-5c6d-7e8f-9012-3456789a0000",
        method: "POST",
        path: "/admin/crypto/payouts/:id/approve",
        operands: &[ID],
        options: &[],
    },
    Verb {
        noun: "crypto-payout",
        verb: "reject",
        about: "Refuse a large payout; the balance gets it back",
        example: "crypto-payout reject 01930a4b-5c6d-7e8f-9012-3456789a0000 --reason \"address on a list\"",
        method: "POST",
        path: "/admin/crypto/payouts/:id/reject",
        operands: &[ID],
        options: &[must("reason", "reason", Is::Text, "Why")],
    },
    Verb {
        noun: "operation",
        verb: "list",
        about: "List orders that banks contradicted themselves about, or have not answered",
        example: "operation list --status contradicted",
        method: "GET",
        path: "/admin/operations",
        operands: &[],
        options: &[
            may("status", "status", Is::Text, "Only those in this state"),
            may("rail", "rail", Is::Text, "Only of this bank"),
            may("tenantId", "tenant-id", Is::Text, "Only of this tenant"),
            LIMIT,
            CURSOR,
        ],
    },
    Verb {
        noun: "operation",
        verb: "resolve",
        about: "Say what became of an order that no bank has answered",
        example: "operation resolve 01930a4b-5c6d-7e8f-9012-3456789a0001 --outcome done --reference 81234567 --note \"on the statement\"",
        method: "POST",
        path: "/admin/operations/:id/resolve",
        operands: &[ID],
        options: &[
            must("outcome", "outcome", Is::Text, "done or refused"),
            may("reference", "reference", Is::Text, "The bank's reference, of what was done"),
            may("failureCode", "failure-code", Is::Text, "The bank's code, of what was refused"),
            must("note", "note", Is::Text, "Why it is believed"),
        ],
    },
    Verb {
        noun: "bank",
        verb: "list",
        about: "List banks, hidden ones too",
        example: "bank list",
        method: "GET",
        path: "/admin/banks",
        operands: &[],
        options: &[],
    },
    Verb {
        noun: "bank",
        verb: "refresh",
        about: "Fetch the catalogue from its feed now",
        example: "bank refresh",
        method: "POST",
        path: "/admin/banks/refresh",
        operands: &[],
        options: &[],
    },
    Verb {
        noun: "bank",
        verb: "update",
        about: "Change what the catalogue says of a bank",
        example: "bank update 0102 --hidden true",
        method: "PATCH",
        path: "/admin/banks/:code",
        operands: &[named("CODE", ":code", "Its four digits")],
        options: &[
            may("hidden", "hidden", Is::Truth, "Whether tenants do not see it"),
            may("name", "name", Is::Text, "Its name"),
            may("services", "services", Is::List, "What can be done with it"),
            may("logoUrl", "logo-url", Is::Text, "Where its logo is"),
        ],
    },
    Verb {
        noun: "rate",
        verb: "add",
        about: "Enter a sample of a rate",
        example: "rate add --pair USD/VES --source bcv --side OFFICIAL --price 231.0462",
        method: "POST",
        path: "/admin/rates",
        operands: &[],
        options: &[
            must("pair", "pair", Is::Text, "BASE/QUOTE"),
            must("source", "source", Is::Text, "Whose rate it is"),
            may("side", "side", Is::Text, "BUY, SELL, FLOOR or OFFICIAL"),
            may("method", "method", Is::Text, "How it was made"),
            may("paymentMethod", "payment-method", Is::Text, "For which way of paying"),
            must("price", "price", Is::Text, "At most 8 decimals"),
            may("asOf", "as-of", Is::Text, "When it held; of bcv its value date; now if it is missing"),
        ],
    },
    Verb {
        noun: "status",
        verb: "",
        about: "Show how the server is",
        example: "status",
        method: "GET",
        path: "/admin/status",
        operands: &[],
        options: &[],
    },
    Verb {
        noun: "clock",
        verb: "confirm",
        about: "Believe the machine's clock after it was set",
        example: "clock confirm",
        method: "POST",
        path: "/admin/clock/confirm",
        operands: &[],
        options: &[],
    },
    Verb {
        noun: "snapshot",
        verb: "",
        about: "Write snapshots now, so that the next start replays nothing",
        example: "snapshot",
        method: "POST",
        path: "/admin/snapshot",
        operands: &[],
        options: &[],
    },
    Verb {
        noun: "backup",
        verb: "",
        about: "Have the server copy everything to a new directory on its disk",
        example: "backup /mnt/backup/pasarela-2026-11-21",
        method: "POST",
        path: "/admin/backup",
        operands: &[Operand {
            name: "PATH",
            fills: Fills::Directory("path"),
            about: "The directory to make",
        }],
        options: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::routes::routes;

    #[test]
    fn every_call_of_the_operators_has_a_verb() {
        for route in routes() {
            let twin =
                VERBS.iter().any(|verb| verb.method == route.method.as_str() && verb.path == route.path);
            assert!(
                twin || !route.path.starts_with("/admin/"),
                "{} {} has no twin in the command line",
                route.method,
                route.path
            );
        }
    }

    #[test]
    fn options_are_the_members_in_kebab_case() {
        for option in VERBS.iter().flat_map(|verb| verb.options) {
            let mut kebab = String::new();
            for letter in option.member.chars() {
                if letter.is_ascii_uppercase() {
                    kebab.push('-');
                }
                kebab.push(letter.to_ascii_lowercase());
            }
            assert_eq!(option.long, kebab);
        }
    }

    #[test]
    fn every_verb_shows_how_it_looks() {
        for verb in VERBS {
            assert!(
                verb.example.starts_with(format!("{} {}", verb.noun, verb.verb).trim()),
                "{} {}",
                verb.noun,
                verb.verb
            );
            let parameters = verb.path.split('/').filter(|part| part.starts_with(':')).count();
            assert_eq!(
                parameters,
                verb.operands.iter().filter(|operand| matches!(operand.fills, Fills::Path(_))).count(),
                "{}",
                verb.path
            );
        }
    }
}
