"""The Python SDK: models as frozen dataclasses, a class of methods per group, and the same with methods that are awaited."""

import keyword
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from . import names, shared
from .description import Api, Field, Group, Model, Operation, Type

FOLDERS = ["python/src/pasarela/generated"]
FOLDER = FOLDERS[0]
PACKAGE = Path(__file__).resolve().parent.parent / "python/pyproject.toml"
HEAD = '"""{}\n\nWritten by sdks/generate from the server\'s description: change that, not this.\n"""\n\nfrom __future__ import annotations\n'

IMPORTS = {
    "collections.abc": ["Mapping", "Sequence"],
    "dataclasses": ["dataclass", "field"],
    "datetime": ["date", "datetime"],
    "decimal": ["Decimal"],
    "typing": ["Any", "Literal", "overload"],
}
MODEL_NAMES = ["DATE", "DECIMAL", "NUMBER", "TIME", "VALUE", "Amount", "DecimalCodec", "Instant", "ListCodec", "Model", "ModelCodec"]


@dataclass(frozen=True)
class Style:
    """How methods are written: that they wait, or that they are awaited."""

    folder: str
    prefix: str  # of the names of classes
    define: str
    wait: str


OPTION_TYPES = {"timeout": "float", "max_retries": "int", "request_id": "str"}
WAITING = Style("resources", "", "def", "")
AWAITED = Style("async_resources", "Async", "async def", "await ")


def files(api: Api) -> dict[str, str]:
    texts = {
        f"{FOLDER}/__init__.py": '"""What sdks/generate writes from the server\'s description."""\n',
        f"{FOLDER}/version.py": f'"""The version, which is the server\'s. Written by sdks/generate."""\n\nVERSION = "{api.version}"\n',
        f"{FOLDER}/shared.py": constants(),
        f"{FOLDER}/models.py": models(api),
        "python/pyproject.toml": package(PACKAGE.read_text()),
    }
    for style in (WAITING, AWAITED):
        texts[f"{FOLDER}/{style.folder}/__init__.py"] = resources(api, style)
        for group in api.groups:
            texts[f"{FOLDER}/{style.folder}/{group.attribute}.py"] = resource(group, style)
    return texts


def constants() -> str:
    lines = ['"""Messages, forms, limits, and codes that decide on a retry. Written by sdks/generate from generator/shared.py."""', ""]
    lines += [f"{name} = {quoted(message if shared.blanks(message) else shared.plain(message))}" for name, message in shared.messages("python").items()]
    lines += ["", "#: What a whole text has to match."] + [f"{name} = {quoted(form)}" for name, form in shared.FORMS.items()]
    lines += [""] + [f"{name} = {limit}" for name, limit in shared.LIMITS.items()]
    for name, (about, codes) in shared.CODES.items():
        lines += ["", f"#: {about}", f"{name} = frozenset({{{', '.join(map(quoted, codes))}}})"]
    return "\n".join(lines) + "\n"


def package(text: str) -> str:
    """The package's description of itself, with what is the project's."""
    said = shared.package()
    lines = {
        "description": quoted(shared.DESCRIPTION),
        "license": quoted(said["license"]),
        "authors": f"[{{ name = {quoted(said['author'])} }}]",
        "keywords": f"[{', '.join(map(quoted, shared.KEYWORDS))}]",
        "Homepage": quoted(said["homepage"]),
        "Documentation": quoted(said["docs"]),
        "Repository": quoted(said["repository"]),
        "Issues": quoted(said["issues"]),
        "Changelog": quoted(said["changelog"]),
    }
    for name, value in lines.items():
        text, count = re.subn(rf"^{name} = .*$", lambda _: f"{name} = {value}", text, flags=re.M)  # noqa: B023
        assert count == 1, f"pyproject.toml has no line {name}"
    return text


def python_name(wire: str) -> str:
    name = names.snake(wire)
    return name + "_" if keyword.iskeyword(name) else name


