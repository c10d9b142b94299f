//! A Wompi of the test's own, written from its documents alone (`docs/contract.md, 21.10`): it checks what
//! it is sent, keeps what it was asked, and does with a call what the test said before.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

pub const PUBLIC_KEY: &str = "pub_test_fake";
pub const PRIVATE_KEY: &str = "prv_test_fake";
pub const EVENTS_SECRET: &str = "test_events_fake";
pub const INTEGRITY_SECRET: &str = "test_integrity_fake";
/// A picture that is none, in base64.
pub const PICTURE: &str = "iVBORw0KGgo=";
/// The code that is right.
pub const CODE: &str = "574829";

/// What it does with the next call of a kind, in place of answering well.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Closes the connection; nothing was done.
    DropBefore,
    /// Closes the connection; it was done.
    DropAfter,
    /// Answers this; nothing was done.
    Answer(u16, Value),
    /// Does it, and shows this state in the answer.
    State(&'static str),
    /// Does it at once, and answers so many milliseconds later.
    Late(u64),
}

/// A transaction.
#[derive(Clone, Debug)]
pub struct Transaction {
    pub id: String,
    pub body: Value,
    pub status: &'static str,
    pub amount_in_cents: i64,
    pub currency: &'static str,
    /// How often the token was rotated.
    pub sent: u32,
    pub wrong: u32,
    /// Whether it is shown with the token that is good now, in place of the first.
    pub shows_newest: bool,
}

/// A call, as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub body: Value,
}

#[derive(Default)]
struct State {
    transactions: Vec<Transaction>,
    asked: Vec<Asked>,
    faults: Vec<(&'static str, Fault)>,
    /// Which acceptance tokens are good.
    generation: u32,
    /// Whether what a buyer needs is there.
    is_ready: bool,
}

/// A processor on loopback.
pub struct FakeWompi {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    over: Arc<AtomicBool>,
}

impl FakeWompi {
    pub fn start() -> FakeWompi {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(Mutex::new(State { is_ready: true, ..State::default() }));
        let over = Arc::new(AtomicBool::new(false));
        let (known, ended) = (Arc::clone(&state), Arc::clone(&over));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let known = Arc::clone(&known);
                thread::spawn(move || serve(&stream, address, &known));
            }
        });
        FakeWompi { address, state, over }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    pub fn base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The next call of a kind meets this: `create`, `get`, `list`, `merchant`, `send`, `validate`.
    pub fn next(&self, kind: &'static str, fault: Fault) {
        self.lock().faults.push((kind, fault));
    }

    /// Nobody has what it takes to pay, or everybody has.
    pub fn ready(&self, is_ready: bool) {
        self.lock().is_ready = is_ready;
    }

    /// The acceptance tokens of before are over.
    pub fn renew_tokens(&self) {
        self.lock().generation += 1;
    }

    /// What it was asked of a kind.
    pub fn asked(&self, kind: &str) -> Vec<Asked> {
        self.lock().asked.iter().filter(|asked| kind_of(asked) == kind).cloned().collect()
    }

    pub fn transactions(&self) -> Vec<Transaction> {
        self.lock().transactions.clone()
    }

    /// The only transaction that there is.
    #[track_caller]
    pub fn only(&self) -> Transaction {
        let all = self.transactions();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    /// Something becomes of the newest transaction.
    #[track_caller]
    pub fn settle(&self, status: &'static str) {
        self.change(|transaction| transaction.status = status);
    }

    /// Something becomes of all that wait.
    pub fn settle_all(&self, status: &'static str) {
        for transaction in self.lock().transactions.iter_mut().filter(|one| one.status == "PENDING") {
            transaction.status = status;
        }
    }

    /// The newest transaction becomes another.
    #[track_caller]
    pub fn change(&self, change: impl FnOnce(&mut Transaction)) {
        change(self.lock().transactions.last_mut().expect("a transaction"));
    }

    /// The same of the nth.
    pub fn change_nth(&self, nth: usize, change: impl FnOnce(&mut Transaction)) {
        change(&mut self.lock().transactions[nth]);
    }

    /// The buyer begins anew: another transaction under the reference of the newest.
    #[track_caller]
    pub fn again(&self, status: &'static str) {
        let mut state = self.lock();
        let newest = state.transactions.last().expect("a transaction").clone();
        let id = format!("1234-{}", state.transactions.len() + 1);
        state.transactions.push(Transaction { id, status, ..newest });
    }

    /// An event about the newest transaction, as Wompi signs it.
    pub fn event(&self, status: &str) -> Value {
        let newest = self.lock().transactions.last().expect("a transaction").clone();
        self.event_about(&newest, status)
    }

    /// An event about a transaction.
    pub fn event_about(&self, transaction: &Transaction, status: &str) -> Value {
        let signed =
            format!("{}{status}{}1530291411{EVENTS_SECRET}", transaction.id, transaction.amount_in_cents);
        json!({
            "event": "transaction.updated", "environment": "test", "timestamp": 1_530_291_411,
            "data": {"transaction": {
                "id": transaction.id, "status": status, "amount_in_cents": transaction.amount_in_cents,
                "reference": transaction.body["reference"],
            }},
            "signature": {
                "properties": ["transaction.id", "transaction.status", "transaction.amount_in_cents"],
                "checksum": hex::encode(Sha256::digest(signed)),
            },
        })
    }
}

