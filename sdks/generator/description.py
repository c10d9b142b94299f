"""The description as the generators need it: models with fields, groups of operations.

Reads the server's OpenAPI document and nothing else. What it does not understand it refuses, so that a new construct
in the description is noticed here and not by a user of an SDK.
"""

import re
from dataclasses import dataclass, field

from . import names


class NotUnderstood(Exception):
    """A construct of the description that no generator knows."""


@dataclass(frozen=True)
class Type:
    """A type of a value. `kind` is one of text, integer, boolean, decimal, time, date, any, object, model, list, union."""

    kind: str
    values: tuple[str, ...] = ()  # of text: the only ones
    wire: str = "text"  # of decimal: text or number
    places: int | None = None  # of decimal: exactly so many, if the server wants exactly so many
    name: str = ""  # of model
    of: tuple["Type", ...] = ()  # of list, union
    nullable: bool = False


@dataclass
class Field:
    wire: str
    type: Type
    required: bool
    description: str
    secret: bool


@dataclass
class Model:
    name: str
    description: str
    fields: list[Field] = field(default_factory=list)


@dataclass
class Operation:
    id: str
    method: str  # in camel case
    verb: str
    path: str
    summary: str
    description: str
    path_parameters: list[Field]
    query: list[Field]
    headers: list[Field]
    body: Model | None
    body_required: bool
    result: Type | None  # None: the bytes of one of `media`
    media: list[str]
    keyed: bool  # takes an Idempotency-Key
    rehearsed: bool  # may be asked to do nothing and to show what it would do
    paged: str | None  # the model of an item, of a list with pages
    auth: str  # key, secret or none
    problems: list[str]  # codes that it may answer, beside those of every call

    @property
    def leading(self) -> list[Field]:
        """What a call names by position: the parts of the path, or the one thing that a read asks for."""
        asked = [field for field in self.query if field.required]
        return self.path_parameters or (asked if len(asked) == 1 and not self.body else [])

    @property
    def named(self) -> list[Field]:
        """What a call names by name: the members of the body, the rest of the query, headers. Required ones first."""
        rest = [field for field in self.query if field not in self.leading]
        return sorted([*(self.body.fields if self.body else []), *rest, *self.headers], key=lambda field: not field.required)


@dataclass
class Group:
    tag: str
    attribute: str  # in snake case
    description: str
    operations: list[Operation] = field(default_factory=list)


@dataclass
class Api:
    version: str
    models: dict[str, Model]
    groups: list[Group]
    events: dict[str, tuple[str, Type]]  # name: what it says, its data


# Members that must not come into a log with the object that they are in.
SECRETS = {"number", "cvv", "token", "otp", "secret", "clientSecret"}
# Problems that every call may meet: what a method says of problems is what is its own.
COMMON = set(
    """account_halted clock_stepped idempotency_in_progress idempotency_key_reused internal_error invalid_data invalid_json live_mode_not_activated
    no_leader overloaded payload_too_large rate_limited record_too_large request_timeout scope_missing shutting_down storage_unavailable tenant_moved tenant_moving unauthorized
    unsupported_media_type""".split()
)
# Lists that answer something else when a parameter is given: that use is a method of its own.
SPLIT = {"listMerchants": ("externalRef", "getMerchantByRef")}
# Of streams, whose lines no generated method carries.
OF_STREAMS = {"StreamCall", "StreamOutcome"}
# What the client itself sends, or what only makes sense for CSV.
LEFT_OUT = {"Separator", "RequestId", "IdempotencyKey", "DryRun"}


def read(document: dict, version: str) -> Api:
    reader = Reader(document)
    return Api(version, reader.models, reader.groups(), reader.events()) if reader.read_schemas() else None


def is_stream(described: dict) -> bool:
    return "application/x-ndjson" in described.get("requestBody", {}).get("content", {})


