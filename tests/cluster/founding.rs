//! Founding, founding again after etcd's data was lost, and forgetting, as an operator does it.

use crate::beside::{product, window};
use crate::machines::{Machines, ok};
use crate::upgrading::Words;
use crate::{insist, sellers};
use serde_json::json;
use std::collections::BTreeSet;
use std::process::Output;

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The names in a directory, in order.
fn names(directory: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
fn a_restored_copy_founds_a_cluster_only_after_it_took_over() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    insist(&machines, "one");
    machines.until_caught_up();
    machines.stop_all();
    // The whole directory of a node, as a copy of its disk has it, and a backup.
    let (backup, into) = (machines.path("backup"), machines.data(1));
    let backup = backup.to_str().expect("text").to_owned();
    assert!(machines.command(0, &["backup", &backup]).status.success());
    std::fs::remove_dir_all(&into).expect("it is there");
    let of_disk = machines.data(2);
    for from in [of_disk.to_str().expect("text"), backup.as_str()] {
        let _ = std::fs::remove_dir_all(&into);
        let restored = machines.command(1, &["restore", from, "--into", into.to_str().expect("text")]);
        assert!(restored.status.success(), "{}", said(&restored));
        let before = names(&into);
        assert!(before.contains(&"PAST".to_owned()) && !before.contains(&"CLUSTER".to_owned()), "{before:?}");
        machines.configure(1, "partition = \"other\"");
        for (command, code) in [(&["cluster", "init"][..], 1), (&["cluster", "reseed"], 1), (&["serve"], 2)] {
            let refused = machines.command(1, command);
            assert_eq!(refused.status.code(), Some(code), "{command:?}: {}", said(&refused));
            assert!(said(&refused).contains("--take-over"), "{}", said(&refused));
            assert_eq!(names(&into), before, "{command:?}");
        }
    }
    // What the line says.
    machines.configure_alone(1);
    machines.start_with(1, &["--take-over"]);
    machines.until(|machines| matches!(machines.get(1, "/readyz"), Some((200, _))));
    machines.stop(1);
    machines.configure(1, "partition = \"other\"");
    let founded = machines.command(1, &["cluster", "init"]);
    assert!(founded.status.success(), "{}", said(&founded));
    machines.start(1);
    machines.until(
        |machines| matches!(machines.get(1, "/readyz"), Some((200, shown)) if shown["role"] == "leader"),
    );
    assert_eq!(sellers(&machines, 1).len(), 1);
    machines.stop(1);
    // One that has left its cluster is one machine's, which founds another.
    machines.configure_alone(1);
    assert_eq!(machines.command(1, &["serve"]).status.code(), Some(2), "it belongs to a cluster");
    machines.start_with(1, &["--take-over"]);
    machines.until(|machines| matches!(machines.get(1, "/readyz"), Some((200, _))));
    machines.stop(1);
    machines.configure(1, "partition = \"third\"");
    let founded = machines.command(1, &["cluster", "init"]);
    assert!(founded.status.success(), "{}", said(&founded));
}

