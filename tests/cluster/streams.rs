//! A stream goes through any node (`docs/contract.md, 23`): a standby passes its lines on as they come, and one whose
//! leader is gone ends with a word.

use crate::load::hundredths;
use crate::machines::{Machines, ok};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);
const LINES: usize = 1_500;

#[test]
fn a_stream_through_a_standby_goes_on_over_lost_leaders_and_a_switch() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    let before = hundredths(&ok(machines.get(2, "/v1/balance"))["availableVes"]);
    let (calls, out) = (machines.path("calls.ndjson"), machines.path("answers.ndjson"));
    let line = |n: usize| {
        let body = json!({ "currency": "VES", "amount": "1.00" });
        format!("{}\n", json!({ "key": format!("line-{n}"), "path": "/v1/test/fund", "body": body }))
    };
    fs::write(&calls, (0..LINES).map(line).collect::<String>()).expect("written");
    let server = format!("http://127.0.0.1:{}", machines.ports()[2]);
    let text = |path: &std::path::Path| path.to_str().expect("text").to_owned();
    let (calls, answers) = (text(&calls), text(&out));
    let arguments = ["stream", &calls, "--out", &answers, "--server", &server, "--key", "pk_test_demo"];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pasarela"))
        .args(arguments)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let began = Instant::now();
    let until = |count: usize| {
        let written = || fs::read_to_string(&out).map_or(0, |text| text.lines().count());
        while written() < count {
            assert!(began.elapsed() < PATIENCE, "{} of {count}", written());
            sleep(Duration::from_millis(5));
        }
    };
    // A leader that dies, and one that hands over.
    until(200);
    machines.kill(0);
    until(600);
    machines.start(0);
    machines.until_ready();
    machines.until_caught_up();
    let body = json!({ "to": "n0" });
    assert_eq!(
        ok(machines.operator(machines.leader(), "POST", "/admin/cluster/hand-over", Some(&body)))["leader"],
        "n0"
    );
    until(LINES);
    let status = command.wait().expect("its end");
    assert_eq!(status.code(), Some(0));
    let outcomes: Vec<Value> = fs::read_to_string(&out)
        .expect("the file")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert!(outcomes.iter().all(|outcome| outcome["status"] == 201));
    machines.until(|machines| machines.get(2, "/v1/balance").is_some_and(|(status, _)| status == 200));
    let after = hundredths(&ok(machines.get(2, "/v1/balance"))["availableVes"]);
    assert_eq!((outcomes.len(), after), (LINES, before + 100 * LINES as u64));
    machines.stop_all();
    machines.tips_are_equal();
}
