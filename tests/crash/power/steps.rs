//! The power goes right after each sync of a start, a backup, a restore, a replay, an import and an
//! export: between two syncs nothing else becomes durable, so these are all the states that a disk can
//! be left in.

use super::disk::{Disk, Kept};
use super::load::{started_on, unverified};
use crate::harness::check::{stamp, text};
use crate::harness::faults::steps;
use crate::harness::server::Server;
use crate::load::PATIENCE;
use chrono::{TimeDelta, Utc};
use pasarela::recovery::restored_copy::RestoredCopy;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread::sleep;
use std::time::{Duration, Instant};

const SIGKILL: i32 = 9;
const OFF_AT: &str = "POWER_OFF_AT";

fn shown(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn a_first_start_that_loses_power_leaves_nothing_in_the_way() {
    let token = [("PASARELA__ADMIN__TOKEN", ""), ("PASARELA__ADMIN__GENERATE_TOKEN", "true")];
    for step in steps() {
        let disk = Disk::new();
        let begun = started_on(&disk, &[token[0], token[1], (OFF_AT, &step.to_string())]);
        let is_over = begun.is_ok();
        drop(begun);
        disk.cut(Kept::Nothing);
        let mut server = started_on(&disk, &token)
            .unwrap_or_else(|why| panic!("after a start that lost power at its sync {step}: {why}"));
        let token = fs::read_to_string(disk.root().join("data/admin.token")).expect("a token");
        let admin = server.admin_with(token.trim());
        let made = admin.post("/admin/tenants", &json!({ "name": "first" })).expect(201);
        let api = server.api(made["testKey"]["key"].as_str().expect("a key"));
        api.fund("1.00");
        server.kill();
        disk.cut(Kept::Nothing);
        server.restart();
        api.assert_books("1.00", "0.00", "1.00");
        admin.get("/admin/status").expect(200);
        if is_over {
            assert!(step > 8, "only {step} syncs");
            return;
        }
    }
}

#[test]
fn a_start_after_a_power_cut_that_loses_power_too_loses_nothing() {
    let disk = Disk::new();
    let mut server = started_on(&disk, &[]).expect("it starts");
    let api = server.tenant().test;
    for (funded, step) in steps().enumerate() {
        // The record has to be recovered from RocksDB's log.
        api.fund("1.00");
        server.kill();
        disk.cut(Kept::Nothing);
        server.set(OFF_AT, &step.to_string());
        let is_over = server.try_restart().is_ok();
        server.kill();
        disk.cut(Kept::Nothing);
        server.set(OFF_AT, "0");
        server
            .try_restart()
            .unwrap_or_else(|why| panic!("after a start that lost power at its sync {step}: {why}"));
        let all = format!("{}.00", funded + 1);
        api.assert_books(&all, "0.00", &all);
        assert_eq!(unverified(&server, &server.data()), None);
        if is_over {
            assert!(step > 3, "only {step} syncs");
            return;
        }
    }
}

/// A stopped server on a disk, with records, a snapshot and orders of its bank.
fn stopped(disk: &Disk) -> Server {
    let mut server = started_on(disk, &[]).expect("it starts");
    let api = server.tenant().test;
    api.fund("100.00");
    api.pay(5);
    server.admin().act("/admin/snapshot").expect(200);
    api.fund("1.00");
    server.kill();
    disk.cut(Kept::Nothing);
    server
}

/// Runs a command whose process loses power at its sync `step`; true if it came to its end before.
#[track_caller]
fn ends_before(server: &mut Server, arguments: &[&str], step: usize) -> bool {
    server.set(OFF_AT, &step.to_string());
    let output: Output = server.command(arguments);
    server.set(OFF_AT, "0");
    let why = String::from_utf8_lossy(&output.stderr);
    let is_killed = output.status.signal() == Some(SIGKILL);
    assert!(is_killed || output.status.success(), "{arguments:?}, sync {step}: {why}");
    !is_killed
}

/// What was being made: nothing, half, or whole.
fn judged(server: &Server, made: &Path) -> &'static str {
    if !made.exists() || fs::read_dir(made).expect("readable").next().is_none() {
        return "nothing";
    }
    match RestoredCopy::must_be_whole(made) {
        Err(why) => {
            assert!(why.to_string().contains("remove it and make it again"), "{why}");
            "half"
        }
        Ok(Some(_)) => {
            assert_eq!(unverified(server, made), None);
            "whole"
        }
        Ok(None) => panic!("{} would be served", made.display()),
    }
}

/// Cuts the power at each sync of a command, and once it said that it is done.
#[track_caller]
fn at_every_sync(disk: &Disk, server: &mut Server, arguments: &[&str], made: &Path) {
    let mut seen = BTreeMap::new();
    for step in steps() {
        let is_done = ends_before(server, arguments, step);
        disk.cut(Kept::Nothing);
        assert_eq!(unverified(server, &server.data()), None, "{arguments:?}, sync {step}");
        let how = judged(server, made);
        assert!(!is_done || how == "whole", "{arguments:?} said that it is done, and it is {how}");
        *seen.entry(how).or_insert(0) += 1;
        if is_done {
            println!("{}: {seen:?}", arguments[0]);
            assert!(seen.contains_key("half"), "{arguments:?} never lost power half-way: {seen:?}");
            return;
        }
        let _ = fs::remove_dir_all(made);
        disk.keep_all();
    }
}