def hint(type: Type, asked: bool, prefix: str = "") -> str:
    """The hint of a type: what is answered, or what is asked for, which may be wider. `prefix` stands before models."""
    if type.kind == "text":
        plain = f"Literal[{', '.join(map(quoted, type.values))}]" if type.values else "str"
    elif type.kind == "list":
        plain = f"{'Sequence' if asked else 'list'}[{hint(type.of[0], asked, prefix)}]"
    elif type.kind == "union":
        plain = " | ".join(hint(one, asked, prefix) for one in type.of)
    elif type.kind == "model":
        plain = prefix + type.name
    elif type.kind == "decimal":
        plain = "Amount" if asked else "Decimal"
    elif type.kind == "time":
        plain = "Instant" if asked else "datetime"
    elif type.kind == "date":
        plain = "date | str" if asked else "date"
    elif type.kind == "any":
        return "Any"
    else:
        plain = {"integer": "int", "boolean": "bool", "object": "Mapping[str, Any]"}[type.kind]
    return plain + " | None" if type.nullable else plain


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def codec(type: Type) -> str:
    if type.kind == "decimal":
        if type.wire == "number":
            return "NUMBER"
        return "DECIMAL" if type.places is None else f"DecimalCodec({type.places})"
    if type.kind == "list":
        inner = codec(type.of[0])
        return "VALUE" if inner == "VALUE" else f"ListCodec({inner})"
    if type.kind in ("model", "union"):
        types = type.of or (type,)
        return f"ModelCodec({', '.join(quoted(one.name) for one in types)})"
    return {"time": "TIME", "date": "DATE"}.get(type.kind, "VALUE")


def without_pages(api: Api) -> list[Model]:
    """The models without pages: those are `Page[T]`."""
    pages = {operation.result.name for group in api.groups for operation in group.operations if operation.paged}
    return [model for model in api.models.values() if model.name not in pages]


def inputs(api: Api) -> set[str]:
    """The models that stand in what is asked."""
    found: set[str] = set()

    def add(type: Type) -> None:
        for one in type.of:
            add(one)
        if type.kind == "model" and type.name not in found:
            found.add(type.name)
            for field in api.models[type.name].fields:
                add(field.type)

    for group in api.groups:
        for operation in group.operations:
            for field in operation.body.fields if operation.body else ():
                add(field.type)
    return found


def bodies(api: Api) -> set[str]:
    """Models that are only ever a whole body: their members are parameters of methods, so no class is needed."""
    return {operation.body.name for group in api.groups for operation in group.operations if operation.body}


def models(api: Api) -> str:
    asked = inputs(api)
    kept = [model for model in without_pages(api) if model.name in asked or model.name not in bodies(api)]
    lines = ["", "__all__ = ["] + [f'    "{model.name}",' for model in sorted(kept, key=lambda model: model.name)] + ["]"]
    for model in kept:
        lines += ["", "", *model_class(model, model.name in asked)]
    lines += ["", "", "#: What the data of an event is, by the event's name.", "EVENTS = {"]
    lines += [f"    {quoted(name)}: {codec(type)}," for name, (_, type) in api.events.items()] + ["}"]
    return HEAD.format("The objects of the API.") + imports(lines, IMPORTS | {"..model": MODEL_NAMES}) + "\n".join(lines) + "\n"


def imports(lines: list[str], known: dict[str, list[str]]) -> str:
    """The import statements for the names that stand in the lines."""
    code = "\n".join(line for line in lines if not line.lstrip().startswith('"""'))
    used = {module: [name for name in found if re.search(rf"\b{name}\b", code)] for module, found in known.items()}
    rows = [f"from {module} import {', '.join(found)}" for module, found in used.items() if found]
    ours = next((number for number, row in enumerate(rows) if row.startswith("from .")), len(rows))
    return "\n" + "\n".join(rows[:ours] + ([""] if 0 < ours < len(rows) else []) + rows[ours:]) + "\n"


