"""The PHP SDK: a class per model with read-only properties, a class of methods per group, named arguments."""

import json
import re
import textwrap
from pathlib import Path

from . import names, shared
from .description import Api, Field, Group, Model, Operation, Type
from .typescript import inputs, literal

FOLDERS = ["php/src/Model", "php/src/Resource"]
HEAD = "<?php\n\n// Written by sdks/generate from the server's description: change that, not this.\n\ndeclare(strict_types=1);\n\nnamespace Pasarela{};\n\n"
OPTION_TYPES = {"timeout": "?float", "max_retries": "?int", "request_id": "?string"}
PACKAGE = Path(__file__).resolve().parent.parent / "php/composer.json"


def files(api: Api) -> dict[str, str]:
    pages = {operation.result.name for group in api.groups for operation in group.operations if operation.paged}
    bodies = {operation.body.name for group in api.groups for operation in group.operations if operation.body}
    asked = inside(api)
    version = HEAD.format("") + f"/** The version, which is the server's. */\nfinal class Version\n{{\n    public const VERSION = '{api.version}';\n}}\n"
    texts = {
        "php/composer.json": package(json.loads(PACKAGE.read_text())),
        "php/src/Version.php": version,
        "php/src/Shared.php": constants(),
        "php/src/Resource/Resources.php": resources(api),
        "php/src/Model/EventData.php": event_data(api),
    }
    for model in api.models.values():
        # A model that is only ever a whole body is the parameters of a method.
        if model.name not in pages and (model.name in asked or model.name not in bodies):
            texts[f"php/src/Model/{model.name}.php"] = model_class(model, model.name in asked)
    for group in api.groups:
        texts[f"php/src/Resource/{names.pascal(group.attribute)}.php"] = resource(group)
    return texts


def package(written: dict) -> str:
    """The package's description of itself, with what is the project's."""
    said = shared.package()
    project = {
        "name": written["name"],
        "version": said["version"],
        "description": shared.DESCRIPTION,
        "type": "library",
        "license": said["license"],
        "authors": [{"name": said["author"], "homepage": said["homepage"]}],
        "homepage": said["homepage"],
        "support": {"issues": said["issues"], "source": said["repository"], "docs": said["docs"]},
        "keywords": shared.KEYWORDS,
    }
    return json.dumps(project | {name: value for name, value in written.items() if name not in project}, indent=4, ensure_ascii=False) + "\n"


def constants() -> str:
    """Messages as `sprintf` takes them: what is filled in comes in the order of the message."""
    lines = ["/**", " * Messages, forms, limits, and codes that decide on a retry.", " *", " * @internal", " */", "final class Shared", "{"]
    for name, message in shared.messages("php").items():
        text = re.sub(r"{.*?}", "%s", message) if shared.blanks(message) else shared.plain(message)
        lines.append(f"    public const {name} = {literal(text)};")
    lines += ["    /** What a whole text has to match, as preg_match takes it. */"]
    lines += [f"    public const {name} = {literal(f'#^(?:{form})$#D')};" for name, form in shared.FORMS.items()]
    lines += [f"    public const {name} = {limit};" for name, limit in shared.LIMITS.items()]
    for name, (about, codes) in shared.CODES.items():
        lines += [f"    /** {about} */", f"    public const {name} = [{', '.join(map(literal, codes))}];"]
    head = HEAD.format("").replace("the server's description: change that, not this", "generator/shared.py")
    return head + "\n".join([*lines, "}"]) + "\n"


def inside(api: Api) -> set[str]:
    """The models that stand in what is asked, without whole bodies that stand in none."""
    members = [field.type for name in inputs(api) for field in api.models[name].fields]
    return {one.name for type in members for one in (type, *type.of) if one.kind == "model"}


def kind(type: Type) -> str:
    """How a value is written and read: see src/Json.php."""
    if type.kind == "list":
        return kind(type.of[0])
    if type.kind == "decimal":
        return "n" if type.wire == "number" else f"t{type.places or ''}"
    if type.kind in ("model", "union"):
        return "@" + "|".join(one.name for one in (type.of or (type,)))
    return "o" if type.kind == "object" else ""


def native(type: Type, asked: bool, prefix: str, optional: bool) -> str:
    """The type that PHP checks."""
    if type.kind == "any":
        return "mixed"
    plain = {
        "text": "string",
        "integer": "int",
        "boolean": "bool",
        "decimal": "string|int|float" if asked else "string",  # a float is refused at run time: without strict types PHP would make a text of it
        "time": "string|\\DateTimeInterface" if asked else "string",
        "date": "string",
        "object": "array",
        "list": "array",
        "model": prefix + type.name,
        "union": "|".join(prefix + one.name for one in type.of),
    }[type.kind]
    if not (type.nullable or optional):
        return plain
    return f"{plain}|null" if "|" in plain else f"?{plain}"


