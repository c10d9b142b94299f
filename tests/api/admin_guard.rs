//! Pages of other sites do not reach the operators' listener, and operators have a token
//! (`docs/contract.md, 2.3, 3.1`).

use crate::harness::client::Api;
use crate::harness::server::{ADMIN_TOKEN, Server};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The paths of the listener, and one that it does not have.
const PATHS: [&str; 5] = ["/admin/status", "/metrics", "/docs", "/openapi.json", "/nowhere"];

#[test]
fn another_host_is_misdirected_and_another_site_is_refused() {
    let server = Server::shared();
    for (path, admin) in
        PATHS.into_iter().flat_map(|path| [(path, server.admin()), (path, server.admin_with("wrong"))])
    {
        for host in ["evil.example", "evil.example:9090", "127.0.0.1.evil.example", "10.0.0.1"] {
            admin.with("host", host).get(path).refused(421, "misdirected");
        }
        for origin in ["null", "https://evil.example", "http://localhost:1", "http://127.0.0.1"] {
            admin.with("origin", origin).get(path).refused(403, "cross_site");
        }
        admin.with("sec-fetch-site", "cross-site").get(path).refused(403, "cross_site");
    }
    let port = server.admin_address().1;
    let here = |name: &str, value: &str| server.admin().with(name, value).get("/admin/status").status;
    for host in ["localhost", "LOCALHOST:1", "[::1]:9090", "127.1.2.3"] {
        assert_eq!(here("host", host), 200, "{host}");
    }
    assert_eq!(here("origin", &format!("http://127.0.0.1:{port}")), 200);
    for site in ["same-origin", "same-site", "none"] {
        assert_eq!(here("sec-fetch-site", site), 200, "{site}");
    }
    // A page that sends a form changes nothing.
    let before = server.admin().get("/admin/tenants?limit=1").expect(200);
    server
        .admin()
        .with("origin", "https://evil.example")
        .post("/admin/tenants", &json!({ "name": "evil" }))
        .refused(403, "cross_site");
    assert_eq!(
        server.admin().get("/admin/tenants?limit=1").expect(200)["items"][0]["name"],
        before["items"][0]["name"]
    );
}

#[test]
fn operators_may_name_hosts_and_the_command_line_needs_none() {
    let server = Server::start_with(&[("PASARELA__ADMIN__HOSTS", "ops.example.com, 10.1.2.3")]);
    for (host, status) in [
        ("ops.example.com", 200),
        ("ops.example.com:8443", 200),
        ("10.1.2.3:9090", 200),
        ("example.com", 421),
        ("x.ops.example.com", 421),
    ] {
        assert_eq!(server.admin().with("host", host).get("/admin/status").status, status, "{host}");
    }
    assert!(server.command(&["admin", "status"]).status.success());
}

#[test]
fn a_generated_token_is_found_by_the_command_line_and_survives_a_restart() {
    let generate = [("PASARELA__ADMIN__TOKEN", ""), ("PASARELA__ADMIN__GENERATE_TOKEN", "true")];
    let mut server = Server::start_with(&generate);
    let file = server.data().join("admin.token");
    let token = std::fs::read_to_string(&file).expect("a token");
    assert!(token.trim().len() >= 32, "it is long");
    assert_eq!(std::fs::metadata(&file).expect("its mode").permissions().mode() & 0o777, 0o600);
    assert!(!server.log_tail().contains(token.trim()), "the log does not have it");
    assert!(server.log_tail().contains("admin.token"), "the log says where it is: {}", server.log_tail());
    server.admin_with(ADMIN_TOKEN).get("/admin/status").refused(401, "unauthorized");
    assert_eq!(server.admin_with(token.trim()).get("/admin/status").status, 200);
    // Another terminal has a configuration that does not ask for a generated token.
    server.set("PASARELA__ADMIN__GENERATE_TOKEN", "false");
    assert!(server.command(&["admin", "status"]).status.success());
    assert_eq!(server.terminate().code(), Some(0));
    server.set("PASARELA__ADMIN__GENERATE_TOKEN", "true");
    server.restart();
    assert_eq!(std::fs::read_to_string(&file).expect("a token"), token);
    // A copy is another machine's: it does not have this one's token.
    let copy = server.data().with_file_name("copy");
    assert!(server.command(&["backup", copy.to_str().expect("UTF-8")]).status.success());
    assert!(!copy.join("admin.token").exists());
}

#[test]
fn a_short_token_stops_a_start_where_others_reach_the_listener() {
    let server = Server::shared();
    let config = server.data().with_file_name("short.toml");
    std::fs::write(&config, "").expect("written");
    let started = |token: &str| {
        let mut command = server.program();
        command
            .args(["serve", "--config", config.to_str().expect("UTF-8")])
            .env("PASARELA__ADMIN__LISTEN", "0.0.0.0:0")
            .env("PASARELA__ADMIN__TOKEN", token);
        command.env("PASARELA__STORAGE__PATH", Path::new("/dev/null/nowhere")).output().expect("it runs")
    };
    let output = started(&"x".repeat(31));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), told.lines().count()), (Some(2), 1), "{told}");
    assert!(told.contains("admin.token"), "{told}");
    // The token is long enough; the directory is what stops it.
    let output = started(&"x".repeat(32));
    assert_ne!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let short = Server::start_with(&[("PASARELA__ADMIN__TOKEN", "short")]);
    assert_eq!(short.admin_with("short").get("/admin/status").status, 200);
    assert!(short.log_tail().contains("admin.token is short"), "{}", short.log_tail());
}

#[test]
fn a_token_where_none_is_needed_counts_all_the_same() {
    let server = Server::start_with(&[
        ("PASARELA__ADMIN__TOKEN", ""),
        ("PASARELA__ADMIN__INSECURE_DEV_TOKEN", "true"),
    ]);
    let nobody = Api::new(&format!("http://127.0.0.1:{}", server.admin_address().1), &[]);
    assert_eq!(nobody.get("/admin/status").status, 200);
    assert!(server.log_tail().contains("insecure_dev_token"), "it warns");
    nobody.with("host", "evil.example").get("/admin/status").refused(421, "misdirected");
}

#[test]
fn a_search_takes_its_text_with_and_without_the_options_name() {
    let server = Server::shared();
    let tenant = server.tenant();
    for arguments in [&["admin", "search", &tenant.id][..], &["admin", "search", "--q", &tenant.id]] {
        let output = server.command(arguments);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains(&tenant.id), "{arguments:?}: {output:?}");
    }
    assert_eq!(server.command(&["admin", "search"]).status.code(), Some(2));
}
