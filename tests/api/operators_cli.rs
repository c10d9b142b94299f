//! The command line of operators: whose token it sends, and how it shows lists (`docs/contract.md, 3.9`).

use crate::harness::check::text;
use crate::harness::flows::{UNKNOWN, fresh};
use crate::harness::server::Server;
use crate::named_operators::operator;
use serde_json::{Value, json};

/// What a command of operators prints; it has to succeed.
#[track_caller]
fn prints(server: &Server, arguments: &[&str]) -> String {
    let output = server.command(&[&["admin"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

/// What a command of operators is refused with.
#[track_caller]
fn is_refused(server: &Server, arguments: &[&str]) -> String {
    let output = server.command(&[&["admin"], arguments].concat());
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn json_of(printed: &str) -> Value {
    serde_json::from_str(printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

#[test]
fn a_file_says_who_asks_and_who_approves() {
    let server = Server::start_with(&[("PASARELA__ADMIN__APPROVALS", "adjustments")]);
    let tenant = server.tenant();
    let (ana, _) = operator(&server, "treasury");
    let (bea, _) = operator(&server, "treasury");
    let file = server.data().join("ana.token");
    std::fs::write(&file, format!("{}\n", text(&ana, "token"))).expect("written");
    let bea_file = server.data().with_file_name("bea");
    std::fs::write(&bea_file, text(&bea, "token")).expect("written");
    let bea_file = bea_file.to_str().expect("a path");

    assert_eq!(json_of(&prints(&server, &["me"]))["operatorId"], "root");
    assert_eq!(json_of(&prints(&server, &["me", "--as", "ana"]))["operatorId"], ana["operatorId"]);
    assert!(is_refused(&server, &["me", "--as", "nobody"]).contains("--as nobody"));
    let asked = prints(
        &server,
        &[
            "adjustment",
            "create",
            &tenant.id,
            "--as",
            "ana",
            "--mode",
            "test",
            "--currency",
            "VES",
            "--amount=5.00",
            "--description",
            "d",
        ],
    );
    let asked = json_of(&asked);
    let id = text(&asked, "approvalId");
    assert!(
        is_refused(&server, &["approval", "approve", id, "--as", "ana"]).contains("second_person_required")
    );
    let pending = json_of(&prints(&server, &["approval", "list", "--status", "pending"]));
    assert_eq!(pending["items"][0]["approvalId"], asked["approvalId"]);
    let done = json_of(&prints(&server, &["approval", "approve", id, "--as", bea_file, "--note", "seen"]));
    assert_eq!((&done["status"], &done["result"]["amountVes"]), (&json!("approved"), &json!("5.00")));
    let entries = json_of(&prints(&server, &["audit", "list", "--tenant-id", &tenant.id]));
    assert_eq!(entries["items"][0]["approvalId"], asked["approvalId"]);
}

#[test]
fn lists_are_whole_wide_or_for_a_spreadsheet() {
    let server = Server::start();
    let names: Vec<String> = (0..105).map(|n| fresh(&format!("t{n}"))).collect();
    for name in &names {
        server.admin().post("/admin/tenants", &json!({ "name": name })).expect(201);
    }
    let page = json_of(&prints(&server, &["tenant", "list"]));
    assert_eq!(page["items"].as_array().map(Vec::len), Some(25));
    let all = json_of(&prints(&server, &["tenant", "list", "--all"]));
    assert_eq!((all["items"].as_array().map(Vec::len), &all["nextCursor"]), (Some(105), &Value::Null));
    let table = prints(&server, &["tenant", "list", "--all", "--wide"]);
    assert!(names.iter().all(|name| table.contains(name.as_str())), "{table}");
    let csv = prints(&server, &["tenant", "list", "--csv"]);
    assert_eq!((csv.lines().count(), csv.starts_with("tenantId,name,")), (106, true), "{csv}");
    assert!(is_refused(&server, &["tenant", "list", "--csv", "--all"]).contains("cannot be used with"));
    assert!(
        is_refused(&server, &["tenant", "list", "--all", "--limit", "5"]).contains("cannot be used with")
    );
}

#[test]
fn every_noun_with_things_of_its_own_lists_them() {
    let server = Server::start();
    let tenant = server.tenant();
    let create = [
        "adjustment",
        "create",
        &tenant.id,
        "--mode",
        "test",
        "--currency",
        "VES",
        "--amount=5.00",
        "--description",
        "d",
    ];
    prints(&server, &create);
    let listed = json_of(&prints(&server, &["adjustment", "list", "--tenant-id", &tenant.id]));
    let row = &listed["items"][0];
    assert_eq!((&row["action"], &row["after"]["amountVes"]), (&json!("adjustment.create"), &json!("5.00")));
    let other = json_of(&prints(&server, &["adjustment", "list", "--tenant-id", &server.tenant().id]));
    assert_eq!(other["items"], json!([]));
    assert!(json_of(&prints(&server, &["rate", "list"]))["items"].is_array());
}

#[test]
fn a_command_can_be_rehearsed() {
    let server = Server::start();
    let tenant = server.tenant();
    let create = [
        "adjustment",
        "create",
        &tenant.id,
        "--mode",
        "test",
        "--currency",
        "VES",
        "--amount=5.00",
        "--description",
        "d",
    ];
    let shown = json_of(&prints(&server, &[&create[..], &["--dry-run"]].concat()));
    assert_eq!((&shown["dryRun"], &shown["movements"][0]["amountVes"]), (&json!(true), &json!("5.00")));
    assert_eq!(tenant.test.balance()["ledgerNetVes"], "0.00");
    // What would be refused is refused here too.
    let mut absent = create;
    absent[2] = UNKNOWN;
    let output = server.command(&[&["admin"], &absent[..], &["--dry-run"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("404 not_found"), "{said}");
    assert!(is_refused(&server, &["tenant", "list", "--dry-run"]).contains("--dry-run"));
}
