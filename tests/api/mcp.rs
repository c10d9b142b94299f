//! Agents over MCP (`docs/contract.md, 24`): `POST /mcp` in raw messages, and `pasarela mcp`. The official clients are
//! held against both in `tests/mcp/run`.

use crate::harness::check::{list, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, merged, payout_body};
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// The bytes that 24,000 tokens have at least, by measure of `tests/mcp/run`.
const TOOLS_BYTES_MAX: usize = 80_000;

fn key(tenant: &Tenant) -> &str {
    text(&tenant.created["testKey"], "key")
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
}

#[track_caller]
fn result(api: &Api, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
    let answer = api.post("/mcp", &message).expect(200);
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!("a")), "{answer}");
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].clone()
}

/// The body of a tool's answer, after it was seen to be the same as its text.
#[track_caller]
fn tool(api: &Api, name: &str, arguments: Value) -> (bool, Value) {
    let result = result(api, "tools/call", json!({ "name": name, "arguments": arguments }));
    let said = text(&list(&result, "content")[0], "text");
    assert_eq!(serde_json::from_str::<Value>(said).expect("JSON"), result["structuredContent"], "{result}");
    (result["isError"] == true, result["structuredContent"].clone())
}

#[track_caller]
fn done(api: &Api, name: &str, arguments: Value) -> Value {
    let (is_error, body) = tool(api, name, arguments);
    assert!(!is_error, "{name}: {body}");
    body
}

#[track_caller]
fn refused(api: &Api, name: &str, arguments: Value, code: &str) -> Value {
    let (is_error, body) = tool(api, name, arguments);
    assert!(is_error && body["error"] == code, "{name}: {body}");
    body
}

fn scoped(server: &Server, tenant: &Tenant, scopes: &[&str]) -> Api {
    let body = json!({ "mode": "test", "scopes": scopes });
    let created = server.admin().post(&format!("/admin/tenants/{}/keys", tenant.id), &body).expect(201);
    server.api(text(&created, "key"))
}

fn names(api: &Api) -> BTreeSet<String> {
    let result = result(api, "tools/list", json!({}));
    list(&result, "tools").iter().map(|tool| text(tool, "name").to_owned()).collect()
}

#[test]
fn a_client_of_each_version_is_greeted() {
    let server = Server::shared();
    let api = server.tenant().test;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let greeting = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
        });
        let greeted = result(&api, "initialize", greeting);
        assert_eq!(
            (text(&greeted, "protocolVersion"), text(&greeted["serverInfo"], "name")),
            (version, "pasarela")
        );
        assert!(greeted["capabilities"]["tools"].is_object(), "{greeted}");
    }
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let newest = api.with("mcp-protocol-version", "2026-07-28").with("mcp-method", "server/discover");
    let found = result(&newest, "server/discover", json!({ "_meta": meta }));
    assert!(list(&found, "supportedVersions").contains(&json!("2026-07-28")), "{found}");
    let notified = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(api.post("/mcp", &notified).status, 202);
    for method in ["GET", "DELETE"] {
        let answer = api.request(method, "/mcp");
        answer.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("POST"));
    }
}

#[test]
fn nobody_gets_in_without_one_good_key_nor_from_another_site() {
    let server = Server::shared();
    let (tenant, other) = (server.tenant(), server.tenant());
    let (key, other) = (key(&tenant), key(&other));
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let ask = |headers: &[(&str, &str)]| -> Answer {
        let api = headers.iter().fold(server.nobody(), |api, (name, value)| api.with(name, value));
        api.post("/mcp", &ping)
    };
    let bearer = |key: &str| format!("Bearer {key}");
    for (headers, status) in [
        (vec![("x-api-key", key)], 200),
        (vec![("authorization", &*bearer(key))], 200),
        (vec![("authorization", &*bearer(key)), ("x-api-key", key)], 200),
        (vec![], 401),
        (vec![("x-api-key", "pk_test_nobody")], 401),
        (vec![("authorization", &*bearer(other)), ("x-api-key", key)], 401),
        (vec![("authorization", "Basic eDp5"), ("x-api-key", key)], 401),
        (vec![("x-api-key", key), ("origin", &*server.url())], 200),
        (vec![("x-api-key", key), ("origin", "https://evil.example")], 403),
        (vec![("x-api-key", key), ("origin", "null")], 403),
    ] {
        let answer = ask(&headers);
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.text());
    }
    // It is known by the head: whoever waits for the word to go on is refused without a body.
    for (header, status) in
        [("x-api-key: no", "401"), ("origin: https://evil.example", "403"), ("accept: */*", "413")]
    {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        let own = if status == "401" { String::new() } else { format!("x-api-key: {key}\r\n") };
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: here\r\n{own}{header}\r\ncontent-type: application/json\r\n\
            content-length: 10485760\r\nexpect: 100-continue\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("sent");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).expect("a status");
        assert_eq!(line.split(' ').nth(1), Some(status), "{line}");
    }
}

