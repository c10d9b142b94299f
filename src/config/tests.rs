//! Defaults, bounds, names in errors, and variables of the environment.

use super::*;
use crate::rates::{FeedKind, FeedSpec};
use domain::platform::settings::PerSource;
use domain::resources::rates::withdrawals::Tier;
use domain::values::money::Rate;
use rust_decimal::Decimal;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

const SHIPPED: &str = include_str!("../../config.toml");

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, [])
}

fn with(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::parse("", variables)
}

fn complaint(text: &str) -> String {
    let error = parse(text).expect_err(text).to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

/// What of a feed its Debug output leaves out.
fn drawn(config: &Config) -> Vec<String> {
    let feed = |feed: &FeedSpec| match &feed.kind {
        FeedKind::Fixed { price } => format!("{:?} {price:?}", feed.every),
        FeedKind::Simulated { price, step_percent, seed } => {
            format!("{:?} {price:?} {step_percent:?} {seed}", feed.every)
        }
        FeedKind::Manual => "manual".to_owned(),
        FeedKind::Http(call) => format!("{:?} {} {:?}", feed.every, call.url, call.timeout),
        FeedKind::Asked(_) => "asked".to_owned(),
    };
    config.rates.feeds.iter().map(feed).collect()
}

#[test]
fn the_shipped_file_says_the_defaults_apart_from_three_lines() {
    let shipped = parse(SHIPPED).expect("the shipped file is valid");
    let mut default = parse("").expect("an empty file is valid");
    default.admin.insecure_dev_token = true;
    default.webhooks.allow_private_targets = true;
    default.bootstrap_tenants.push(BootstrapTenant {
        name: "demo".to_owned(),
        test_key: Some(Secret::new("pk_test_demo")),
        live_key: None,
    });
    assert_eq!(shipped.bootstrap_tenants, default.bootstrap_tenants);
    // Written with other zeros.
    assert_eq!(shipped.withdraw, default.withdraw);
    default.withdraw = shipped.withdraw.clone();
    assert_eq!(format!("{shipped:#?}"), format!("{default:#?}"));
    assert_eq!(drawn(&shipped), drawn(&default));
}

/// An example that does not work when it is uncommented is worse than none.
#[test]
fn the_commented_examples_are_valid() {
    let lines =
        SHIPPED.lines().map(|line| line.strip_prefix("# ").unwrap_or(if line == "#" { "" } else { line }));
    let mut examples: Vec<String> = Vec::new();
    let mut inside = false;
    for (line, shipped) in lines.zip(SHIPPED.lines()) {
        inside = shipped.starts_with("# [") || inside && !line.is_empty() && shipped.starts_with('#');
        match shipped.starts_with("# [") {
            true => examples.push(format!("{line}\n")),
            false if inside => {
                examples.last_mut().into_iter().for_each(|example| *example = format!("{example}{line}\n"))
            }
            false => {}
        }
    }
    assert_eq!(examples.len(), 9);
    let folder = tempfile::tempdir().expect("a folder");
    let text = examples.concat().replace("/etc/pasarela", folder.path().to_str().expect("a path"));
    for (name, secret) in [
        ("r4-commerce-token", "t"),
        ("r4-callback-uuid", "4f1c2a9e-7b3d-4e8a-9c55-0d6f1b2a3c4d"),
        ("wompi-private-key", "t"),
        ("wompi-events-secret", "t"),
        ("wompi-integrity-secret", "t"),
        ("polygon.keystore", "{}"),
        ("polygon.password", "t"),
        ("polygon-2.keystore", "{ }"),
        ("polygon-2.password", "t"),
        ("deposits.seed", "t"),
        ("config.toml", &text),
    ] {
        let options = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).clone();
        let mut file = options.open(folder.path().join(name)).expect("a file");
        file.write_all(secret.as_bytes()).expect("written");
    }
    let file = folder.path().join("config.toml");
    let config = Config::load(Some(&file), true).expect("the examples are valid");
    assert!(
        config
            .rates
            .feeds
            .iter()
            .chain(&config.rates.bank)
            .all(|feed| matches!(feed.kind, FeedKind::Http(_)))
    );
    assert_eq!(
        (config.rates.feeds.len(), config.rates.bank.as_ref().and_then(|bank| bank.series.side.as_deref())),
        (4, Some("OFFICIAL"))
    );
    assert!(config.rails.r4.is_some() && config.rails.wompi.is_some() && config.rails.evm.len() == 1);
    let unread = Config::load(Some(&file), false).expect("valid").rails;
    assert!(unread.r4.is_none() && unread.wompi.is_none() && unread.evm.is_empty());
}

