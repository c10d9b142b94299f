//! `pasarela mcp`: an agent's messages on stdin go to `POST /mcp` of a gateway, and its answers to stdout. Whatever an
//! agent may do is the gateway's: this only waits for one that is away, and sends again what got no answer. A call that
//! changes something has a key then, so it is done once; of a tool that is not known here nothing is sent twice.

use super::client::{JSON, reach, refused};
use super::{Failure, other, runtime};
use crate::fetch::causes;
use api::openapi::tools;
use api::wire::json;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::Args;
use hyper::Method;
use reqwest::header::RETRY_AFTER;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio::time::sleep;
use url::Url;
use uuid::Uuid;

const KEY_BYTES_MAX: u64 = 4 << 10;
const MESSAGE_BYTES_MAX: usize = 1 << 20;
const UNDER_WAY_MAX: usize = 32;
const CONNECT_MAX: Duration = Duration::from_secs(5);
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// For a gateway that is away, at the start and later.
const START_MAX: Duration = Duration::from_secs(5);
const AWAY_MAX: Duration = Duration::from_secs(180);
const BACKOFF_MIN: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// With these a call was not done, or its answer is to be asked for with the same key.
const AGAIN: [&str; 4] = ["idempotency_in_progress", "no_leader", "shutting_down", "storage_unavailable"];
const INVALID_REQUEST: i64 = -32_600;
const NOT_JSON: i64 = -32_700;
const UNANSWERED: i64 = -32_603;

/// Give an agent the account's tools over stdin and stdout (Model Context Protocol)
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pasarela mcp --url http://127.0.0.1:8080 --key-file agent.key
  claude mcp add pasarela -- pasarela mcp --url https://pay.example --key-file agent.key")]
pub struct Mcp {
    /// Address of the gateway
    #[arg(long, value_name = "URL")]
    url: String,
    /// A file that holds the account's API key
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
}

impl Mcp {
    pub fn run(self) -> Result<(), Failure> {
        let bridge = Bridge::new(&self.url, key_in(&self.key_file)?)?;
        runtime()?.block_on(bridge.run())
    }
}

fn key_in(path: &Path) -> Result<String, Failure> {
    let failed =
        |why: &dyn std::fmt::Display| Failure::Usage(format!("--key-file {}: {why}", path.display()));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| failed(&error))?;
    file.take(KEY_BYTES_MAX).read_to_string(&mut text).map_err(|error| failed(&error))?;
    match text.trim() {
        key if !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(key.to_owned()),
        _ => Err(failed(&"it holds no key")),
    }
}

fn endpoint(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text.trim_end_matches('/')).ok();
    let fit = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.query().is_none()
            && url.fragment().is_none()
    };
    let mut url = url.filter(fit).ok_or_else(|| {
        Failure::Usage(format!("--url {}: is no address such as https://pay.example", text.escape_debug()))
    })?;
    let path = url.path().trim_end_matches('/');
    if !path.ends_with("/mcp") {
        url.set_path(&format!("{path}/mcp"));
    }
    Ok(url)
}

struct Bridge {
    client: reqwest::Client,
    url: Url,
    key: String,
    /// Of the protocol, as it was agreed on.
    version: Mutex<Option<String>>,
}

enum Outcome {
    Answer(Value),
    /// Why there is none yet, and after how long it is worth asking again.
    Away(String, Option<Duration>),
    Refused(String),
}

impl Bridge {
    fn new(url: &str, key: String) -> Result<Bridge, Failure> {
        let url = endpoint(url)?;
        let client =
            reach(None)?.1.connect_timeout(CONNECT_MAX).timeout(ANSWER_MAX).build().map_err(other)?;
        Ok(Bridge { client, url, key, version: Mutex::new(None) })
    }

    async fn run(self) -> Result<(), Failure> {
        let ping = json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" });
        match self.ask(&ping, START_MAX).await {
            Ok(answer) if answer.get("result").is_some() => {}
            Ok(answer) => return Err(self.failed(&answer["error"]["message"])),
            Err(why) => return Err(self.failed(&why)),
        }
        let bridge = Arc::new(self);
        let mut messages = read_messages();
        let (answers, written) = write_answers();
        let mut under_way = JoinSet::new();
        while let Some(line) = messages.recv().await {
            if under_way.len() >= UNDER_WAY_MAX {
                under_way.join_next().await;
            }
            while under_way.try_join_next().is_some() {}
            if answers.is_closed() {
                break;
            }
            let (bridge, answers) = (Arc::clone(&bridge), answers.clone());
            under_way.spawn(async move {
                if let Some(answer) = bridge.answer(&line).await {
                    // Nobody reads any more: the agent is gone.
                    let _ = answers.send(answer).await;
                }
            });
        }
        under_way.join_all().await;
        drop(answers);
        written.join().map_err(|_| Failure::Other("standard output: its thread ended".to_owned()))
    }

