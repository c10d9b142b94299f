//! Zeroes the memory of request bodies that had a card or a code in them.
//!
//! A body is a part of the buffer that hyper read it into, and the connection goes on using that
//! buffer until the next read replaces it. So the bytes are held until nobody else has a part of the
//! buffer, which is soon after the answer, and zeroed then. Below TLS there are further copies, which
//! are out of reach.

use bytes::Bytes;
use std::fmt;
use std::time::Duration;
use tokio::runtime::Handle;
use zeroize::Zeroize;

/// Before the first try again; each rest is twice as long as the one before.
const FIRST_REST: Duration = Duration::from_millis(5);
/// The longest rest.
const REST_MAX: Duration = Duration::from_secs(1);
/// Tries, over half an hour: longer than a connection is kept idle.
const TRIES_MAX: usize = 2_000;

/// Bytes that are zeroed after they are dropped.
#[derive(Default)]
pub struct Secrets(Vec<Bytes>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    /// Holds these too.
    pub fn hold(&mut self, bytes: Bytes) {
        self.0.push(bytes);
    }
}

impl Drop for Secrets {
    fn drop(&mut self) {
        let held = zero(std::mem::take(&mut self.0));
        if !held.is_empty()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(zero_all(held));
        }
    }
}

async fn zero_all(mut held: Vec<Bytes>) {
    let mut rest = FIRST_REST;
    for _ in 0..TRIES_MAX {
        tokio::time::sleep(rest).await;
        held = zero(held);
        if held.is_empty() {
            return;
        }
        rest = (rest * 2).min(REST_MAX);
    }
}

/// Zeroes what is in nobody else's hands, and gives back the rest.
fn zero(held: Vec<Bytes>) -> Vec<Bytes> {
    let others = |bytes: Bytes| match bytes.try_into_mut() {
        Ok(mut own) => {
            own.as_mut().zeroize();
            None
        }
        Err(shared) => Some(shared),
    };
    held.into_iter().filter_map(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BytesMut;

    #[test]
    fn what_others_hold_is_left_and_the_rest_is_zeroed() {
        let mut buffer = BytesMut::from(&b"head4111111111111111tail"[..]);
        let _head = buffer.split_to(4);
        let body = buffer.split_to(16).freeze();
        let held = zero(vec![body.clone(), Bytes::from_static(b"never ours")]);
        assert_eq!(held.len(), 2, "the buffer has other parts, and a static text is nobody's");
        assert_eq!(&held[0][..], b"4111111111111111");
        drop((_head, buffer, body));
        assert_eq!(zero(held).len(), 1);
    }
}
