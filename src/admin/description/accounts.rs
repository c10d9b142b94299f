//! The words for tenants, their settings and their keys.

use crate::admin::keys;
use crate::admin::tenants::{asked, live_status, read_live_status, read_new};
use api::kind::body;
use api::openapi::document::Chapter;
use api::openapi::operation::operation;
use api::openapi::schema::{Schema, boolean, integer, list, named, object, one_of, text};
use api::openapi::values::{four_decimals, instant, items, page, pesos, uuid, ves};
use api::reference;
use api::tenants::read_rotation;
use api::tenants::settings::{change, read as read_settings};
use domain::platform::settings::Settings;
use domain::platform::{Mode, Scope};
use domain::values::time::Timestamp;

pub(super) fn tenants() -> Chapter {
    let begin =
        || object().member("tenantId", uuid()).member("name", text()).member("liveStatus", live_status());
    let defaults = Settings::default();
    let tenant = || {
        begin()
            .member(
                "liveAskedAt",
                instant().or_null().about("When it asked for live mode, if that was not answered yet."),
            )
            .member("liveStatusReason", text().or_null())
            .member(
                "movedTo",
                text()
                    .or_null()
                    .about("The deployment that the account moves to; then nothing is decided for it here."),
            )
            .member("settings", named("Settings"))
            .member("createdAt", instant())
    };
    let count = || integer().at_least("0");
    let first_key = || {
        object().member("keyId", uuid()).member(
            "key",
            text().about("Shown here, and again only to a repeat with the same Idempotency-Key."),
        )
    };
    Chapter {
        tag: "Tenants",
        about: "The accounts of this server.",
        operations: vec![
            operation("createTenant", "Open an account")
                .body("NewTenant")
                .example("a shop", r#"{"name":"mi tienda"}"#)
                .example(
                    "with a fee of its \
                     own",
                    concat!(
                        r#"{"name":"mi tienda","settings":{"fees":{"c2p":{"percent":"1.2500","#,
                        r#""fixedVes":"0.00"}}}}"#,
                    ),
                )
                .answers(201, "OpenedTenant", "The account with both its keys: the only time they are shown"),
            operation("listTenants", "List accounts").list(asked).answers(200, "TenantPage", "Newest first"),
            operation("getTenant", "Read an account").answers(200, "Tenant", "The account"),
            operation("updateSettings", "Change settings")
                .about("What is not named stays as it is; objects are merged, lists replaced.")
                .body("SettingsChange")
                .example("a reserve", r#"{"reserveVes":"1000.00"}"#)
                .answers(200, "Settings", "All settings as they are now")
                .refuses(409, &["settings_changed"]),
            operation("setLiveStatus", "Allow or forbid live mode")
                .about(
                    "A change sends `tenant.live_status_changed` in both modes. With `active` the answer \
                     has `warnings`: a text for each method that no rail serves, so that live calls of it \
                     are \
                     refused with `rail_not_configured`, and for each price that live mode needs and nothing \
                     gives (`rate_unavailable`); none of them keeps the status from being set.",
                )
                .body("LiveStatusChange")
                .example("approve", r#"{"status":"active","reason":"documents checked"}"#)
                .answers(202, "AskedApproval", "It waits for a second person")
                .answers(200, "TenantWithWarnings", "The account")
                .refuses(409, &["settings_changed"]),
            operation("resumeTenant", "Resume halted books")
                .about(
                    "A book is halted when its state is in doubt, or set aside by `serve --set-aside`. \
                     Its state is derived from all of its records, which are proved on the way; snapshots \
                     that say \
                     something else are removed. What does not prove right stays halted.",
                )
                .answers(200, "ResumedTenant", "The account goes on in these modes")
                .refuses(409, &["tenant_not_halted", "book_not_proved"]),
        ],
        schemas: vec![
            ("NewTenant", body(|fields| read_new(fields, &defaults))),
            (
                "OpenedTenant",
                begin()
                    .member("testKey", first_key())
                    .member("liveKey", first_key())
                    .member("settings", named("Settings"))
                    .member("createdAt", instant()),
            ),
            ("Tenant", tenant()),
            (
                "TenantWithWarnings",
                tenant().optional(
                    "warnings",
                    list(text()).about(
                        "Only of a change to \
                         `active`; empty when nothing is missing.",
                    ),
                ),
            ),
            ("TenantPage", page("Tenant")),
            (
                "ResumedTenant",
                object().member("tenantId", uuid()).member(
                    "resumed",
                    list(
                        object()
                            .member("mode", one_of(Mode::ALL.map(Mode::name)))
                            .member("tenantKey", count())
                            .member("records", count().about("That lead to the book."))
                            .member(
                                "snapshotsRemoved",
                                count().about(
                                    "That were not what the records lead \
                                     to.",
                                ),
                            ),
                    ),
                ),
            ),
            ("LiveStatusChange", body(read_live_status)),
            ("Settings", settings()),
            ("SettingsPart", body(|fields| read_settings(&defaults, fields))),
            ("SettingsChange", body(|fields| change(&defaults, fields))),
            ("Error", reference::description::error()),
        ],
        ..Chapter::default()
    }
}

/// The settings of a tenant, all of them.
fn settings() -> Schema {
    let of = |members: Vec<(&'static str, Schema)>| {
        members.into_iter().fold(object(), |at, (name, schema)| at.member(name, schema))
    };
    let fee = || of(vec![("percent", four_decimals()), ("fixedVes", ves())]);
    let fees = of(vec![
        ("c2p", fee()),
        ("vpos", fee()),
        ("debit", fee()),
        ("pagoMovil", fee()),
        (
            "linkPercent",
            four_decimals().about("The operator's share of sales through payment links, in percent."),
        ),
        ("chargebackVes", ves()),
        ("payoutVes", ves()),
    ]);
    let conversions = of(vec![
        ("enabled", list(one_of(["VES", "COP"])).distinct()),
        ("spreadPercent", of(vec![("VES", four_decimals()), ("COP", four_decimals())])),
        ("minimumUsdt", ves()),
        (
            "dailyLimit",
            of(vec![
                ("VES", ves().or_null().about("Null: none.")),
                ("COP", pesos().or_null().about("Null: none.")),
            ]),
        ),
    ]);
    of(vec![
        ("reserveVes", ves()),
        ("fees", fees),
        ("sellerHoldBusinessDays", integer().range("0", "365")),
        ("conversions", conversions),
        ("usdt", of(vec![("enabled", boolean()), ("payoutAutoLimitUsdt", ves())])),
        ("cop", of(vec![("enabled", boolean())])),
        ("withdrawFeePolicy", one_of(["legacy_flat", "tiered_v1", "tiered_v2"])),
        (
            "checkout",
            of(vec![(
                "allowedOrigins",
                list(text().about("An https origin; http to loopback.")).count(0..=100).distinct(),
            )]),
        ),
        (
            "shop",
            of(vec![
                (
                    "name",
                    text()
                        .chars(1..=120)
                        .or_null()
                        .about("On checkout pages and receipts; null: the account's name."),
                ),
                (
                    "rif",
                    text().or_null().about(
                        "On checkout pages and receipts, such as `J-12345678-9`; null: \
                         none.",
                    ),
                ),
                (
                    "logo",
                    text().or_null().about(
                        "On checkout pages: a data URI of a PNG, JPEG or WebP in base64, of at most \
                         12288 characters.",
                    ),
                ),
                ("email", text().or_null().about("Where buyers write to.")),
                ("phone", text().or_null().about("Where buyers call, such as `+58 212 555 0101`.")),
                (
                    "pagoMovil",
                    object()
                        .member("bankCode", text().pattern("^[0-9]{4}$"))
                        .member("phone", text())
                        .member("identification", text())
                        .closed()
                        .or_null()
                        .about(
                            "Where checkout pages have buyers send a Pago Móvil; null: that is not \
                             offered in live mode.",
                        ),
                ),
            ]),
        ),
        (
            "chargebackFeeMax",
            ves().or_null().about(
                "The largest `feeVes` of a chargeback without an approval; null: `fees.chargebackVes`.",
            ),
        ),
        (
            "microDepositsDailyMax",
            integer().range("0", "10000").about("Verifications that may be started in 24 hours."),
        ),
    ])
}

pub(super) fn keys() -> Chapter {
    let scopes = || list(one_of(Scope::ALL.map(Scope::name))).about("What it may do.");
    let mode = || one_of(Mode::ALL.map(Mode::name));
    let known = |at: Schema| {
        at.member("mode", mode())
            .member("prefix", text().about("Its first characters."))
            .member("scopes", scopes())
            .member("createdAt", instant())
            .member("expiresAt", instant().or_null())
    };
    let key = || {
        known(object().member("keyId", uuid()))
            .member("lastUsedAt", instant().or_null())
            .member("revokedAt", instant().or_null())
            .member("replaces", uuid().or_null().about("The key whose place it took."))
    };
    Chapter {
        tag: "Keys",
        about: "API keys. A key is shown once, in the answer that makes it; what is kept is its SHA-256.",
        operations: vec![
            operation("createKey", "Make a key")
                .body("NewKey")
                .example("one that only reads", r#"{"mode":"test","scopes":["read"]}"#)
                .answers(201, "MadeKey", "The key: the only time it is shown")
                .refuses(409, &["too_many_keys"]),
            operation("listKeys", "List an account's keys").answers(200, "KeyList", "Without their secrets"),
            operation("revokeKey", "Revoke a key at once")
                .about("Keys that came in its place work on, unless they are revoked too.")
                .query(keys::asked_revocation)
                .answers(200, "RevokedKey", "The key, revoked, with those that came in its place"),
            operation("rotateKey", "Replace a key")
                .body_optional("KeyRotation")
                .example("with an hour to change over", r#"{"overlapSeconds":3600}"#)
                .answers(201, "MadeKey", "The new key; the old one works until the overlap is over")
                .refuses(409, &["key_retiring", "too_many_keys"])
                .refuses(429, &["too_many_attempts"]),
        ],
        schemas: vec![
            ("NewKey", body(|fields| keys::read_new(fields, Timestamp::EPOCH))),
            ("KeyRotation", body(read_rotation)),
            ("MadeKey", known(object().member("keyId", uuid()).member("key", text()))),
            ("Key", key()),
            (
                "RevokedKey",
                key().member(
                    "successors",
                    list(named("Key")).about("The keys that came in its place, and in theirs; oldest first."),
                ),
            ),
            ("KeyList", items("Key")),
        ],
        ..Chapter::default()
    }
}