/// A key that is read but not documented would be found by nobody.
#[test]
fn the_shipped_file_names_every_key() {
    let code = [
        include_str!("../config.rs"),
        include_str!("admin.rs"),
        include_str!("evm.rs"),
        include_str!("feeds.rs"),
        include_str!("live_rails.rs"),
        include_str!("rails.rs"),
        include_str!("tenants.rs"),
    ]
    .concat();
    let readers = [
        "integer", "boolean", "parsed", "optional", "text", "texts", "one_of", "decimal", "list", "required",
        "section", "sections",
    ];
    let words: Vec<&str> =
        SHIPPED.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').collect();
    let code: String = code.split_whitespace().collect();
    let mut count = 0;
    for reader in readers {
        for rest in code.split(&format!(".{reader}(\"")).skip(1) {
            let name = rest.split('"').next().unwrap_or("");
            assert!(words.contains(&name), "{name} is not in config.toml");
            count += 1;
        }
    }
    assert!(count > 60, "{count} keys: the readers have other names by now");
}

#[test]
fn defaults_are_those_of_the_contract() {
    let config = parse("").expect("an empty file is valid");
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.server.base_url(), "http://127.0.0.1:8080");
    assert_eq!(config.admin.listen.to_string(), "127.0.0.1:9090");
    assert_eq!(config.storage.path, PathBuf::from("data"));
    let server = &config.server;
    assert_eq!(
        (server.max_connections, server.head_timeout_seconds, server.head_bytes_max),
        (10_000, 10, 65_536)
    );
    assert_eq!(
        (server.body_timeout_seconds, server.idle_timeout_seconds, server.shutdown_seconds),
        (30, 75, 10)
    );
    assert_eq!(config.limits.requests_per_second, 0);
    assert_eq!(config.rates.max_age_seconds, 900);
    let feeds: Vec<String> = config
        .rates
        .feeds
        .iter()
        .map(|feed| {
            format!(
                "{} {} {} {}",
                feed.series.pair,
                feed.series.source,
                feed.series.side.as_deref().unwrap_or(""),
                feed.series.method.as_deref().unwrap_or("")
            )
        })
        .collect();
    assert_eq!(
        feeds,
        [
            "USD/VES bcv OFFICIAL ",
            "USDT/VES p2p BUY ",
            "USDT/VES p2p SELL ",
            "USDT/VES p2p FLOOR p2p_floor",
            "USDT/COP p2p BUY "
        ]
    );
    let tenant = &config.tenant_defaults;
    assert_eq!(tenant.fees.c2p.percent, Rate(Decimal::new(15, 1)));
    assert_eq!(tenant.fees.link_percent, Rate(Decimal::new(5, 1)));
    assert_eq!(tenant.conversions.enabled, PerSource { ves: true, cop: true });
    assert_eq!(tenant.conversions.spread_percent.cop, Rate(Decimal::from(2)));
    assert_eq!(
        (tenant.conversions.daily_limit.ves, tenant.usdt_payout_auto_limit),
        (None, Usdt::from_minor(50_000))
    );
    assert_eq!(tenant.withdraw_fee_policy, "tiered_v2");
    let second = config.withdraw.policy("tiered_v1").map(|policy| policy.tiers[1].clone());
    assert_eq!(second, Some(Tier { below: Some(50_000), percent: Rate(Decimal::new(25, 1)), fixed: 50 }));
    assert!(!config.webhooks.allow_private_targets && config.bootstrap_tenants.is_empty());
}