def documented(type: Type, prefix: str) -> str:
    """The type that analysers check, where it says more than PHP's; else nothing."""
    if type.kind == "text" and len(type.values) > 1:
        return "|".join(map(literal, type.values)) + ("|null" if type.nullable else "")
    if type.kind == "list":
        inner = documented(type.of[0], prefix) or native(type.of[0], False, prefix, False)
        return f"list<{inner}>" + ("|null" if type.nullable else "")
    return "array<string, mixed>" + ("|null" if type.nullable else "") if type.kind == "object" else ""


def comment(text: str, indent: str) -> list[str]:
    text = text.strip().replace("*/", "* /")
    if not text:
        return []
    lines = []
    for line in text.split("\n"):
        # Analysers read a type on the line of its tag: neither is broken, however long it is.
        whole = re.sub(r"^@\w+ (?:[^ ,]|, )+( \$\w+)?", lambda tag: tag[0].replace(" ", "\0"), line)
        deeper = "    " if line.startswith("@") else ""
        wrapped = textwrap.wrap(whole, 114 - len(indent), subsequent_indent=deeper, break_on_hyphens=False, break_long_words=False)
        lines += [one.replace("\0", " ") for one in wrapped] or [""]
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]


def event_data(api: Api) -> str:
    lines = ["/** What the data of an event is, by the event's name: kinds of Json. */", "final class EventData", "{", "    public const KINDS = ["]
    lines += [f"        {literal(name)} => {literal(kind(type))}," for name, (_, type) in api.events.items()]
    return HEAD.format("\\Model") + "\n".join([*lines, "    ];", "}"]) + "\n"


def model_class(model: Model, asked: bool) -> str:
    lines = [*comment(model.description or " ".join(names.words(model.name)).capitalize() + ".", ""), f"final class {model.name} extends Model", "{"]
    kinds = ", ".join(f"{literal(field.wire)} => {literal(kind(field.type))}" for field in model.fields)
    lines += [f"    public const WIRE = [{kinds}];"]
    lines += [f"    public const REQUIRED = [{', '.join(literal(field.wire) for field in model.fields if field.required)}];"]
    secret = [literal(field.wire) for field in model.fields if field.secret]
    lines += [f"    public const SECRET = [{', '.join(secret)}];"] if secret else []
    lines += [""]
    if not asked:
        for field in model.fields:
            known = documented(field.type, "")
            about = f"@var {known} {field.description}".strip() if known else field.description
            lines += [*comment(about, "    "), f"    public readonly {native(field.type, False, '', not field.required)} ${field.wire};"]
        return HEAD.format("\\Model") + "use Pasarela\\Model;\n\n" + "\n".join([*lines, "}"]) + "\n"
    ordered = sorted(model.fields, key=lambda field: not field.required)
    lines += comment("\n".join(filter(None, (param(field, "", field.wire) for field in ordered))), "    ")
    lines += ["    public function __construct("]
    for field in ordered:
        sensitive = "#[\\SensitiveParameter] " if field.secret else ""
        default = "" if field.required else " = null"
        lines.append(f"        {sensitive}public readonly {native(field.type, True, '', not field.required)} ${field.wire}{default},")
    lines += ["    ) {", "        parent::__construct();", "    }", "}"]
    return HEAD.format("\\Model") + "use Pasarela\\Model;\n\n" + "\n".join(lines) + "\n"


def param(field: Field, prefix: str, name: str) -> str:
    known = documented(field.type, prefix) or native(field.type, True, prefix, False).replace("|float", "")
    return f"@param {known} ${name} {field.description}" if field.description or documented(field.type, prefix) else ""


def resource(group: Group) -> str:
    models = "Model\\"
    lines = [*comment(group.description, ""), f"final class {names.pascal(group.attribute)}", "{"]
    lines += ["    /** @internal */", "    public function __construct(private readonly Session $session)", "    {", "    }"]
    for operation in group.operations:
        lines += ["", *method(operation, models)]
    code = "\n".join([*lines, "}"])
    uses = [f"use Pasarela\\{name};\n" for name in ("Call", "Model", "Page", "Session") if re.search(rf"\b{name}\b", code)]
    return HEAD.format("\\Resource") + "".join(uses) + "\n" + code + "\n"


