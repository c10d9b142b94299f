//! An input taken apart: numbers off its front, the rest as it is.

/// Takes parts off an input; what is not there is zeroes, so that every input means something.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// The whole input.
    pub fn new(input: &'a [u8]) -> Bytes<'a> {
        Bytes(input)
    }

    /// The next bytes, as many as there are.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// The next bytes, with zeroes for those that are not there.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        let taken = self.take(N);
        array[..taken.len()].copy_from_slice(taken);
        array
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    /// A short text, or none that is UTF-8: its length is a byte before it.
    pub fn text(&mut self) -> &'a str {
        let length = usize::from(self.byte());
        std::str::from_utf8(self.take(length)).unwrap_or_default()
    }

    /// Reads some bytes, with their length in two bytes before them.
    pub fn sized(&mut self) -> &'a [u8] {
        let length = usize::from(u16::from_le_bytes(self.array()));
        self.take(length)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes that are left.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// The first line, and what follows it.
pub fn first_line(input: &[u8]) -> (&[u8], &[u8]) {
    match input.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (input, &[]),
    }
}