#[test]
fn a_cluster_whose_etcd_lost_its_data_goes_on_from_the_longest_log() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    insist(&machines, "everywhere");
    machines.until_caught_up();
    machines.stop(2);
    insist(&machines, "not on the third");
    let leader = machines.leader();
    machines.until(|machines| {
        let seen = [0, 1].map(|node| machines.operator(node, "GET", "/admin/cluster", None));
        seen.iter().all(|seen| matches!(seen, Some((200, shown)) if shown["walSeq"] == shown["agreedSeq"]))
    });
    [1 - leader, leader].into_iter().for_each(|node| machines.stop(node));
    machines.lose_etcd();
    let refused = machines.command(0, &["serve"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("cluster reseed"), "{}", said(&refused));

    // The wrong one first: nothing that has more than it is taken in, nor cut off.
    let reseed = |machines: &Machines, node: usize| machines.command(node, &["cluster", "reseed"]);
    let done = reseed(&machines, 2);
    assert!(done.status.success(), "{}", said(&done));
    let refused = machines.command(0, &["serve"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("never agreed on"), "{}", said(&refused));
    let second = reseed(&machines, 0);
    assert_eq!(second.status.code(), Some(1), "{}", said(&second));
    assert!(said(&second).contains("holds a cluster"), "{}", said(&second));

    machines.lose_etcd();
    let done = reseed(&machines, 0);
    assert!(done.status.success(), "{}", said(&done));
    (0..3).for_each(|node| machines.start(node));
    machines.until_ready();
    machines.until_caught_up();
    insist(&machines, "afterwards");
    for node in 0..3 {
        let mut found: Vec<String> = sellers(&machines, node).into_iter().map(|(name, _)| name).collect();
        found.sort();
        assert_eq!(found, ["afterwards", "everywhere", "not on the third"]);
    }
    machines.stop_all();
    machines.tips_are_equal();
    for node in 0..3 {
        let verified = machines.command(node, &["wal", "verify"]);
        assert!(verified.status.success(), "{}", said(&verified));
    }
}

#[test]
fn nothing_is_kept_for_a_node_that_is_forgotten() {
    /// Well below what sixty products come to.
    const KEPT_BYTES: u64 = 40_000;
    /// Signs of life of a leader, which prunes at every fourth.
    const ROUNDS: usize = 8;
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    machines.until_caught_up();
    // Nothing is kept for a node that the leader does not know yet.
    machines.until(|machines| {
        let shown = ok(machines.operator(0, "GET", "/admin/cluster", None));
        shown["nodes"].as_array().map(Vec::len) == Some(3)
    });
    machines.kill(2);
    let mut random = 1;
    for _ in 0..60 {
        let made = machines.post(0, "/v1/products", &product(&mut random));
        assert!(matches!(made, Some((201, _))), "{made:?}");
    }
    // It is kept while the node is only away. The bytes are those of the leader's last round, which may have
    // been before the last product: they are waited for, and so are the rounds in which the log is pruned.
    machines.until(|machines| window(machines) > KEPT_BYTES);
    let mut rounds = BTreeSet::new();
    machines.until(|machines| {
        let shown = ok(machines.operator(0, "GET", "/admin/cluster", None));
        assert!(shown["windowBytes"].as_u64() > Some(KEPT_BYTES), "{shown}");
        assert!(shown["nodes"][2]["behind"].as_u64() >= Some(60), "{shown}");
        rounds.insert(shown["nodes"][0]["seenAt"].to_string());
        rounds.len() > ROUNDS
    });
    let forgotten = machines.command(1, &["cluster", "forget", "n2"]);
    assert!(forgotten.status.success(), "{}", said(&forgotten));
    machines.until(|machines| {
        let shown = machines.operator(1, "GET", "/admin/cluster", None).expect("it answers").1;
        let names: Vec<_> =
            shown["nodes"].as_array().into_iter().flatten().map(|node| &node["node"]).collect();
        names == [&json!("n0"), &json!("n1")] && window(machines) < 20_000
    });
    // It comes back by a copy.
    machines.start(2);
    machines.until_ready();
    machines.until_caught_up();
}

#[test]
fn the_number_of_partitions_is_the_clusters_and_one_is_served() {
    const NUMBER: &str = "/pasarela/main/partitions";
    let Some(mut machines) = Machines::new() else { return };
    let refuses = |machines: &Machines, node: usize, command: &[&str], words: &[&str]| {
        let refused = machines.command(node, command);
        let said = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{command:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
        assert!(command == ["serve"] || said.lines().count() == 1, "{said}");
    };
    let peer = machines.peer(0);
    let join = ["cluster", "join", "--from", peer.as_str()];
    let grow = |number: &'static str| ["cluster", "grow", "--partitions", number];
    machines.configure(0, "partitions = 2");
    refuses(&machines, 0, &["cluster", "init"], &["cluster.partitions", "serves one partition, not 2"]);
    for wrong in ["partitions = 0", "partitions = 65"] {
        machines.configure(0, wrong);
        refuses(&machines, 0, &["cluster", "init"], &["cluster.partitions", "from 1 to 64"]);
    }
    assert!(!machines.data(0).exists(), "a refused command makes nothing");
    machines.configure(0, "partitions = 1");
    machines.found_alone();
    let words = Words::of(&machines);
    assert_eq!(words.read(NUMBER), "1");
    machines.configure(1, "partitions = 2");
    refuses(&machines, 1, &join, &["says 2", "has 1", "leave it out"]);
    assert!(!machines.data(1).exists(), "nothing was copied");

    let shown = machines.command(0, &["cluster", "status"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("partition") && shown.contains("windowBytes"), "{shown}");
    let same = machines.command(0, &grow("1"));
    assert!(same.status.success(), "{}", said(&same));
    assert!(String::from_utf8_lossy(&same.stdout).contains("nothing was done"));
    refuses(&machines, 0, &grow("2"), &["serves one partition, not 2"]);
    refuses(&machines, 0, &grow("65"), &["65"]);

    // As a later program leaves it.
    words.write(NUMBER, "2");
    refuses(&machines, 0, &grow("1"), &["has 2", "never fewer"]);
    refuses(&machines, 1, &join, &["serves one partition, not 2"]);
    machines.stop(0);
    refuses(&machines, 0, &["serve"], &["says 1", "has 2", "leave it out"]);
    // As an earlier one founded it.
    words.remove(NUMBER);
    machines.start(0);
    machines.until(|machines| matches!(machines.get(0, "/readyz"), Some((200, _))));
}
