//! Zeroes the memory of request bodies that had a card in them. A body is a part of the buffer that
//! hyper read it into, and the connection goes on using that buffer. So the bodies are held until
//! the connection is over and nobody else has a part of the buffer, and zeroed then; a connection
//! that brought many cards is ended for it. Below TLS there are further copies, which are out of
//! reach.

use bytes::Bytes;
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroize;

/// Bodies with a card after which a connection is ended.
const HELD_MAX: usize = 16;
/// Held at most, of a connection that cannot be ended.
const FORGOTTEN_FROM: usize = 256;

#[derive(Debug, Default)]
pub struct Secrets(Mutex<Vec<Bytes>>);

impl Secrets {
    pub(super) fn hold(&self, bytes: Bytes) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() < FORGOTTEN_FROM {
            held.push(bytes);
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() >= HELD_MAX
    }
}

impl Drop for Secrets {
    fn drop(&mut self) {
        zero(std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner)));
    }
}

/// Returns how many buffers were zeroed, those that nobody else holds. Several bodies may lie in
/// one buffer, and only its last holder may write. That is the first body in it, because each is
/// let go after those behind it; from there to its end the buffer is zeroed.
fn zero(mut held: Vec<Bytes>) -> usize {
    held.sort_unstable_by_key(|bytes| bytes.as_ptr());
    let mut zeroed = 0;
    while let Some(last) = held.pop() {
        if let Ok(mut own) = last.try_into_mut() {
            own.resize(own.capacity(), 0);
            own.as_mut().zeroize();
            zeroed += 1;
        }
    }
    zeroed
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::{BufMut, BytesMut};

    #[test]
    fn bodies_in_one_buffer_are_zeroed_by_the_first_of_them() {
        let bodies = || {
            let mut buffer = BytesMut::with_capacity(100);
            buffer.put_slice(b"head1111head2222rest");
            let _head = buffer.split_to(4);
            let one = buffer.split_to(4).freeze();
            let _head = buffer.split_to(4);
            let two = buffer.split_to(4).freeze();
            (buffer, one, two)
        };
        let ((first, one, two), (second, three, four)) = (bodies(), bodies());
        drop((first, second));
        assert_eq!(zero(vec![two, three, one, four, Bytes::from_static(b"nobody's")]), 2);
        let (other, one, two) = bodies();
        assert_eq!(zero(vec![one, two]), 0, "somebody still uses the buffer");
        drop(other);
    }
}
