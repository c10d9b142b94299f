//! Disks that lie: they say that something is synced, and it is not. Each lie must be noticed, or
//! the tests of power cuts would notice nothing of a server that forgets the same sync.

use super::disk::{Disk, Kept};
use super::load::{started_on, unverified, wrong_after_cuts};
use serde_json::json;

/// A short life and a power cut; the error says what is wrong then.
fn survives(lie: &str) -> Result<(), String> {
    let disk = Disk::new();
    let mut server = started_on(&disk, &[("POWER_IGNORE", lie)]).expect("it starts");
    let api = server.tenant().test;
    api.fund("1.00");
    let copy = disk.root().join("copy");
    server.admin().post("/admin/backup", &json!({ "path": copy.to_str().expect("UTF-8") })).expect(200);
    // A copy has the log's tables written: what comes after it is in RocksDB's own log alone.
    api.fund("2.00");
    server.kill();
    disk.cut(Kept::Nothing);
    server.try_restart().map_err(|why| format!("it does not start: {why}"))?;
    let balance = api.get("/v1/balance");
    if balance.status != 200 || balance.json()["ledgerNetVes"] != "3.00" {
        return Err(format!("the balance is {}", balance.text()));
    }
    match unverified(&server, &server.data()).or_else(|| unverified(&server, &copy)) {
        Some(why) => Err(why),
        None => Ok(()),
    }
}

#[test]
fn every_lie_of_a_disk_is_noticed() {
    assert_eq!(survives("nothing/of/this/name"), Ok(()));
    for lie in [
        "data/log/*.log",
        "data/log/MANIFEST-*",
        "data/log",
        "data/mark.key.new",
        "data",
        ".",
        "copy/log.tmp/*",
        "copy/log",
        "copy",
    ] {
        let noticed = survives(lie).expect_err(lie);
        println!("{lie}: {}", noticed.lines().next().unwrap_or_default());
    }
}

#[test]
fn a_server_that_acknowledges_before_the_sync_is_found_under_load() {
    let wrong = wrong_after_cuts(1, 1, &[("POWER_IGNORE", "data/log/*.log")]);
    assert!(!wrong.is_empty(), "nothing was noticed");
}
