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
    // Without the zeros ahead of its end.
    let written = fs::read(&log).expect("it reads").iter().rposition(|byte| *byte != 0).expect("a record");
    flip(&log, written as u64 * 2 / 3);
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

/// The tables of the log's records, in the order of their keys.
fn tables_of_records(data: &Path) -> Vec<PathBuf> {
    let families = ["default", "log", "index", "snapshots", "meta", "pieces"];
    let store =
        rocksdb::DB::open_cf_for_read_only(&rocksdb::Options::default(), data.join("log"), families, false);
    let files = store.expect("opens").live_files().expect("tables");
    let mut of_records: Vec<_> = files.into_iter().filter(|file| file.column_family_name == "log").collect();
    of_records.sort_by_key(|file| file.start_key.clone());
    let path = |file: rocksdb::LiveFile| data.join("log").join(file.name.trim_start_matches('/'));
    of_records.into_iter().map(path).collect()
}

/// Records that came together are in one entry of the table: the last whole one is not its first, and whoever seeks it
/// by its number comes to the block behind it.
#[test]
fn what_is_whole_before_a_wrong_block_of_a_table_is_salvaged_where_records_came_together() {
    let mut server = Server::start();
    let tenants: Vec<_> = (0..16).map(|_| server.tenant()).collect();
    std::thread::scope(|scope| {
        for tenant in &tenants {
            scope.spawn(|| (0..60).for_each(|_| drop(tenant.test.fund("1.00"))));
        }
    });
    assert!(server.terminate().success());
    let data = server.data();
    let all = last_seq(&server, &data);
    let tables = tables_of_records(&data);
    let table =
        tables.iter().max_by_key(|path| fs::metadata(path).map_or(0, |file| file.len())).expect("one");
    let whole = fs::read(table).expect("readable");
    let parent = tempfile::tempdir().expect("a folder");
    for part in [4, 5, 6, 7] {
        flip(table, whole.len() as u64 * part / 10);
        let to = parent.path().join(part.to_string());
        let told = objects(&succeeds(&server, &["wal", "salvage", "--to", shown(&to), "--json"])).remove(0);
        let seq = told["seq"].as_u64().expect("a sequence");
        assert!(seq > 10 && seq < all, "{part}: {told} of {all}");
        assert!(succeeds(&server, &["wal", "verify", "--data-dir", shown(&to)]).contains("ok"));
        assert_eq!(last_seq(&server, &to), seq);
        fs::write(table, &whole).expect("written");
    }
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
    let all = tables_of_records(&data);
    assert!(all.len() > 2, "{} tables", all.len());
    let tables = &all[1..all.len() - 1];
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

/// A copy of a directory, to be damaged.
fn copied(from: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a directory");
    let status = std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(copy.path()).status();
    assert!(status.expect("it runs").success());
    copy
}

/// The only file of the log's store whose name begins so.
fn called(data: &Path, beginning: &str) -> PathBuf {
    let files = fs::read_dir(data.join("log")).expect("the log").flatten().map(|entry| entry.path());
    let named =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning));
    files.into_iter().find(named).expect("a file")
}