#[test]
fn a_header_of_webhooks_needs_a_name_of_its_own() {
    for (text, said) in [
        ("signature_header = \"\"", "signature_header: must be the name of a header"),
        ("signature_header = \"X Signature\"", "signature_header: must be the name of a header"),
        ("event_id_header = \"Firma:\"", "event_id_header: must be the name of a header"),
        (
            "event_id_header = \"Content-Type\"",
            "event_id_header: must be another name: webhooks have a header content-type already",
        ),
        (
            "signature_header = \"content-length\"",
            "signature_header: must be another name: webhooks have a header content-length already",
        ),
        (
            "signature_header = \"Webhook-Id\"",
            "signature_header: must be another name: webhooks have a header webhook-id already",
        ),
        (
            "signature_header = \"svc-event-id\"",
            "event_id_header: must be another than webhooks.signature_header",
        ),
        (
            "event_id_header = \"X-One\"\nsignature_header = \"x-one\"",
            "event_id_header: must be another than webhooks.signature_header",
        ),
    ] {
        assert_eq!(complaint(&format!("[webhooks]\n{text}")), format!("webhooks.{said}"));
    }
}

#[test]
fn an_unknown_key_is_named() {
    for (text, name) in [
        ("[server]\nlistne = \"x\"", "server.listne"),
        ("[sever]\nlisten = \"x\"", "sever"),
        ("listen = 1", "listen"),
        ("[tenant_defaults.fees.c2p]\npercentage = \"1\"", "tenant_defaults.fees.c2p.percentage"),
        ("[withdraw.policies.tiered_v3]\ntiers = []", "withdraw.policies.tiered_v3"),
        ("[crypto.network_fee_usdt]\nSOLANA = \"1\"", "crypto.network_fee_usdt.SOLANA"),
        ("[[bootstrap.tenants]]\nname = \"a\"\nkey = \"x\"", "bootstrap.tenants[0].key"),
        (
            "[[rates.feeds]]\npair=\"USD/VES\"\nsource=\"bcv\"\nkind=\"fixed\"\nprice=\"1\"\nurl=\"x\"",
            "rates.feeds[0].url",
        ),
    ] {
        assert_eq!(complaint(text), format!("{name}: there is no such key"));
    }
}

