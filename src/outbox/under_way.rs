//! The orders on their way to the bank of test mode. A machine of a cluster makes sure that it
//! leads before each call, and test clocks move over a minute at once: a question could reach the
//! bank before the order that it is about, and have that sent again. So a question waits until the
//! order that was begun before it has been answered or given up.

use dashmap::DashMap;
use domain::values::ids::Id;
use std::sync::Arc;
use tokio::sync::watch;

/// Clones are the same orders.
#[derive(Clone, Default)]
pub struct UnderWay {
    orders: Arc<DashMap<Id, watch::Receiver<()>>>,
}

impl UnderWay {
    /// The order is on its way until the result is dropped.
    pub fn begin(&self, operation: Id) -> Sending {
        let (ended, until) = watch::channel(());
        self.orders.insert(operation, until);
        Sending { under_way: self.clone(), operation, ended }
    }

    pub fn ended(&self, operation: Id) -> impl Future<Output = ()> + Send + use<> {
        let until = self.orders.get(&operation).map(|until| until.value().clone());
        async move {
            if let Some(mut until) = until {
                // The sender says nothing; it goes when the order has ended.
                let _ = until.changed().await;
            }
        }
    }
}

pub struct Sending {
    under_way: UnderWay,
    operation: Id,
    ended: watch::Sender<()>,
}

impl Drop for Sending {
    fn drop(&mut self) {
        let is_own = |_: &Id, until: &watch::Receiver<()>| until.same_channel(&self.ended.subscribe());
        self.under_way.orders.remove_if(&self.operation, is_own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Waker};

    #[test]
    fn a_question_waits_for_the_order_before_it_and_for_no_other() {
        let under_way = UnderWay::default();
        let [asked, other] = [1, 2].map(|number| Id::from(uuid::Uuid::from_u128(number)));
        let sending = under_way.begin(asked);
        let mut question = pin!(under_way.ended(asked));
        let mut context = Context::from_waker(Waker::noop());
        assert!(question.as_mut().poll(&mut context).is_pending());
        assert!(pin!(under_way.ended(other)).poll(&mut context).is_ready());
        drop(sending);
        assert!(question.poll(&mut context).is_ready());
        assert!(pin!(under_way.ended(asked)).poll(&mut context).is_ready());
        // Sent once more: the end of the first does not end the second.
        let (first, second) = (under_way.begin(asked), under_way.begin(asked));
        drop(first);
        assert!(pin!(under_way.ended(asked)).poll(&mut context).is_pending());
        drop(second);
        assert!(under_way.orders.is_empty(), "nothing stays");
    }
}