#[test]
fn a_damaged_list_of_files_hides_no_record() {
    // One has tables and a log, the other a log alone.
    let mut server = Server::start();
    let tenant = server.tenant();
    tenant.test.pay(5);
    assert!(server.terminate().success());
    server.restart();
    tenant.test.fund("1.00");
    server.kill();
    let (young, young_data, _) = killed(20);
    for data in [server.data(), young_data] {
        let all = last_seq(&server, &data);
        type Damage<'a> = &'a dyn Fn(&Path);
        let faults: [(&str, Damage<'_>); 5] = [
            ("MANIFEST", &|file| flip(file, fs::metadata(file).expect("there").len() / 2)),
            ("MANIFEST", &|file| fs::remove_file(file).expect("removed")),
            ("CURRENT", &|file| flip(file, 3)),
            ("CURRENT", &|file| fs::write(file, "MANIFEST-999999\n").expect("written")),
            ("CURRENT", &|file| fs::remove_file(file).expect("removed")),
        ];
        for (n, (file, damage)) in faults.into_iter().enumerate() {
            let what = format!("{file}, fault {n} of {}", data.display());
            let copy = copied(&data);
            let place = shown(copy.path());
            damage(&called(copy.path(), file));
            let before = contents(copy.path());
            let refused = server.command(&["serve", "--data-dir", place]);
            let said = errors(&refused);
            assert_eq!(refused.status.code(), Some(74), "{what}: {said}");
            assert!(said.contains("wal salvage"), "{what}: {said}");
            let parent = tempfile::tempdir().expect("a folder");
            let to = parent.path().join("salvaged");
            let told =
                succeeds(&server, &["wal", "salvage", "--data-dir", place, "--to", shown(&to), "--json"]);
            let told = objects(&told).remove(0);
            assert_eq!(
                (told["seq"].as_u64(), told["lostFrom"].as_u64()),
                (Some(all), None),
                "{what}: {told}"
            );
            assert!(succeeds(&server, &["wal", "verify", "--data-dir", shown(&to)]).contains("ok"), "{what}");
            let replayed = parent.path().join("replayed");
            let until = (all - 1).to_string();
            let arguments =
                ["wal", "replay", "--data-dir", place, "--into", shown(&replayed), "--until-seq", &until];
            succeeds(&server, &arguments);
            assert_eq!(last_seq(&server, &replayed), all - 1, "{what}");
            let left: Vec<_> = fs::read_dir(parent.path()).expect("readable").flatten().collect();
            assert_eq!(left.len(), 2, "{what}: {left:?}");
            assert!(contents(copy.path()) == before, "{what}: the damaged directory was changed");
        }
    }
    drop(young);
}

/// The bytes of the files of the log that tools do not write.
fn contents(data: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(data.join("log")).expect("the log").flatten().map(|entry| entry.path());
    let of_tools = |path: &PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        name.starts_with("LOG") || name == "LOCK" || name == "OWNER"
    };
    files
        .filter(|path| !of_tools(path))
        .map(|path| (path.clone(), fs::read(path).expect("readable")))
        .collect()
}

/// A directory that is named by where one stands has no name to put another beside: nothing in it may be touched.
#[test]
fn what_is_made_where_one_stands_takes_nothing_away() {
    let mut server = Server::start();
    server.tenant().test.fund("1.00");
    server.kill();
    let data = server.data();
    let parent = tempfile::tempdir().expect("a folder");
    let stands = parent.path().join("stands");
    fs::create_dir(&stands).expect("a folder");
    let made = |command: &[&str], into: &str| {
        let mut program = server.program();
        program.current_dir(&stands).args(command).arg(into);
        program.output().expect("it runs")
    };
    let commands = [&["wal", "salvage", "--to"][..], &["wal", "replay", "--into"]];
    fs::write(stands.join("ledger"), b"the only copy").expect("written");
    for command in commands {
        for into in [".", "./", "..", "../stands", "../stands/.."] {
            let output = made(command, into);
            assert_eq!(output.status.code(), Some(1), "{command:?} {into}: {}", errors(&output));
            assert!(
                errors(&output).contains("name a new directory"),
                "{command:?} {into}: {}",
                errors(&output)
            );
            let left: Vec<_> = fs::read_dir(&stands).expect("it is there").flatten().collect();
            assert_eq!(left.len(), 1, "{command:?} {into}: {left:?}");
            assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 1, "{command:?} {into}");
        }
    }
    fs::remove_file(stands.join("ledger")).expect("removed");
    for command in commands {
        let output = made(command, ".");
        assert!(output.status.success(), "{command:?}: {}", errors(&output));
        assert_eq!(last_seq(&server, &stands), last_seq(&server, &data), "{command:?}");
        fs::remove_dir_all(&stands).and_then(|()| fs::create_dir(&stands)).expect("an empty folder again");
    }
}