#[test]
fn a_value_out_of_bounds_is_named() {
    for (text, start) in [
        ("[server]\nlisten = \"localhost\"", "server.listen: must be an address and a port"),
        ("[server]\nlisten = 8080", "server.listen: must be a text in quotes"),
        ("[server]\nmax_connections = 0", "server.max_connections: must be a whole number from 1 to 1000000"),
        ("[server]\nmax_connections = \"5\"", "server.max_connections: must be a whole number"),
        ("[server]\nhead_bytes_max = -1", "server.head_bytes_max: must be a whole number from 8192"),
        ("[server]\npublic_base_url = \"ftp://x\"", "server.public_base_url: must be an http or https URL"),
        ("server = 1", "server: must be a section"),
        ("[storage]\npath = \"\"", "storage.path: must be a path"),
        ("[storage]\nsnapshot_all_hours = 25", "storage.snapshot_all_hours: must not exceed"),
        ("[storage]\nsnapshot_hourly_days = 366", "storage.snapshot_hourly_days: must not exceed"),
        (
            "[storage]\nbatch_records_max = 100\npending_records_max = 99",
            "storage.batch_records_max: must not exceed",
        ),
        ("[admin]\ninsecure_dev_token = 1", "admin.insecure_dev_token: must be true or false"),
        ("[admin]\ntoken = \"a b\"", "admin.token: must be visible ASCII"),
        ("[admin]\nhosts = [\"ops.example.com:9090\"]", "admin.hosts[0]: must be a host name"),
        ("[admin]\nhosts = [\"\"]", "admin.hosts[0]: must be a host name"),
        ("[tenant_defaults]\nreserve_ves = 1.5", "tenant_defaults.reserve_ves: must be a text in quotes"),
        (
            "[tenant_defaults]\nreserve_ves = \"1.005\"",
            "tenant_defaults.reserve_ves: must be a number from 0 to 999999999999.99",
        ),
        ("[tenant_defaults]\nreserve_ves = \"-1\"", "tenant_defaults.reserve_ves: must be a number"),
        (
            "[tenant_defaults.fees.vpos]\npercent = \"100.1\"",
            "tenant_defaults.fees.vpos.percent: must be a number from 0 to 100",
        ),
        (
            "[tenant_defaults.conversions]\nenabled = [\"VES\", \"EUR\"]",
            "tenant_defaults.conversions.enabled[1]: must be one of VES, COP",
        ),
        (
            "[tenant_defaults]\nwithdraw_fee_policy = \"x\"",
            "tenant_defaults.withdraw_fee_policy: must be one of legacy_flat, tiered_v1, tiered_v2",
        ),
        ("[calendar]\nholidays = [\"2026-02-30\"]", "calendar.holidays[0]: must be a date"),
        ("[public]\nallowed_origins = [\"https://x/y\"]", "public.allowed_origins[0]: must be an origin"),
        ("[banks]\nfeed_url = \"x\"", "banks.feed_url: must be an http or https URL"),
        ("[log]\nlevel = \"loud\"", "log.level: must be off"),
        ("[log]\nformat = \"xml\"", "log.format: must be one of auto, json, text"),
        ("[rates]\nfeeds = 1", "rates.feeds: must be a list of sections"),
        ("[[rates.feeds]]\nsource=\"bcv\"\nkind=\"manual\"", "rates.feeds[0].pair: is required"),
        (
            "[[rates.feeds]]\npair=\"usd/ves\"\nsource=\"bcv\"\nkind=\"manual\"",
            "rates.feeds[0].pair: must be a pair",
        ),
        ("[[rates.feeds]]\npair=\"USD/VES\"\nsource=\"bcv\"", "rates.feeds[0].kind: is required"),
        (
            "[[rates.feeds]]\npair=\"USD/VES\"\nsource=\"bcv\"\nkind=\"oracle\"",
            "rates.feeds[0].kind: must be one of simulated",
        ),
        (
            "[[rates.feeds]]\npair=\"USD/VES\"\nsource=\"bcv\"\nkind=\"fixed\"\nprice=\"0\"",
            "rates.feeds[0].price: must be a number",
        ),
        (
            "[[rates.feeds]]\npair=\"USD/VES\"\nsource=\"bcv\"\nkind=\"http\"\nurl=\"https://x\"",
            "rates.feeds[0].pointer: is required",
        ),
        (
            "[rates.bank]\nkind=\"http\"\nurl=\"https://x\"\npointer=\"price\"",
            "rates.bank.pointer: must be a JSON pointer",
        ),
        (
            "[rates.bank]\nkind=\"http\"\nurl=\"https://x\"\npointer=\"/p\"\ntimeout_seconds=61",
            "rates.bank.timeout_seconds: must be a whole number from 1 to 60",
        ),
        (
            "[rates.bank]\nkind=\"http\"\nurl=\"https://x\"\npointer=\"/p\"\nheaders={ \"a b\" = \"x\" }",
            "rates.bank.headers.a b: must be the name of a header",
        ),
        ("[rates.bank]\nkind=\"manual\"\nsource=\"bcv\"", "rates.bank.source: must be another name than bcv"),
        ("[rates.bank]\nkind=\"manual\"\npair=\"USD/VES\"", "rates.bank.pair: there is no such key"),
        (
            "[[bootstrap.tenants]]\nname = \"a\"\ntest_key = \"demo\"",
            "bootstrap.tenants[0].test_key: must be pk_test_",
        ),
        (
            "[[bootstrap.tenants]]\nname = \"a\"\n[[bootstrap.tenants]]\nname = \"a\"",
            "bootstrap.tenants[1]: its name",
        ),
        (
            "[withdraw.policies.tiered_v1]\ntiers = [{below_cents = 5, percent = \"1\"}]",
            "withdraw.policies.tiered_v1.tiers: below_cents must rise",
        ),
        ("[server]\nlisten = \n", "line 2: "),
        ("[server]\nlisten = \"127.0.0.1:1\"\nlisten = \"127.0.0.1:2\"", "line 3: "),
    ] {
        let said = complaint(text);
        assert!(said.starts_with(start), "{text}\nsays {said}\nnot  {start}");
    }
}

