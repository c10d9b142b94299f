//! What may be done about a payment or payout now, in a sentence, so that support can say it to a
//! buyer who waits.

use super::Here;
use super::at_bank::{AnswerFrom, AtBank};
use crate::pages::show::str_of;
use crate::pages::view::{Block, Link};
use domain::resources::operations::Kind;
use serde_json::Value;

type Said = (&'static str, &'static str);

const AT_BANK: Said = (
    "El banco todavía no respondió con el resultado. El servidor le sigue preguntando, y nada se envía \
     dos veces. Si nadie puede decir qué pasó, pasa a Colas, y tesorería lo resuelve con el extracto a la \
     vista.",
    "The bank has not answered yet what became of it. The server keeps asking it, and nothing is sent \
     twice. If nobody can tell the outcome, it comes into Queues, and treasury resolves it with the \
     statement at hand.",
);
const UNASKABLE: Said = (
    "Nadie sabe todavía si el banco lo hizo, y no hay cómo preguntarle. Nada se envía dos veces. Se busca en \
     el extracto del banco, y quien es de tesorería la resuelve en esta página.",
    "Nobody knows yet whether the bank did it, and there is no way to ask. Nothing is sent twice. It is looked \
     up on the bank's statement, and whoever is of treasury resolves it on this page.",
);
const QUEUED: Said = (
    "Espera su turno: al banco todavía no se le envió nada. Sale solo cuando el banco vuelva a responder.",
    "It waits for its turn: nothing was sent to the bank yet. It goes out by itself once the bank answers \
     again.",
);
const IN_NETWORK: Said = (
    "La red todavía no lo confirma. El servidor la sigue mirando, y nada se paga dos veces.",
    "The network has not confirmed it yet. The server keeps watching it, and nothing is paid twice.",
);
const OF_BUYER: Said = (
    "Espera al comprador: todavía no entró nada. El servidor le sigue preguntando al procesador. Se puede \
     cancelar; si no, vence solo.",
    "It waits for the buyer: nothing has come in yet. The server keeps asking the processor. It can be \
     canceled; otherwise it expires by itself.",
);
const PESOS_CAME: Said = (
    "Los pesos entraron: el comercio los tiene, y los puede reintegrar desde el portal.",
    "The pesos came in: the tenant has them, and can refund them in the portal.",
);
const OF_PAYER: Said = (
    "Espera al pagador: todavía no se le cobró nada. Se puede cancelar; si no, vence solo.",
    "It waits for the payer, who has not been charged yet. It can be canceled; otherwise it expires by \
     itself.",
);
const CHARGED: Said = (
    "El dinero entró: el comercio lo tiene. Un C2P se reversa desde el portal en sus primeras 24 horas; \
     después, el comercio devuelve el dinero con un vuelto. Un cobro con tarjeta se disputa con un \
     contracargo.",
    "The money came in, and the tenant has it. A C2P payment can be reversed in the portal within 24 hours; \
     after that the tenant pays it back as change. A card payment is disputed by a chargeback.",
);
const NOT_CHARGED: Said = (
    "No se cobró por aquí. El código dice por qué; el pagador puede intentarlo de nuevo. Si su banco muestra \
     un débito, pide la referencia y búscala arriba.",
    "Nothing was charged here. The code says why; the payer may try again. If their bank shows a debit, ask \
     for its reference and search for it above.",
);
const TAKEN_BACK: Said = (
    "El banco se lo quitó al comercio por un contracargo. Si el comercio lo gana, el dinero vuelve a su saldo.",
    "The bank took it from the tenant by a chargeback. If the tenant wins it, the money comes back to the balance.",
);
const GIVEN_BACK: Said = (
    "El dinero volvió al pagador, con la referencia del reverso. Su banco puede tardar en mostrarlo.",
    "The money went back to the payer, under the reversal's reference. The payer's bank may take a while to \
     show it.",
);
const SENT: Said = (
    "El dinero llegó al banco del destinatario, con esta referencia. No hay más que hacer aquí.",
    "The money reached the recipient's bank, under this reference. There is nothing left to do here.",
);
const NOT_SENT: Said = (
    "No se envió: el monto volvió al saldo. El código dice por qué; vuelve a enviarlo con otra referencia.",
    "It was not sent: the amount is back in the balance. The code says why; order it again under another \
     reference.",
);
const TO_REVIEW: Said =
    ("Espera la revisión de tesorería, en Colas.", "It waits for treasury's review, in Queues.");