class Reader:
    def __init__(self, document: dict) -> None:
        self.document = document
        self.models: dict[str, Model] = {}

    def read_schemas(self) -> bool:
        for name, schema in self.document["components"]["schemas"].items():
            if name not in {"Error", "PublicError", *OF_STREAMS}:  # the errors are written by hand
                self.model(names.pascal(name), schema)
        return True

    def model(self, name: str, schema: dict) -> Type:
        if name in self.models:
            raise NotUnderstood(f"two models are called {name}")
        model = self.models[name] = Model(name, schema.get("description", ""))
        required = schema.get("required", [])
        for wire, member in schema["properties"].items():
            type = self.type(member, name + names.pascal(wire))
            described = schema["properties"][wire].get("description", "")
            model.fields.append(Field(wire, type, wire in required, described, wire in SECRETS and type.kind == "text"))
        return Type("model", name=name)

    def type(self, schema: dict, name: str) -> Type:
        if "$ref" in schema:
            return Type("model", name=names.pascal(schema["$ref"].split("/")[-1]))
        if "anyOf" in schema:
            return self.any_of(schema["anyOf"], name)
        if "const" in schema:
            return Type("text", values=(schema["const"],))
        kinds = schema.get("type", "any")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        nullable = "null" in kinds
        (kind,) = [kind for kind in kinds if kind != "null"]
        if kind == "any":
            return Type("any", nullable=True)
        if kind == "string":
            return self.text(schema, nullable)
        if kind == "number":
            return Type("decimal", wire="number", nullable=nullable)
        if kind in ("integer", "boolean"):
            return Type(kind, nullable=nullable)
        if kind == "array":
            return Type("list", of=(self.type(schema["items"], name + "Item"),), nullable=nullable)
        if kind == "object" and "properties" in schema:
            return nulled(self.model(name, schema), nullable)
        if kind == "object":
            return Type("object", nullable=nullable)
        raise NotUnderstood(f"{name}: {schema}")

    def text(self, schema: dict, nullable: bool) -> Type:
        if "enum" in schema:
            return Type("text", values=tuple(value for value in schema["enum"] if value is not None), nullable=nullable)
        if schema.get("format") == "date-time":
            return Type("time", nullable=nullable)
        if schema.get("format") == "date":
            return Type("date", nullable=nullable)
        pattern = schema.get("pattern", "")
        # A pattern of amounts takes ten in some form, and no number that begins with a zero, as codes of banks may.
        forms = [form for form in ("10", "10.00", "10.0000") if re.search(pattern, form)] if "[1-9]" in pattern else []
        if forms and not re.search(pattern, "010"):
            only = {"10.00": 2, "10.0000": 4}.get(forms[0]) if len(forms) == 1 else None
            return Type("decimal", wire="text", places=only, nullable=nullable)
        return Type("text", nullable=nullable)

    def any_of(self, schemas: list[dict], name: str) -> Type:
        nullable = {"type": "null"} in schemas
        schemas = [schema for schema in schemas if schema != {"type": "null"}]
        types = []
        for number, schema in enumerate(schemas):
            inline = name if number == 0 else f"{name}Error" if list(schema.get("properties", ())) == ["error"] else f"{name}{number + 1}"
            type = self.type(schema, inline)
            if type not in types:
                types.append(type)
        if any(type.kind == "decimal" for type in types):  # pesos are taken as a string or as an integer
            return Type("decimal", wire="text", nullable=nullable)
        if {type.kind for type in types} == {"integer", "text"}:  # a bank is taken by its number or by its code
            return Type("integer", nullable=nullable)
        return nulled(types[0] if len(types) == 1 else Type("union", of=tuple(types)), nullable)

    def groups(self) -> list[Group]:
        groups = {tag["name"]: Group(tag["name"], names.group(tag["name"])[0], tag["description"]) for tag in self.document["tags"]}
        for path, item in self.document["paths"].items():
            for verb, operation in item.items():
                if verb == "parameters" or is_stream(operation):
                    continue
                (tag,) = operation["tags"]
                groups[tag].operations.extend(self.operations(tag, verb, path, operation))
        for group in groups.values():
            methods = [operation.method for operation in group.operations]
            if len(methods) != len(set(methods)):
                raise NotUnderstood(f"two methods of {group.attribute} have one name: {sorted(methods)}")
        return [group for group in groups.values() if group.operations]

    def operations(self, tag: str, verb: str, path: str, described: dict) -> list[Operation]:
        operation = self.operation(tag, verb, path, described)
        if described["operationId"] not in SPLIT:
            return [operation]
        parameter, id = SPLIT[described["operationId"]]
        page, single = operation.result.of
        by_parameter = self.operation(tag, verb, path, described)
        (field,) = [field for field in by_parameter.query if field.wire == parameter]
        field.required = True
        by_parameter.id, by_parameter.method = id, names.method(tag, id)
        by_parameter.summary = f"{single.name} by your `{parameter}`"
        by_parameter.query, by_parameter.result, by_parameter.paged = [field], single, None
        operation.query = [field for field in operation.query if field.wire != parameter]
        operation.result, operation.paged = page, self.item_of_page(page)
        operation.summary = operation.summary.split(",")[0]
        return [operation, by_parameter]

    def operation(self, tag: str, verb: str, path: str, described: dict) -> Operation:
        id = described["operationId"]
        fields: dict[str, list[Field]] = {"path": [], "query": [], "header": []}
        references = set()
        for parameter in described.get("parameters", []):
            if "$ref" in parameter:
                references.add(parameter["$ref"].split("/")[-1])
                if parameter["$ref"].split("/")[-1] in LEFT_OUT:
                    continue
                parameter = self.document["components"]["parameters"][parameter["$ref"].split("/")[-1]]
            schema = parameter["schema"]
            words = parameter.get("description") or schema.get("description", "")
            type = self.type(schema, names.pascal(id) + names.pascal(parameter["name"]))
            fields[parameter["in"]].append(Field(parameter["name"], type, parameter.get("required", False), words, False))
        body = described.get("requestBody")
        model = None
        if body:
            model = self.models[self.type(body["content"]["application/json"]["schema"], "").name]
        result, media = self.result(id, described["responses"])
        paged = self.item_of_page(result) if {"Limit", "Cursor"} <= references and result.kind == "model" else None
        security = described.get("security") or [{}]
        auth = {"apiKey": "key", "clientSecret": "secret"}.get(next(iter(security[0]), ""), "none")
        answered = {code: answer for code, answer in described["responses"].items() if code[0] in "45"}
        problems = sorted({code for answer in answered.values() for code in re.findall(r"^- `(\w+)`", answer["description"], re.M)} - COMMON)
        return Operation(
            id, names.method(tag, id), verb.upper(), path, described["summary"], described.get("description", ""), fields["path"], fields["query"],
            fields["header"], model, bool(body and body.get("required")), result, media, "IdempotencyKey" in references, "DryRun" in references, paged, auth, problems,
        )  # fmt: skip

    def result(self, id: str, responses: dict) -> tuple[Type | None, list[str]]:
        """What a call answers when it is well; of several kinds of answers whichever came."""
        good = [answer["content"] for code, answer in responses.items() if code[0] == "2"]
        if "application/json" not in good[0]:
            return None, list(good[0])
        name = names.pascal(id) + "Result"
        if name in self.models:
            return Type("model", name=name), []
        schemas = []
        for content in good:
            schema = content["application/json"]["schema"]
            # Only keys with a mandate get it, which callers of other keys should not have to tell apart: it is read as
            # what was asked for, with its status alone, and its id in what is raw.
            awaiting = {"$ref": "#/components/schemas/AwaitingApproval"}
            parts = [part for part in schema.get("anyOf", [schema]) if part != awaiting]
            if parts and len(parts) < len(schema.get("anyOf", [schema])):
                schema = parts[0] if len(parts) == 1 else {"anyOf": parts}
            if schema != awaiting and schema not in schemas:
                schemas.append(schema)
        return (self.type(schemas[0], name) if len(schemas) == 1 else self.any_of(schemas, name)), []

    def item_of_page(self, page: Type) -> str:
        (items,) = [field for field in self.models[page.name].fields if field.wire == "items"]
        return items.type.of[0].name

    def events(self) -> dict[str, tuple[str, Type]]:
        events = {}
        for name, described in self.document["webhooks"].items():
            schema = described["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]["data"]
            events[name] = (described["post"]["summary"], self.type(schema, names.pascal(name.replace(".", "_")) + "Data"))
        return events


def nulled(type: Type, nullable: bool) -> Type:
    return Type(type.kind, type.values, type.wire, type.places, type.name, type.of, nullable) if nullable else type