/// Texts inside of texts that serde_json would parse, with a bound of depth for each: together they overflow a stack.
fn parsed_anew_at_every_depth(depth: usize) -> Vec<u8> {
    let quote = |depth: usize| match depth {
        0 => "\"".to_owned(),
        _ => format!("\\{}u0022", "u005c".repeat(depth - 1)),
    };
    let inner = (1..=depth).rev().fold("1".to_owned(), |inner, depth| {
        let quote = quote(depth);
        let lists = "[".repeat(126);
        format!("{lists}{{{quote}$serde_json::private::RawValue{quote}:{quote}{inner}{quote}")
    });
    let params = format!(r#"{{"x":{{"$serde_json::private::RawValue":"{inner}"}}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#).into_bytes()
}

#[test]
fn a_message_is_bounded_and_read_in_one_way_only() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.post_raw("/mcp", vec![b' '; 3 << 19]).refused(413, "payload_too_large");
    api.post_as("/mcp", "text/plain", "{}").refused(415, "unsupported_media_type");
    for bad in [
        &b"{"[..],
        b"\xff",
        br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getQuote","arguments":{"a":1,"a":2}}}"#,
    ] {
        api.post_raw("/mcp", bad).refused(400, "invalid_json");
    }
    api.post_raw("/mcp", parsed_anew_at_every_depth(40)).refused(400, "invalid_json");
    refused(&api, "getPayout", json!({ "id": "a".repeat(70_000) }), "invalid_data");
    for odd in [json!([]), json!(7), json!({}), json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" })] {
        let answer = api.post("/mcp", &odd);
        assert!((400..500).contains(&answer.status), "{odd}: {} {}", answer.status, answer.text());
    }
    let unknown = api.post("/mcp", &call("rotateOwnKey", json!({})));
    assert_eq!(unknown.json()["error"]["code"], -32_602, "{}", unknown.text());
}

#[test]
fn tools_are_the_calls_of_the_description_and_as_many_as_the_key_allows() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let listed = result(api, "tools/list", json!({}));
    let tools = list(&listed, "tools");
    let bytes = listed.to_string().len();
    assert!(bytes <= TOOLS_BYTES_MAX, "{bytes} bytes");
    let document = api.get("/openapi.json").expect(200);
    for tool in tools {
        let name = text(tool, "name");
        let of_description = document["paths"].as_object().expect("paths").values().flat_map(|path| {
            path.as_object()
                .expect("methods")
                .iter()
                .filter(move |(_, operation)| operation["operationId"] == name)
        });
        let [(method, operation)] = of_description.collect::<Vec<_>>()[..] else {
            panic!("{name} is no call")
        };
        let schema = &tool["inputSchema"];
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{name}"
        );
        assert!(!tool.to_string().contains("$ref"), "{name}");
        assert!(text(tool, "description").starts_with(text(operation, "summary")), "{name}");
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"] == true, method == "get", "{name}: {hints}");
        assert_eq!(hints["destructiveHint"] == true, hints["idempotentHint"] == true, "{name}: {hints}");
        for (argument, kind, takes) in
            [("dryRun", "boolean", method != "get"), ("key", "string", method == "post")]
        {
            let kind = if takes { json!(kind) } else { Value::Null };
            assert_eq!(schema["properties"][argument]["type"], kind, "{name} {argument}");
        }
        for example in schema["examples"].as_array().into_iter().flatten() {
            assert!(jsonschema::is_valid(schema, example), "{name}: {example}");
        }
    }
    let all = names(api);
    for needed in [
        "getBalance",
        "listMovements",
        "getStatement",
        "listPayments",
        "getPayment",
        "getPaymentByRef",
        "listPayouts",
        "getPayout",
        "getPayoutByRef",
        "requestC2p",
        "executeC2p",
        "createPayout",
        "createConversionQuote",
        "createConversion",
        "createCryptoPayout",
        "reversePayment",
    ] {
        assert!(all.contains(needed), "{needed}");
    }
    for never in [
        "chargeCard",
        "createWebhook",
        "rotateWebhookSecret",
        "createCheckoutSession",
        "approveTestCryptoPayout",
    ] {
        assert!(!all.contains(never), "{never}");
    }
    let read = names(&scoped(&server, &tenant, &["read"]));
    assert!(read.contains("getBalance") && !read.contains("createPayout") && read.is_subset(&all));
    let pays = names(&scoped(&server, &tenant, &["payout"]));
    assert!(pays.contains("createPayout") && !pays.contains("getBalance") && !pays.contains("executeC2p"));
    assert!(!names(&tenant.live).contains("fundTestBalance"));
}

