//! Reads JSON text strictly, once, without copying: what a number or a string says stays a slice of
//! the body until somebody asks.
//!
//! Promises that serde_json does not make: a member that is twice in one object is an error at every
//! depth, numbers keep their exact text whatever their size, and nesting is bounded before the
//! stack is. What is wrong is told with its line and column. It must not know fields, problems or money.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// Objects and lists inside each other, the body itself included.
pub const DEPTH_MAX: usize = 64;

/// What serde_json marks values of its own with, inside of objects: who sends such a name has a string parsed as JSON
/// again, without a bound of depth.
const RESERVED: &str = "$serde_json::private::";

/// Up to this many names are compared pair by pair; beyond it a set is faster.
const NAMES_IN_PAIRS_MAX: usize = 16;

/// The reason why a text is not JSON, in words for the caller, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    pub reason: &'static str,
    pub line: usize,
    pub column: usize,
}

impl Malformed {
    /// The failure for a reason that comes after `before`, which is what could be read.
    pub fn after(before: &str, reason: &'static str) -> Malformed {
        let (earlier, last) =
            before.rsplit_once('\n').map_or((None, before), |(head, last)| (Some(head), last));
        let line = earlier.map_or(1, |earlier| earlier.bytes().filter(|byte| *byte == b'\n').count() + 2);
        Malformed { reason, line, column: last.chars().count() + 1 }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Malformed { reason, line, column } = self;
        write!(f, "line {line}, column {column}: {reason}")
    }
}

/// A member of an object: its decoded name and the exact text of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// Borrowed unless it was written with escapes.
    pub name: Cow<'a, str>,
    /// Checked to be one JSON value, without white space around it.
    pub value: &'a str,
}

/// The kind of a JSON text at the top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    Object(Vec<Member<'a>>),
    List(Vec<&'a str>),
    /// A string, a number, a boolean or null.
    Scalar,
}

pub fn read(text: &str) -> Result<Shape<'_>, Malformed> {
    let mut scan = Scan { text, bytes: text.as_bytes(), at: 0, names: Vec::new() };
    scan.blank();
    let mut values = Vec::new();
    let end = match scan.bytes.get(scan.at) {
        Some(b'{') => Some(b'}'),
        Some(b'[') => Some(b']'),
        _ => None,
    };
    let read = match end {
        Some(end) => scan.collection(end, 1, Some(&mut values)),
        None => scan.value(1),
    };
    let reason = match read {
        Ok(()) => {
            scan.blank();
            if scan.at == text.len() {
                return Ok(match end {
                    Some(b'}') => {
                        let mut members = Vec::with_capacity(values.len());
                        for (name, value) in scan.names.into_iter().zip(values) {
                            members.push(Member { name, value });
                        }
                        Shape::Object(members)
                    }
                    Some(_) => Shape::List(values),
                    None => Shape::Scalar,
                });
            }
            "something follows the JSON value"
        }
        Err(reason) => reason,
    };
    Err(Malformed::after(text.get(..scan.at).unwrap_or(text), reason))
}

/// A text as a value of serde_json, which has none of the promises above.
pub fn value(text: &str) -> Result<serde_json::Value, Malformed> {
    read(text)?;
    serde_json::from_str(text).map_err(|_| Malformed::after(text, "a number is out of range"))
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Names of the objects that are open, innermost last; one list for all, so that depth costs no
    /// allocation.
    names: Vec<Cow<'a, str>>,
}

/// The reason why the text at the position of the scan is not JSON.
type Reason = &'static str;

