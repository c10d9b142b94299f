//! Bodies of answers: whole ones, and long ones that come in pieces. The next piece is made when
//! the connection takes it, never before: a caller that stops reading holds one piece in memory and
//! nothing else, no thread and no place among those at work.

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The body ended before it was whole: the connection is cut, so that nobody takes a part for all there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body ended before it was whole")]
pub struct Broken;

/// Nothing after the last one.
pub type Piece = Result<Option<(Bytes, Rest)>, Broken>;

/// Not made yet.
pub struct Rest(Pin<Box<dyn Future<Output = Piece> + Send>>);

impl Rest {
    pub fn new(next: impl Future<Output = Piece> + Send + 'static) -> Rest {
        Rest(Box::pin(next))
    }

    pub fn nothing() -> Rest {
        Rest::new(std::future::ready(Ok(None)))
    }
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rest")
    }
}

pub struct Body(Form);

enum Form {
    Whole(Full<Bytes>),
    Pieces(Pieces),
}

struct Pieces {
    ready: Option<Bytes>,
    rest: Option<Rest>,
    taken: Option<Box<dyn Fn() + Send>>,
}

impl Body {
    /// Its length is sent ahead.
    pub fn whole(bytes: Bytes) -> Body {
        Body(Form::Whole(Full::new(bytes)))
    }

    /// Nobody knows the length.
    pub fn pieces(first: Bytes, rest: Rest) -> Body {
        Body(Form::Pieces(Pieces { ready: Some(first), rest: Some(rest), taken: None }))
    }

    /// Called whenever a piece of the body is taken.
    pub fn noting(mut self, taken: impl Fn() + Send + 'static) -> Body {
        if let Form::Pieces(pieces) = &mut self.0 {
            pieces.taken = Some(Box::new(taken));
        }
        self
    }
}

impl Pieces {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        loop {
            // An empty chunk would end the body.
            if let Some(piece) = self.ready.take().filter(|piece| !piece.is_empty()) {
                self.taken.iter().for_each(|taken| taken());
                return Poll::Ready(Some(Ok(piece)));
            }
            let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
            match std::task::ready!(rest.0.as_mut().poll(cx)) {
                Ok(Some((piece, rest))) => (self.ready, self.rest) = (Some(piece), Some(rest)),
                Ok(None) => self.rest = None,
                Err(broken) => {
                    self.rest = None;
                    return Poll::Ready(Some(Err(broken)));
                }
            }
        }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match &mut self.0 {
            Form::Whole(full) => Pin::new(full).poll_frame(cx).map_err(|never: Infallible| match never {}),
            Form::Pieces(pieces) => pieces.poll_piece(cx).map_ok(Frame::data),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Form::Whole(full) => full.is_end_stream(),
            Form::Pieces(pieces) => pieces.ready.is_none() && pieces.rest.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Form::Whole(full) => full.size_hint(),
            Form::Pieces(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn numbers(from: usize, to: usize, made: Arc<AtomicUsize>) -> Rest {
        Rest::new(async move {
            if from == to {
                return Ok(None);
            }
            made.fetch_add(1, Ordering::Relaxed);
            // An empty piece in between is none.
            let piece = if from == 2 { Bytes::new() } else { from.to_string().into() };
            Ok(Some((piece, numbers(from + 1, to, made))))
        })
    }

    #[tokio::test]
    async fn a_piece_is_made_when_the_one_before_was_taken() {
        let (made, taken) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&taken);
        let mut body = Body::pieces("0".into(), numbers(1, 4, Arc::clone(&made))).noting(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(body.size_hint().exact(), None);
        let first = body.frame().await.expect("a frame").expect("sound").into_data().expect("data");
        assert_eq!((&first[..], made.load(Ordering::Relaxed)), (&b"0"[..], 0));
        assert_eq!(&body.collect().await.expect("sound").to_bytes()[..], b"13");
        assert_eq!((made.load(Ordering::Relaxed), taken.load(Ordering::Relaxed)), (3, 3));
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_says_so() {
        let broken = Body::pieces("a".into(), Rest::new(std::future::ready(Err(Broken))));
        assert!(broken.collect().await.is_err());
        let whole = Body::pieces("a".into(), Rest::nothing());
        assert_eq!(&whole.collect().await.expect("sound").to_bytes()[..], b"a");
    }
}
