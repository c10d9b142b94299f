//! The problem that a caller sees when a request is not answered with a success.
//!
//! A [`Problem`] has two messages. The public one is written for the caller: what was wrong, where, and
//! what to do. It never quotes a value that was sent (an id of ours may be named), a key or an inner
//! error. What a code means is in `codes`. The private message is logged beside the request's id by
//! the one place that answers (`respond.rs`) and is never sent. Neither holds a
//! secret. This file must not know sockets or headers.

use crate::codes::{self, Tongue};
use serde_json::Value;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

/// Fields that the message of many bad ones names; the list of them has all.
const NAMED_MAX: usize = 8;
/// Characters of a name in that message.
const NAME_CHARACTERS_MAX: usize = 40;
/// The message of what is not there, until it is known what that is.
const UNNAMED: &str = "nothing is here under this key";

/// The address of the server that has the pages of codes; none where callers know it alone.
static SITE: OnceLock<String> = OnceLock::new();

/// Says at the start where callers reach this server, without a slash at the end. Without it, or empty, `docs` is a
/// path, which leads from the address that was called.
pub fn explain_at(site: String) {
    let _ = SITE.set(site);
}

/// A member of a body, a parameter or a header that can't be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadField {
    /// The dotted name, `card.number` or `items[3].monto`; `body` for the body as a whole.
    pub field: String,
    /// The reason why it is bad: lower case, no final stop, without the value.
    pub message: Cow<'static, str>,
}

impl BadField {
    pub fn new(field: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        BadField { field: field.into(), message: message.into() }
    }
}

/// `NAME [(WHAT IT IS MADE OF)]: STATUS, CODE [after SECONDS UNTIL IT MAY BE ASKED AGAIN], MESSAGE [, MEMBER = VALUE];`
macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident $(($($part:ident: $type:ty),+))?: $status:literal, $code:literal $(after $seconds:expr)?, $message:expr $(, $member:literal = $value:expr)?;)*) => {
        impl Problem {
            $($(#[$doc])* pub fn $name($($($part: $type),+)?) -> Self {
                Self::refused($status, $code, $message)$(.after($seconds))?$(.with($member, $value))?
            })*
        }
    };
}