#[test]
fn everything_bad_is_said_in_one_line() {
    assert_eq!(
        complaint("[server]\nmax_connections = 0\nx = 1\n[limits]\nburst = true"),
        "server.max_connections: must be a whole number from 1 to 1000000; server.x: there is no such key; limits.burst: must be a whole number from 0 to 1000000"
    );
}

#[test]
fn variables_win_and_have_the_type_of_their_key() {
    let variables = [
        ("PASARELA__SERVER__LISTEN", "127.0.0.1:1234"),
        ("PASARELA__SERVER__PUBLIC_BASE_URL", "https://pay.example.com/"),
        ("PASARELA__LIMITS__REQUESTS_PER_SECOND", "2"),
        ("PASARELA__ADMIN__TOKEN", "12345"),
        ("PASARELA__WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true"),
        ("PASARELA__TENANT_DEFAULTS__FEES__C2P__PERCENT", "2.25"),
        ("PASARELA__CRYPTO__NETWORK_FEE_USDT__TRC20", "1.25"),
        ("PASARELA__CALENDAR__HOLIDAYS", "2026-12-24, 2026-12-25"),
        ("PASARELA__PUBLIC__ALLOWED_ORIGINS", "[\"https://a.example.com\"]"),
        (
            "PASARELA__RATES__FEEDS",
            "[{ pair = \"USD/VES\", source = \"bcv\", kind = \"fixed\", price = \"200.00000000\" }]",
        ),
        ("PASARELA__RATES__BANK__KIND", "fixed"),
        ("PASARELA__RATES__BANK__PRICE", "201"),
        ("PASARELA_BIN", "is no key"),
        ("HOME", "neither"),
    ];
    let config = with(&variables).expect("valid");
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:1234");
    assert_eq!(config.server.base_url(), "https://pay.example.com");
    assert_eq!(config.limits.requests_per_second, 2);
    let access = config.access().expect("a token");
    assert_eq!(access, Some(Secret::new("12345")));
    assert!(config.webhooks.allow_private_targets);
    assert_eq!(config.tenant_defaults.fees.c2p.percent, Rate(Decimal::new(225, 2)));
    assert_eq!(config.network_fees[0], Usdt::from_minor(125));
    assert_eq!((config.holidays.len(), config.public_allowed_origins.len()), (2, 1));
    assert_eq!((config.rates.feeds.len(), config.rates.bank.is_some()), (1, true));
    let file = "[server]\nlisten = \"127.0.0.1:1\"\n[admin]\ntoken = \"file\"";
    let config = Config::parse(file, [("PASARELA__SERVER__LISTEN".to_owned(), "127.0.0.1:2".to_owned())])
        .expect("valid");
    assert_eq!((config.server.listen.port(), config.admin.token), (2, Some(Secret::new("file"))));
}

#[test]
fn bad_variables_are_named() {
    for (name, value, said) in [
        ("PASARELA__SERVER__LISTNE", "x", "PASARELA__SERVER__LISTNE: there is no key server.listne"),
        ("PASARELA__SERVER", "x", "PASARELA__SERVER: there is no key server"),
        ("PASARELA__", "x", "PASARELA__: there is no key"),
        (
            "PASARELA__LIMITS__BURST",
            "many",
            "limits.burst: must be a whole number from 0 to 1000000 (in PASARELA__LIMITS__BURST)",
        ),
        ("PASARELA__RATES__FEEDS", "[{", "rates.feeds: must be a TOML list (in PASARELA__RATES__FEEDS)"),
    ] {
        assert_eq!(with(&[(name, value)]).expect_err(name).to_string(), said);
    }
}

