//! Streams (`docs/contract.md, 23`): the form of a line that comes in, a call of its own, and of the line that goes
//! out with what became of it. How lines are carried out is in `src/server/stream.rs`.

use crate::endpoint::{Endpoint, endpoint};
use crate::fields::{Fields, Got, Invalid, body, kind, read};
use crate::openapi::document::{Access, Chapter, Row};
use crate::openapi::operation::summary;
use crate::openapi::schema::{self, Schema, integer, object};
use crate::problem::Problem;
use crate::value::{Bad, Value};
use crate::writer::Object;
use hyper::Method;
use std::borrow::Cow;

pub const PATH: &str = "/v1/stream";
pub const MEDIA_TYPE: &str = "application/x-ndjson";
/// Bytes of a line, without its end.
pub const LINE_BYTES_MAX: usize = 64 << 10;
/// Lines of a stream whose answers are not on the connection yet.
pub const LINES_UNDER_WAY_MAX: usize = 1_024;
pub const STREAMS_PER_KEY_MAX: usize = 16;
const KEY_CHARACTERS_MAX: usize = 255;
const CHAPTER: &str = "Streams";

#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub key: Option<Cow<'a, str>>,
    pub method: Method,
    pub path: Cow<'a, str>,
    /// As it stands in the line; empty where there is none.
    pub body: &'a str,
}

/// A line that was read, or why it is no call; and its key as it stands in the line, if it is a string.
pub fn read_line(line: &[u8]) -> (Option<&str>, Result<Line<'_>, Problem>) {
    match Fields::parse(line) {
        Ok(fields) => (fields.string_as_sent("key"), read_call(fields).map_err(Problem::from)),
        Err(problem) => (None, Err(problem)),
    }
}