impl Drop for FakeWompi {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

fn kind_of(asked: &Asked) -> &'static str {
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", path) if path.starts_with("/v1/merchants/") => "merchant",
        ("POST", "/v1/transactions") => "create",
        ("GET", path) if path.starts_with("/v1/transactions?") => "list",
        ("GET", path) if path.starts_with("/v1/transactions/") => "get",
        ("POST", path) if path.ends_with("/send") => "send",
        ("POST", path) if path.ends_with("/validate") => "validate",
        _ => "other",
    }
}

/// A connection, from its first request to its last.
fn serve(stream: &TcpStream, address: SocketAddr, state: &Mutex<State>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (asked, bearer) = read(&mut reader)?;
        let (status, body, late) = answer(&asked, &bearer, address, &mut state.lock().expect("no panic"))?;
        thread::sleep(late);
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut writer = stream;
        writer.write_all(format!("{head}{body}").as_bytes()).ok()?;
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<(Asked, String)> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let (mut length, mut bearer) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => bearer = value.strip_prefix("Bearer ").unwrap_or_default().to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some((Asked { method, path, body }, bearer))
}

fn invalid(field: &str) -> (u16, Value) {
    (422, json!({"error": {"type": "INPUT_VALIDATION_ERROR", "messages": {field: ["no es válido"]}}}))
}

fn unauthorized() -> (u16, Value) {
    (401, json!({"error": {"type": "INVALID_ACCESS_TOKEN", "reason": "no"}}))
}

/// The answer, and how late it comes; `None` closes the connection.
fn answer(
    asked: &Asked,
    bearer: &str,
    address: SocketAddr,
    state: &mut State,
) -> Option<(u16, Value, Duration)> {
    let kind = kind_of(asked);
    state.asked.push(asked.clone());
    let fault = state.faults.iter().position(|(of, _)| *of == kind).map(|at| state.faults.remove(at).1);
    match &fault {
        Some(Fault::DropBefore) => return None,
        Some(Fault::Answer(status, body)) => return Some((*status, body.clone(), Duration::ZERO)),
        _ => {}
    }
    let id = || asked.path.split('/').nth(3).unwrap_or_default().to_owned();
    let done = match kind {
        "merchant" => (200, merchant(state.generation)),
        "create" => create(asked, bearer, address, state),
        "list" if bearer != PRIVATE_KEY => unauthorized(),
        "list" => {
            let reference = asked.path.split_once("reference=").map(|(_, text)| text).unwrap_or_default();
            let found: Vec<Value> = state
                .transactions
                .iter()
                .filter(|transaction| transaction.body["reference"] == reference)
                .map(|transaction| shown(transaction, address, state.is_ready))
                .collect();
            (200, json!({"data": found, "meta": {}}))
        }
        "get" => match state.transactions.iter().find(|transaction| transaction.id == id()) {
            Some(transaction) => (200, json!({"data": shown(transaction, address, state.is_ready)})),
            None => (404, json!({"error": {"type": "NOT_FOUND_ERROR", "reason": "no"}})),
        },
        "send" | "validate" => step(kind, asked, bearer, &id(), state),
        _ => (404, json!({"error": {"type": "NOT_FOUND_ERROR", "reason": "no"}})),
    };
    match fault {
        Some(Fault::DropAfter) => None,
        Some(Fault::State(status)) => {
            let mut body = done.1;
            body["data"]["status"] = json!(status);
            Some((done.0, body, Duration::ZERO))
        }
        Some(Fault::Late(ms)) => Some((done.0, done.1, Duration::from_millis(ms))),
        _ => Some((done.0, done.1, Duration::ZERO)),
    }
}

