//! Pages for programs: guides and codes of errors as Markdown, the lists for language models, the short description,
//! and the page that each error names.

use crate::harness::client::{Answer, Api};
use crate::harness::conformance::documents;
use crate::harness::server::Server;
use pulldown_cmark::{Event, Parser, Tag};
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

const MARKDOWN: &str = "text/markdown; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

fn media(answer: &Answer) -> &str {
    answer.header("content-type").expect("a type")
}

/// The names of the guides, which are the documents of the repository.
fn names() -> Vec<String> {
    let files = fs::read_dir("docs/en").expect("guides").flatten();
    let names =
        files.filter_map(|file| file.file_name().into_string().ok()?.strip_suffix(".md").map(str::to_owned));
    names.collect()
}

fn guide(language: &str, name: &str) -> String {
    if name == "index" { format!("/docs/{language}") } else { format!("/docs/{language}/{name}") }
}

/// The targets of the links and pictures of a text in Markdown, without anchors.
fn targets(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for event in Parser::new(text) {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
            found.insert(dest_url.split('#').next().unwrap_or_default().to_owned());
        }
    }
    found
}

#[track_caller]
fn is_markdown(answer: &Answer) {
    assert_eq!((answer.status, media(answer)), (200, MARKDOWN), "{}", answer.text());
    assert!(answer.text().starts_with("# "), "{}", answer.text());
    let tags = Parser::new(answer.text()).any(|event| matches!(event, Event::Html(_) | Event::InlineHtml(_)));
    assert!(!tags && !answer.text().contains("<html"), "{}", answer.text());
}

#[test]
fn every_guide_is_markdown_beside_its_address_and_where_it_is_wanted() {
    let server = Server::start();
    let api = server.nobody();
    let wanting = api.with("accept", "text/markdown");
    let mut linked = BTreeSet::new();
    for language in ["en", "es"] {
        for name in names() {
            let path = guide(language, &name);
            let beside = api.get(&format!("{path}.md"));
            is_markdown(&beside);
            let wanted = wanting.get(&path);
            assert_eq!((media(&wanted), wanted.header("vary")), (MARKDOWN, Some("Accept")), "{path}");
            assert_eq!(wanted.text(), beside.text(), "{path}");
            linked.extend(targets(beside.text()));
            let html = api.get(&path);
            assert_eq!(
                (html.status, media(&html), html.header("vary")),
                (200, HTML, Some("Accept")),
                "{path}"
            );
            assert_ne!(html.header("etag"), wanted.header("etag"));
        }
    }
    assert!(linked.len() > 60, "{linked:?}");
    for link in linked.iter().filter(|link| !link.starts_with("https://")) {
        assert!(link.starts_with('/'), "{link} leads elsewhere from another address");
        let answer = wanting.get(link);
        assert_eq!(answer.status, 200, "{link}");
        if link.starts_with("/docs/e") {
            assert!(link.ends_with(".md") && media(&answer) == MARKDOWN, "{link}");
        }
    }
    let known = wanting.with(
        "if-none-match",
        api.get(&format!("{}.md", guide("en", "index"))).header("etag").expect("an ETag"),
    );
    assert_eq!(known.get("/docs/en").status, 304);
}

