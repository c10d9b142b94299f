"""The TypeScript SDK: models as interfaces, a class of methods per group, and which members are amounts."""

import json
import re
import textwrap
from pathlib import Path

from . import names, shared
from .description import Api, Field, Group, Model, Operation, Type

FOLDERS = ["typescript/src/generated"]
FOLDER = FOLDERS[0]
HEAD = "// {} Written by sdks/generate from the server's description: change that, not this.\n\n"
PACKAGE = Path(__file__).resolve().parent.parent / "typescript/package.json"


def files(api: Api) -> dict[str, str]:
    return {
        "typescript/package.json": package(json.loads(PACKAGE.read_text())),
        f"{FOLDER}/shared.ts": constants(),
        f"{FOLDER}/version.ts": HEAD.format("The version, which is the server's.") + f"export const VERSION = '{api.version}';\n",
        f"{FOLDER}/models.ts": models(api),
        f"{FOLDER}/shapes.ts": shapes(api),
        f"{FOLDER}/resources.ts": resources(api),
    }


def package(written: dict) -> str:
    """The package's description of itself, with what is the project's."""
    said = shared.package()
    project = {
        "name": written["name"],
        "version": said["version"],
        "description": shared.DESCRIPTION,
        "license": said["license"],
        "author": said["author"],
        "homepage": said["homepage"],
        "repository": {"type": "git", "url": f"git+{said['repository']}.git", "directory": "sdks/typescript"},
        "bugs": {"url": said["issues"]},
        "keywords": shared.KEYWORDS,
    }
    return json.dumps(project | {name: value for name, value in written.items() if name not in project}, indent=2, ensure_ascii=False) + "\n"


def constants() -> str:
    lines = []
    for name, message in shared.messages("typescript").items():
        blanks = shared.blanks(message)
        if blanks:
            filled = message.replace("{", "${")
            lines.append(f"export const {name} = ({', '.join(f'{blank}: string | number' for blank in blanks)}): string => `{filled}`;")
        else:
            lines.append(f"export const {name} = {literal(shared.plain(message))};")
    lines += ["", "/** What a whole text has to match. */"]
    lines += [f"export const {name} = /^(?:{form.replace('/', chr(92) + '/')})$/;" for name, form in shared.FORMS.items()]
    lines += [""] + [f"export const {name} = {limit};" for name, limit in shared.LIMITS.items()]
    for name, (about, codes) in shared.CODES.items():
        lines += ["", f"/** {about} */", f"export const {name}: ReadonlySet<string> = new Set([{', '.join(map(literal, codes))}]);"]
    return "// Messages, forms, limits, and codes that decide on a retry. Written by sdks/generate from generator/shared.py.\n\n" + "\n".join(lines) + "\n"


def inputs(api: Api) -> set[str]:
    """The models that are asked for: bodies, and what stands in them."""
    found: set[str] = set()

    def add(name: str) -> None:
        if name not in found:
            found.add(name)
            for field in api.models[name].fields:
                for one in (field.type, *field.type.of):
                    if one.kind == "model":
                        add(one.name)

    for group in api.groups:
        for operation in group.operations:
            if operation.body:
                add(operation.body.name)
    return found


def literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def hint(type: Type, asked: bool) -> str:
    if type.kind == "text":
        # A newer server may answer a new word: it is taken, and completed words stay completed.
        plain = " | ".join(map(literal, type.values)) + ("" if asked else " | (string & {})") if len(type.values) > 1 else " | ".join(map(literal, type.values)) or "string"
    elif type.kind == "list":
        inner = hint(type.of[0], asked)
        plain = f"{'readonly ' if asked else ''}{f'({inner})' if '|' in inner else inner}[]"
    elif type.kind == "union":
        plain = " | ".join(hint(one, asked) for one in type.of)
    elif type.kind == "model":
        plain = type.name
    elif type.kind == "decimal":
        plain = "Amount" if asked else "DecimalString"
    elif type.kind == "time" and asked:
        plain = "string | Date"
    elif type.kind in ("time", "date"):
        plain = "string"
    else:
        plain = {"integer": "number", "boolean": "boolean", "object": "Record<string, unknown>", "any": "unknown"}[type.kind]
    return f"{plain} | null" if type.nullable and plain != "unknown" else plain


def comment(text: str, indent: str = "") -> list[str]:
    text = text.strip().replace("*/", "* /")
    if not text:
        return []
    lines = [wrapped for line in text.split("\n") for wrapped in (textwrap.wrap(line, 112 - len(indent)) or [""])]
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]


