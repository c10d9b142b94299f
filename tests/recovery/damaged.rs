//! A disk that returned a wrong byte: what is whole before it is brought out, nothing serves what is wrong, and the
//! exit code keeps the units from starting it again.

use crate::harness::server::Server;
use crate::{errors, fails, objects, shown, succeeds};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A server that was killed after `records` movements of an account, and its directory.
fn killed(records: usize) -> (Server, PathBuf, String) {
    let mut server = Server::start();
    let tenant = server.tenant();
    for _ in 0..records {
        tenant.test.fund("1.00");
    }
    let key = crate::harness::check::text(&tenant.created["testKey"], "key").to_owned();
    server.kill();
    let data = server.data();
    (server, data, key)
}

/// The largest file of the log's store with this ending.
fn largest(data: &Path, ending: &str) -> PathBuf {
    let files = fs::read_dir(data.join("log")).expect("the log").flatten().map(|entry| entry.path());
    let of_kind = files.filter(|path| path.extension().is_some_and(|extension| extension == ending));
    of_kind.max_by_key(|path| fs::metadata(path).map_or(0, |file| file.len())).expect("a file")
}

fn flip(file: &Path, at: u64) {
    let opened = fs::File::options().read(true).write(true).open(file).expect("opens");
    let mut byte = [0];
    opened.read_exact_at(&mut byte, at).expect("read");
    opened.write_all_at(&[byte[0] ^ 0x10], at).expect("written");
}

fn last_seq(server: &Server, data: &Path) -> u64 {
    let info: serde_json::Value =
        serde_json::from_str(&succeeds(server, &["wal", "info", "--json", "--data-dir", shown(data)]))
            .expect("JSON");
    info["lastSeq"].as_u64().expect("a sequence")
}