#[test]
fn a_wrong_secret_gets_into_no_copy() {
    let server = Server::start();
    let tenant = server.tenant();
    tenant.test.fund("1.00");
    let data = server.data();
    let parent = tempfile::tempdir().expect("a folder");
    let place = |name: &str| parent.path().join(name);
    succeeds(&server, &["backup", shown(&place("good"))]);
    flip(&data.join("mark.key"), 7);
    let says =
        |what: &str, said: String| assert!(said.contains("mark.key: is not the one"), "{what}: {said}");
    // The server knows the right one still; a copy would have had another, with a fingerprint that agrees with it.
    let path = place("running");
    let asked = server.admin().post("/admin/backup", &serde_json::json!({ "path": shown(&path) }));
    assert!(asked.status >= 500, "{}", asked.text());
    let mut server = server;
    server.kill();
    for (name, arguments) in [
        ("backup", &["backup"][..]),
        ("salvage", &["wal", "salvage", "--to"]),
        ("replay", &["wal", "replay", "--into"]),
        ("export", &["wal", "export"]),
    ] {
        says(name, fails(&server, &[arguments, &[shown(&place(name))]].concat()));
    }
    let refused = server.command(&["serve"]);
    assert_eq!(refused.status.code(), Some(74), "{}", errors(&refused));
    fs::remove_file(data.join("mark.key")).expect("removed");
    let refused = server.command(&["serve"]);
    assert_eq!(refused.status.code(), Some(74), "{}", errors(&refused));
    // Nor is a backup restored in which it is wrong.
    for file in ["mark.key", "mark.check"] {
        let copy = copied(&place("good"));
        flip(&copy.path().join(file), 7);
        let into = place(&format!("from {file}"));
        says(file, fails(&server, &["restore", shown(copy.path()), "--into", shown(&into)]));
        assert!(!server.command(&["serve", "--data-dir", shown(&into)]).status.success());
    }
}

#[test]
fn a_damaged_store_beside_the_log_is_named_and_keeps_no_record_back() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let merchant = tenant.test.merchant();
    tenant.test.fund("10.00");
    tenant.test.payout(&merchant, "1.00", serde_json::json!({})).expect(201);
    let parent = tempfile::tempdir().expect("a folder");
    assert!(server.terminate().success());
    let (data, backup) = (server.data(), parent.path().join("backup"));
    succeeds(&server, &["backup", shown(&backup)]);
    let all = last_seq(&server, &data);
    for (store, file) in [("rates", "MANIFEST"), ("rates", "CURRENT"), ("simulator", "MANIFEST")] {
        let damage = |root: &Path| {
            let files = fs::read_dir(root.join(store)).expect("a store").flatten().map(|entry| entry.path());
            let is_wanted = |path: &PathBuf| {
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                name.starts_with(file)
            };
            let largest =
                files.filter(is_wanted).max_by_key(|path| fs::metadata(path).map_or(0, |file| file.len()));
            let file = largest.expect("a file");
            flip(&file, fs::metadata(&file).expect("there").len() / 3);
        };
        let copy = copied(&data);
        let place = shown(copy.path());
        damage(copy.path());
        let refused = server.command(&["serve", "--data-dir", place]);
        let said = errors(&refused);
        assert_eq!(refused.status.code(), Some(74), "{store}: {said}");
        assert!(said.contains(store) && said.contains("move this directory away"), "{store}: {said}");
        assert!(!said.contains("wal salvage"), "{store}: {said}");
        let (until, into) = (all.to_string(), copy.path().join("replayed"));
        let arguments = ["wal", "replay", "--data-dir", place, "--into", shown(&into), "--until-seq", &until];
        let said = succeeds(&server, &arguments);
        assert!(said.contains("not in the copy") && said.contains(store), "{store}: {said}");
        assert_eq!(last_seq(&server, &into), all);
        fs::rename(copy.path().join(store), copy.path().join("away")).expect("moved");
        drop(Server::on(copy.path()));
        // Of a backup the last byte is read before it counts as restored.
        let (copy, into) = (copied(&backup), parent.path().join(format!("{store} {file}")));
        damage(copy.path());
        let said = fails(&server, &["restore", shown(copy.path()), "--into", shown(&into)]);
        assert!(said.contains(store), "{said}");
        let said = errors(&server.command(&["serve", "--data-dir", shown(&into), "--take-over"]));
        assert!(said.contains("broke off before this directory was finished"), "{said}");
    }
}