/// A folder of the disk to make something in.
fn room(disk: &Disk) -> PathBuf {
    let room = disk.root().join("room");
    fs::create_dir(&room).expect("made");
    disk.keep_all();
    room
}

#[test]
fn a_backup_and_a_restore_that_lose_power_are_nothing_half_or_whole() {
    let disk = Disk::new();
    let mut server = stopped(&disk);
    let room = room(&disk);
    let (copy, into) = (room.join("copy"), room.join("into"));
    at_every_sync(&disk, &mut server, &["backup", shown(&copy)], &copy);
    let restore = ["restore", shown(&copy), "--into", shown(&into), "--skip-verify"];
    at_every_sync(&disk, &mut server, &restore, &into);
}

#[test]
fn a_replay_that_loses_power_is_nothing_half_or_whole() {
    let disk = Disk::new();
    let mut server = stopped(&disk);
    let into = room(&disk).join("into");
    at_every_sync(&disk, &mut server, &["wal", "replay", "--into", shown(&into)], &into);
}

#[test]
fn an_export_that_is_done_is_there_and_an_import_that_loses_power_is_nothing_half_or_whole() {
    let disk = Disk::new();
    let mut server = stopped(&disk);
    let room = room(&disk);
    let (file, into) = (room.join("export"), room.join("into"));
    assert!(ends_before(&mut server, &["wal", "export", shown(&file)], 0));
    disk.cut(Kept::Nothing);
    assert!(file.exists(), "an export was said to be done and has no name");
    at_every_sync(&disk, &mut server, &["import", shown(&file), "--into", shown(&into)], &into);
}

/// A copy that was made where no folder was: the names on the way to it are durable too.
#[test]
fn a_copy_in_folders_that_were_made_for_it_is_there() {
    let disk = Disk::new();
    let mut server = stopped(&disk);
    let copy = disk.root().join("far/away/copy");
    assert!(ends_before(&mut server, &["backup", shown(&copy)], 0));
    disk.cut(Kept::Nothing);
    assert_eq!(judged(&server, &copy), "whole");
}

/// Stores beside the log are directories of their own, whose names are as durable as what is said to
/// be in them.
#[test]
fn a_pin_and_a_reconciliation_are_there_after_a_power_cut() {
    let disk = Disk::new();
    let bank = [
        ("PASARELA__RAILS__R4__BASE_URL", "http://127.0.0.1:9"),
        ("PASARELA__RAILS__R4__COMMERCE_TOKEN", "commerce-token-that-is-secret"),
        ("PASARELA__RAILS__R4__CALLBACK_UUID", "0f8fad5b-d9cb-469f-a165-70867728950e"),
    ];
    let mut server = started_on(&disk, &bank).expect("it starts");
    let pin = json!({ "pair": "USDT/COP", "source": "p2p", "side": "BUY", "price": "4321.5", "reason": "a test",
        "pinnedUntil": stamp(Utc::now() + TimeDelta::hours(1)) });
    server.admin().post("/admin/rates", &pin).expect(201);
    let day = Utc::now().date_naive() - TimeDelta::days(2);
    let asked = format!("/admin/reconciliations?rail=r4&account=01690001001234567890&from={day}&to={day}");
    let statement = format!("date,reference,amount,kind,phone,bank\n{day},81230001,200.00,credit,,\n");
    let begun = server.admin().post_as(&asked, "text/csv", statement).expect(202);
    let path = format!("/admin/reconciliations/{}", text(&begun, "id"));
    let read = |server: &Server| server.admin().get(&path);
    let deadline = Instant::now() + PATIENCE;
    while read(&server).expect(200)["status"] == "running" {
        assert!(Instant::now() < deadline, "it does not end");
        sleep(Duration::from_millis(20));
    }
    let ended = read(&server).expect(200);
    server.kill();
    disk.cut(Kept::Nothing);
    server.restart();
    assert_eq!(read(&server).expect(200), ended);
    let rates = server.admin().get("/admin/status").expect(200)["rates"]["pins"].to_string();
    assert!(rates.contains("4321.5"), "{rates}");
}

#[test]
fn a_server_that_was_stopped_in_order_starts_after_a_power_cut() {
    let disk = Disk::new();
    let mut server = started_on(&disk, &[]).expect("it starts");
    let api = server.tenant().test;
    api.fund("5.00");
    assert!(server.terminate().success());
    disk.cut(Kept::Nothing);
    server.restart();
    api.assert_books("5.00", "0.00", "5.00");
    assert_eq!(unverified(&server, &server.data()), None);
}