#[test]
fn what_is_wanted_more_is_served() {
    let server = Server::start();
    let served = |accept: Option<&str>, path: &str| {
        let api = accept.map_or_else(|| server.nobody(), |sent| server.nobody().with("accept", sent));
        let answer = api.get(path);
        (answer.status, media(&answer).to_owned())
    };
    let html = [
        None,
        Some("*/*"),
        Some("text/*"),
        Some(""),
        Some("text/html"),
        Some("application/json"),
        Some("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
        Some("text/html, text/markdown;q=0.9"),
        Some("text/markdown;q=0.5, text/html;q=0.6"),
        Some("text/markdown;q=0, */*"),
        Some("text/html, text/markdown"),
        Some("text/markdown;q=0.1, text/*"),
    ];
    let markdown = [
        Some("text/markdown"),
        Some("Text/Markdown; charset=utf-8"),
        Some("text/markdown, text/html;q=0.9"),
        Some("text/markdown, text/html, */*"),
        Some("text/html;q=0.2, text/markdown;q=0.3"),
        Some("text/markdown;q=0.5, */*;q=0.4"),
        Some("text/markdown, text/*"),
        Some("text/html;q=0, text/*"),
    ];
    for (accepted, form) in [(&html[..], HTML), (&markdown[..], MARKDOWN)] {
        for accept in accepted {
            for (path, status) in
                [("/docs/en/c2p", 200), ("/docs/en/errors/not_found", 200), ("/docs/en/nowhere", 404)]
            {
                assert_eq!(served(*accept, path), (status, form.to_owned()), "{path} {accept:?}");
            }
        }
    }
    // An address that ends with it is Markdown whatever is wanted, there or not.
    for (path, status) in [("/docs/es/c2p", 200), ("/docs/es/nowhere", 404), ("/docs/es/errors/nothing", 404)]
    {
        let path = format!("{path}.md");
        assert_eq!(served(Some("text/html"), &path), (status, MARKDOWN.to_owned()), "{path}");
    }
    assert_eq!(served(Some("text/markdown"), "/docs/fr/c2p").0, 404);
    assert_eq!(server.nobody().request("POST", "/docs/en/c2p.md").header("allow"), Some("GET, HEAD"));
}

#[test]
fn language_models_find_every_page_once() {
    let server = Server::start();
    let api = server.nobody();
    let list = api.get("/llms.txt");
    assert_eq!((list.status, media(&list)), (200, TEXT));
    assert!(list.body.len() < 64 << 10, "{}", list.body.len());
    let text = list.text();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("# Pasarela"));
    assert!(lines.nth(1).is_some_and(|line| line.starts_with("> ")), "{text}");
    let link = Regex::new(r"^- \[[^\]]+\]\(([^)]+)\)(: .+)?$").expect("a pattern");
    let mut linked = Vec::new();
    for line in text.lines().skip_while(|line| !line.starts_with("## ")).filter(|line| !line.is_empty()) {
        match link.captures(line) {
            Some(found) => linked.push(found[1].to_owned()),
            None => assert!(line.starts_with("## "), "{line}"),
        }
    }
    let all: BTreeSet<&String> = linked.iter().collect();
    assert_eq!(all.len(), linked.len(), "each once");
    for language in ["en", "es"] {
        for name in names() {
            assert!(all.contains(&format!("{}.md", guide(language, &name))), "{language} {name}");
        }
    }
    assert!(all.contains(&"/openapi.json".to_owned()) && targets(text).len() == linked.len());
    for path in &linked {
        let answer = api.get(path);
        let form = match path {
            path if path.starts_with("/openapi.json") => "application/json",
            path if path.ends_with(".md") => MARKDOWN,
            _ => TEXT,
        };
        assert_eq!((answer.status, media(&answer)), (200, form), "{path}");
    }
    let full = api.get("/llms-full.txt");
    assert_eq!((full.status, media(&full)), (200, TEXT));
    assert!(full.text().starts_with("# Pasarela\n"));
    for name in names() {
        let page = api.get(&format!("{}.md", guide("en", &name)));
        assert!(full.text().contains(page.text()), "{name}");
    }
    for link in targets(full.text()) {
        assert!(link.starts_with('/') || link.starts_with("https://"), "{link}");
    }
}

/// What a schema says of members: types, names and which are required; not examples.
fn shape(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let shown = members.iter().filter(|(name, _)| !matches!(name.as_str(), "example" | "examples"));
            let shown = shown.map(|(name, member)| match (name.as_str(), member) {
                ("properties", Value::Object(members)) => (
                    name.clone(),
                    members.iter().map(|(name, member)| (name.clone(), shape(member))).collect(),
                ),
                _ => (name.clone(), shape(member)),
            });
            Value::Object(shown.collect())
        }
        Value::Array(values) => values.iter().map(shape).collect(),
        other => other.clone(),
    }
}