def model_class(model: Model, asked: bool) -> list[str]:
    lines = ["@dataclass(frozen=True, kw_only=True)", f"class {model.name}(Model):"]
    lines += ['    """' + line + '"""' for line in [model.description or told(model)]] + [""]
    # Members that may be missing come last, as dataclasses want it.
    for field in sorted(model.fields, key=lambda field: not field.required):
        kind = hint(field.type, asked)
        default = ""
        if not field.required:
            kind = kind if kind.endswith("None") or kind == "Any" else kind + " | None"
            default = " = None"
        if field.secret:
            default = " = field(default=None, repr=False)" if default else " = field(repr=False)"
        lines.append(f"    {python_name(field.wire)}: {kind}{default}")
        if field.description:
            lines.append(f'    """{field.description}"""')
    lines += ["", "    _wire = {"]
    lines += [f'        "{python_name(field.wire)}": ("{field.wire}", {codec(field.type)}),' for field in model.fields]
    required = "".join(f'"{field.wire}", ' for field in model.fields if field.required)
    return lines + ["    }", f"    _required = ({required.rstrip(' ')})" if required else "    _required = ()"]


def told(model: Model) -> str:
    return f"{' '.join(names.words(model.name))}.".capitalize()


def resource(group: Group, style: Style) -> str:
    lines = ["", "", f"class {style.prefix}{names.pascal(group.attribute)}:"]
    lines += docstring(group.description, "    ") + ["", f"    def __init__(self, session: {style.prefix}Session) -> None:", "        self._session = session"]
    for operation in group.operations:
        lines += ["", *method(operation, style)]
    known = IMPORTS | {
        "...calls": ["Call"],
        "...model": [*MODEL_NAMES, "encode"],
        "...pages": [f"{style.prefix}Page"],
        "...session": [f"{style.prefix}Session"],
        "..": ["models"],
    }
    return HEAD.format(f"{group.tag}.") + imports(lines, known) + "\n".join(lines) + "\n"


def parameter(field: Field) -> str:
    kind = hint(field.type, True, "models.")
    if field.required:
        return f"{python_name(field.wire)}: {kind}"
    return f"{python_name(field.wire)}: {kind if kind.endswith('None') else kind + ' | None'} = None"


def method(operation: Operation, style: Style) -> list[str]:
    body = operation.body.fields if operation.body else []
    members = operation.named
    parameters = [parameter(field) for field in operation.leading] + ["*"]
    parameters += ["client_secret: str"] if operation.auth == "secret" else []
    parameters += [parameter(field) for field in members]
    if operation.media:
        parameters.append(f"media: Literal[{', '.join(map(quoted, operation.media))}] = {quoted(operation.media[0])}")
    parameters += ["idempotency_key: str | None = None"] if operation.keyed else []
    options = [name for name in shared.OPTIONS if name not in {python_name(field.wire) for field in (*operation.leading, *members)}]
    parameters += [f"{name}: {OPTION_TYPES[name]} | None = None" for name in options]
    answered = "bytes"
    if operation.paged:
        answered = f"{style.prefix}Page[models.{operation.paged}]"
    elif operation.result:
        answered = hint(operation.result, False, "models.")
    said = docstring(words(operation, [*operation.leading, *members]), "        ")
    if operation.rehearsed:
        lines = overload(operation, style, [*parameters, "dry_run: Literal[False] = False"], answered)
        lines += overload(operation, style, [*parameters, "dry_run: Literal[True]"], "models.DryRun")
        parameters.append("dry_run: bool = False")
        lines += [*signature(operation, style, parameters, f"{answered} | models.DryRun"), *said]
    else:
        lines = [*signature(operation, style, parameters, answered), *said]
    if body:
        lines += ["        body = encode(", "            {"]
        lines += [f'                "{python_name(field.wire)}": ("{field.wire}", {codec(field.type)}),' for field in body]
        lines += ["            },", "            {"]
        lines += [f'                "{python_name(field.wire)}": {python_name(field.wire)},' for field in body] + ["            },", "        )"]
    lines += ["        call = Call(", f'            "{operation.verb}",', f'            "{operation.path}",']
    if operation.path_parameters:
        lines.append(f"            parts=({''.join(python_name(field.wire) + ', ' for field in operation.path_parameters).rstrip()}),")
    if operation.query:
        encoded = ", ".join(f'"{field.wire}": {given(field)}' for field in operation.query)
        lines.append(f"            query={{{encoded}}},")
    if operation.headers:
        lines.append(f"            headers={{{', '.join(f'{quoted(field.wire)}: {python_name(field.wire)}' for field in operation.headers)}}},")
    lines += ["            body=body,"] if body else []
    lines += ["            keyed=True,", "            idempotency_key=idempotency_key,"] if operation.keyed else []
    lines += ["            secret=client_secret,"] if operation.auth == "secret" else []
    lines += ["            uses_key=False,"] if operation.auth == "none" else []
    lines += ["            accept=media,"] if operation.media else []
    lines += ["            dry_run=dry_run,"] if operation.rehearsed else []
    lines += [*(f"            {name}={name}," for name in options), "        )"]
    if operation.rehearsed:
        lines += ["        if dry_run:", f"            return {style.wait}self._session.model(call, models.DryRun.from_json)"]
    if operation.result and operation.result.kind == "union":
        return [*lines, f"        answer: {answered} = {style.wait}{sent(operation)}", "        return answer"]
    return [*lines, f"        return {style.wait}{sent(operation)}"]


