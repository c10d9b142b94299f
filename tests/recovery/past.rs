//! Restored copies: the directory that `wal replay` makes of the log up to a moment has what was
//! there at that moment, and keeps quiet outside until it takes over.

use crate::harness::check::{assert_texts, instant, stamp, text};
use crate::harness::client::Api;
use crate::harness::flows::{MS, figures};
use crate::harness::server::{Server, Tenant};
use crate::{fails, objects, shown, succeeds, verified};
use pasarela::recovery::books::each_record;
use pasarela::recovery::rebuild::Rebuild;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use wal::Reader;

/// Steps of the random history.
const STEPS: usize = 40;
/// Moments of it that are rebuilt and served.
const MOMENTS: usize = 4;

/// Numbers that look random and are the same for one seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// The state that was seen right after a record.
struct Seen {
    seq: u64,
    at: Value,
    balance: Value,
    movements: usize,
}

/// A random history of one tenant, looked at after each step.
fn history(server: &Server, api: &Api, chance: &mut Chance) -> Vec<Seen> {
    let mut merchant = api.merchant();
    api.fund("5000.00");
    let (mut sales, mut seen) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        let cents = 100 + chance.below(90_000);
        let amount = format!("{}.{:02}", cents / 100, cents % 4);
        match chance.below(7) {
            0 => _ = api.fund(&amount),
            1 => {
                _ = api
                    .post("/v1/test/fund", &json!({ "currency": "VES", "amount": amount, "held": true }))
                    .expect(201)
            }
            2 | 3 => sales.push(api.pay(1 + chance.below(20))),
            4 => _ = api.payout(&merchant, &amount, json!({})),
            5 if !sales.is_empty() => _ = api.reverse(&sales.swap_remove(0)).expect(200),
            5 => _ = api.payout(&merchant, "1.04", json!({})).expect(201),
            _ => _ = api.advance(i64::try_from(chance.below(8 * 3600)).expect("small") + 1),
        }
        if step == STEPS / 3 {
            api.act("/v1/test/reset").expect(200);
            (merchant, sales) = (api.merchant(), Vec::new());
            api.fund("5000.00");
        }
        if step == STEPS / 2 {
            server.admin().act("/admin/snapshot").expect(200);
        }
        let seq = server.admin().get("/admin/status").expect(200)["walSeq"].as_u64().expect("a sequence");
        seen.push(Seen {
            seq,
            at: json!(stamp(api.clock())),
            balance: api.balance(),
            movements: api.movements().len(),
        });
    }
    seen
}

#[test]
fn a_replay_to_any_moment_is_what_was_there() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_121);
    println!("SEED={seed}");
    let mut chance = Chance(seed);
    let server = Server::start();
    let tenant = server.tenant();
    let seen = history(&server, &tenant.test, &mut chance);
    let key = text(&tenant.created["testKey"], "key").to_owned();
    let parent = tempfile::tempdir().expect("a directory");
    for n in 0..MOMENTS {
        let moment = &seen[usize::try_from(chance.below(seen.len() as u64)).expect("small")];
        let into = parent.path().join(format!("world-{n}"));
        // The past is replayed beside the running server.
        succeeds(&server, &["wal", "replay", "--into", shown(&into), "--until-seq", &moment.seq.to_string()]);
        assert_eq!(verified(&server, &into)["records"], moment.seq);
        let past = Server::on(&into);
        let api = past.api(&key);
        // The clock went on; what was there at that moment is asked for.
        assert_eq!(
            api.balance_at(instant(&moment.at)),
            moment.balance,
            "SEED={seed}, sequence {}",
            moment.seq
        );
        assert_eq!(api.movements().len(), moment.movements, "SEED={seed}, sequence {}", moment.seq);
        api.books();
        // The copy is whole: money moves on.
        api.fund("1.00");
        api.pay(1);
    }
}

