//! The sandbox as the bank, with its faults: whatever it does wrong, what the gateway's books say was
//! done was done once, what they say was not was not, and the rest is before an operator.

use super::{credit, debit, live, operations, payout_now, server_of, until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The sandbox, gone when it is dropped.
struct Sandbox {
    child: Child,
    base: String,
}

impl Sandbox {
    fn start(data: &Path) -> Sandbox {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let child = Command::new(program())
            .args(["r4", "--listen", &address.to_string(), "--commerce-token", "token", "--data"])
            .arg(data)
            .stdout(Stdio::null())
            .spawn()
            .expect("the sandbox");
        let sandbox = Sandbox { child, base: format!("http://{address}") };
        until("the sandbox listens", || TcpStream::connect(address).ok());
        sandbox
    }

    fn faults(&self, faults: &Value) {
        self.ask("POST", "/sandbox/faults", &json!({ "faults": faults }).to_string());
    }

    fn orders(&self) -> Vec<Value> {
        let books = self.ask("GET", "/sandbox/books", "");
        books["orders"].as_array().expect("orders").clone()
    }

    /// A call of developers.
    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let address = self.base.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("the sandbox is there");
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        write!(stream, "{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
            .expect("it was sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The sandbox's program, which is beside the server's; built if it is not there.
fn program() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_pasarela")).with_file_name("pasarela-sandbox");
    if !program.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--offline", "-p", "sandbox"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs");
        assert!(built.success() && program.exists(), "the sandbox is built");
    }
    program
}

#[test]
fn the_money_is_the_banks_or_the_difference_is_before_an_operator() {
    let data = tempfile::tempdir().expect("a directory");
    let sandbox = Sandbox::start(data.path());
    let mut server = server_of(&sandbox.base, &[("PASARELA__RAILS__ANSWER_SECONDS", "3")]);
    let tenant = live(&server, "100000.00");
    let api = &tenant.live;
    // Each operation meets each fault now and then.
    let kinds = ["silent_before", "silent_after", "drop_before", "drop_after", "garbage", "cut", "twice"];
    let mut faults: Vec<Value> = Vec::new();
    for operation in ["MBc2p", "DebitoInmediato", "MBvuelto", "ConsultarOperaciones"] {
        for (at, fault) in kinds.iter().enumerate() {
            faults.push(
                json!({ "fault": fault, "operation": operation, "skip": 2 * at, "every": 14, "first": 14 }),
            );
        }
        faults.push(json!({ "fault": "unauthorized", "operation": operation, "skip": 15, "first": 1 }));
        faults
            .push(json!({ "fault": "error", "operation": operation, "acted": true, "skip": 17, "first": 1 }));
    }
    sandbox.faults(&json!(faults));
    // By amount: no two orders have the same.
    let mut asked: BTreeMap<String, (&str, Value)> = BTreeMap::new();
    for n in 0..20_i32 {
        let amount = f64::from(n) + 100.10;
        // The magic codes wait for a question, or refuse.
        let mut body = debit(amount);
        body["otp"] =
            json!(["12345678", "77777777", "66666666", "99999999"][usize::try_from(n % 4).expect("small")]);
        let answer = api.post("/v1/payments/debit", &body);
        if answer.status != 503 {
            asked.insert(format!("{amount:.2}"), ("payment", answer.json()));
        }
        let amount = f64::from(n) + 300.10;
        let answer = api.post("/v1/payments/credit", &credit(&format!("{amount:.2}")));
        asked.insert(format!("{amount:.2}"), ("payout", answer.json()));
        if n == 10 {
            server.kill();
            server.restart();
        }
    }
    sandbox.faults(&json!([]));
    let open = || operations(&server, "pending").len();
    until("what can be decided is decided", || (open() == 0).then_some(()));
    let unresolved = operations(&server, "unresolved");
    let riddles: Vec<&str> = unresolved.iter().map(|item| item["amount"].as_str().expect("text")).collect();
    let orders = sandbox.orders();
    let mut settled = 0;
    for (amount, (kind, of)) in &asked {
        let at_bank: Vec<&Value> = orders.iter().filter(|order| order["amount"] == amount.as_str()).collect();
        assert!(at_bank.len() <= 1, "sent twice: {at_bank:?}");
        let is_done = at_bank.iter().any(|order| order["outcome"] == "done");
        let now = if *kind == "payment" { api.payment(of) } else { payout_now(api, of) };
        let status = now["status"].as_str().expect("text").to_lowercase();
        match status.as_str() {
            "completed" => assert!(is_done, "{now} {at_bank:?}"),
            "failed" => assert!(!is_done, "{now} {at_bank:?}"),
            _ => {
                assert!(riddles.contains(&amount.as_str()), "{now} is nobody's riddle");
                continue;
            }
        }
        settled += 1;
    }
    assert!(settled > 10 && !riddles.is_empty(), "{settled} settled, {} open", riddles.len());
}
