//! `pasarela admin NOUN VERB`: the operators' API of the running server from the command line
//! (`docs/contract.md, 3.9`). `verbs.rs` has what each verb takes and which call it makes; everything
//! else is done once for all of them.

pub mod tables;
mod verbs;

use super::client::{self, Operators};
use super::{Failure, Settings, at, other, print};
use crate::pages::inside::segment;
use api::openapi::operation::{Fills, Operand};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Map, Value};
use std::io::IsTerminal;
use uuid::Uuid;
use verbs::{Command as Verb, Is};

const JSON: &str = "json";
const WIDE: &str = "wide";
const CSV: &str = "csv";
const ALL: &str = "all";
const AS: &str = "as";
const PAGE: usize = 100;
const KEY: &str = "idempotency-key";
const DRY_RUN: &str = "dry-run";

/// Tenants, keys, corrections, payouts, rates and the state of a running server
#[derive(Debug)]
pub struct Admin {
    matches: ArgMatches,
}

impl Args for Admin {
    fn augment_args(command: Command) -> Command {
        let mut command = command
            .about("Tenants, keys, corrections, payouts, rates and the state of a running server")
            .subcommand_required(true)
            .arg_required_else_help(true);
        for verb in verbs::ALL.iter().filter(|verb| verb.verb.is_empty()) {
            command = command.subcommand(asked(Command::new(verb.noun), verb));
        }
        for (noun, about) in verbs::NOUNS {
            let of_it = || verbs::ALL.iter().filter(|verb| verb.noun == *noun);
            let names: Vec<&str> = of_it().map(|verb| verb.verb).collect();
            let verbs = of_it().map(|verb| asked(Command::new(verb.verb), verb));
            command = command.subcommand(
                Command::new(*noun)
                    .about(format!("{about}: {}", names.join(", ")))
                    .subcommand_required(true)
                    .arg_required_else_help(true)
                    .subcommands(verbs),
            );
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Admin::augment_args(command)
    }
}

impl FromArgMatches for Admin {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Admin, clap::Error> {
        Ok(Admin { matches: matches.clone() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.matches = matches.clone();
        Ok(())
    }
}

fn asked(command: Command, verb: &'static Verb) -> Command {
    let mut command =
        command.about(verb.about).after_help(format!("Example: pasarela admin {}", verb.example));
    for (_, name, about) in &verb.ids {
        command = command.arg(Arg::new(*name).value_name(*name).help(*about).required(true));
    }
    if let Some(Operand { name, fills, about }) = verb.operand {
        let arg = Arg::new(name).value_name(name).help(about);
        command = command.arg(match fills {
            Fills::Option(option) => arg.required_unless_present(option).conflicts_with(option),
            _ => arg.required(true),
        });
    }
    for option in &verb.options {
        let arg = Arg::new(option.member)
            .long(option.long.as_str())
            .value_name(option.is.value_name())
            .help(option.about.as_str());
        // The API's own spelling is taken too.
        let arg = if option.member == option.long { arg } else { arg.alias(option.member) };
        command = command.arg(arg.required(option.required).allow_hyphen_values(option.is == Is::Text));
    }
    if verb.method == "POST" {
        let key = Arg::new(KEY).long(KEY).value_name("UUID").value_parser(clap::value_parser!(Uuid));
        command = command.arg(key.help(
            "Done once under this key for 24 hours, however often it is called; if it is \
             missing, one is made, and shown when no answer comes",
        ));
    }
    let json = Arg::new(JSON)
        .long(JSON)
        .action(ArgAction::SetTrue)
        .help("The API's JSON, as it is printed where stdout is no terminal");
    let flag = |name, help| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    command = command
        .arg(flag(WIDE, "A table as wide as it is, also where stdout is no terminal").conflicts_with(JSON))
        .arg(Arg::new(AS).long(AS).value_name("FILE").help(
            "The token in this file, or in NAME.token of the data directory, instead of the configured one",
        ));
    if verb.method != "GET" {
        command = command.arg(flag(
            DRY_RUN,
            "Show what the call would answer, post, hold, tell webhooks and ask of banks, and do nothing",
        ));
    }
    if verb.method == "GET" {
        command = command.arg(
            flag(CSV, "A whole list for a spreadsheet, as the API writes it")
                .conflicts_with_all([JSON, WIDE]),
        );
    }
    if verb.pages {
        command = command
            .arg(flag(ALL, "Every page, one after the other").conflicts_with_all([CSV, "cursor", "limit"]));
    }
    // The `about` of the settings would replace that of the verb, so the verb's is set last.
    Settings::augment_args(command.arg(json)).about(verb.about).long_about(None)
}

#[derive(Debug, PartialEq)]
struct Request {
    method: &'static str,
    path: String,
    body: Option<Value>,
    /// Of a POST: the call is done once under it.
    key: Option<Uuid>,
}

impl Admin {
    pub fn run(self) -> Result<(), Failure> {
        let Some((verb, matches)) = chosen(&self.matches) else {
            return Err(Failure::Other("name what to do; see pasarela admin --help".to_owned()));
        };
        let settings = Settings::from_arg_matches(matches).map_err(other)?;
        let config = settings.load()?;
        let asked = request(verb, matches)?;
        let operators = Operators::new(&config, matches.get_one::<String>(AS).map(String::as_str), None)?;
        let is = |name| matches.try_get_one::<bool>(name).is_ok_and(|flag| flag == Some(&true));
        let operators = operators.dry(is(DRY_RUN));
        let answer = match asked {
            asked if is(ALL) => all(&operators, &asked)?,
            Request { method, path, body, key } => {
                let form = if is(CSV) { client::CSV } else { client::JSON };
                operators.call((method, &path), form, body.as_ref(), key)?
            }
        };
        for warning in client::warnings(&answer) {
            eprintln!("pasarela: warning: {warning}");
        }
        let shown = match (is(WIDE), std::io::stdout().is_terminal() && !is(JSON) && !is(CSV)) {
            (true, _) => tables::readable(&answer, None),
            (false, true) => tables::readable(&answer, Some(terminal_width())),
            (false, false) => answer,
        };
        let shown = shown.trim_end_matches(['\r', '\n']);
        print(format!("{shown}\n").as_bytes())
    }
}

pub fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    size.ok().map(|size| usize::from(size.ws_col)).filter(|width| *width > 0).unwrap_or(80)
}

fn all(operators: &Operators, asked: &Request) -> Result<String, Failure> {
    let unreadable = || Failure::Other("the server's answer is no page of a list".to_owned());
    let (mut items, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut path = asked.path.clone();
        path.push(if path.contains('?') { '&' } else { '?' });
        path.push_str(&format!("limit={PAGE}"));
        if let Some(cursor) = &cursor {
            path.push_str(&format!("&cursor={}", segment(cursor)));
        }
        let page = operators.call((asked.method, &path), client::JSON, None, None)?;
        let mut page: Map<String, Value> = serde_json::from_str(&page).map_err(|_| unreadable())?;
        let Some(Value::Array(more)) = page.remove("items") else { return Err(unreadable()) };
        items.extend(more);
        match page.remove("nextCursor") {
            Some(Value::String(next)) => cursor = Some(next),
            _ => return Ok(serde_json::json!({ "items": items, "nextCursor": null }).to_string()),
        }
    }
}

fn chosen(matches: &ArgMatches) -> Option<(&'static Verb, &ArgMatches)> {
    let (noun, inner) = matches.subcommand()?;
    let (verb, inner) = inner.subcommand().unwrap_or(("", inner));
    verbs::ALL.iter().find(|known| known.noun == noun && known.verb == verb).map(|verb| (verb, inner))
}

fn request(verb: &Verb, matches: &ArgMatches) -> Result<Request, Failure> {
    let (mut path, mut query, mut body) = (verb.path.clone(), Vec::new(), Map::new());
    let (mut whole, mut file) = (None, None);
    let key = match verb.method {
        "POST" => Some(matches.get_one::<Uuid>(KEY).copied().map_or_else(random, Ok)?),
        _ => None,
    };
    for (parameter, name, _) in &verb.ids {
        if let Some(text) = matches.get_one::<String>(name) {
            path = path.replace(parameter, &segment(text));
        }
    }
    if let Some(Operand { name, fills, .. }) = verb.operand
        && let Some(text) = matches.get_one::<String>(name)
    {
        match fills {
            Fills::Option(member) => query.push(format!("{member}={}", segment(text))),
            Fills::Member(member) => _ = body.insert(member.to_owned(), Value::String(text.clone())),
            Fills::Directory(member) => {
                // The server has a working directory of its own.
                let absolute = std::path::absolute(text).map_err(|error| at(text.as_ref(), error))?;
                body.insert(member.to_owned(), Value::String(absolute.to_string_lossy().into_owned()));
            }
            Fills::Body => whole = Some(json(name, text)?),
            Fills::File => {
                let read = std::fs::read_to_string(text).map_err(|error| at(text.as_ref(), error))?;
                file = Some(Value::String(read));
            }
        }
    }
    for option in &verb.options {
        let member = option.member;
        let value = match matches.get_one::<String>(member) {
            Some(text) => option.is.read(&option.long, text)?,
            // A reference makes a repetition harmless; one that nobody chose is shown in the
            // answer. It follows from the key, so that a repeat under the same key is the same
            // request.
            None => match key.filter(|_| member == verbs::REFERENCE) {
                Some(key) => Value::String(format!("cli-{key}")),
                None => continue,
            },
        };
        // Beside a file there is no other body.
        match (if file.is_some() { "GET" } else { verb.method }, value) {
            ("GET" | "DELETE", Value::String(text)) => query.push(format!("{member}={}", segment(&text))),
            ("GET" | "DELETE", value) => query.push(format!("{member}={}", segment(&value.to_string()))),
            (_, value) => _ = body.insert(member.to_owned(), value),
        }
    }
    if !query.is_empty() {
        path = format!("{path}{}{}", if path.contains('?') { '&' } else { '?' }, query.join("&"));
    }
    let takes_body = matches!(verb.method, "POST" | "PATCH");
    let body = file.or(whole).or_else(|| takes_body.then_some(Value::Object(body)));
    Ok(Request { method: verb.method, path, body, key })
}

/// API keys that are made under it derive from it, so nobody may guess it.
fn random() -> Result<Uuid, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Failure::Other(format!("no randomness: {error}")))?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

impl Is {
    fn value_name(self) -> &'static str {
        match self {
            Is::Text => "TEXT",
            Is::Json => "JSON",
            Is::Truth => "true|false",
            Is::Whole => "NUMBER",
            Is::List => "A,B",
        }
    }