#[test]
fn what_is_whole_before_a_flipped_byte_of_the_newest_log_is_salvaged() {
    let (server, data, key) = killed(40);
    let all = last_seq(&server, &data);
    let log = largest(&data, "log");
    flip(&log, fs::metadata(&log).expect("the file").len() * 2 / 3);
    let refused = server.command(&["serve"]);
    let said = errors(&refused);
    assert_eq!(refused.status.code(), Some(74), "{said}");
    for word in ["the log is damaged at sequence", "wal salvage --to DIR", "pasarela restore"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(!said.contains("written"), "{said}");
    let parent = tempfile::tempdir().expect("a folder");
    let to = parent.path().join("salvaged");
    let told = objects(&succeeds(&server, &["wal", "salvage", "--to", shown(&to), "--json"])).remove(0);
    let (seq, lost) = (told["seq"].as_u64().expect("a sequence"), told["lostFrom"].as_u64());
    assert!(seq > 10 && seq < all, "{told}");
    assert_eq!(
        (lost, told["lostTo"].as_u64(), told["damagedSeq"].as_u64()),
        (Some(seq + 1), Some(all), Some(seq + 1))
    );
    // It verifies, opens, is silent, and ends where it said.
    assert!(succeeds(&server, &["wal", "verify", "--data-dir", shown(&to)]).contains("ok"));
    assert_eq!(last_seq(&server, &to), seq);
    let copy = Server::on(&to);
    assert!(copy.log_tail().contains("restored copy"), "{}", copy.log_tail());
    copy.api(&key).get("/v1/balance").expect(200);
    drop(copy);
    // The same by hand, before the damage; not behind it.
    let replayed = parent.path().join("replayed");
    let until = (seq - 3).to_string();
    succeeds(&server, &["wal", "replay", "--into", shown(&replayed), "--until-seq", &until]);
    assert_eq!(last_seq(&server, &replayed), seq - 3);
    let beyond = parent.path().join("beyond");
    fails(&server, &["wal", "replay", "--into", shown(&beyond), "--until-seq", &(seq + 1).to_string()]);
    let earlier = parent.path().join("earlier");
    succeeds(&server, &["wal", "salvage", "--to", shown(&earlier), "--until-seq", "5"]);
    assert_eq!(last_seq(&server, &earlier), 5);
}

#[test]
fn a_log_without_damage_is_salvaged_whole() {
    let (server, data, _) = killed(12);
    let parent = tempfile::tempdir().expect("a folder");
    let to = parent.path().join("salvaged");
    let said = succeeds(&server, &["wal", "salvage", "--to", shown(&to)]);
    assert!(said.contains("lost: no acknowledged record") && said.contains("no damage"), "{said}");
    assert_eq!(last_seq(&server, &to), last_seq(&server, &data));
}

#[test]
fn a_wrong_byte_in_an_older_table_ends_the_server_with_74_and_keeps_it_ended() {
    let mut server = Server::start();
    let tenant = server.tenant();
    // A stop writes what came since the start into a table of its own: the payment's is neither the first nor the last.
    let mut payment = None;
    for round in 0..3 {
        for _ in 0..if round == 1 { 150 } else { 20 } {
            tenant.test.fund("1.00");
        }
        if round == 1 {
            payment = Some(tenant.test.vpos_pay(3));
        }
        assert!(server.terminate().success());
        server.restart();
    }
    assert!(server.terminate().success());
    let payment = payment.expect("paid");
    let data = server.data();
    // The tables of records alone: a read of an old one comes to the byte, a start does not.
    let families = ["default", "log", "index", "snapshots", "meta", "pieces"];
    let store =
        rocksdb::DB::open_cf_for_read_only(&rocksdb::Options::default(), data.join("log"), families, false);
    let store = store.expect("opens");
    let files = store.live_files().expect("tables");
    let mut of_records: Vec<_> = files.iter().filter(|file| file.column_family_name == "log").collect();
    of_records.sort_by_key(|file| file.start_key.clone());
    assert!(of_records.len() > 2, "{} tables", of_records.len());
    let inner = &of_records[1..of_records.len() - 1];
    let tables: Vec<PathBuf> =
        inner.iter().map(|file| data.join("log").join(file.name.trim_start_matches('/'))).collect();
    drop(store);
    let kept: Vec<Vec<u8>> = tables.iter().map(|table| fs::read(table).expect("readable")).collect();
    for (table, bytes) in tables.iter().zip(&kept) {
        (1..20).for_each(|part| flip(table, bytes.len() as u64 * part / 20));
    }
    // It is met by the start, or by the first read of an old record.
    let said = match Server::try_on(&data) {
        Err(why) => why,
        Ok(mut second) => {
            let id = crate::harness::check::text(&payment, "paymentId");
            let key = crate::harness::check::text(&tenant.created["testKey"], "key");
            let _ = second.api(key).try_get(&format!("/v1/payments/{id}"));
            assert_eq!(second.wait().code(), Some(74), "{}", second.log_tail());
            // So that the next start reads everything first.
            assert!(data.join("DAMAGED").exists());
            second.log_tail()
        }
    };
    assert!(said.contains(".sst") && said.contains("the file holds the records"), "{said}");
    assert!(said.contains("wal salvage") && !said.contains("could not be written"), "{said}");
    // Not even by hand, before the disk is right again.
    let key = crate::harness::check::text(&tenant.created["testKey"], "key");
    let again = server.command(&["serve", "--data-dir", shown(&data)]);
    assert_eq!(again.status.code(), Some(74), "{}", errors(&again));
    for (table, bytes) in tables.iter().zip(kept) {
        fs::write(table, bytes).expect("written");
    }
    let mended = Server::on(&data);
    mended.api(key).get("/v1/balance").expect(200);
    assert!(!data.join("DAMAGED").exists());
}

#[test]
fn a_damaged_backup_is_served_by_nobody() {
    let mut server = Server::start();
    let tenant = server.tenant();
    for _ in 0..40 {
        tenant.test.fund("1.00");
    }
    let parent = tempfile::tempdir().expect("a folder");
    let (backup, into) = (parent.path().join("backup"), parent.path().join("into"));
    succeeds(&server, &["backup", shown(&backup)]);
    server.kill();
    for ending in ["sst", "log"] {
        let Some(file) = fs::read_dir(backup.join("log"))
            .expect("the log")
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == ending))
            .filter(|path| fs::metadata(path).is_ok_and(|file| file.len() > 100))
            .max_by_key(|path| fs::metadata(path).map_or(0, |file| file.len()))
        else {
            continue;
        };
        // A backup on the same disk links the tables: the server's own must stay whole.
        let bytes = fs::read(&file).expect("readable");
        fs::remove_file(&file).expect("removed");
        let mut wrong = bytes.clone();
        wrong[40] ^= 0x10;
        fs::write(&file, &wrong).expect("written");
        fails(&server, &["restore", shown(&backup), "--into", shown(&into)]);
        if into.exists() {
            let place = shown(&into);
            for arguments in
                [&["serve", "--data-dir", place, "--take-over"][..], &["serve", "--data-dir", place]]
            {
                let refused = server.command(arguments);
                assert!(!refused.status.success(), "{arguments:?}");
                let said = errors(&refused);
                assert!(said.contains("broke off before this directory was finished"), "{said}");
            }
            fs::remove_dir_all(&into).expect("removed");
        }
        fs::write(&file, bytes).expect("written");
    }
    succeeds(&server, &["restore", shown(&backup), "--into", shown(&into)]);
}
