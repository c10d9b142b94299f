//! The page of a payment link: what is sold, how many, and by what it is paid.

use super::figures::dollars;
use super::session::{Choice, choices};
use super::{Shell, page};
use crate::checkout::calls::OnSale;
use crate::checkout::words::Language;
use crate::gateway::services::Services;
use crate::http::respond::Reply;
use crate::pages::form::Form;
use api::checkout::{offers, priced};
use api::problem::Problem;
use askama::Template;
use domain::entities::session::Way;

#[derive(Template)]
#[template(path = "link.html", config = "src/checkout/askama.toml")]
struct LinkPage {
    shell: Shell,
    slug: String,
    name: String,
    description: Option<String>,
    price: String,
    quantity: Option<Quantity>,
    choices: Vec<Choice>,
}

struct Quantity {
    value: String,
    max: u16,
    wrong: bool,
}

pub fn link(services: &Services, sale: &OnSale, query: Option<&str>) -> Result<Reply, Problem> {
    show_link(services, sale, Language::from_code(Form::query(query).get("lang")), None, 200)
}

/// The page of a link; with what was typed as the quantity when that cannot be.
pub fn show_link(
    services: &Services,
    sale: &OnSale,
    language: Language,
    wrong_quantity: Option<&str>,
    status: u16,
) -> Result<Reply, Problem> {
    let (product, link) = (&sale.product, &sale.link);
    let shell = Shell::of(&sale.shop, language, format!("{} · {}", product.name, sale.shop.name()));
    let market = sale.shop.market(services);
    let mut choices = choices(
        &offers(product.price, link.allow_quantity, |_| true, &market, &services.banks.now()),
        product.price,
        None,
        language,
    );
    if link.allow_quantity {
        let least = (1..=link.max_quantity)
            .find(|quantity| priced(product, link, *quantity).is_ok_and(|total| market.pesos(total).is_ok()));
        for choice in &mut choices {
            // The totals are those of one; how many it will be is not known yet.
            choice.total = None;
            if choice.code == Way::Cop.name() {
                choice.least = least;
            }
        }
    }
    let value = wrong_quantity.unwrap_or("1").to_owned();
    let quantity = link.allow_quantity.then(|| Quantity {
        value,
        // The price of many of them may be more than can be paid at once.
        max: (1..=link.max_quantity).rev().find(|some| priced(product, link, *some).is_ok()).unwrap_or(1),
        wrong: wrong_quantity.is_some(),
    });
    let price = dollars(product.price, language);
    let (slug, name, description) = (link.slug.clone(), product.name.clone(), product.description.clone());
    page(status, LinkPage { shell, slug, name, description, price, quantity, choices }.render(), None)
}

#[cfg(test)]
mod tests {
    use super::super::skeleton_tests::{harmless, shell, skeleton, texts};
    use super::*;
    use proptest::prelude::*;

    fn page(text: &[String]) -> String {
        let page = LinkPage {
            shell: shell(&text[0]),
            slug: text[1].clone(),
            name: text[2].clone(),
            description: Some(text[3].clone()),
            price: text[4].clone(),
            quantity: Some(Quantity { value: text[5].clone(), max: 9, wrong: true }),
            choices: Vec::new(),
        };
        page.render().expect("a page is made")
    }

    proptest! {
        #[test]
        fn no_text_changes_the_skeleton_of_a_page(text in texts(6)) {
            prop_assert_eq!(skeleton(&page(&text)), skeleton(&page(&harmless(&text))));
        }
    }
}
