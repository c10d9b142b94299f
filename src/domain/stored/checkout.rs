//! Checkout sessions and their sales.

use crate::resources::checkout;
use crate::stored::layout::layout;
use crate::stored::values::Id;
use crate::stored::values::Rate;
use crate::stored::values::Timestamp;
use crate::stored::values::Usd;
use crate::stored::values::Ves;

layout! {
    enum Way of checkout::Way {
        0 C2p,
        1 Cop,
        2 Usdt,
        3 Card,
        4 PagoMovil,
    }
}

layout! {
    value Offered(Vec<Way>) of checkout::Offered;
}

layout! {
    struct Bought of checkout::Bought {
        link: Id,
        quantity: u16,
        chosen: bool,
        marketplace: Option<(Id, Rate)>,
    }
}

layout! {
    struct Session of checkout::Session {
        id: Id,
        amount: Usd,
        description: Option<String>,
        reference: Option<String>,
        success_url: Option<String>,
        cancel_url: Option<String>,
        offered: Offered,
        metadata: Option<String>,
        url: String,
        bought: Option<Bought>,
        livemode: bool,
        created_at: Timestamp,
        expires_at: Timestamp,
    }
}

layout! {
    struct Sale of checkout::Sale {
        session: Id,
        reference: Option<String>,
        metadata: Option<String>,
        link: Option<Id>,
        platform_fee: Option<Ves>,
    }
}
