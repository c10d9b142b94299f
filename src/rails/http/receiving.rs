//! hyper reads an answer once it has written a request. Here what it writes goes nowhere, and what
//! it reads is the beginning that was read before, and then the bank's stream.

use super::connector::Wire;
use std::io::{Result, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub struct Receiving {
    /// And how many of the bytes hyper has taken.
    beginning: Vec<u8>,
    taken: usize,
    wire: Wire,
    /// hyper has written its request: an answer before it would be a fault to it.
    is_asked: bool,
}

impl Receiving {
    pub fn new(beginning: Vec<u8>, wire: Wire) -> Receiving {
        Receiving { beginning, taken: 0, wire, is_asked: false }
    }

    pub fn rest(self) -> Option<Wire> {
        (self.taken == self.beginning.len()).then_some(self.wire)
    }
}

impl AsyncRead for Receiving {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        if !self.is_asked {
            return Poll::Pending;
        }
        let left = &self.beginning[self.taken..];
        if left.is_empty() {
            return Pin::new(&mut self.wire).poll_read(cx, buf);
        }
        let count = left.len().min(buf.remaining());
        buf.put_slice(&left[..count]);
        self.taken += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Receiving {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        if !self.is_asked {
            self.is_asked = true;
            // The reader that was told to wait reads now.
            cx.waker().wake_by_ref();
        }
        Poll::Ready(std::io::sink().write(buf))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(cx)
    }
}
