"""Names: of methods from operation ids, in the style of each language.

An operation id such as `getPaymentByRef` stands in the description under a tag. The tag becomes an attribute of the
client (`client.payments`), and the noun that it says already is left out of the method: `client.payments.get_by_ref`.
"""

import re

# Tags whose attribute and noun are others than their own word: the attribute of the client, and the words that methods
# under it need not repeat.
GROUPS = {
    "Balance": ("balance", ["Balance"]),
    "Statements": ("statements", ["Statement"]),
    "USDT": ("usdt", ["Crypto"]),
    "Colombian pesos": ("cop", ["Cop"]),
    "Products and links": ("products", ["Product", "Products", "Payment"]),
    "Checkout sessions": ("checkout_sessions", ["Checkout", "Session", "Sessions"]),
    "Checkout page": ("checkout_page", ["Checkout"]),
    "Webhook endpoints": ("webhooks", ["Webhook", "Webhooks"]),
    "Approvals": ("approvals", ["Approval", "Approvals", "Call"]),
    "Reference": ("reference", []),
    "Finding things": ("finding", []),
    "Public rates and fees": ("rates", []),
    "Test mode": ("test", ["Test"]),
    "Health": ("health", ["Health"]),
}


def group(tag: str) -> tuple[str, list[str]]:
    """The attribute of a tag and the words that its methods leave out: `Payments` is payments, without Payment, Payments."""
    if tag in GROUPS:
        return GROUPS[tag]
    said = [word[0].upper() + word[1:] for word in words(tag)]
    return snake(tag), [*(word.removesuffix("s") for word in said if word.endswith("s")), *said]


def words(name: str) -> list[str]:
    """The words of a name in camel, snake or kebab case: `getPaymentByRef` is get, Payment, By, Ref."""
    return re.findall(r"[A-Z]+(?![a-z0-9])|[A-Z][a-z0-9]*|[a-z0-9]+", name)


def snake(name: str) -> str:
    return "_".join(words(name)).lower()


def camel(name: str) -> str:
    first, *rest = words(name)
    return first.lower() + "".join(word[0].upper() + word[1:] for word in rest)


def pascal(name: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in words(name))


def method(tag: str, operation_id: str) -> str:
    """The method's name in camel case. A verb alone would say nothing of what: `verifyPayoutMethod` of merchants stays whole."""
    spoken = group(tag)[1]
    kept = words(operation_id)
    kept = [kept[0], *(word for word in kept[1:] if word not in spoken)]
    return camel("".join(word[0].upper() + word[1:] for word in kept))
