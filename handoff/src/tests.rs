//! Each once, as it is meant.

mod mailbox {
    use crate::*;

    #[test]
    fn a_burst_wakes_the_consumer_once() {
        let mailbox = Mailbox::new();
        assert!(mailbox.push(1), "it sleeps");
        assert!(!mailbox.push(2) && !mailbox.request_read(), "it was woken");
        mailbox.begin();
        assert_eq!((mailbox.pop(), mailbox.len()), (Some(1), 1));
        assert!(mailbox.push(3), "it reads, and may have had its last look");
        assert_eq!((mailbox.pop(), mailbox.pop(), mailbox.pop()), (Some(2), Some(3), None));
        assert!(mailbox.is_empty());
    }
}

mod gated {
    use crate::*;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn it_is_polled_at_first_when_it_called_and_for_another_task() {
        let polls = AtomicUsize::new(0);
        let to_call = Mutex::new(None);
        let mut future = pin!(poll_fn(|cx| {
            *to_call.lock().expect("nobody panics with it") = Some(cx.waker().clone());
            if polls.fetch_add(1, Ordering::SeqCst) == 2 { Poll::Ready(7) } else { Poll::Pending }
        }));
        let (one, other) = (Arc::new(Woken(AtomicUsize::new(0))), Arc::new(Woken(AtomicUsize::new(0))));
        let (mine, another) = (Waker::from(Arc::clone(&one)), Waker::from(Arc::clone(&other)));
        let mut gated = Gated::default();
        for _ in 0..3 {
            assert!(gated.poll(future.as_mut(), &mut Context::from_waker(&mine)).is_pending());
        }
        assert_eq!(polls.load(Ordering::SeqCst), 1, "it said nothing");
        assert!(gated.poll(future.as_mut(), &mut Context::from_waker(&another)).is_pending());
        assert_eq!(polls.load(Ordering::SeqCst), 2, "whom it knew is not who waits now");
        assert!(gated.poll(future.as_mut(), &mut Context::from_waker(&another)).is_pending());
        to_call.lock().expect("nobody panics with it").take().expect("it was polled").wake();
        assert_eq!((one.0.load(Ordering::SeqCst), other.0.load(Ordering::SeqCst)), (0, 1));
        assert_eq!(gated.poll(future.as_mut(), &mut Context::from_waker(&another)), Poll::Ready(7));
    }
}