#[test]
fn a_moment_is_a_sequence_or_a_time_included() {
    let server = Server::start();
    let api = server.tenant().test;
    // An advance of the test clock is no step of the server's clock.
    api.advance(86_400);
    let last = |server: &Server| {
        server.admin().get("/admin/status").expect(200)["walSeq"].as_u64().expect("a sequence")
    };
    let before = last(&server);
    std::thread::sleep(Duration::from_millis(3));
    server.admin().post("/admin/tenants", &json!({ "name": "in between" })).expect(201);
    let middle = last(&server);
    std::thread::sleep(Duration::from_millis(3));
    api.fund("5.00");
    let lines = objects(&succeeds(&server, &["wal", "inspect", "--json"]));
    let time = |seq: u64| instant(&lines[usize::try_from(seq).expect("small") - 1]["time"]);
    let parent = tempfile::tempdir().expect("a directory");
    for (name, until, expected) in
        [("exact", time(middle), middle), ("earlier", time(before + 1) - MS, before)]
    {
        let into = parent.path().join(name);
        succeeds(&server, &["wal", "replay", "--into", shown(&into), "--until-time", &stamp(until)]);
        assert_eq!(verified(&server, &into)["records"], expected, "{name}");
    }
    let into = parent.path().join("none");
    let beyond = (last(&server) + 1).to_string();
    assert!(
        fails(&server, &["wal", "replay", "--into", shown(&into), "--until-seq", &beyond])
            .contains("the log ends at sequence")
    );
    assert!(!into.exists(), "nothing was begun");
    assert!(
        fails(&server, &["wal", "replay", "--into", shown(&into), "--until-time", "2001-01-01T00:00:00Z"])
            .contains("no record as early")
    );
    std::fs::create_dir(&into).expect("a directory");
    std::fs::write(into.join("mine"), "precious").expect("written");
    assert!(fails(&server, &["wal", "replay", "--into", shown(&into)]).contains("not empty"));
    assert_eq!(std::fs::read(into.join("mine")).expect("still there"), b"precious");
}

#[test]
fn a_restored_copy_keeps_quiet_until_it_takes_over() {
    let server = Server::start();
    let Tenant { created, test, .. } = server.tenant();
    test.fund("100.00");
    assert_texts(&server.admin().get("/admin/status").expect(200), &[("outbound", "open")]);
    let parent = tempfile::tempdir().expect("a directory");
    let into = parent.path().join("world");
    succeeds(&server, &["wal", "replay", "--into", shown(&into)]);
    let mut past = Server::on(&into);
    for arguments in [vec![], vec![]] {
        past.arguments = arguments;
        assert_texts(&past.admin().get("/admin/status").expect(200), &[("outbound", "past")]);
        let api = past.api(text(&created["testKey"], "key"));
        api.fund("1.00");
        api.pay(1);
        past.kill();
        past.restart();
    }
    past.kill();
    past.arguments = vec!["--take-over"];
    past.restart();
    assert_texts(&past.admin().get("/admin/status").expect(200), &[("outbound", "open")]);
    let acts = objects(&succeeds(&past, &["wal", "inspect", "--json"]));
    let act = acts.iter().find(|line| line["type"] == "operator.acted").expect("it is written down");
    assert!(text(act, "entity").contains("took over what replay made"), "{act}");
    past.kill();
    past.arguments.clear();
    past.restart();
    assert_texts(&past.admin().get("/admin/status").expect(200), &[("outbound", "open")]);
}