def signature(operation: Operation, style: Style, parameters: list[str], answered: str) -> list[str]:
    return [f"    {style.define} {names.snake(operation.method)}(", "        self,", *(f"        {one}," for one in parameters), f"    ) -> {answered}:"]


def overload(operation: Operation, style: Style, parameters: list[str], answered: str) -> list[str]:
    *lines, last = signature(operation, style, parameters, answered)
    return ["    @overload", *lines, last + " ...", ""]


def given(field: Field) -> str:
    name, kind = python_name(field.wire), codec(field.type)
    return name if kind == "VALUE" else f"None if {name} is None else {kind}.encode({name})" if not field.required else f"{kind}.encode({name})"


def sent(operation: Operation) -> str:
    if operation.media:
        return "self._session.download(call)"
    if operation.paged:
        return f"self._session.page(call, models.{operation.paged}.from_json)"
    if operation.result.kind == "model":
        return f"self._session.model(call, models.{operation.result.name}.from_json)"
    if operation.result.kind == "list":
        return f"self._session.model(call, lambda data: [models.{operation.result.of[0].name}.from_json(item) for item in data])"
    if operation.result.kind == "union":
        return f"self._session.model(call, {codec(operation.result)}.decode)"
    raise NotImplementedError(operation.id)


def words(operation: Operation, members: list[Field]) -> str:
    text = f"{operation.summary}.\n\n{operation.description}"
    described = [f"{python_name(field.wire)}: {field.description}" for field in members if field.description]
    if described:
        text += "\n\nArgs:\n" + "\n".join("    " + one for one in described)
    if operation.problems:
        text += "\n\nRaises:\n    ApiError: beside the codes that every call has, with `code` " + ", ".join(f"`{code}`" for code in operation.problems) + "."
    return text


def docstring(text: str, indent: str) -> list[str]:
    text = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    lines = []
    for line in text.split("\n"):
        deeper = " " * (len(line) - len(line.lstrip()))
        lines += textwrap.wrap(line, 116 - len(indent), subsequent_indent=deeper + ("    " if deeper else ""), initial_indent="", drop_whitespace=True) or [""]
    lines = [(indent + line).rstrip() for line in lines]
    lines[0] = indent + '"""' + lines[0].lstrip()
    return [lines[0] + '"""'] if len(lines) == 1 else [*lines, indent + '"""']


def resources(api: Api, style: Style) -> str:
    prefix = style.prefix
    lines = [HEAD.format("The attributes of the client."), f"from ...session import {prefix}Session"]
    lines += [f"from .{group.attribute} import {prefix}{names.pascal(group.attribute)}" for group in api.groups]
    lines += ["", "", f"class {prefix}Resources:", '    """One attribute per chapter of the reference."""', "", f"    def __init__(self, session: {prefix}Session) -> None:"]
    for group in api.groups:
        lines += [f"        self.{group.attribute} = {prefix}{names.pascal(group.attribute)}(session)"]
        lines += docstring(group.description, "        ")
    return "\n".join(lines) + "\n"
