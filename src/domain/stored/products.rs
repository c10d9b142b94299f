//! Products and payment links.

use crate::resources::products;
use crate::stored::layout::layout;
use crate::stored::values::Id;
use crate::stored::values::Rate;
use crate::stored::values::Timestamp;
use crate::stored::values::Usd;

layout! {
    struct Product of products::Product {
        id: Id,
        name: String,
        price: Usd,
        description: Option<String>,
        image_url: Option<String>,
        active: bool,
        links: Vec<Link>,
        last_link: u16,
        livemode: bool,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
}

layout! {
    enum LinkStatus of products::LinkStatus {
        0 Active,
        1 Disabled,
    }
}

layout! {
    struct Link of products::Link {
        id: Id,
        slug: String,
        status: LinkStatus,
        allow_quantity: bool,
        max_quantity: u16,
        redirect_url: Option<String>,
        marketplace: Option<(Id, Rate)>,
        created_at: Timestamp,
    }
}