def interface(name: str, description: str, fields: list[Field], asked: bool) -> list[str]:
    lines = [*comment(description), f"export interface {name} {{"]
    for field in fields:
        member = field.wire if re.fullmatch(r"\w+", field.wire) else names.camel(field.wire)
        kind = hint(field.type, asked)
        lines += [*comment(field.description, "  "), f"  {member}{'' if field.required else '?'}: {kind};"]
    return [*lines, "}", ""]


def params(group: Group, operation: Operation) -> str:
    """The name of the interface of what a call names, if it is no body."""
    return f"{names.pascal(group.attribute)}{names.pascal(operation.method)}Params"


def models(api: Api) -> str:
    asked = inputs(api)
    pages = {operation.result.name for group in api.groups for operation in group.operations if operation.paged}
    lines = []
    for model in api.models.values():
        if model.name not in pages:
            lines += interface(model.name, model.description, model.fields, model.name in asked)
    for group in api.groups:
        for operation in group.operations:
            if not operation.body and operation.named:
                lines += interface(params(group, operation), "", operation.named, True)
    lines += ["/** The data of each event, by its name. */", "export interface EventData {"]
    for name, (summary, type) in api.events.items():
        lines += [f"  /** {summary}. */", f"  {literal(name)}: {hint(type, False)};"]
    lines += ["  /** Sent by `webhooks.sendTestNotification`; it is no event. */", "  'notification.test': Record<string, unknown>;", "}"]
    return HEAD.format("The objects of the API.") + "import type { Amount, DecimalString } from '../money.js';\n\n" + "\n".join(lines) + "\n"


def shape_of(api: Api, model: Model) -> dict[str, str]:
    """The members that need care, with what they are: see src/wire.ts."""
    found = {}
    for field in model.fields:
        type = field.type.of[0] if field.type.kind == "list" else field.type
        if type.kind == "decimal":
            found[field.wire] = "n" if type.wire == "number" else f"t{type.places or ''}"
        elif type.kind in ("model", "union"):
            inner = [one.name for one in (type.of or (type,)) if shape_of(api, api.models[one.name])]
            if inner:
                found[field.wire] = "@" + "|".join(inner)
    return found | {"data": "#"} if model.name == "Event" else found


def shapes(api: Api) -> str:
    lines = ["import type { Shape } from '../wire.js';", "", "export const SHAPES: Readonly<Record<string, Shape>> = {"]
    for model in api.models.values():
        shape = shape_of(api, model)
        if shape:
            lines.append(f"  {model.name}: {{ {', '.join(f'{name}: {literal(kind)}' for name, kind in shape.items())} }},")
    lines += ["};", "", "export const EVENT_SHAPES: Readonly<Record<string, string>> = {"]
    for name, (_, type) in api.events.items():
        inner = [one.name for one in (type.of or (type,)) if shape_of(api, api.models[one.name])]
        if inner:
            lines.append(f"  {literal(name)}: {literal('|'.join(inner))},")
    return HEAD.format("Which members are amounts.") + "\n".join([*lines, "};"]) + "\n"


def resources(api: Api) -> str:
    lines = []
    for group in api.groups:
        lines += [*comment(group.description), f"export class {resource(group)} {{"]
        lines += ["  readonly #session: Session;", "", "  constructor(session: Session) {", "    this.#session = session;", "  }"]
        for operation in group.operations:
            lines += ["", *method(group, operation)]
        lines += ["}", ""]
    lines += ["/** One attribute per chapter of the reference. */", "export class Resources {"]
    for group in api.groups:
        lines += [*comment(group.description, "  "), f"  readonly {names.camel(group.attribute)}: {resource(group)};"]
    lines += ["", "  constructor(session: Session) {"]
    lines += [f"    this.{names.camel(group.attribute)} = new {resource(group)}(session);" for group in api.groups] + ["  }", "}"]
    code = "\n".join(lines)
    defined = [*api.models, *(params(group, operation) for group in api.groups for operation in group.operations)]
    used = sorted({name for name in defined if re.search(rf"\b{name}\b", re.sub(r"'[^']*'|/\*.*?\*/|export class \w+", "", code, flags=re.S))})
    head = "import type {\n" + "".join(f"  {name},\n" for name in used) + "} from './models.js';\n"
    head += "import type { Amount } from '../money.js';\n" if re.search(r"\bAmount\b", code) else ""
    head += "import type { Listing } from '../pages.js';\nimport type { CallOptions, DryRunOptions, KeyedOptions, Session } from '../session.js';\n\n"
    return HEAD.format("One method per call of the API.") + head + code + "\n"