problems! {
    live_mode_not_activated: 403, "live_mode_not_activated",
        "live mode is not activated for this account; ask the operator for it, in the portal (/portal) under Go live, and use a test key until then";
    test_mode_only: 403, "test_mode_only",
        "this call exists for test keys alone; send one in x-api-key";
    second_person_required: 403, "second_person_required",
        "who asked for this approval, or created, raised, rotated or enabled who asked within a day, can't decide about it, so nothing was changed; have another operator decide";
    cross_site: 403, "cross_site",
        "this request comes from another site's page and was not looked at; send it from a page of this server, or without a browser";
    misdirected: 421, "misdirected",
        "nothing is served under this host name; operators may add theirs to admin.hosts";
    request_timeout: 408, "request_timeout",
        "the body did not arrive in time, so nothing was done; send the request again";
    idempotency_in_progress: 409, "idempotency_in_progress" after 1,
        "a request with this Idempotency-Key is still under way; wait for its answer, or send this one again after Retry-After";
    record_too_large: 413, "record_too_large",
        "what was asked makes one record larger than the log takes, so nothing was done; ask for less at once";
    unsupported_media_type: 415, "unsupported_media_type",
        "send the body as JSON, with the header content-type: application/json";
    head_too_large: 431, "head_too_large",
        "the request line and the headers are longer than the server reads, or there are more than 100 headers, so nothing was done; send fewer and shorter ones, and what is long in the body";
    clock_stepped: 503, "clock_stepped" after 60,
        "the server's clock was set, and live money waits until an operator has looked into it, so nothing was done; ask again after Retry-After";
    shutting_down: 503, "shutting_down" after 1,
        "the server is stopping, so nothing was done; ask again";
    account_halted: 503, "account_halted" after 60,
        "this account is halted in this mode while its figures are checked, so nothing was done; ask again later";
    tenant_moved: 503, "tenant_moved" after 30,
        "this account moves to another server of the same name, so nothing was done here; ask again with the same Idempotency-Key or externalRef";
    tenant_moving: 503, "tenant_moving" after 1,
        "this account moves to another machine, which takes a moment, so nothing was done; ask again after Retry-After, with the same Idempotency-Key or externalRef";
    storage_unavailable: 503, "storage_unavailable" after 5,
        "the server could not write, so the outcome is unknown; ask again with the same Idempotency-Key or externalRef, which never does it twice";
    no_leader: 503, "no_leader" after 1,
        "no machine of the cluster leads right now, so nothing was done; ask again after Retry-After";
    disk_nearly_full: 503, "storage_unavailable" after 30,
        "the disk of the server is nearly full, so nothing was done; ask again later";
    upgrade_under_way: 503, "storage_unavailable" after 30,
        "a machine of the cluster runs an earlier version, which does not know this yet, so nothing was done; ask again later";
    /// No proof of who calls, or one that opens nothing. `how` says where it belongs; whether what was
    /// sent is unknown, revoked or expired is not said.
    unauthorized(how: &'static str): 401, "unauthorized", how;
    scope_missing(scope: &'static str): 403, "scope_missing",
        format!("the key lacks the scope {scope}; use a key that has it, which the operator makes"), "scope" = scope;
    role_missing(role: &'static str): 403, "role_missing",
        format!("this call needs the role {role} or a higher one; an admin gives it"), "role" = role;
    /// The key was used with another body or, for what is about the account, by another API key. `first` says when, and by
    /// which request: of the body a keyed hash is kept, so that what differs in it cannot be told.
    idempotency_key_reused(first: &(dyn fmt::Display + '_)): 422, "idempotency_key_reused",
        format!("this is not the call that the Idempotency-Key was first used for, {first}; the bytes of its body differ, or another API key made it. Nothing was done, so use a new key for a new request");
    payload_too_large(bytes_max: usize): 413, "payload_too_large",
        format!("the body exceeds the {bytes_max} bytes that are taken here; send less at once");
    /// The engine takes no more work right now.
    overloaded(retry_after: u32): 503, "overloaded" after retry_after,
        "too much work is under way on the server, so nothing was done; ask again after Retry-After";
    /// The mode has no connector for this way of moving money.
    rail_not_configured(rail: &str): 503, "rail_not_configured",
        format!("{rail} is not configured on this server in this mode; nothing was done, and the operator can say when it will be");
    /// The machine that is to lead is dead, behind, or has another log.
    not_a_candidate(why: &'static str): 409, "not_a_candidate", why;
    /// The machines' log cannot grow for now, because too few machines take it.
    window_full: 503, "storage_unavailable" after 30,
        "one machine is left and its log may not grow, so nothing was done; ask again later";
}

/// A failure as the contract words it: status, code, message and what helps the caller to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub status: u16,
    pub code: &'static str,
    pub message: Cow<'static, str>,
    pub fields: Vec<BadField>,
    /// Further members of the error body, such as `availableVes` or `existingId`.
    pub extra: Vec<(&'static str, Value)>,
    pub retry_after: Option<NonZeroU32>,
    pub allow: Option<Arc<str>>,
    /// The message that is logged and never sent; every problem of our own making has one.
    pub private: Option<Arc<String>>,
}

impl Problem {
    /// A refusal with a status and code of its own.
    pub fn refused(status: u16, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Problem {
            status,
            code,
            message: message.into(),
            fields: Vec::new(),
            extra: Vec::new(),
            retry_after: None,
            allow: None,
            private: None,
        }
    }

    /// 409: the state of things speaks against it.
    pub fn conflict(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::refused(409, code, message)
    }

    pub fn invalid_json(message: impl Into<Cow<'static, str>>) -> Self {
        Self::refused(400, "invalid_json", message)
    }

    pub fn invalid_data(fields: Vec<BadField>) -> Self {
        let message = match fields.as_slice() {
            [one] => Cow::Owned(format!("{}: {}", one.field, one.message)),
            many => {
                let short = |bad: &BadField| bad.field.chars().take(NAME_CHARACTERS_MAX).collect::<String>();
                let named: Vec<String> = many.iter().take(NAMED_MAX).map(short).collect();
                let more = if many.len() > NAMED_MAX { ", …" } else { "" };
                let (count, named) = (many.len(), named.join(", "));
                Cow::Owned(format!("{count} fields can't be accepted: {named}{more}; fields says why each"))
            }
        };
        Problem { fields, ..Self::refused(400, "invalid_data", message) }
    }

    pub fn invalid_field(field: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::invalid_data(vec![BadField::new(field, message)])
    }

    /// 401 of the operators' API: a token that opens nothing, or none.
    pub fn without_token(is_sent: bool) -> Self {
        Self::unauthorized(if is_sent {
            "the token in the header authorization opens nothing: it is mistyped or was rotated, or its operator is disabled"
        } else {
            "the header authorization is missing: send an operator's token in it, as authorization: Bearer TOKEN"
        })
    }

    /// 404: no such object for this key. Where the request is known, it gets the words for which one.
    pub fn not_found() -> Self {
        Self::refused(404, "not_found", UNNAMED)
    }

    /// Whether something is not there, and what that is was not said yet.
    pub fn is_unnamed(&self) -> bool {
        self.code == "not_found" && self.message == UNNAMED
    }

    /// 405 with the methods that the path has.
    pub fn method_not_allowed(allow: Arc<str>) -> Self {
        let message =
            format!("this path takes {allow} alone, so nothing was done; repeat it with one that it takes");
        Problem { allow: Some(allow), ..Self::refused(405, "method_not_allowed", message) }
    }

    /// 429: more requests than the key may send, which are `per_second`.
    pub fn rate_limited(per_second: u32, retry_after: u32) -> Self {
        let message = format!("this key may send {per_second} requests a second, so nothing was done");
        Self::too_often(message, retry_after)
    }

    /// 429: the tenant has as much under way in this mode as the others leave it.
    pub fn share_full() -> Self {
        Self::too_often(
            "this account has as many requests under way in this mode as others leave it, so nothing was done",
            1,
        )
    }

    /// 429: too many of one kind, where there is no key.
    pub fn too_often(message: impl fmt::Display, retry_after: u32) -> Self {
        let seconds = retry_after.max(1);
        Self::refused(429, "rate_limited", format!("{message}; ask again in {seconds} s")).after(seconds)
    }

    /// 429: too many tries at something that could be guessed, or that costs the platform.
    pub fn too_many_attempts(message: impl Into<Cow<'static, str>>, retry_after: u32) -> Self {
        Self::refused(429, "too_many_attempts", message).after(retry_after.max(1))
    }

    /// 500: a fault of ours, and the failure behind it.
    pub fn internal_error(failure: impl fmt::Display) -> Self {
        Self::refused(
            500,
            "internal_error",
            "an unexpected failure, so the outcome is unknown; ask again with the same Idempotency-Key or externalRef, and name the requestId to the operator if it stays",
        )
        .because(failure)
    }

    /// The same problem with the failure behind it, in which there must be no secret.
    pub fn because(mut self, failure: impl fmt::Display) -> Self {
        self.private = Some(Arc::new(failure.to_string()));
        self
    }

    /// The private message, for the log; none where the public one says it all.
    pub fn private_message(&self) -> Option<String> {
        self.private.as_deref().cloned()
    }

    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.extra.push((name, value.into()));
        self
    }

    pub fn after(mut self, seconds: u32) -> Self {
        self.retry_after = NonZeroU32::new(seconds.max(1));
        self
    }

    /// The error body of interface B: `error`, `message`, `requestId`, `docs`, the extra members, and
    /// `fields` when there are any.
    pub fn to_json(&self, request_id: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(224 + 64 * self.fields.len());
        out.extend_from_slice(b"{\"error\":");
        write_text(&mut out, self.code);
        out.extend_from_slice(b",\"message\":");
        write_text(&mut out, &self.message);
        out.extend_from_slice(b",\"requestId\":");
        write_text(&mut out, request_id);
        out.extend_from_slice(b",\"docs\":");
        let site = SITE.get().map_or("", String::as_str);
        write_text(&mut out, &format!("{site}{}", codes::path(Tongue::English, self.code)));
        for (name, value) in &self.extra {
            out.push(b',');
            write_text(&mut out, name);
            out.push(b':');
            write_json(&mut out, value);
        }
        if !self.fields.is_empty() {
            out.extend_from_slice(b",\"fields\":[");
            for (index, bad) in self.fields.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(b"{\"field\":");
                write_text(&mut out, &bad.field);
                out.extend_from_slice(b",\"message\":");
                write_text(&mut out, &bad.message);
                out.push(b'}');
            }
            out.push(b']');
        }
        out.push(b'}');
        out
    }

    /// The error body of the public interface (A): `statusCode`, `error` with the reason text of
    /// the status, and `message`: a text, or a list of texts when fields are bad.
    pub fn to_public_json(&self, reason: &str) -> Vec<u8> {
        let message = if self.fields.is_empty() {
            Value::from(self.message.as_ref())
        } else {
            self.fields.iter().map(|bad| format!("{} {}", bad.field, bad.message)).collect()
        };
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(b"{\"statusCode\":");
        out.extend_from_slice(self.status.to_string().as_bytes());
        out.extend_from_slice(b",\"error\":");
        write_text(&mut out, reason);
        out.extend_from_slice(b",\"message\":");
        write_json(&mut out, &message);
        out.push(b'}');
        out
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.code, self.message)
    }
}

impl Error for Problem {}

fn write_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a Vec takes every byte and a text is always JSON");
}

fn write_json(out: &mut Vec<u8>, value: &Value) {
    serde_json::to_writer(out, value).expect("a Vec takes every byte and a Value is always JSON");
}

#[cfg(test)]
mod tests;
