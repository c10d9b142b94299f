//! The table of verbs against the table of routes, and against its own rules.

use super::*;
use crate::admin::routes::routes;

#[test]
fn every_call_of_the_operators_has_a_verb() {
    for route in routes() {
        let twin = all().any(|verb| verb.method == route.method.as_str() && verb.path == route.path);
        assert!(
            twin || !route.path.starts_with("/admin/"),
            "{} {} has no twin in the command line",
            route.method,
            route.path
        );
    }
}

#[test]
fn options_are_the_members_in_kebab_case() {
    for option in all().flat_map(|verb| verb.options) {
        let mut kebab = String::new();
        for letter in option.member.chars() {
            if letter.is_ascii_uppercase() {
                kebab.push('-');
            }
            kebab.push(letter.to_ascii_lowercase());
        }
        assert_eq!(option.long, kebab);
    }
}

#[test]
fn every_verb_shows_how_it_looks() {
    for verb in all() {
        assert!(
            verb.example.starts_with(format!("{} {}", verb.noun, verb.verb).trim()),
            "{} {}",
            verb.noun,
            verb.verb
        );
        let parameters = verb.path.split('/').filter(|part| part.starts_with(':')).count();
        assert_eq!(
            parameters,
            verb.operands.iter().filter(|operand| matches!(operand.fills, Fills::Path(_))).count(),
            "{}",
            verb.path
        );
    }
}