const BY_HAND: Said = (
    "Tesorería lo paga por su banco y anota la referencia en Colas.",
    "Treasury pays it through its bank and notes the reference in Queues.",
);

/// No bank has anything of the payment.
fn of_payment(status: &str, reversal: &str, is_of_pesos: bool) -> Option<Said> {
    Some(match status {
        "PENDING" => OF_PAYER,
        "pending" => OF_BUYER,
        "COMPLETED" | "completed" if is_of_pesos => PESOS_CAME,
        "COMPLETED" => CHARGED,
        "FAILED" | "CANCELED" | "failed" | "canceled" => NOT_CHARGED,
        "REVERSED" if reversal == "chargeback" => TAKEN_BACK,
        "REVERSED" | "refunded" => GIVEN_BACK,
        _ => return None,
    })
}

fn of_payout(status: &str, is_of_pesos: bool) -> Option<Said> {
    Some(match status {
        "pending" if is_of_pesos => BY_HAND,
        "pending" | "processing" => AT_BANK,
        "pending_review" => TO_REVIEW,
        "completed" => SENT,
        "failed" | "rejected" => NOT_SENT,
        _ => return None,
    })
}

const fn of_order(at_bank: &AtBank) -> Said {
    match (at_bank.standing, at_bank.operation.kind) {
        (AnswerFrom::Queued, _) => QUEUED,
        (AnswerFrom::Unaskable, _) => UNASKABLE,
        (AnswerFrom::Asked, Kind::CryptoPayout) => IN_NETWORK,
        (AnswerFrom::Asked, Kind::CopPayment) => OF_BUYER,
        (AnswerFrom::Asked, _) => AT_BANK,
    }
}

fn said(visit: &Here<'_>, said: Option<Said>, is_in_queues: bool) -> Vec<Block> {
    let Some(said) = said else { return Vec::new() };
    let heading = Block::Heading(visit.say("Qué se puede hacer", "What you can do").to_owned());
    let mut blocks = vec![heading, Block::Text(visit.say(said.0, said.1).to_owned())];
    if is_in_queues || [TO_REVIEW, BY_HAND].contains(&said) {
        blocks
            .push(Block::Links(vec![Link::new(visit.say("Ir a Colas", "Go to Queues"), "/console/queues")]));
    }
    blocks
}

pub fn on(visit: &Here<'_>, is_payment: bool, of: &Value, at_bank: Option<&AtBank>) -> Vec<Block> {
    let (status, is_of_pesos) = (str_of(of, "status"), !of["amountCop"].is_null());
    let sentence = match at_bank {
        Some(at_bank) => Some(of_order(at_bank)),
        None if is_payment => of_payment(status, str_of(of, "reversalType"), is_of_pesos),
        None => of_payout(status, is_of_pesos),
    };
    said(visit, sentence, at_bank.is_some_and(|at_bank| at_bank.is_unresolved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::entities::payment::Status;

    #[test]
    fn every_status_has_advice() {
        for status in Status::ALL {
            assert!(of_payment(status.name(), "", false).is_some(), "{}", status.name());
        }
        assert_eq!(of_payment("REVERSED", "chargeback", false), Some(TAKEN_BACK));
        for status in ["pending", "completed", "failed", "canceled", "refunded"] {
            assert!(of_payment(status, "", true).is_some(), "{status}");
        }
        for status in domain::entities::payout::Status::ALL {
            assert!(of_payout(status.name(), false).is_some(), "{}", status.name());
        }
    }
}