#[test]
fn a_tool_answers_what_its_call_answers() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let merchant = api.merchant();
    api.fund("100.00");
    assert_eq!(done(api, "getBalance", json!({})), api.get("/v1/balance").expect(200));
    let body = payout_body(&merchant, "30.00");
    let payout = done(api, "createPayout", body.clone());
    assert_eq!(payout, api.payout_now(&payout));
    assert_eq!(done(api, "getPayout", json!({ "id": payout["payoutId"] })), payout);
    assert_eq!(done(api, "getPayoutByRef", json!({ "externalRef": body["externalRef"] })), payout);
    let page = done(api, "listPayouts", json!({ "limit": 1, "status": "completed" }));
    assert_eq!(list(&page, "items"), [payout]);
    for (arguments, field) in [
        (json!({ "limit": 1, "more": 1 }), "more"),
        (json!({ "limit": "x" }), "limit"),
        (json!({ "dryRun": true }), "dryRun"),
    ] {
        let body = refused(api, "listPayouts", arguments, "invalid_data");
        assert_eq!(list(&body, "fields")[0]["field"], field, "{body}");
    }
    for (arguments, fields) in [
        (merged(body.clone(), json!({ "more": 1 })), &["more"][..]),
        (merged(body.clone(), json!({ "dryRun": "true" })), &["dryRun"]),
        (merged(body.clone(), json!({ "key": 7 })), &["key"]),
        (merged(body.clone(), json!({ "key": "" })), &["key"]),
        (json!({}), &["merchantId", "monto", "concepto", "externalRef"]),
    ] {
        let body = refused(api, "createPayout", arguments, "invalid_data");
        let named: BTreeSet<&str> = list(&body, "fields").iter().map(|field| text(field, "field")).collect();
        assert!(fields.iter().all(|field| named.contains(field)), "{body}");
    }
    refused(api, "getPayout", json!({}), "invalid_data");
    refused(api, "getPayout", json!({ "id": "../balance" }), "not_found");
    refused(&scoped(&server, &tenant, &["read"]), "createPayout", body, "scope_missing");
    // Each is in the log of requests under its own route.
    let refusal = refused(api, "getPayout", json!({ "id": "nothing" }), "not_found");
    let logged = api.get(&format!("/v1/requests/{}", text(&refusal, "requestId"))).expect(200);
    assert_eq!((text(&logged, "method"), &logged["status"]), ("GET", &json!(404)), "{logged}");
    assert!(logged["route"] == "/v1/payouts/{id}", "{logged}");
}