#[test]
fn the_short_description_has_what_a_caller_needs() {
    let server = Server::start();
    for (api, is_public) in [(server.nobody(), true), (server.admin(), false)] {
        let answer = api.get("/openapi.json?view=compact");
        let (whole, short) = (api.get("/openapi.json").expect(200), answer.expect(200));
        if is_public {
            assert!(answer.body.len() < 400_000, "{}", answer.body.len());
        }
        assert_eq!(media(&answer), "application/json");
        let [whole_paths, short_paths] = [&whole, &short].map(|all| all["paths"].as_object().expect("paths"));
        assert!(whole_paths.keys().eq(short_paths.keys()));
        let content = |body: &Value| -> Value {
            let forms = body["content"].as_object().into_iter().flatten();
            forms.map(|(media, form)| (media.clone(), shape(&form["schema"]))).collect()
        };
        for (path, item) in whole_paths {
            let short = short_paths[path].as_object().expect("a path");
            let item = item.as_object().expect("a path");
            assert!(item.keys().eq(short.keys()), "{path}");
            for (method, call) in item.iter().filter(|(method, _)| *method != "parameters") {
                let short = &short[method];
                for member in ["operationId", "summary", "security", "parameters"] {
                    assert_eq!(shape(&call[member]), short[member], "{method} {path} {member}");
                }
                assert_eq!(content(&call["requestBody"]), content(&short["requestBody"]), "{method} {path}");
                assert_eq!(call["requestBody"]["required"], short["requestBody"]["required"]);
                let answers = call["responses"].as_object().expect("answers");
                let successes: Vec<_> =
                    answers.iter().filter(|(status, _)| status.starts_with('2')).collect();
                assert_eq!(short["responses"].as_object().expect("answers").len(), successes.len(), "{path}");
                for (status, success) in successes {
                    let short = &short["responses"][status];
                    assert!(short["description"].is_string(), "{method} {path} {status}");
                    assert_eq!(content(success), content(short), "{method} {path} {status}");
                }
            }
        }
        assert_eq!(shape(&whole["components"]["schemas"]), short["components"]["schemas"]);
        for (query, field) in [
            ("view=whole", "view"),
            ("view=compact&x=1", "x"),
            ("x=1", "x"),
            ("view=compact&view=compact", "view"),
        ] {
            assert_eq!(
                api.get(&format!("/openapi.json?{query}")).bad_fields(),
                BTreeSet::from([field.to_owned()])
            );
        }
    }
}

/// The codes of interface B and of operators, of their descriptions.
fn codes() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for document in documents() {
        let calls =
            document["paths"].as_object().expect("paths").values().filter_map(Value::as_object).flatten();
        for (_, call) in calls.filter(|(method, _)| *method != "parameters") {
            for answer in call["responses"].as_object().expect("answers").values() {
                let schema = &answer["content"]["application/json"]["schema"];
                let named = schema["properties"]["error"]["enum"].as_array().into_iter().flatten();
                codes.extend(named.filter_map(Value::as_str).map(str::to_owned));
            }
        }
    }
    codes
}

#[test]
fn every_error_names_the_page_about_its_code() {
    let server = Server::start();
    let (nobody, tenant) = (server.nobody(), server.tenant());
    let docs = |answer: &Answer| answer.json()["docs"].as_str().expect("an address").to_owned();
    let errors = [
        tenant.test.get("/v1/nothing"),
        tenant.test.get("/v1/payments/7"),
        nobody.get("/v1/balance"),
        tenant.test.request("PUT", "/v1/balance"),
        tenant.test.post_raw("/v1/test/fund", "{"),
        tenant.test.post("/v1/test/fund", &json!({})),
        tenant.test.post_as("/v1/test/fund", "text/plain", "x"),
        tenant.live.get("/v1/balance"),
        tenant.live.post("/v1/test/reset", &json!({})),
        nobody.get("/checkout/01975a2e-7c00-7000-8000-000000000000/state"),
        nobody.get("/openapi.json?x=1"),
        server.admin().get("/admin/nothing"),
        server.admin_with("wrong").get("/admin/tenants"),
    ];
    for answer in &errors {
        let code = answer.json()["error"].as_str().expect("a code").to_owned();
        assert_eq!(docs(answer), format!("{}/docs/en/errors/{code}", server.url()), "{}", answer.text());
    }
    // A refusal that is kept for its key is answered with it again.
    let keyed = tenant.test.keyed("pay-1");
    let payout = json!({ "banco": "0134", "telefono": "04241112233", "cedula": "V8765432", "monto": "900.00",
        "concepto": "prize", "externalRef": "prize-21" });
    let first = keyed.post("/v1/payments/credit", &payout);
    assert!(docs(&first).ends_with("/docs/en/errors/insufficient_balance"));
    assert_eq!(keyed.post("/v1/payments/credit", &payout).text(), first.text());

    let (markdown, mut codes) = (nobody.with("accept", "text/markdown"), codes());
    codes.extend(errors.iter().filter_map(|answer| Some(answer.json()["error"].as_str()?.to_owned())));
    assert!(codes.len() > 80, "{codes:?}");
    for code in codes {
        for (language, other) in [("en", "es"), ("es", "en")] {
            let path = format!("/docs/{language}/errors/{code}");
            let (html, text) = (nobody.get(&path), markdown.get(&path));
            assert_eq!((html.status, media(&html)), (200, HTML), "{path}");
            assert!(html.text().contains(&format!("<h1>{code}</h1>")), "{path}: {}", html.text());
            assert!(html.text().contains(&format!("href=\"/docs/{other}/errors/{code}\"")), "{path}");
            is_markdown(&text);
            assert!(text.text().starts_with(&format!("# {code}\n")), "{path}");
            assert!(
                text.text().contains(&format!("](/docs/{other}/errors/{code}.md)")),
                "{path}: {}",
                text.text()
            );
            assert_eq!(nobody.get(&format!("{path}.md")).text(), text.text());
            for link in targets(text.text()) {
                assert_eq!(nobody.get(&link).status, 200, "{path} {link}");
            }
        }
    }
}