def method(operation: Operation, models: str) -> list[str]:
    arguments = [*operation.leading, *operation.named]
    parameters = [parameter(field, models) for field in operation.leading]
    parameters += ["#[\\SensitiveParameter] string $clientSecret"] if operation.auth == "secret" else []
    parameters += [parameter(field, models) for field in operation.named]
    parameters += [f"string $media = {literal(operation.media[0])}"] if operation.media else []
    parameters += ["?string $idempotencyKey = null"] if operation.keyed else []
    parameters += [f"{OPTION_TYPES[name]} ${names.camel(name)} = null" for name in options(operation)]
    answered, generic, sent = result(operation, models)
    if operation.rehearsed:
        parameters.append("bool $dryRun = false")
        generic = f"($dryRun is true ? {models}DryRun : {generic or answered})"
        answered = f"{answered}|{models}DryRun"
        sent = sent.replace("$call, ", "$call, $dryRun ? '@DryRun' : ")
    text = f"{operation.summary}.\n\n{operation.description}\n\n"
    tags = [param(field, models, names.camel(field.wire)) for field in arguments]
    tags += [f"@param {'|'.join(map(literal, operation.media))} $media"] if operation.media else []
    tags += [f"@return {generic}"] if generic else []
    if operation.problems:
        tags.append("@throws \\Pasarela\\Exception\\ApiException beside the codes that every call has, with `error` " + ", ".join(f"`{code}`" for code in operation.problems))
    lines = [*comment(text + "\n".join(filter(None, tags)), "    "), f"    public function {operation.method}("]
    lines += [f"        {one}," for one in parameters] + [f"    ): {answered} {{"]
    lines += ["        $call = new Call("] + [f"            {one}," for one in call(operation)] + ["        );"]
    return [*lines, f"        return {sent};", "    }"]


def parameter(field: Field, models: str) -> str:
    sensitive = "#[\\SensitiveParameter] " if field.secret else ""
    default = "" if field.required else " = null"
    return f"{sensitive}{native(field.type, True, models, not field.required)} ${names.camel(field.wire)}{default}"


def call(operation: Operation) -> list[str]:
    parts = [literal(operation.verb), literal(operation.path)]
    if operation.path_parameters:
        parts.append(f"parts: [{', '.join('$' + names.camel(field.wire) for field in operation.path_parameters)}]")
    if operation.query:
        parts.append(f"query: [{', '.join(f'{literal(field.wire)} => ${names.camel(field.wire)}' for field in operation.query)}]")
    if operation.headers:
        parts.append(f"headers: [{', '.join(f'{literal(field.wire)} => ${names.camel(field.wire)}' for field in operation.headers)}]")
    if operation.body:
        members = [f"{literal(field.wire)} => [{literal(kind(field.type))}, ${names.camel(field.wire)}]" for field in operation.body.fields]
        parts += ["body: [" + ", ".join(members) + "]"]
    parts += ["keyed: true", "idempotencyKey: $idempotencyKey"] if operation.keyed else []
    parts += ["secret: $clientSecret"] if operation.auth == "secret" else []
    parts += ["usesKey: false"] if operation.auth == "none" else []
    parts += ["accept: $media"] if operation.media else []
    parts += ["dryRun: $dryRun"] if operation.rehearsed else []
    return [*parts, *(f"{names.camel(name)}: ${names.camel(name)}" for name in options(operation))]


def options(operation: Operation) -> list[str]:
    """What may be said about a call, unless its own parameters have that name."""
    own = {names.camel(field.wire) for field in (*operation.leading, *operation.named)}
    return [name for name in shared.OPTIONS if names.camel(name) not in own]


def result(operation: Operation, models: str) -> tuple[str, str, str]:
    """What PHP checks, what analysers check, and what is returned."""
    if operation.media:
        return "string", "", "$this->session->download($call)"
    if operation.paged:
        return "Page", f"Page<{models}{operation.paged}>", f"$this->session->page($call, '@{operation.paged}')"
    if operation.result.kind == "list":
        name = operation.result.of[0].name
        return "array", f"list<{models}{name}>", f"$this->session->model($call, '@{name}')"
    return native(operation.result, False, models, False), "", f"$this->session->model($call, {literal(kind(operation.result))})"


def resources(api: Api) -> str:
    lines = ["/** One property per chapter of the reference. */", "abstract class Resources", "{"]
    for group in api.groups:
        lines += [*comment(group.description, "    "), f"    public readonly {names.pascal(group.attribute)} ${names.camel(group.attribute)};"]
    lines += ["", "    public function __construct(Session $session)", "    {"]
    lines += [f"        $this->{names.camel(group.attribute)} = new {names.pascal(group.attribute)}($session);" for group in api.groups]
    return HEAD.format("\\Resource") + "use Pasarela\\Session;\n\n" + "\n".join([*lines, "    }", "}"]) + "\n"