#[test]
fn money_moves_once_however_often_the_same_call_comes() {
    let server = Server::shared();
    let api = server.tenant().test;
    let fund = json!({ "currency": "VES", "amount": "10.00" });
    let rehearsed = done(&api, "fundTestBalance", merged(fund.clone(), json!({ "dryRun": true })));
    assert_eq!((&rehearsed["dryRun"], &rehearsed["status"]), (&json!(true), &json!(201)), "{rehearsed}");
    api.assert_books("0.00", "0.00", "0.00");
    let first = done(&api, "fundTestBalance", fund.clone());
    let again = [
        json!({ "amount": "10.00", "currency": "VES" }),
        json!({ "dryRun": false, "currency": "VES", "amount": "10.00" }),
    ];
    for arguments in again {
        assert_eq!(done(&api, "fundTestBalance", arguments), first);
    }
    api.assert_books("10.00", "0.00", "10.00");
    let other = done(&api, "fundTestBalance", merged(fund.clone(), json!({ "key": "second" })));
    assert_eq!(
        api.keyed("second").post_raw("/v1/test/fund", r#"{"amount":"10.00","currency":"VES"}"#).expect(201),
        other
    );
    api.assert_books("20.00", "0.00", "20.00");
    done(&api, "fundTestBalance", json!({ "currency": "VES", "amount": "10.01" }));
    api.assert_books("30.01", "0.00", "30.01");
    // What was refused is decided anew, and then stays.
    let pay = merged(payout_body(&api.merchant(), "50.00"), json!({}));
    for _ in 0..3 {
        refused(&api, "createPayout", pay.clone(), "insufficient_balance");
    }
    api.fund("100.00");
    let paid = done(&api, "createPayout", pay.clone());
    assert_eq!(done(&api, "createPayout", pay), paid);
    api.assert_books("80.01", "0.00", "80.01");
}

#[test]
fn what_waits_for_an_approval_is_no_error_and_no_tool_decides() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("100.00");
    let merchant = tenant.test.merchant();
    let mandate = json!({ "perDay": { "VES": "50.00" }, "approvalAbove": { "VES": "5.00" } });
    let made = tenant.test.post("/v1/keys", &json!({ "mandate": mandate })).expect(201);
    let agent = server.api(text(&made, "key"));
    let pay = payout_body(&merchant, "9.00");
    let waits = done(&agent, "createPayout", pay.clone());
    assert_eq!(waits["status"], "awaiting_approval");
    assert_eq!(done(&agent, "createPayout", pay.clone()), waits, "the same call, the same approval");
    let id = json!({ "id": waits["approvalId"] });
    assert_eq!(done(&agent, "getApproval", id.clone())["status"], "awaiting_approval");
    for key in [&agent, &tenant.test] {
        let names = names(key);
        assert!(
            !names.iter().any(|name| name.starts_with("approve") || name.starts_with("reject")),
            "{names:?}"
        );
    }
    tenant.test.act(&format!("/v1/approvals/{}/approve", text(&waits, "approvalId"))).expect(200);
    assert_eq!(done(&agent, "getApproval", id)["status"], "approved");
    let paid = done(&agent, "getPayoutByRef", json!({ "externalRef": pay["externalRef"] }));
    assert_eq!(paid["status"], "completed");
}

#[test]
fn what_was_done_after_a_refusal_is_not_done_again_when_the_refusal_is_forgotten() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let sale = api.cop_paid(50_000);
    let refund = json!({ "id": text(&sale, "id") });
    let hours = |hours: i64| api.advance(hours * 3_600);
    hours(25);
    server.cop_payout(&tenant, 40_000, json!({})).expect(201);
    refused(api, "refundCopPayment", refund.clone(), "insufficient_balance");
    api.cop_fund("50000", false);
    hours(2);
    let refunded = done(api, "refundCopPayment", refund.clone());
    for later in [1, 22] {
        hours(later);
        assert_eq!(
            done(api, "refundCopPayment", refund.clone()),
            refunded,
            "the same call is answered the same"
        );
    }
    hours(2);
    refused(api, "refundCopPayment", refund, "payment_not_completed");
}

#[test]
fn the_word_of_another_row_is_no_id() {
    let server = Server::shared();
    let api = server.tenant().test;
    let account = json!({ "bankCode": "0134", "phone": "04141234567", "identification": "J123456789" });
    api.put("/v1/payouts/account", &account);
    api.get("/v1/payouts/account").expect(200);
    refused(&api, "getPayout", json!({ "id": "account" }), "not_found");
    refused(&api, "getConversion", json!({ "id": "settings" }), "not_found");
    assert!(done(&api, "getConversionSettings", json!({}))["autoConvert"].is_object());
}