fn merchant(generation: u32) -> Value {
    let token = |kind: &str| json!({"acceptance_token": format!("{kind}-{generation}")});
    json!({"data": {
        "id": 1, "presigned_acceptance": token("terms"), "presigned_personal_data_auth": token("personal"),
    }})
}

fn create(asked: &Asked, bearer: &str, address: SocketAddr, state: &mut State) -> (u16, Value) {
    let body = &asked.body;
    if bearer != PRIVATE_KEY {
        return unauthorized();
    }
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let cents = body["amount_in_cents"].as_i64().unwrap_or_default();
    let signed = format!("{}{cents}{}{INTEGRITY_SECRET}", text("reference"), text("currency"));
    if text("acceptance_token") != format!("terms-{}", state.generation) {
        return invalid("acceptance_token");
    }
    if text("accept_personal_auth") != format!("personal-{}", state.generation) {
        return invalid("accept_personal_auth");
    }
    if text("signature") != hex::encode(Sha256::digest(signed)) {
        return invalid("signature");
    }
    if text("currency") != "COP" || cents <= 0 || !text("customer_email").contains('@') {
        return invalid("customer_email");
    }
    if state.transactions.iter().any(|known| known.body["reference"] == body["reference"]) {
        return invalid("reference");
    }
    let transaction = Transaction {
        id: format!("1234-{}", state.transactions.len() + 1),
        body: body.clone(),
        status: "PENDING",
        amount_in_cents: cents,
        currency: "COP",
        sent: 0,
        wrong: 0,
        shows_newest: false,
    };
    let shown = shown(&transaction, address, false);
    state.transactions.push(transaction);
    (201, json!({"data": shown}))
}

/// The token that is good now: each code that is sent gives another.
fn token(transaction: &Transaction) -> String {
    format!("token-{}-{}", transaction.id, transaction.sent)
}

/// The token that a transaction is shown with, whatever became of it, until a lost answer is forgiven.
fn first_token(transaction: &Transaction) -> String {
    if transaction.shows_newest { token(transaction) } else { format!("token-{}-0", transaction.id) }
}

fn shown(transaction: &Transaction, address: SocketAddr, is_ready: bool) -> Value {
    let mut method = transaction.body["payment_method"].clone();
    let at = |step: &str| format!("http://{address}/v1/daviplata/{}/{step}", transaction.id);
    method["extra"] = match (method["type"].as_str(), is_ready) {
        (Some("DAVIPLATA"), true) => json!({"url_services": {
            "token": first_token(transaction), "code_otp_send": at("send"), "code_otp_validate": at("validate"),
        }}),
        (Some("BANCOLOMBIA_QR"), true) => json!({"qr_image": PICTURE}),
        _ => json!({}),
    };
    json!({
        "id": transaction.id, "status": transaction.status, "status_message": null,
        "reference": transaction.body["reference"], "amount_in_cents": transaction.amount_in_cents,
        "currency": transaction.currency, "payment_method_type": method["type"], "payment_method": method,
    })
}

/// Daviplata's steps: each code that is sent rotates the token, and two wrong ones are all that is taken.
fn step(kind: &str, asked: &Asked, bearer: &str, id: &str, state: &mut State) -> (u16, Value) {
    let Some(transaction) = state.transactions.iter_mut().find(|transaction| transaction.id == id) else {
        return (404, json!({"error": {"type": "NOT_FOUND_ERROR", "reason": "no"}}));
    };
    if bearer != token(transaction) {
        return unauthorized();
    }
    if kind == "send" {
        transaction.sent += 1;
        return (200, json!({"authorization": {"access_token": token(transaction)}}));
    }
    if asked.body["code"] == CODE {
        transaction.status = "APPROVED";
        return (200, json!({"steps": {"ConfirmIntention": {"estado": "Aprobado"}}}));
    }
    transaction.wrong += 1;
    invalid("code")
}