#[test]
fn a_take_over_waits_for_a_second_person_where_that_is_configured() {
    let server = Server::start();
    let boss = json!({ "name": "Bea", "email": "bea@example.com", "role": "admin" });
    let boss = server.admin().post("/admin/operators", &boss).expect(201);
    let parent = tempfile::tempdir().expect("a directory");
    let into = parent.path().join("world");
    succeeds(&server, &["wal", "replay", "--into", shown(&into)]);
    let mut past = Server::on(&into);
    past.set("PASARELA__ADMIN__APPROVALS", "take-over");
    past.arguments = vec!["--take-over"];
    let outbound =
        |past: &Server| text(&past.admin().get("/admin/status").expect(200), "outbound").to_owned();
    for _ in 0..2 {
        past.kill();
        past.restart();
        assert_eq!(outbound(&past), "past");
    }
    let asked = past.admin().get("/admin/approvals?status=pending").expect(200);
    let asked = asked["items"].as_array().expect("a list").clone();
    assert_eq!(asked.len(), 1, "two starts ask for one: {asked:?}");
    assert_eq!(
        (&asked[0]["action"], &asked[0]["request"]["madeBy"]),
        (&json!("take-over"), &json!("replay"))
    );
    let approve = format!("/admin/approvals/{}/approve", text(&asked[0], "approvalId"));
    past.admin().act(&approve).refused(403, "second_person_required");
    // Whom root has just made is no second person beside it; whom that one makes is.
    let boss = past.admin_with(text(&boss, "token"));
    boss.act(&approve).refused(403, "second_person_required");
    let other = json!({ "name": "Eva", "email": "eva@example.com", "role": "admin" });
    let other = boss.post("/admin/operators", &other).expect(201);
    let approved = past.admin_with(text(&other, "token")).act(&approve).expect(200);
    assert_eq!(approved["result"]["outbound"], "open");
    assert_eq!(outbound(&past), "open");
    past.kill();
    past.arguments.clear();
    past.restart();
    assert_eq!(outbound(&past), "open");
    let entries = past.admin().get("/admin/audit?action=take-over").expect(200);
    assert_eq!(entries["items"][0]["approvalId"], asked[0]["approvalId"]);
}

#[test]
fn a_directory_that_was_not_finished_is_no_world() {
    let mut server = Server::start();
    server.kill();
    std::fs::write(
        server.data().join("PAST"),
        "made_by = \"import\"\nmade_at = \"2026-11-21T00:00:00.000Z\"\n",
    )
    .expect("written");
    let refused = server.command(&["serve"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("import broke off"),
        "{}",
        String::from_utf8_lossy(&refused.stderr)
    );
}

#[test]
fn nothing_whole_is_made_of_a_directory_that_was_not_finished() {
    let mut server = Server::start();
    server.tenant().test.fund("100.00");
    server.kill();
    let parent = tempfile::tempdir().expect("a directory");
    let begun = parent.path().join("begun");
    // A replay that breaks off half-way: what it wrote is a sound log, only too short.
    let reader = Reader::open_read_only(server.data().join("log")).expect("the log");
    let mut rebuild = Rebuild::begin(&begun, "replay", 1).expect("an empty directory");
    each_record(&reader, 1, reader.last_seq() - 1, |stored| rebuild.add(stored)).expect("written");
    drop(rebuild);
    assert!(Reader::open_read_only(begun.join("log")).expect("it opens").last_seq() > 0);
    let made = parent.path().join("made");
    for arguments in [
        vec!["backup", shown(&made)],
        vec!["wal", "export", shown(&made)],
        vec!["wal", "replay", "--into", shown(&made)],
        vec!["restore", shown(&begun), "--into", shown(&made)],
    ] {
        let refused = match arguments[0] {
            "restore" => fails(&server, &arguments),
            _ => fails(&server, &[&arguments[..], &["--data-dir", shown(&begun)]].concat()),
        };
        assert!(
            refused.contains("replay broke off") && refused.contains("remove it and make it again"),
            "{arguments:?}: {refused}"
        );
        assert!(!made.exists(), "{arguments:?} began");
    }
}

#[test]
fn a_snapshot_is_of_the_instant_at_which_it_was_settled() {
    let server = Server::start();
    let api = server.tenant().test;
    api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00", "held": true })).expect(201);
    let release = instant(&api.balance()["nextReleaseAt"]);
    // The last record comes before the end of the hold; then time alone ends it, and a look at the
    // balance settles the book.
    api.advance_to(release - MS * 400);
    let deadline = Instant::now() + Duration::from_secs(30);
    while figures(&api.balance())[1] != "0.00" {
        assert!(Instant::now() < deadline, "the hold does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    server.admin().act("/admin/snapshot").expect(200);
    assert_texts(&api.balance_at(release - MS), &[("heldVes", "10.00")]);
    assert_texts(&api.balance_at(release), &[("heldVes", "0.00")]);
    verified(&server, &server.data());
}