fn read_call(mut fields: Fields<'_>) -> Result<Line<'_>, Invalid> {
    let methods = [
        ("POST", Method::POST),
        ("GET", Method::GET),
        ("PATCH", Method::PATCH),
        ("PUT", Method::PUT),
        ("DELETE", Method::DELETE),
    ];
    let names = methods.each_ref().map(|(name, _)| *name);
    let verb: Got<Option<Method>> = fields.optional(
        "method",
        kind(|value| value.one_of(&methods), || schema::one_of(names).default(r#""POST""#)),
    );
    // Which keys are right depends on the method: nothing is said of them under one that nobody knows.
    let takes_key = verb.peek().map(|method| method.as_ref().is_none_or(|method| *method == Method::POST));
    if takes_key == Some(true) && !fields.has("key") {
        fields.bad("key", "is required");
    }
    Ok(read!(fields {
        optional key = "key", kind(|value| read_key(value, takes_key), || {
            schema::text().chars(1..=KEY_CHARACTERS_MAX).about("The line's Idempotency-Key: of every POST, and of nothing else.")
        });
        got method = verb;
        required path = "path", kind(read_path, || {
            schema::text().pattern("^/").about("The path of the call, with its query.")
        });
        nullable body = "body", kind(|value| Ok(value.exact()), || {
            schema::anything().about("The body of the call, which gets it byte by byte as it stands here.")
        });
    } => Line {
        key,
        method: method.unwrap_or(Method::POST),
        path,
        body: body.map_or("", |sent| sent.unwrap_or("null")),
    }))
}

fn read_key(value: Value<'_>, is_taken: Option<bool>) -> Result<Cow<'_, str>, Bad> {
    match is_taken {
        Some(true) => {}
        Some(false) => return Err(Bad::from("stands with POST alone")),
        None => return Ok(Cow::Borrowed("")),
    }
    let key = value.string()?;
    let is_fit = (1..=KEY_CHARACTERS_MAX).contains(&key.len())
        && key.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
    if !is_fit {
        return Err(Bad::from("must have 1 to 255 characters of ASCII"));
    }
    // As a header it would be empty.
    if key.trim().is_empty() { Err(Bad::from("must not be blank")) } else { Ok(key) }
}

fn read_path(value: Value<'_>) -> Result<Cow<'_, str>, Bad> {
    let path = value.string()?;
    if path.starts_with('/') { Ok(path) } else { Err(Bad::from("must begin with a slash")) }
}

/// What became of a line.
pub struct Outcome<'a> {
    pub line: u64,
    /// As it stood in the line, in its quotes.
    pub key: Option<&'a str>,
    pub status: u16,
    pub replayed: bool,
    pub wal_seq: Option<u64>,
    /// Empty where the answer has no body.
    pub body: &'a [u8],
}

impl Outcome<'_> {
    pub fn to_line(&self) -> Vec<u8> {
        let null = b"null".as_slice();
        let mut line = Object::with_capacity(128 + self.body.len())
            .number("line", self.line)
            .json("key", self.key.map_or(null, str::as_bytes))
            .number("status", self.status)
            .boolean("replayed", self.replayed)
            .maybe_number("walSeq", self.wal_seq)
            .json("body", if self.body.is_empty() { null } else { self.body })
            .end();
        // What a caller sent is shown as it was written, and may have ends of lines between its values. Within a text
        // JSON has none.
        for byte in &mut line {
            if matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        line.push(b'\n');
        line
    }
}

/// The end of a stream, which its last line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Whole,
    Idle,
    ServerStopping,
    NoLeader,
}

impl End {
    pub fn to_line(self, lines: u64, answered: u64) -> Vec<u8> {
        let code = match self {
            End::Whole => {
                let mut line = Object::new().boolean("end", true).number("lines", lines).end();
                line.push(b'\n');
                return line;
            }
            End::Idle => "idle",
            End::ServerStopping => "server_stopping",
            End::NoLeader => "no_leader",
        };
        let mut line =
            Object::new().boolean("end", false).plain("code", code).number("answered", answered).end();
        line.push(b'\n');
        line
    }
}

pub fn row() -> Row {
    STREAM.described(Method::POST, PATH, "stream", Access::AnyKey)
}

const STREAM: Endpoint<()> = endpoint(CHAPTER, (), || {
    summary("Make many calls over one connection")
        .about(
            "Each line of the request is a call of its own (`StreamCall`), each line of the answer what became of one \
            (`StreamOutcome`), while the request goes on. Lines are decided in the order in which they stand; their \
            answers come as they become durable, and may overtake each other. A refused line has the status and the \
            body of the single call, and the stream goes on. The last line is `{\"end\": true, \"lines\": N}`; a server \
            that stops (`server_stopping`), loses its lead (`no_leader`) or heard nothing for 60 seconds (`idle`) ends \
            with `{\"end\": false, \"code\": …, \"answered\": N}`: send again, with its key, what has no answer. Each \
            line counts for the rate of the account, needs the scope of its call, and has at most 64 KiB; 1,024 are \
            under way in a stream, and 16 streams of a key. The headers `Prefer` and `Dry-Run` hold for all lines.",
        )
        .body_in(MEDIA_TYPE, schema::named("StreamCall"))
        .answers_lines(200, MEDIA_TYPE, "StreamOutcome", "What became of each line, and the end")
        .refuses(415, &["unsupported_media_type"])
});

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "Many calls over one connection, each with its own key, answer and fate.",
        schemas: vec![("StreamCall", call_schema()), ("StreamOutcome", outcome_schema())],
        ..Chapter::default()
    }
}

fn call_schema() -> Schema {
    body(read_call).example(
        r#"{"key":"pay-1","method":"POST","path":"/v1/payments/credit","body":{"banco":"0134",
        "telefono":"04141234567","cedula":"V12345678","monto":"50.00","concepto":"premio","externalRef":"credit-1"}}"#,
    )
}

