//! The prompts of agents: what to do, step by step, with the tools; and what the person gave, as it was given.

use api::openapi::tools::Arguments;
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

struct Recipe {
    name: &'static str,
    about: &'static str,
    /// Names, what they are, and whether they are needed.
    arguments: &'static [(&'static str, &'static str, bool)],
    steps: &'static str,
}

const RECIPES: [Recipe; 4] = [
    Recipe {
        name: "collect from a buyer",
        about: "Charge a buyer once, by the way that suits them",
        arguments: &[
            ("amount", "How much, with its currency", true),
            ("buyer", "Who pays: phone, identity document, bank", false),
            ("externalRef", "Your own reference, such as the order's number", false),
        ],
        steps: "Collect this from a buyer.\n\
            1. listPaymentMethods says what can be offered now; choose with the person, and ask for what is missing.\n\
            2. C2P: requestC2p, let the buyer give the key of their bank, then executeC2p with the intentId. Pesos: \
            createCopPayment. Without the buyer's details: createPaymentLink, and give the link.\n\
            3. Use one externalRef for the order. A code is the buyer's: ask for it, never guess it. No card numbers: \
            cards are for the pages of a payment link.\n\
            4. 202 or PENDING: ask with getPaymentByRef until it is decided; never charge again meanwhile.\n\
            5. Say what was collected, the fee, and when it is available (availableAt).",
    },
    Recipe {
        name: "pay my sellers",
        about: "Pay out what sellers have earned",
        arguments: &[
            ("sellers", "Whom to pay: names or merchant ids; all if it is missing", false),
            ("amounts", "How much each gets; all that is available if it is missing", false),
            ("concepto", "What the bank shows them", false),
        ],
        steps: "Pay sellers.\n\
            1. listMerchants finds them; getMerchantBalance says what each has available, listPayoutMethods whether a \
            payout method is verified. Leave out whoever has none, and say so.\n\
            2. Show the person the list of names, amounts and the sum, and wait for a yes.\n\
            3. createPayoutBatch, or createPayout for one, first with dryRun: true. Take an externalRef for each that \
            is the same if this is done again, such as the seller and the day.\n\
            4. Make the same call without dryRun. awaiting_approval: a person has to decide, so do not repeat it under \
            another reference; getApproval says what they decided.\n\
            5. getPayoutBatch or getPayoutByRef says who was paid. What failed gave its money back: say why, by \
            failureCode.",
    },
    Recipe {
        name: "why was this payment refused",
        about: "Find out what happened to a payment or payout, and what to do next",
        arguments: &[("payment", "Its id, your reference, the bank's reference, or a requestId", true)],
        steps: "Find out why this was refused.\n\
            1. search finds it by whatever was given; getPayment, getPaymentByRef, getPayout or getPayoutByRef show it \
            whole; getRequest shows a call by its requestId.\n\
            2. failureCode is the bank's reason; an error code is explained by the resource \
            pasarela://errors/{error}.\n\
            3. Say in plain words what happened, whether money moved, and the next step. Charge nothing anew without \
            being asked.",
    },
    Recipe {
        name: "reconcile yesterday",
        about: "Compare a day's statement with your own records",
        arguments: &[
            ("date", "The day, YYYY-MM-DD in Caracas; yesterday if it is missing", false),
            ("records", "Your own list of the day: references and amounts", false),
        ],
        steps: "Reconcile a day.\n\
            1. getStatement has the day: opening and closing balance and the sums between. listMovements has its \
            movements, page by page to the end (nextCursor).\n\
            2. The opening balance and all movements make the closing balance: check it with exact decimals.\n\
            3. Compare each movement with the records that were given, by externalRef and amount. Without records, \
            name what is unusual: failed payouts, reversals, chargebacks, what is still pending.\n\
            4. Report sums by kind, and each difference with its references. Move no money.",
    },
];

pub(super) fn all() -> Vec<Prompt> {
    let prompt = |recipe: &Recipe| {
        let arguments = recipe.arguments.iter().map(|(name, about, required)| {
            PromptArgument::new(*name).with_description(*about).with_required(*required)
        });
        Prompt::new(recipe.name, Some(recipe.about), Some(arguments.collect()))
    };
    RECIPES.iter().map(prompt).collect()
}

pub(super) fn get(name: &str, given: &Arguments) -> Result<GetPromptResult, ErrorData> {
    let Some(recipe) = RECIPES.iter().find(|recipe| recipe.name == name) else {
        return Err(ErrorData::invalid_params(
            "there is no prompt with this name: prompts/list has them",
            None,
        ));
    };
    let mut text = recipe.steps.to_owned();
    for (name, _, required) in recipe.arguments {
        match given.get(*name) {
            Some(Value::String(value)) => text.push_str(&format!("\n\n{name}: {value}")),
            None if !required => {}
            _ => {
                let why = format!(
                    "the argument {name} must be a text{}",
                    if *required { ", and is required" } else { "" }
                );
                return Err(ErrorData::invalid_params(why, None));
            }
        }
    }
    if let Some(name) = given.keys().find(|name| recipe.arguments.iter().all(|(known, ..)| known != name)) {
        let names: Vec<&str> = recipe.arguments.iter().map(|(name, ..)| *name).collect();
        let why = format!("{name:.64} is none of this prompt's arguments: {}", names.join(", "));
        return Err(ErrorData::invalid_params(why, None));
    }
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(recipe.about))
}