#[test]
fn resources_and_prompts_are_there() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let read = |uri: &str| {
        let result = result(api, "resources/read", json!({ "uri": uri }));
        text(&list(&result, "contents")[0], "text").to_owned()
    };
    let listed = result(api, "resources/list", json!({}));
    for resource in list(&listed, "resources") {
        assert!(!read(text(resource, "uri")).is_empty(), "{resource}");
    }
    let settings = list(&listed, "resources").iter().find(|resource| resource["name"] == "settings");
    let settings: Value = serde_json::from_str(&read(text(settings.expect("it"), "uri"))).expect("JSON");
    assert_eq!((text(&settings, "tenantId"), &settings["livemode"]), (&*tenant.id, &json!(false)));
    assert!(read("pasarela://test-values").contains("77777777"));
    let templates = result(api, "resources/templates/list", json!({}));
    let template = text(&list(&templates, "resourceTemplates")[0], "uriTemplate").to_owned();
    assert!(
        read(&template.replace("{error}", "insufficient_balance")).starts_with("# insufficient_balance\n")
    );
    let of_bank = read(&template.replace("{error}", "AM04"));
    assert!(of_bank.starts_with("# AM04\n\n- Meaning: insufficient funds."), "{of_bank}");
    assert!(!read("pasarela://docs/en/quick-start").contains("127.0.0.1:8080"), "another server's address");
    let nothing =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "pasarela://x" } });
    assert!(api.post("/mcp", &nothing).json()["error"]["code"].is_number());

    let prompts = result(api, "prompts/list", json!({}));
    let names: Vec<&str> = list(&prompts, "prompts").iter().map(|prompt| text(prompt, "name")).collect();
    let all =
        ["collect from a buyer", "pay my sellers", "why was this payment refused", "reconcile yesterday"];
    assert_eq!(names, all);
    let given = "10 VES; \"dijo\"\nañadió";
    let got = result(api, "prompts/get", json!({ "name": names[0], "arguments": { "amount": given } }));
    assert!(text(&list(&got, "messages")[0]["content"], "text").contains(given), "{got}");
    for arguments in [json!({}), json!({ "amount": "1", "more": "x" })] {
        let params = json!({ "name": names[0], "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params });
        assert_eq!(api.post("/mcp", &message).json()["error"]["code"], -32_602);
    }
}

#[test]
fn a_thousand_agents_that_leave_take_no_room() {
    let server = Server::start();
    let api = server.tenant().test;
    let greeting = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    });
    let open = |times: usize| {
        for _ in 0..times {
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting });
            let answer = api.post("/mcp", &message);
            answer.expect(200);
        }
    };
    open(200);
    let before = server.memory_kib();
    open(1_000);
    let grown = server.memory_kib().saturating_sub(before);
    assert!(grown < 16 << 10, "{grown} KiB");
}

#[test]
fn a_call_that_is_cut_at_any_byte_and_made_again_pays_once() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let merchant = api.merchant();
    api.fund("100.00");
    let pay = merged(payout_body(&merchant, "10.00"), json!({}));
    let body = call("createPayout", pay.clone()).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: here\r\nx-api-key: {}\r\naccept: application/json, text/event-stream\r\n\
        content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        key(&tenant),
        body.len()
    );
    for cut in 1..=request.len() {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.write_all(&request.as_bytes()[..cut]).expect("sent");
    }
    let deadline = Instant::now() + Duration::from_secs(30);
    let payout = loop {
        let (is_error, body) = tool(api, "createPayout", pay.clone());
        if !is_error {
            break body;
        }
        assert!(body["error"] == "idempotency_in_progress" && Instant::now() < deadline, "{body}");
        sleep(Duration::from_millis(50));
    };
    assert_eq!(list(&api.get("/v1/payouts").expect(200), "items"), [payout]);
    api.assert_books("90.00", "0.00", "90.00");
}