fn outcome_schema() -> Schema {
    object()
        .member("line", integer().about("The line of the request, from 1; empty lines have no number."))
        .member("key", schema::text().or_null())
        .member("status", integer())
        .member("replayed", schema::boolean().about("Whether this is the first answer to the key again."))
        .member("walSeq", integer().or_null().about("As in the header `Wal-Seq`."))
        .member("body", schema::anything().about("The body of the call's answer; null where it has none."))
        .example(
            r#"{"line":1,"key":"pay-1","status":422,"replayed":false,"walSeq":4711,
            "body":{"error":"insufficient_balance",
            "message":"the available balance does not cover the amount, so nothing was debited; pay at most availableVes or wait for what is held: GET /v1/balance says when",
            "requestId":"2t6cw1h7xk3vd","availableVes":"1.00"}}"#,
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_call_or_says_what_is_bad() {
        for (line, key, told) in [
            (
                r#"{"key":"k","path":"/v1/payouts","body":{"a" : 1.0}}"#,
                Some(r#""k""#),
                Ok((Method::POST, r#"{"a" : 1.0}"#)),
            ),
            (r#"{"path":"/v1/balance","method":"GET"}"#, None, Ok((Method::GET, ""))),
            (r#"{"path":"/v1/balance","method":"GET","key":null}"#, None, Ok((Method::GET, ""))),
            (
                r#"{"path":"/v1/x","key":"\u006b","body":null}"#,
                Some(r#""\u006b""#),
                Ok((Method::POST, "null")),
            ),
            (r#"{"path":"/v1/x"}"#, None, Err("key")),
            (r#"{"path":"/v1/x","key":""}"#, Some(r#""""#), Err("key")),
            (r#"{"path":"/v1/x","key":"ñ"}"#, Some(r#""ñ""#), Err("key")),
            (r#"{"path":"/v1/x","key":7}"#, None, Err("key")),
            (r#"{"path":"/v1/x","key":"k","method":"GET"}"#, Some(r#""k""#), Err("key")),
            (r#"{"path":"/v1/x","key":"k","method":"post"}"#, Some(r#""k""#), Err("method")),
            (r#"{"path":"/v1/x","method":"HEAD"}"#, None, Err("method")),
            (r#"{"key":"k"}"#, Some(r#""k""#), Err("path")),
            (r#"{"key":"k","path":"v1/x"}"#, Some(r#""k""#), Err("path")),
            (r#"{"key":"k","path":"/v1/x","more":1}"#, Some(r#""k""#), Err("more")),
            ("[]", None, Err("body")),
        ] {
            let (sent, read) = read_line(line.as_bytes());
            assert_eq!(sent, key, "{line}");
            match (read, told) {
                (Ok(read), Ok(told)) => assert_eq!((read.method, read.body), told, "{line}"),
                (Err(problem), Err(field)) => {
                    let named: Vec<&str> = problem.fields.iter().map(|bad| &*bad.field).collect();
                    assert_eq!((problem.code, named), ("invalid_data", vec![field]), "{line}");
                }
                (read, _) => panic!("{line}: {read:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_json_is_told_apart() {
        for line in [
            &b"{"[..],
            b"{} {}",
            b"\xff",
            br#"{"key":"k","key":"k","path":"/v1/x"}"#,
            br#"{"key":"k","path":"/v1/x","body":{"a":[{"b":1,"b":1}]}}"#,
        ] {
            let (key, read) = read_line(line);
            assert_eq!((key, read.err().map(|problem| problem.code)), (None, Some("invalid_json")));
        }
    }

    #[test]
    fn an_outcome_is_one_line() {
        let body = b"{\n \"a\":1}";
        let outcome =
            Outcome { line: 7, key: Some(r#""k""#), status: 200, replayed: true, wal_seq: None, body };
        let text = String::from_utf8(outcome.to_line()).expect("UTF-8");
        assert_eq!(
            text,
            "{\"line\":7,\"key\":\"k\",\"status\":200,\"replayed\":true,\"walSeq\":null,\"body\":{  \"a\":1}}\n"
        );
    }
}
