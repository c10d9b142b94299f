//! The way of a call: operation, fault, the bank's reaction, what goes out of it, and the list of
//! calls. Below `/sandbox/` are calls of developers, which no fault meets.

use crate::bank::{Bank, Reaction};
use crate::calls::{Call, Calls};
use crate::faults::{Fault, Faults, Kind};
use crate::http::{Answer, Delivery, Request, Step};
use chrono::Utc;
use hyper::Method;
use serde_json::Value;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use tokio::sync::Mutex;

/// The body sent in place of JSON.
const GARBAGE: &str = "<html><body>502 Bad Gateway</body></html>";

/// The bytes sent in place of HTTP.
const NOISE: &[u8] = b"\x00\x01\xff this is no HTTP\r\n\r\n";

/// The time that a connection stays open behind an answer that was sent twice.
const AFTER_TWICE: Duration = Duration::from_secs(1);

/// A bank with its faults and its list of calls.
pub struct Site<B> {
    /// The bank.
    pub bank: B,
    /// The bank's faults.
    pub faults: Faults,
    /// The calls that the bank was asked and those that it made.
    pub calls: Calls,
    /// The newest answer to each operation, whose names `repeat` says again.
    named: Mutex<HashMap<&'static str, Value>>,
}

impl<B: Bank> Site<B> {
    /// A bank without faults, or with those of a file.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub async fn new(bank: B, faults: Option<&Path>) -> Result<Site<B>, String> {
        let faults_of = Faults::new(B::OPERATIONS, B::SENT);
        let site = Site { bank, faults: faults_of, calls: Calls::default(), named: Mutex::default() };
        if let Some(path) = faults {
            let named = |problem: String| format!("--faults {}: {problem}", path.display());
            let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
            let rules = serde_json::from_str(&text).map_err(|error| named(error.to_string()))?;
            site.faults.replace(&rules).await.map_err(named)?;
        }
        Ok(site)
    }

    /// Answers a request.
    pub async fn handle(&self, request: Request) -> Delivery {
        if request.path.starts_with("/sandbox/") {
            return Delivery::Answer(self.control(&request).await);
        }
        let fields = request.json().unwrap_or_default();
        let Some(operation) = self.bank.operation(&request) else {
            let reaction = Reaction::new(self.bank.unknown(), "there is no such call");
            self.note("-", &request, &fields, None, &reaction, Some(reaction.answer.status)).await;
            return Delivery::Answer(reaction.answer);
        };
        let fault = self.faults.draw(operation, &request.path, &fields).await;
        let (reaction, delivery) = match &fault {
            None => {
                let reaction = self.bank.act(operation, &request).await;
                let delivery = plain(&reaction);
                (reaction, delivery)
            }
            Some(fault) => self.misbehave(operation, &request, fault).await,
        };
        let status = match &delivery {
            Delivery::Answer(answer) => Some(answer.status),
            Delivery::Bytes(status, _) => Some(*status),
            Delivery::ByHand(_) => None,
        };
        self.named.lock().await.insert(operation, reaction.answer.body.clone());
        self.note(operation, &request, &fields, fault.as_ref(), &reaction, status).await;
        if let Some(fault) = fault.filter(|fault| fault.kind == Kind::Late) {
            tokio::time::sleep(fault.pause).await;
        }
        delivery
    }

    /// Acts as a bank with a fault, and returns what it did and what it sends.
    async fn misbehave(
        &self,
        operation: &'static str,
        request: &Request,
        fault: &Fault,
    ) -> (Reaction, Delivery) {
        if fault.kind == Kind::ActsLate {
            tokio::time::sleep(fault.pause).await;
        }
        let mut reaction = match fault.acts() {
            true => self.bank.act(operation, request).await,
            false => Reaction::new(Answer::new(0, Value::Null), "did nothing"),
        };
        let replaced = match fault.kind {
            Kind::Unauthorized => Some(self.bank.unauthorized()),
            Kind::Error => Some(Answer::problem(fault.status, "a fault of the sandbox")),
            Kind::Answer => Some(Answer::new(fault.status, fault.body.clone())),
            Kind::Contradict => Some(self.bank.contrary(operation, &reaction.answer)),
            _ => None,
        };
        if let Some(answer) = replaced {
            reaction.answer = answer;
            reaction.silent = false;
        }
        if fault.kind == Kind::Alter {
            fault.alter(&mut reaction.answer.body);
        }
        let before = self.named.lock().await.get(operation).cloned();
        if let (Kind::Repeat, Some(before)) = (fault.kind, before) {
            repeat(&mut reaction.answer.body, &before);
        }
        let whole = || reaction.answer.bytes();
        let delivery = match fault.kind {
            Kind::SilentBefore | Kind::SilentAfter => Delivery::ByHand(vec![Step::Silence]),
            Kind::DropBefore | Kind::DropAfter => Delivery::ByHand(Vec::new()),
            Kind::Twice => {
                Delivery::ByHand(vec![Step::Write([whole(), whole()].concat()), Step::Pause(AFTER_TWICE)])
            }
            Kind::Garbage => Delivery::ByHand(vec![Step::Write(garbage())]),
            Kind::Noise => Delivery::ByHand(vec![Step::Write(NOISE.to_vec())]),
            Kind::Cut => {
                let mut bytes = whole();
                bytes.truncate(bytes.len() - reaction.answer.body.to_string().len() / 2);
                Delivery::ByHand(vec![Step::Write(bytes)])
            }
            Kind::Close => Delivery::ByHand(vec![Step::Write(whole()), Step::Pause(fault.pause)]),
            Kind::Latin1 | Kind::Bom | Kind::RawControls | Kind::TwoCodes => {
                Delivery::Bytes(reaction.answer.status, written(fault.kind, &reaction.answer.body))
            }
            Kind::Drip => {
                let step = |byte| [Step::Write(vec![byte]), Step::Pause(fault.pause)];
                Delivery::ByHand(whole().into_iter().flat_map(step).collect())
            }
            _ => plain(&reaction),
        };
        (reaction, delivery)
    }

    /// Keeps a call, and says it on the terminal.
    async fn note(
        &self,
        operation: &str,
        request: &Request,
        fields: &Value,
        fault: Option<&Fault>,
        reaction: &Reaction,
        status: Option<u16>,
    ) {
        let call = Call {
            operation,
            path: &request.target(),
            fields,
            fault: fault.map(Fault::name),
            status,
            answer: &reaction.answer.body,
            note: &reaction.note,
        };
        self.record(&call).await;
    }

    /// Keeps a call that came in or went out, and says it on the terminal.
    pub async fn record(&self, call: &Call<'_>) {
        let status = call.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        let fault = call.fault.map(|name| format!(" [{name}]")).unwrap_or_default();
        say(&format!("{} {} {status}{fault} {}", Utc::now().format("%H:%M:%S"), call.operation, call.note));
        self.calls.add(call).await;
    }

    /// The calls of developers that every bank has.
    async fn control(&self, request: &Request) -> Answer {
        let (get, post) = (request.method == Method::GET, request.method == Method::POST);
        match request.path.as_str() {
            "/sandbox/books" if get => Answer::new(200, self.bank.books().await),
            "/sandbox/calls" if get => Answer::new(200, self.calls.shown().await),
            "/sandbox/faults" if get => Answer::new(200, self.faults.shown().await),
            "/sandbox/faults" if post => {
                let replaced = match request.json() {
                    Ok(rules) => self.faults.replace(&rules).await,
                    Err(problem) => Err(problem),
                };
                match replaced {
                    Ok(()) => Answer::new(200, self.faults.shown().await),
                    Err(problem) => Answer::problem(400, problem),
                }
            }
            _ => match self.bank.control(self, request).await {
                Some(answer) => answer,
                None => Answer::problem(404, "there is no such call"),
            },
        }
    }
}