    fn failed(&self, why: &dyn std::fmt::Display) -> Failure {
        Failure::Other(format!("{}: {why}", self.url).replace('\n', " "))
    }

    /// The answer to a message; none to a notification.
    async fn answer(&self, line: &[u8]) -> Option<Value> {
        let mut message: Value = match std::str::from_utf8(line).map(json::value) {
            Ok(Ok(message)) => message,
            _ => return Some(error(&Value::Null, NOT_JSON, "the message is not JSON, or too long")),
        };
        let Some(id) = message.get("id").filter(|_| message["method"].is_string()).cloned() else {
            // An answer to a question that nobody asked, or a notification: the gateway keeps no session to tell.
            let is_known = message["method"].is_string()
                || message.get("result").is_some()
                || message.get("error").is_some();
            return (!is_known).then(|| error(&Value::Null, INVALID_REQUEST, "the message is no request"));
        };
        let is_repeatable = make_repeatable(&mut message);
        let asked = match is_repeatable {
            true => self.ask(&message, AWAY_MAX).await,
            false => self.ask_once(&message).await,
        };
        match asked {
            Ok(answer) => {
                if message["method"] == "initialize"
                    && let Some(version) = answer["result"]["protocolVersion"].as_str()
                {
                    *self.version.lock().unwrap_or_else(PoisonError::into_inner) = Some(version.to_owned());
                }
                Some(answer)
            }
            Err(why) if is_repeatable => {
                Some(error(&id, UNANSWERED, &format!("{why}; the same call again moves money once")))
            }
            Err(why) => Some(error(&id, UNANSWERED, &format!("{why}; whether it was done is not known"))),
        }
    }

    /// Sends a message until it is answered or refused, at most for so long; with exponential backoff and jitter.
    async fn ask(&self, message: &Value, max: Duration) -> Result<Value, String> {
        let (began, mut backoff) = (Instant::now(), BACKOFF_MIN);
        loop {
            let (why, after) = match self.send(message).await {
                Outcome::Answer(answer) => return Ok(answer),
                Outcome::Refused(why) => return Err(why),
                Outcome::Away(why, after) => (why, after),
            };
            let jitter = u64::from(getrandom::u32().unwrap_or(0)) % (1 + backoff.as_millis() as u64 / 2);
            let pause = after.unwrap_or(backoff).min(BACKOFF_MAX) + Duration::from_millis(jitter);
            if began.elapsed() + pause > max {
                return Err(why);
            }
            sleep(pause).await;
            backoff = (backoff * 2).min(BACKOFF_MAX);
        }
    }

    /// Sends what might be done twice: again only where it never reached the gateway.
    async fn ask_once(&self, message: &Value) -> Result<Value, String> {
        let ping = json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" });
        self.ask(&ping, AWAY_MAX).await?;
        match self.send(message).await {
            Outcome::Answer(answer) => Ok(answer),
            Outcome::Refused(why) | Outcome::Away(why, _) => Err(why),
        }
    }

    async fn send(&self, message: &Value) -> Outcome {
        let mut request = self
            .client
            .post(self.url.clone())
            .header("x-api-key", &self.key)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", JSON)
            .body(message.to_string());
        for (name, value) in self.headers(message) {
            request = request.header(name, value);
        }
        let exchange = async {
            let answer = request.send().await?;
            let after = answer.headers().get(RETRY_AFTER).and_then(|sent| sent.to_str().ok()?.parse().ok());
            Ok::<_, reqwest::Error>((
                answer.status().as_u16(),
                after.map(Duration::from_secs),
                answer.text().await?,
            ))
        };
        let (status, after, body) = match exchange.await {
            Ok(answered) => answered,
            Err(error) => {
                return Outcome::Away(format!("the gateway did not answer ({})", causes(&error)), None);
            }
        };
        if matches!(status, 429 | 502..=504) {
            return Outcome::Away(refused(status, &body), after);
        }
        match serde_json::from_str::<Value>(&body) {
            Ok(answer) if answer["jsonrpc"] == "2.0" => {
                let code = answer["result"]["structuredContent"]["error"].as_str();
                match code.filter(|code| answer["result"]["isError"] == true && AGAIN.contains(code)) {
                    Some(code) => Outcome::Away(format!("the gateway answered {code}"), None),
                    None => Outcome::Answer(answer),
                }
            }
            _ => Outcome::Refused(refused(status, &body).chars().take(1_000).collect()),
        }
    }