def resource(group: Group) -> str:
    """The class of a group: not `Balance`, which is a model."""
    return names.pascal(group.attribute) + "Resource"


def method(group: Group, operation: Operation) -> list[str]:
    leading = [f"{names.camel(field.wire)}: {hint(field.type, True)}" for field in operation.leading]
    leading += ["clientSecret: string"] if operation.auth == "secret" else []
    named = operation.body.name if operation.body else params(group, operation)
    if operation.named:
        may_miss = not any(field.required for field in operation.named) and not operation.body_required
        leading.append(f"params: {named}{' = {}' if may_miss else ''}")
    if operation.media:
        leading.append(f"media: {' | '.join(map(literal, operation.media))} = {literal(operation.media[0])}")
    options = "KeyedOptions" if operation.keyed else "CallOptions"
    answered, sent = result(operation)
    lines = comment(words(operation), "  ")
    if operation.rehearsed:
        declared = [one.replace(": ", "?: ", 1).removesuffix(" = {}") if one.endswith(" = {}") else one for one in leading]
        dry = [one.replace("?: ", ": ", 1) for one in declared]
        lines += [f"  {operation.method}({', '.join([*dry, f'options: {options} & DryRunOptions'])}): Promise<DryRun>;"]
        lines += [f"  {operation.method}({', '.join([*declared, f'options?: {options}'])}): {answered};"]
        model = sent[1].removeprefix(", ")
        sent = (sent[0], f", options.dryRun ? 'DryRun' : {model}")
        leading.append(f"options: {options} & Partial<DryRunOptions> = {{}}")
        answered = answered.removesuffix(">") + " | DryRun>"
    else:
        leading.append(f"options: {options} = {{}}")
    lines += [f"  {operation.method}({', '.join(leading)}): {answered} {{"]
    return [*lines, f"    return {sent[0]}({{ {', '.join(call(operation))} }}{sent[1]}, options);", "  }"]


def result(operation: Operation) -> tuple[str, tuple[str, str]]:
    if operation.media:
        return "Promise<Uint8Array>", ("this.#session.download", "")
    model = operation.paged or (operation.result.of or (operation.result,))[0].name
    if operation.paged:
        return f"Listing<{model}>", ("this.#session.list", f", {literal(model)}")
    if operation.result.kind == "list":
        return f"Promise<{model}[]>", ("this.#session.model", f", {literal(model)}")
    if operation.result.kind == "union":
        return f"Promise<{hint(operation.result, False)}>", ("this.#session.model", f", {literal('|'.join(one.name for one in operation.result.of))}")
    return f"Promise<{model}>", ("this.#session.model", f", {literal(model)}")


def call(operation: Operation) -> list[str]:
    parts = [f"method: {literal(operation.verb)}", f"path: {literal(operation.path)}"]
    if operation.path_parameters:
        parts.append(f"parts: [{', '.join(names.camel(field.wire) for field in operation.path_parameters)}]")
    if operation.query:
        alone = [names.camel(field.wire) for field in operation.query if field in operation.leading]
        others = [field for field in operation.query if field not in operation.leading]
        if operation.headers:
            asked = ", ".join(f"{field.wire}: params.{field.wire}" for field in others)
            parts.append(f"query: {{ {', '.join(alone + [asked] if others else alone)} }}")
        else:
            parts.append(f"query: {{ {', '.join(alone + (['...params'] if others else []))} }}")
    if operation.headers:
        parts.append("headers: { " + ", ".join(f"{literal(field.wire)}: params.{names.camel(field.wire)}" for field in operation.headers) + " }")
    if operation.body:
        parts.append(f"body: {{ model: {literal(operation.body.name)}, value: params }}")
    parts += ["keyed: true"] if operation.keyed else []
    parts += ["secret: clientSecret"] if operation.auth == "secret" else []
    parts += ["open: true"] if operation.auth == "none" else []
    parts += ["accept: media"] if operation.media else []
    return parts


def words(operation: Operation) -> str:
    text = f"{operation.summary}.\n\n{operation.description}"
    if operation.problems:
        text += "\n\n@throws ApiError, beside the codes that every call has with `code` " + ", ".join(f"`{code}`" for code in operation.problems) + "."
    return text