#[test]
fn the_address_of_a_page_is_the_one_that_callers_know() {
    let mut server = Server::start_with(&[("PASARELA__SERVER__PUBLIC_BASE_URL", "https://pay.example/")]);
    let docs = |server: &Server| server.nobody().get("/v1/balance").json()["docs"].clone();
    assert_eq!(docs(&server), "https://pay.example/docs/en/errors/unauthorized");
    // Of one that listens everywhere nobody here knows where it is reached: a path leads back to where a caller asked.
    server.terminate();
    server.set("PASARELA__SERVER__PUBLIC_BASE_URL", "");
    server.set("PASARELA__SERVER__LISTEN", &format!("0.0.0.0:{}", server.address().1));
    server.restart();
    assert_eq!(docs(&server), "/docs/en/errors/unauthorized");
}

#[test]
fn an_account_is_opened_by_a_call_without_a_key_where_that_is_allowed() {
    let closed = Server::start();
    closed.nobody().act("/v1/test/accounts").refused(404, "not_found");
    closed.nobody().get("/v1/test/accounts").refused(404, "not_found");

    let server = Server::start_with(&[("PASARELA__TEST__OPEN_ACCOUNTS", "true")]);
    let nobody = server.nobody();
    assert_eq!(nobody.get("/v1/test/accounts").header("allow"), Some("POST"));
    nobody.post("/v1/test/accounts", &json!({ "name": "x" })).names(&["name"]);
    nobody.act("/v1/test/accounts?x=1").names(&["x"]);
    nobody.with("dry-run", "true").act("/v1/test/accounts").names(&["Dry-Run"]);
    nobody.post_raw("/v1/test/accounts", "[]").refused(400, "invalid_data");

    let open = |body: bool| match body {
        true => nobody.post("/v1/test/accounts", &json!({})).expect(201),
        false => nobody.act("/v1/test/accounts").expect(201),
    };
    let opened = open(false);
    assert!(!opened.to_string().contains("pk_live_"), "{opened}");
    let key = opened["testKey"]["key"].as_str().expect("a key").to_owned();
    assert!(key.starts_with("pk_test_"));
    let api: Api = server.api(&key);
    api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00" })).expect(201);
    assert_eq!(api.get("/v1/balance").expect(200)["availableVes"], "10.00");
    for n in 1..10 {
        let other = open(n % 2 == 0)["testKey"]["key"].as_str().expect("a key").to_owned();
        assert_eq!(server.api(&other).get("/v1/balance").expect(200)["availableVes"], "0.00", "its own");
    }
    let refused = nobody.act("/v1/test/accounts");
    refused.refused(429, "rate_limited");
    let after: u32 = refused.header("retry-after").expect("a time").parse().expect("seconds");
    assert!((86_000..=86_400).contains(&after), "{after}");
    // Whoever a proxy names is nobody's proof; another connection's address is another one.
    nobody.with("x-forwarded-for", "192.0.2.1").act("/v1/test/accounts").refused(429, "rate_limited");
    assert!(from("127.0.0.2", server.address()).starts_with("HTTP/1.1 201 "));
    let names: Vec<Value> = server.admin().get("/admin/tenants?limit=100").expect(200)["items"]
        .as_array()
        .expect("a page")
        .iter()
        .map(|tenant| tenant["name"].clone())
        .collect();
    assert_eq!(names.iter().filter(|name| *name == "open test account").count(), 11, "{names:?}");
}

/// What is answered to a call that opens an account and comes from this address.
fn from(source: &str, target: (&str, u16)) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.bind(format!("{source}:0").parse().expect("an address")).expect("a source");
        let target = format!("{}:{}", target.0, target.1).parse().expect("an address");
        let mut stream = socket.connect(target).await.expect("a connection");
        let request =
            b"POST /v1/test/accounts HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    })
}
