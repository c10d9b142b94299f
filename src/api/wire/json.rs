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

/// Up to this many names are compared pair by pair; beyond it they are sorted.
const NAMES_IN_PAIRS_MAX: usize = 16;

/// The reason why a text is not JSON, in words for the caller, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The reason.
    pub reason: &'static str,
    /// The line, counted from 1.
    pub line: usize,
    /// The character of the line, counted from 1.
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

/// The reason alone; the position is that of the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fault(&'static str);

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
    /// An object with these members.
    Object(Vec<Member<'a>>),
    /// A list with these elements.
    List(Vec<&'a str>),
    /// A string, a number, a boolean or null.
    Scalar,
}

/// Reads one whole text.
pub fn read(text: &str) -> Result<Shape<'_>, Malformed> {
    let mut scan = Scan { text, bytes: text.as_bytes(), at: 0, names: Vec::new() };
    scan.whole().map_err(|Fault(reason)| Malformed::after(text.get(..scan.at).unwrap_or(text), reason))
}

/// Decodes the string literal `literal`, which must have come out of [`read`].
pub fn decode_string(literal: &str) -> Cow<'_, str> {
    decode(&literal[1..literal.len() - 1])
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Names of the objects that are open, innermost last; one list for all, so that depth costs no
    /// allocation.
    names: Vec<Cow<'a, str>>,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blank(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// The whole text.
    fn whole(&mut self) -> Result<Shape<'a>, Fault> {
        self.blank();
        let shape = match self.peek() {
            Some(b'{') => Shape::Object(self.members()?),
            Some(b'[') => Shape::List(self.elements()?),
            _ => {
                self.value(1)?;
                Shape::Scalar
            }
        };
        self.blank();
        if self.at < self.bytes.len() {
            return Err(Fault("something follows the JSON value"));
        }
        Ok(shape)
    }

    /// The members of the object that starts here, which is the outermost.
    fn members(&mut self) -> Result<Vec<Member<'a>>, Fault> {
        let mut members: Vec<Member<'a>> = Vec::with_capacity(8);
        self.at += 1;
        self.blank();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(members);
        }
        loop {
            let name = self.name()?;
            let from = self.at;
            self.value(2)?;
            members.push(Member { name, value: &self.text[from..self.at] });
            if self.closes(b'}')? {
                break;
            }
        }
        if has_twins(members.iter().map(|member| &member.name)) {
            self.return_to_twin(members.iter().map(|member| &member.name));
            return Err(TWICE);
        }
        Ok(members)
    }

    /// The elements of the list that starts here, which is the outermost.
    fn elements(&mut self) -> Result<Vec<&'a str>, Fault> {
        let mut elements = Vec::new();
        self.at += 1;
        self.blank();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(elements);
        }
        loop {
            let from = self.at;
            self.value(2)?;
            elements.push(&self.text[from..self.at]);
            if self.closes(b']')? {
                return Ok(elements);
            }
        }
    }

    /// Steps over one value; `depth` is what it would be if it were an object or a list.
    fn value(&mut self, depth: usize) -> Result<(), Fault> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(_) => Err(Fault("a value is expected")),
            None => Err(ENDS),
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > DEPTH_MAX {
            return Err(TOO_DEEP);
        }
        let first = self.names.len();
        self.at += 1;
        self.blank();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let name = self.name()?;
            self.names.push(name);
            self.value(depth + 1)?;
            if self.closes(b'}')? {
                break;
            }
        }
        if has_twins(self.names[first..].iter()) {
            let names = self.names.split_off(first);
            self.return_to_twin(names.iter());
            return Err(TWICE);
        }
        self.names.truncate(first);
        Ok(())
    }

    /// Goes back to the first name that was there before, unless it was written with escapes.
    fn return_to_twin<'n>(&mut self, names: impl Iterator<Item = &'n Cow<'a, str>>)
    where
        'a: 'n,
    {
        let mut seen = HashSet::new();
        for name in names {
            if !seen.insert(name.as_ref()) {
                if let Cow::Borrowed(name) = name {
                    // The quote before it.
                    self.at = name.as_ptr().addr() - self.text.as_ptr().addr() - 1;
                }
                return;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > DEPTH_MAX {
            return Err(TOO_DEEP);
        }
        self.at += 1;
        self.blank();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            if self.closes(b']')? {
                return Ok(());
            }
        }
    }

    /// Reads on after a value: true when `end` closes the collection, false when a comma says that
    /// more follows.
    fn closes(&mut self, end: u8) -> Result<bool, Fault> {
        self.blank();
        match self.peek() {
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(true)
            }
            Some(b',') => {
                self.at += 1;
                self.blank();
                Ok(false)
            }
            Some(_) => Err(Fault("a comma or a closing bracket is expected")),
            None => Err(ENDS),
        }
    }

    /// A member's name and the colon after it.
    fn name(&mut self) -> Result<Cow<'a, str>, Fault> {
        if self.peek() != Some(b'"') {
            return Err(match self.peek() {
                Some(_) => Fault("a member name in double quotes is expected"),
                None => ENDS,
            });
        }
        let from = self.at + 1;
        let escaped = self.string()?;
        let inner = &self.text[from..self.at - 1];
        self.blank();
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(_) => return Err(Fault("a colon is expected after a member name")),
            None => return Err(ENDS),
        }
        self.blank();
        Ok(if escaped { decode(inner) } else { Cow::Borrowed(inner) })
    }

    /// Steps over a string literal; true when it has escapes.
    fn string(&mut self) -> Result<bool, Fault> {
        self.at += 1;
        let mut escaped = false;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                    self.escape()?;
                }
                Some(0..0x20) => {
                    return Err(Fault("a control character stands in a string"));
                }
                Some(_) => self.at += 1,
                None => return Err(ENDS),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        match self.peek() {
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
            Some(_) => return Err(Fault("an escape in a string is unknown")),
            None => return Err(ENDS),
        }
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let digits = self.bytes.get(self.at..self.at + 4).ok_or(ENDS)?;
        let mut code = 0;
        for digit in digits {
            let digit = char::from(*digit).to_digit(16).ok_or(Fault("\\u needs four hexadecimal digits"))?;
            code = code * 16 + digit;
        }
        self.at += 4;
        Ok(code)
    }

    fn number(&mut self) -> Result<(), Fault> {
        const BAD: Fault = Fault("a number is malformed");
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(BAD),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(BAD);
            }
            self.digits();
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(BAD);
            }
            self.digits();
        }
        Ok(())
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(Fault("a value is expected"));
        }
        self.at += word.len();
        Ok(())
    }
}

const ENDS: Fault = Fault("the text ends too early");
const TWICE: Fault = Fault("a member is twice in one object");
const TOO_DEEP: Fault = Fault("the nesting is deeper than 64");
const HALF: Fault = Fault("half a surrogate pair stands in a string");

fn has_twins<'n, 'a: 'n>(names: impl ExactSizeIterator<Item = &'n Cow<'a, str>> + Clone) -> bool {
    if names.len() <= NAMES_IN_PAIRS_MAX {
        let mut rest = names;
        while let Some(name) = rest.next() {
            if rest.clone().any(|other| other == name) {
                return true;
            }
        }
        return false;
    }
    let mut sorted: Vec<&str> = names.map(|name| name.as_ref()).collect();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// Undoes the escapes of a checked string's inside.
fn decode(inner: &str) -> Cow<'_, str> {
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