#[test]
fn somebody_must_be_allowed_to_operate() {
    let directory = tempfile::tempdir().expect("a directory");
    let access = |text: &str| {
        let mut config = parse(text).expect("valid");
        config.storage.path = directory.path().to_owned();
        config.access().map_err(|error| error.to_string())
    };
    assert!(access("").expect_err("nobody").starts_with("admin.token: is required"));
    assert_eq!(access("[admin]\ninsecure_dev_token = true"), Ok(None));
    let open = "[admin]\ninsecure_dev_token = true\nlisten = \"0.0.0.0:9090\"";
    assert!(access(open).expect_err("not loopback").starts_with("admin.token: is required"));
    let short = format!("{open}\ntoken = \"{}\"", "t".repeat(31));
    assert!(access(&short).expect_err("short").starts_with("admin.token: must have at least 32 characters"));
    let long = format!("{open}\ntoken = \"{}\"", "t".repeat(32));
    assert_eq!(access(&long), Ok(Some(Secret::new("t".repeat(32)))));
    assert_eq!(access("[admin]\ntoken = \"t\""), Ok(Some(Secret::new("t"))), "on loopback it only warns");
    // The listener for other nodes gives away keys: what holds for the operators' holds there.
    let nodes = |admin: &str, listen: &str| {
        access(&format!(
            "[admin]\n{admin}\n[cluster]\netcd = [\"http://127.0.0.1:2379\"]\npeer_listen = \"{listen}\""
        ))
    };
    let (open, short) = ("insecure_dev_token = true", "token = \"12345\"");
    for (admin, said) in [(open, "is required because"), (short, "must have at least 32 characters because")]
    {
        let said = format!("admin.token: {said} cluster.peer_listen is no loopback address");
        assert!(nodes(admin, "10.0.0.1:9091").expect_err(admin).starts_with(&said), "{admin}");
    }
    let said = "admin.token: is required because cluster.etcd is set";
    assert!(nodes(open, "127.0.0.1:9091").expect_err("none").starts_with(said));
    assert!(nodes(short, "127.0.0.1:9091").is_ok());
    assert!(nodes(&format!("token = \"{}\"", "t".repeat(32)), "10.0.0.1:9091").is_ok());
    let one_machine = format!("[admin]\n{open}\n[cluster]\npeer_listen = \"10.0.0.1:9091\"");
    assert_eq!(access(&one_machine), Ok(None), "nothing listens there");
}

#[test]
fn a_cluster_claims_no_number_of_partitions_unless_it_is_given() {
    let claimed = |text: &str| parse(text).expect(text).cluster.partitions;
    assert_eq!(claimed(""), None);
    assert_eq!([1, 64].map(|n| claimed(&format!("[cluster]\npartitions = {n}"))), [Some(1), Some(64)]);
    for wrong in ["0", "65", "\"2\""] {
        let said = complaint(&format!("[cluster]\npartitions = {wrong}"));
        assert!(said.contains("cluster.partitions") && said.contains("from 1 to 64"), "{said}");
    }
}

#[test]
fn a_partition_has_the_etcd_that_is_named_for_it_or_that_of_all() {
    let text = |more: &str| format!("[cluster]\netcd = [\"http://a:1/\"]\n{more}");
    let config =
        parse(&text("[cluster.etcd_of]\n3 = [\"http://b:1/\", \"http://c:1\"]\n4 = []")).expect("valid");
    for (partition, etcd) in
        [(0, &["http://a:1"][..]), (3, &["http://b:1", "http://c:1"]), (4, &["http://a:1"])]
    {
        assert_eq!(config.of_partition(partition).cluster.etcd, etcd, "{partition}");
    }
    let own = |partition: &str| format!("[cluster.etcd_of]\n{partition} = [\"http://b:1\"]");
    let wrong = "[cluster.etcd_of]\n1 = [\"b:1\"]";
    for (text, said) in [
        (text(&own("0")), "cluster.etcd_of.0: partition 0 is in cluster.etcd"),
        (text(&own("64")), "cluster.etcd_of.64: there is no such key"),
        (text(&format!("partitions = 3\n{}", own("3"))), "cluster.etcd_of: names a partition beyond"),
        (own("1"), "cluster.etcd_of: goes with cluster.etcd"),
        (text(wrong), "cluster.etcd_of.1[0]: "),
    ] {
        assert!(complaint(&text).starts_with(said), "{}", complaint(&text));
    }
    assert!(parse(&text(&format!("partitions = 4\n{}", own("3")))).is_ok());
}