impl<'a> Scan<'a> {
    fn blank(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Steps over one value; `depth` is what it would be if it were an object or a list.
    fn value(&mut self, depth: usize) -> Result<(), Reason> {
        match self.bytes.get(self.at) {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.collection(b'}', depth, None),
            Some(b'[') => self.collection(b']', depth, None),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(_) => Err("a value is expected"),
            None => Err(ENDS),
        }
    }

    /// Steps over the object or the list that starts here and ends with `end`. Of the outermost the `values` are
    /// kept, and the names of an object's members stay in the list.
    fn collection(
        &mut self,
        end: u8,
        depth: usize,
        mut values: Option<&mut Vec<&'a str>>,
    ) -> Result<(), Reason> {
        if depth > DEPTH_MAX {
            return Err(TOO_DEEP);
        }
        let first = self.names.len();
        self.at += 1;
        self.blank();
        if self.bytes.get(self.at) == Some(&end) {
            self.at += 1;
            return Ok(());
        }
        loop {
            if end == b'}' {
                match self.bytes.get(self.at) {
                    Some(b'"') => {}
                    Some(_) => return Err("a member name in double quotes is expected"),
                    None => return Err(ENDS),
                }
                let from = self.at;
                let is_escaped = self.string()?;
                let literal = &self.text[from..self.at];
                self.names.push(match is_escaped {
                    true => decode_string(literal),
                    false => Cow::Borrowed(&literal[1..literal.len() - 1]),
                });
                if self.names.last().is_some_and(|name| name.starts_with(RESERVED)) {
                    return Err("a member has a name that nothing may have");
                }
                self.blank();
                match self.bytes.get(self.at) {
                    Some(b':') => self.at += 1,
                    Some(_) => return Err("a colon is expected after a member name"),
                    None => return Err(ENDS),
                }
                self.blank();
            }
            let from = self.at;
            self.value(depth + 1)?;
            if let Some(values) = &mut values {
                values.push(&self.text[from..self.at]);
            }
            self.blank();
            match self.bytes.get(self.at) {
                Some(byte) if *byte == end => break,
                Some(b',') => self.at += 1,
                // The commonest slip with a bank's code: a number ends after a zero at its beginning.
                Some(b'0'..=b'9') if self.text[from..self.at].trim_start_matches('-') == "0" => {
                    return Err("a number has no zero at its beginning; write a code such as 0134 in quotes");
                }
                Some(_) => return Err("a comma or a closing bracket is expected"),
                None => return Err(ENDS),
            }
            self.blank();
        }
        self.at += 1;
        if end == b'}' {
            let names = &self.names[first..];
            let mut seen = (names.len() > NAMES_IN_PAIRS_MAX).then(HashSet::new);
            for (n, name) in names.iter().enumerate() {
                let is_twin = match &mut seen {
                    None => names[..n].contains(name),
                    Some(seen) => !seen.insert(name.as_ref()),
                };
                if is_twin {
                    // Back to the quote before it, unless it was written with escapes.
                    if let Cow::Borrowed(name) = name {
                        self.at = name.as_ptr().addr() - self.text.as_ptr().addr() - 1;
                    }
                    return Err(TWICE);
                }
            }
        }
        if values.is_none() {
            self.names.truncate(first);
        }
        Ok(())
    }

    /// Steps over a string literal; true when it has escapes.
    fn string(&mut self) -> Result<bool, Reason> {
        self.at += 1;
        let mut is_escaped = false;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(is_escaped);
                }
                Some(b'\\') => {
                    is_escaped = true;
                    self.at += 1;
                    self.escape()?;
                }
                Some(0..0x20) => {
                    return Err("a control character stands in a string");
                }
                Some(_) => self.at += 1,
                None => return Err(ENDS),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Reason> {
        match self.bytes.get(self.at) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                match self.hex()? {
                    0xD800..0xDC00 => {
                        if self.bytes.get(self.at..self.at + 2) != Some(b"\\u") {
                            return Err(HALF);
                        }
                        self.at += 2;
                        if !(0xDC00..0xE000).contains(&self.hex()?) {
                            return Err(HALF);
                        }
                    }
                    0xDC00..0xE000 => return Err(HALF),
                    _ => {}
                }
            }
            Some(_) => return Err("an escape in a string is unknown"),
            None => return Err(ENDS),
        }
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, Reason> {
        let digits = self.bytes.get(self.at..self.at + 4).ok_or(ENDS)?;
        let mut code = 0;
        for digit in digits {
            let digit = char::from(*digit).to_digit(16).ok_or("\\u needs four hexadecimal digits")?;
            code = code * 16 + digit;
        }
        self.at += 4;
        Ok(code)
    }

    fn number(&mut self) -> Result<(), Reason> {
        const BAD: Reason = "a number is malformed";
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(BAD),
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            if !matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
                return Err(BAD);
            }
            self.digits();
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            if !matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
                return Err(BAD);
            }
            self.digits();
        }
        Ok(())
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Reason> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err("a value is expected");
        }
        self.at += word.len();
        Ok(())
    }
}

const ENDS: Reason = "the text ends too early";
const TWICE: Reason = "a member is twice in one object";
const TOO_DEEP: Reason = "the nesting is deeper than 64";
const HALF: Reason = "half a surrogate pair stands in a string";

/// Decodes the string literal `literal`, which must have come out of [`read`].
pub fn decode_string(literal: &str) -> Cow<'_, str> {
    let inner = &literal[1..literal.len() - 1];
    let Some(first) = inner.find('\\') else {
        return Cow::Borrowed(inner);
    };
    let mut out = String::with_capacity(inner.len());
    out.push_str(&inner[..first]);
    let mut rest = &inner[first..];
    while let Some(escape) = rest.strip_prefix('\\') {
        let (decoded, length) = match escape.as_bytes()[0] {
            b'b' => ('\u{8}', 1),
            b'f' => ('\u{c}', 1),
            b'n' => ('\n', 1),
            b'r' => ('\r', 1),
            b't' => ('\t', 1),
            b'u' => match unit(&escape[1..]) {
                high @ 0xD800..0xE000 => {
                    let low = unit(&escape[7..]);
                    let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 11)
                }
                code => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 5),
            },
            plain => (char::from(plain), 1),
        };
        out.push(decoded);
        rest = &escape[length..];
        let next = rest.find('\\').unwrap_or(rest.len());
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(out)
}

/// The UTF-16 unit that four checked hexadecimal digits say.
fn unit(digits: &str) -> u32 {
    u32::from_str_radix(&digits[..4], 16).unwrap_or(0xFFFD)
}

#[cfg(test)]
mod tests;