/// The answer, or the silence of a bank that a magic value keeps silent.
fn plain(reaction: &Reaction) -> Delivery {
    match reaction.silent {
        true => Delivery::ByHand(vec![Step::Silence]),
        false => Delivery::Answer(reaction.answer.clone()),
    }
}

/// Puts the names of an answer before in the place of an answer's own, where it has them.
fn repeat(body: &mut Value, before: &Value) {
    for name in ["/id", "/Id", "/reference", "/data/id"] {
        if let (Some(own), Some(old)) = (body.pointer_mut(name), before.pointer(name)) {
            *own = old.clone();
        }
    }
}

/// A body as some bank writes it.
fn written(kind: Kind, body: &Value) -> Vec<u8> {
    let text = body.to_string();
    // Before the others, so that the own code is the last.
    let with = |member: &str| text.replacen('{', &format!("{{{member},"), 1);
    match kind {
        Kind::Latin1 => with("\"nota\":\"Operaci\u{f3}n\"")
            .chars()
            .map(|character| u8::try_from(character).unwrap_or(b'?'))
            .collect(),
        Kind::Bom => format!("\u{feff}{text}").into_bytes(),
        Kind::RawControls => with("\"nota\":\"uno\r\ndos\ttres\0\"").into_bytes(),
        _ => with("\"code\":\"99\"").into_bytes(),
    }
}

/// An answer whose head is right and whose body is none.
fn garbage() -> Vec<u8> {
    let length = GARBAGE.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{GARBAGE}")
        .into_bytes()
}

/// Writes a line on the terminal; nobody reading it is no failure.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Says why the process ends.
pub fn complain(problem: &str) {
    let _ = writeln!(std::io::stderr(), "pasarela-sandbox: {problem}");
}