#[test]
fn a_partition_says_where_it_listens_unless_the_configuration_does() {
    let text = "[cluster]\netcd = [\"http://127.0.0.1:2379\"]\npeer_listen = \"127.0.0.1:9091\"\n\
        peer_advertise = \"http://10.0.0.1:19091\"";
    let config = Config::parse(text, []).expect("it is right");
    for (partition, advertised) in [(0, "http://10.0.0.1:19091"), (1, "http://10.0.0.1:40000")] {
        let mut config = config.of_partition(partition);
        let chosen = if partition == 0 { config.cluster.peer_listen.port() } else { 40_000 };
        config.cluster.listens_to_peers_at(([127, 0, 0, 1], chosen).into());
        assert_eq!(config.cluster.peer_advertise.as_deref(), Some(advertised), "{partition}");
    }
}

#[test]
fn a_generated_token_stays_and_counts_everywhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let admin = parse("[admin]\ngenerate_token = true\ninsecure_dev_token = true").expect("valid").admin;
    assert_eq!(admin.generate(&data).expect("written"), Some(data.join(TOKEN_FILE)));
    let Ok(Some(first)) = admin.access(&data, None, false) else { panic!("there is one") };
    assert!(first.expose().len() >= TOKEN_CHARACTERS_MIN);
    assert_eq!(admin.generate(&data).expect("found"), None);
    // A configuration that does not generate a token uses the file all the same.
    let access = parse("").expect("valid").admin.access(&data, None, false).expect("a token");
    assert_eq!(access, Some(first));
    assert_eq!(std::fs::read_dir(&data).expect("a directory").count(), 1, "nothing else is left");
    std::fs::write(data.join(TOKEN_FILE), "\n").expect("written");
    assert!(admin.access(&data, None, false).expect_err("empty").to_string().starts_with("admin.token: "));
    let named = parse("[admin]\ngenerate_token = true\ntoken = \"t\"").expect("valid").admin;
    assert_eq!(named.generate(&data).expect("nothing to do"), None);
    assert_eq!(named.access(&data, None, false).expect("a token"), Some(Secret::new("t")));
}

#[test]
fn secrets_do_not_show() {
    let text = "[admin]\ntoken = \"hush-1\"\n[[bootstrap.tenants]]\nname = \"a\"\ntest_key = \"pk_test_hush2\"\n\
        [rates.bank]\nkind = \"http\"\nurl = \"https://x\"\npointer = \"/p\"\nheaders = { Authorization = \"hush-3\" }\nhmac_key = \"hush-4\"";
    let shown = format!("{:?}", parse(text).expect("valid"));
    assert!(!shown.contains("hush"), "{shown}");
}

#[test]
fn a_percentage_may_stand_without_quotes_and_money_may_not() {
    let text = "[tenant_defaults.fees.c2p]\npercent = 1.5\n[tenant_defaults.fees.vpos]\npercent = 2\n[tenant_defaults.fees.debit]\npercent = 0.1234";
    let fees = parse(text).expect("valid").tenant_defaults.fees;
    assert_eq!(
        [fees.c2p.percent.0, fees.vpos.percent.0, fees.debit.percent.0],
        [Decimal::new(15, 1), Decimal::from(2), Decimal::new(1234, 4)]
    );
    for (text, why) in [
        (
            "[tenant_defaults.fees.c2p]\npercent = 100.1",
            "tenant_defaults.fees.c2p.percent: must be a number from 0 to 100",
        ),
        ("[tenant_defaults.fees.c2p]\npercent = 0.12345", "with at most 4 decimals"),
        ("[tenant_defaults.fees.c2p]\npercent = inf", "must be a number from 0 to 100"),
        ("[tenant_defaults]\nreserve_ves = 1.5", "tenant_defaults.reserve_ves: must be a text in quotes"),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Config::load(Some(Path::new("/no/such/file.toml")), false).expect_err("no file");
    assert!(error.to_string().starts_with("/no/such/file.toml: "), "{error}");
}