/// `pasarela mcp`, as an agent has it.
struct Command {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    _folder: tempfile::TempDir,
}

fn key_file(key: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("agent.key");
    fs::write(&path, format!("{key}\n")).expect("written");
    (folder, path)
}

impl Command {
    fn start(server: &Server, key: &str) -> Command {
        Command::at(server, &server.url(), key)
    }

    fn at(server: &Server, url: &str, key: &str) -> Command {
        let (folder, path) = key_file(key);
        let mut child = server
            .program()
            .args(["mcp", "--url", url, "--key-file", path.to_str().expect("text")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Command { child, stdin, stdout: BufReader::new(stdout), _folder: folder }
    }

    fn send(&mut self, message: &Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).expect("sent");
    }

    #[track_caller]
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    /// What is left on stdout and stderr once it has ended in order.
    fn end(self) -> (String, String) {
        let Command { mut child, stdin, mut stdout, .. } = self;
        drop(stdin);
        let (mut out, mut err) = (String::new(), String::new());
        stdout.read_to_string(&mut out).expect("text");
        child.stderr.take().expect("piped").read_to_string(&mut err).expect("text");
        assert!(child.wait().expect("it ends").success(), "{err}");
        (out, err)
    }
}

#[test]
fn the_command_passes_messages_and_nothing_else() {
    let server = Server::shared();
    let tenant = server.tenant();
    let mut command = Command::start(&server, key(&tenant));
    let greeting = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    });
    command.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting }));
    assert_eq!(text(&command.next()["result"], "protocolVersion"), "2025-11-25");
    command.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    command.send(&call("getBalance", json!({})));
    let answer = command.next();
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["availableVes"]),
        (&json!(7), &json!("0.00"))
    );
    command.stdin.write_all(b"no message\n\n[]\n").expect("sent");
    let codes: BTreeSet<i64> = [command.next(), command.next()]
        .map(|answer| answer["error"]["code"].as_i64().expect("a code"))
        .into();
    assert_eq!(codes, [-32_700, -32_600].into());
    // Half a message is none, and whatever is under way at the end is answered.
    command.send(&call("listPaymentMethods", json!({})));
    command.stdin.write_all(br#"{"jsonrpc":"2.0","id":9,"#).expect("sent");
    let (out, err) = command.end();
    let ids: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a message")["id"].clone())
        .collect();
    assert!(ids.contains(&json!(7)) && ids.len() == 2, "{out}");
    assert_eq!(err, "");
}

#[test]
fn the_command_ends_with_a_word_where_it_cannot_begin() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (_folder, good) = key_file(key(&tenant));
    let (_other, wrong) = key_file("pk_test_nobody");
    let (_third, empty) = key_file("");
    let (good, wrong, empty) =
        (good.to_str().expect("text"), wrong.to_str().expect("text"), empty.to_str().expect("text"));
    let url = server.url();
    for (url, file, code, word) in [
        (&*url, "/nowhere/agent.key", 2, "--key-file"),
        (&*url, empty, 2, "no key"),
        (&*url, wrong, 1, "401 unauthorized"),
        ("nowhere", good, 2, "--url"),
        ("http://127.0.0.1:1", good, 1, "did not answer"),
    ] {
        let output = server.command(&["mcp", "--url", url, "--key-file", file]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(
            said.contains(word) && said.trim_end().lines().count() == 1 && output.stdout.is_empty(),
            "{said}"
        );
    }
}

#[test]
fn the_command_outlives_a_server_that_dies_and_pays_once() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let merchant = tenant.test.merchant();
    tenant.test.fund("100.00");
    let mut command = Command::start(&server, key(&tenant));
    let pays: Vec<Value> = (0..8).map(|_| payout_body(&merchant, "1.00")).collect();
    for (round, pay) in pays.iter().enumerate() {
        command.send(&call("createPayout", pay.clone()));
        // Before, while and after it is paid.
        sleep(Duration::from_millis(3 * round as u64));
        server.kill();
        sleep(Duration::from_millis(100));
        server.restart();
        let answer = command.next();
        assert_eq!(answer["result"]["structuredContent"]["externalRef"], pay["externalRef"], "{answer}");
    }
    assert_eq!(list(&tenant.test.get("/v1/payouts").expect(200), "items").len(), pays.len());
    tenant.test.assert_books("92.00", "0.00", "92.00");
    assert_eq!(command.end(), (String::new(), String::new()));
}