    fn read(self, name: &str, text: &str) -> Result<Value, Failure> {
        let bad = |what: &str| Failure::Other(format!("--{name}: {text:?} is no {what}"));
        match self {
            Is::Text => Ok(Value::String(text.to_owned())),
            Is::Json => json(name, text),
            Is::Truth => text.parse().map(Value::Bool).map_err(|_| bad("truth value; say true or false")),
            Is::Whole => text.parse::<i64>().map(Value::from).map_err(|_| bad("whole number")),
            Is::List => {
                Ok(Value::Array(text.split(',').map(|one| Value::String(one.trim().to_owned())).collect()))
            }
        }
    }
}

fn json(name: &str, text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Other(format!("{name}: is not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asks(line: &str) -> Result<Request, Failure> {
        let words = std::iter::once("admin").chain(line.split_whitespace());
        let matches = Admin::augment_args(Command::new("admin"))
            .try_get_matches_from(words)
            .map_err(|error| Failure::Other(error.to_string()))?;
        let (verb, matches) = chosen(&matches).ok_or_else(|| Failure::Other("nothing chosen".to_owned()))?;
        request(verb, matches)
    }

    #[track_caller]
    fn asks_for(line: &str, method: &str, path: &str, body: Option<Value>) {
        let asked = asks(line).expect(line);
        assert_eq!((asked.method, asked.path.as_str(), asked.body), (method, path, body), "{line}");
    }

    #[test]
    fn no_word_is_known_that_a_description_says() {
        let abouts: Vec<(&str, &str)> = verbs::ALL
            .iter()
            .flat_map(|verb| &verb.options)
            .map(|option| (option.member, option.about.as_str()))
            .collect();
        let idle: Vec<_> = verbs::WORDS.iter().filter(|known| !abouts.contains(known)).collect();
        assert!(idle.is_empty(), "{idle:?}");
    }

    #[test]
    fn the_command_line_is_a_sound_one() {
        Admin::augment_args(Command::new("admin")).debug_assert();
    }

    /// The words of an example, as a shell divides them.
    fn words(example: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        for letter in example.chars() {
            match (letter, quote) {
                ('"' | '\'', None) => quote = Some(letter),
                (letter, Some(open)) if letter == open => quote = None,
                (' ', None) => words.push(std::mem::take(&mut word)),
                _ => word.push(letter),
            }
        }
        words.push(word);
        words
    }

    #[test]
    fn every_command_is_there_and_takes_its_example() {
        let command = Admin::augment_args(Command::new("admin"));
        for verb in verbs::ALL.iter() {
            let words = std::iter::once("admin".to_owned()).chain(words(&verb.example));
            let matches = command.clone().try_get_matches_from(words).expect(&verb.example);
            let (chosen, _) = chosen(&matches).expect(&verb.example);
            assert_eq!((chosen.noun, chosen.verb), (verb.noun, verb.verb));
        }
    }

    #[test]
    fn verbs_become_calls() {
        asks_for(
            "tenant create --name Shop --settings {\"reserveVes\":\"1.00\"}",
            "POST",
            "/admin/tenants",
            Some(json!({ "name": "Shop", "settings": { "reserveVes": "1.00" } })),
        );
        asks_for("tenant list --limit 5", "GET", "/admin/tenants?limit=5", None);
        asks_for("tenant get T", "GET", "/admin/tenants/T", None);
        asks_for(
            "tenant settings T {\"cop\":{\"enabled\":false}}",
            "PATCH",
            "/admin/tenants/T/settings",
            Some(json!({ "cop": { "enabled": false } })),
        );
        asks_for(
            "tenant live-status T active --reason ok",
            "POST",
            "/admin/tenants/T/live-status",
            Some(json!({ "status": "active", "reason": "ok" })),
        );
        asks_for(
            "key create T --mode test --scopes read,payout",
            "POST",
            "/admin/tenants/T/keys",
            Some(json!({ "mode": "test", "scopes": ["read", "payout"] })),
        );
        asks_for("key list T", "GET", "/admin/tenants/T/keys", None);
        asks_for(
            "key rotate K --overlap-seconds 60",
            "POST",
            "/admin/keys/K/rotate",
            Some(json!({ "overlapSeconds": 60 })),
        );
        asks_for("key revoke K", "DELETE", "/admin/keys/K", None);
        asks_for(
            "adjustment create T --mode test --currency VES --amount=-5.00 --description d --external-ref r",
            "POST",
            "/admin/tenants/T/adjustments",
            Some(
                json!({ "mode": "test", "currency": "VES", "amount": "-5.00", "description": "d", "externalRef": "r" }),
            ),
        );
        asks_for(
            "chargeback close C --outcome won",
            "POST",
            "/admin/chargebacks/C/close",
            Some(json!({ "outcome": "won" })),
        );
        asks_for(
            "crypto-payout list --status pending_review",
            "GET",
            "/admin/crypto/payouts?status=pending_review",
            None,
        );
        asks_for(
            "crypto-payout reject P --reason no",
            "POST",
            "/admin/crypto/payouts/P/reject",
            Some(json!({ "reason": "no" })),
        );
        asks_for(
            "bank update 0102 --hidden true",
            "PATCH",
            "/admin/banks/0102",
            Some(json!({ "hidden": true })),
        );
        asks_for(
            "cop-payout fail P --failure-code AC01",
            "POST",
            "/admin/cop-payouts/P/fail",
            Some(json!({ "failureCode": "AC01" })),
        );
        asks_for("status", "GET", "/admin/status", None);
        asks_for("snapshot", "POST", "/admin/snapshot", Some(json!({})));
        asks_for("backup /somewhere/new", "POST", "/admin/backup", Some(json!({ "path": "/somewhere/new" })));
        asks_for("tenant get a/b?c", "GET", "/admin/tenants/a%2Fb%3Fc", None);
    }

    #[test]
    fn both_spellings_are_taken() {
        let (kebab, camel) = (
            "cop-payout create T --amount-cop 5 --external-ref r",
            "cop-payout create T --amountCop 5 --externalRef r",
        );
        let rest = " --idempotency-key 0f8fad5b-d9cb-469f-a165-70867728950e --mode test --bank B \
            --accountNumber 1 --account-type savings --holderName H --document-type CC --documentNumber 2";
        let asked = asks(&format!("{kebab}{rest}")).expect("kebab-case");
        assert_eq!(asked, asks(&format!("{camel}{rest}")).expect("camelCase"));
        assert_eq!(asked.body.expect("a body")["amountCop"], json!(5));
    }

    #[test]
    fn what_nobody_named_gets_a_reference_of_its_own() {
        let line = "adjustment create T --mode test --currency VES --amount 5.00 --description d";
        let (asked, another) = (asks(line).expect("sound"), asks(line).expect("sound"));
        let key = asked.key.expect("a key");
        assert_ne!(Some(key), another.key);
        assert_eq!(asked.body.as_ref().expect("a body")["externalRef"], format!("cli-{key}"));
        // A call under the key of one that was not answered is the same call, body and all.
        assert_eq!(asks(&format!("{line} --idempotency-key {key}")).expect("sound"), asked);
    }

    #[test]
    fn only_what_changes_something_has_a_key() {
        assert!(
            asks("snapshot").expect("sound").key.is_some()
                && asks("chargeback close C --outcome won").expect("sound").key.is_some()
        );
        assert_eq!(asks("tenant list").expect("sound").key, None);
        assert!(asks("tenant list --idempotency-key 0f8fad5b-d9cb-469f-a165-70867728950e").is_err());
        assert!(asks("snapshot --idempotency-key easy-to-guess").is_err());
        assert!(asks("snapshot --dry-run").is_ok() && asks("key revoke K --dry-run").is_ok());
        assert!(asks("tenant list --dry-run").is_err());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert!(asks("tenant settings T {").expect_err("no JSON").to_string().contains("JSON"));
        assert!(
            asks("bank update 0102 --hidden perhaps").expect_err("no truth").to_string().contains("--hidden")
        );
        assert!(asks("key create T").expect_err("no mode").to_string().contains("--mode"));
    }
}