    /// What the protocol repeats of a message in the head of its request.
    fn headers(&self, message: &Value) -> Vec<(&'static str, String)> {
        let params = &message["params"];
        let mut headers = Vec::new();
        let own = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str().map(str::to_owned);
        let agreed = || self.version.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if message["method"] != "initialize"
            && let Some(version) = own.or_else(agreed)
        {
            headers.push(("mcp-protocol-version", plain(&version)));
        }
        let name = params["name"].as_str().or(params["uri"].as_str());
        for (header, value) in [("mcp-method", message["method"].as_str()), ("mcp-name", name)] {
            headers.extend(value.map(|value| (header, plain(value))));
        }
        headers
    }
}

/// Whether a message may be sent again when it is not known what became of it. A call that makes something has no key of
/// the gateway's making: here it gets one, unless the agent gave it.
fn make_repeatable(message: &mut Value) -> bool {
    if message["method"] != "tools/call" {
        return true;
    }
    let params = &mut message["params"];
    let Some(tool) = params["name"].as_str().and_then(tools::named) else { return false };
    if tool.moves_money() || tool.route.method != Method::POST {
        return true;
    }
    let Some(arguments) =
        params.as_object_mut().map(|params| params.entry("arguments").or_insert_with(|| json!({})))
    else {
        return false;
    };
    let Some(arguments) = arguments.as_object_mut() else { return true };
    let is_dry = arguments.get(tools::DRY_RUN) == Some(&Value::Bool(true));
    if !is_dry && !arguments.contains_key(tools::KEY) {
        arguments.insert(tools::KEY.to_owned(), format!("mcp-{}", Uuid::new_v4()).into());
    }
    true
}

/// A text as a header has it: as it is, or in Base64 where a header could not carry it.
fn plain(text: &str) -> String {
    let is_fit = text.trim() == text
        && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && !text.starts_with("=?base64?");
    if is_fit { text.to_owned() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(text)) }
}

fn error(id: &Value, code: i64, why: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
}

/// The lines of stdin, read by a thread of their own; of one that is too long nothing.
fn read_messages() -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel(1);
    thread::spawn(move || {
        let mut stdin = BufReader::new(std::io::stdin());
        while let Ok(Some(line)) = read_line(&mut stdin) {
            if !line.trim_ascii().is_empty() && sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

fn read_line(input: &mut impl std::io::BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if input.by_ref().take(MESSAGE_BYTES_MAX as u64).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() == MESSAGE_BYTES_MAX && line.last() != Some(&b'\n') {
        line = b"?".to_vec();
        input.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

/// Writes answers to stdout, one a line, in a thread of its own: a slow reader holds up nothing else.
fn write_answers() -> (Sender<Value>, thread::JoinHandle<()>) {
    let (sender, mut receiver) = channel::<Value>(UNDER_WAY_MAX);
    let writing = thread::spawn(move || {
        let mut stdout = std::io::stdout();
        while let Some(answer) = receiver.blocking_recv() {
            if stdout.write_all(format!("{answer}\n").as_bytes()).and_then(|()| stdout.flush()).is_err() {
                break;
            }
        }
    });
    (sender, writing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_to_its_endpoint() {
        for (text, leads) in [
            ("http://127.0.0.1:8080", Some("http://127.0.0.1:8080/mcp")),
            ("https://pay.example/", Some("https://pay.example/mcp")),
            ("https://pay.example/mcp", Some("https://pay.example/mcp")),
            ("https://pay.example/gateway", Some("https://pay.example/gateway/mcp")),
            ("pay.example", None),
            ("ftp://pay.example", None),
            ("http://", None),
            ("https://pay.example?x=1", None),
            ("", None),
        ] {
            assert_eq!(endpoint(text).ok().map(String::from).as_deref(), leads, "{text}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let long = vec![b'x'; MESSAGE_BYTES_MAX + 5];
        let mut input = &[b"{}\n".as_slice(), &long, b"\n[]"].concat()[..];
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut input).expect("read") {
            lines.push(line);
        }
        assert_eq!(lines, [b"{}\n".to_vec(), b"?".to_vec(), b"[]".to_vec()]);
    }

    #[test]
    fn what_a_header_cannot_carry_is_base64() {
        for (text, header) in [("a b", "a b"), ("ñ", "=?base64?w7E=?="), (" a", "=?base64?IGE=?=")] {
            assert_eq!(plain(text), header);
        }
    }
}