/// A gateway that cuts the connection of the first call of each tool, and what it was sent.
fn cutting_gateway() -> (String, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let seen = Arc::new(Mutex::new(Vec::<Value>::new()));
    let told = Arc::clone(&seen);
    spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.expect("a connection"));
            let mut length = 0;
            loop {
                let mut line = String::new();
                if stream.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().expect("a length");
                }
            }
            let mut body = vec![0; length];
            if stream.read_exact(&mut body).is_err() {
                continue;
            }
            let message: Value = serde_json::from_slice(&body).expect("JSON");
            if message["method"] == "tools/call" {
                let mut told = told.lock().expect("no panic");
                let is_first = told.iter().all(|one| one["params"]["name"] != message["params"]["name"]);
                told.push(message.clone());
                if is_first {
                    continue;
                }
            }
            let answer =
                json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": [] } }).to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            let sent = format!("{head}content-length: {}\r\n\r\n{answer}", answer.len());
            stream.get_mut().write_all(sent.as_bytes()).expect("sent");
        }
    });
    (url, seen)
}

#[test]
fn the_command_sends_again_only_what_is_done_once() {
    let (url, seen) = cutting_gateway();
    let server = Server::shared();
    let mut command = Command::at(&server, &url, "pk_test_any");
    // The name, whether it may be sent again, and whether it has a key then.
    for (name, is_sent_again, has_key) in [
        ("getBalance", true, false),
        ("createPayout", true, false),
        ("createProduct", true, true),
        ("updatePaymentLink", true, false),
        ("whatALaterReleaseHas", false, false),
    ] {
        command.send(&call(name, json!({ "id": "x" })));
        let answer = command.next();
        let sent: Vec<Value> = {
            let seen = seen.lock().expect("no panic");
            seen.iter().filter(|one| one["params"]["name"] == name).cloned().collect()
        };
        assert_eq!(sent.len(), if is_sent_again { 2 } else { 1 }, "{name}: {sent:?}");
        assert_eq!(answer["error"].is_object(), !is_sent_again, "{name}: {answer}");
        let keys: BTreeSet<String> =
            sent.iter().map(|one| one["params"]["arguments"]["key"].to_string()).collect();
        assert_eq!(keys.len(), 1, "{name}: {keys:?}");
        assert_eq!(!keys.contains("null"), has_key, "{name}: {keys:?}");
    }
    command.send(&call("createProduct", json!({ "key": "mine" })));
    command.next();
    assert_eq!(seen.lock().expect("no panic").last().expect("one")["params"]["arguments"]["key"], "mine");
}

#[test]
fn a_command_that_is_killed_and_begun_again_pays_once() {
    let server = Server::start();
    let tenant = server.tenant();
    let merchant = tenant.test.merchant();
    tenant.test.fund("100.00");
    let pay = payout_body(&merchant, "10.00");
    let message = format!("{}\n", call("createPayout", pay));
    // At some bytes of the call, and before, while and after it is answered.
    let cuts = [1, message.len() / 2, message.len() - 1].into_iter().map(|cut| (cut, 0));
    for (cut, ms) in cuts.chain((0..6).map(|n| (message.len(), 4 * n))) {
        let mut command = Command::start(&server, key(&tenant));
        command.send(&json!({ "jsonrpc": "2.0", "id": fresh("p"), "method": "ping" }));
        command.next();
        command.stdin.write_all(&message.as_bytes()[..cut]).expect("sent");
        sleep(Duration::from_millis(ms));
        command.child.kill().expect("killed");
        command.child.wait().expect("it ended");
    }
    let mut command = Command::start(&server, key(&tenant));
    command.stdin.write_all(message.as_bytes()).expect("sent");
    assert_eq!(command.next()["result"]["isError"], false);
    assert_eq!(list(&tenant.test.get("/v1/payouts").expect(200), "items").len(), 1);
    tenant.test.assert_books("90.00", "0.00", "90.00");
}
