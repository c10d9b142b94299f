"""Runs the examples of the guides and compares what is answered with what the pages show.

A page is run once per programming language, with an account of its own, in the order of its blocks, in one
process and in a directory of its own. Whatever it calls goes through a proxy that keeps the answers. A block of
JSON behind an example shows a part of the last answer of that example: every member that is shown has to be
answered, with the same value; ids, times, secrets and what banks number need only be of the same form. A block
marked `json event` shows an event of the account in the same way.

A block marked `helper` makes what the examples of all pages use: the client of the SDK. GUIDES_SDKS has the folders
`vendor` and `node_modules` that a reader would have. A block marked `verify` checks a webhook's
signature, by hand, and one marked `signed` by the SDK: they have to take a delivery that is signed and to refuse one
that is not. So does a block marked `receiver`, which is a server on port 3000. A block marked `setup` is what a
reader does once.

The quick start is besides one program per language: all of its blocks, in their order and as they stand. So is a
block that makes a client of its own, which a reader would paste alone.
"""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from decimal import Decimal
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
RUNNERS = {
    "sh": (["bash", "-euo", "pipefail"], "sh"),
    "php": (["php"], "php"),
    "js": (["node"], "mjs"),
    "python": ([sys.executable], "py"),
}
BLOCK = re.compile(r"^```(\S+)( [^\n]*)?\n(.*?)^```$", re.M | re.S)
# Members whose values are new with every run, and words for people, which may change.
NEW = {
    "message", "address", "bankReference", "clientSecret", "nextCursor", "qrPngBase64", "reference", "requestId", "reversalRef",
    "secret", "sequence", "slug", "hostedCheckoutPath", "transferKey", "txHash", "url", "walSeq", "date",
}
FORMS = [
    re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
]


class Proxy(http.server.ThreadingHTTPServer):
    """Passes requests on, and keeps the last answer of each block."""

    def __init__(self, api):
        super().__init__(("127.0.0.1", 0), Passing)
        self.upstream = api.removeprefix("http://")
        self.block, self.answers = None, {}
        # Where the answer to a block is kept besides, for examples that are for the shell alone.
        self.files = {}


class Passing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def pass_on(self):
        if self.path.startswith("/__block/"):
            self.server.block = int(self.path.rsplit("/", 1)[1])
            return self.answer(204, {}, b"")
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        upstream = http.client.HTTPConnection(self.server.upstream)
        upstream.request(self.command, self.path, body, dict(self.headers))
        reply = upstream.getresponse()
        data = reply.read()
        upstream.close()
        if kept := self.server.files.get(self.server.block):
            kept.write_bytes(data)
        try:
            self.server.answers[self.server.block] = json.loads(data, parse_float=Decimal)
        except ValueError:
            self.server.answers[self.server.block] = data.decode(errors="replace")
        self.answer(reply.status, reply.headers, data)

    def answer(self, status, headers, data):
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on


def differences(shown, answered, at="", name=""):
    """What is shown and not answered so."""
    if isinstance(shown, dict):
        if not isinstance(answered, dict):
            return [f"{at or 'it'}: {answered!r} is no object"]
        found = []
        for member, value in shown.items():
            here = f"{at}.{member}"
            found += differences(value, answered[member], here, member) if member in answered else [f"{here} is missing"]
        return found
    if isinstance(shown, list):
        if not isinstance(answered, list) or len(answered) < len(shown) or (name != "items" and at and len(answered) != len(shown)):
            return [f"{at}: {answered!r}"]
        return [one for n, value in enumerate(shown) for one in differences(value, answered[n], f"{at}[{n}]", name)]
    if type(shown) is type(answered) and isinstance(shown, str):
        if name in NEW or any(form.fullmatch(shown) and form.fullmatch(answered) for form in FORMS):
            return []
    if name in NEW and isinstance(shown, int) and isinstance(answered, int):
        return []
    same = shown == answered and isinstance(shown, bool) == isinstance(answered, bool)
    return [] if same else [f"{at}: {answered!r}, the page shows {shown!r}"]


def taken(shown, answered, name=""):
    """The members that are shown, as they were answered; what is right stays as it is."""
    if shown is not None and not differences(shown, answered, "x", name):
        return shown
    if isinstance(shown, dict) and isinstance(answered, dict):
        return {member: taken(value, answered.get(member, value), member) for member, value in shown.items()}
    if isinstance(shown, list) and isinstance(answered, list):
        like = lambda n: shown[min(n, len(shown) - 1)]  # what was not shown yet is shown like the last one
        count = min(len(shown), len(answered)) if name == "items" else len(answered)
        return [taken(like(n), answered[n], name) for n in range(count)] if shown else answered
    return answered


def call(address, token_header, body=None):
    request = urllib.request.Request(address, headers={"content-type": "application/json", **token_header})
    with urllib.request.urlopen(request, None if body is None else json.dumps(body).encode()) as answer:
        return json.load(answer, parse_float=Decimal)


class Page:
    def __init__(self, path):
        self.path, self.text = path, path.read_text()
        self.blocks = [(m[1], (m[2] or "").strip(), m[3], m.span(3)) for m in BLOCK.finditer(self.text)]

    def groups(self):
        """Blocks that show one example in several languages, and the number of the JSON behind them."""
        n = 0
        while n < len(self.blocks):
            group = []
            while n < len(self.blocks) and self.is_example(n) and (not group or self.is_next(n)):
                group.append(n)
                n += 1
            if not group:
                n += 1
                continue
            shows = n < len(self.blocks) and self.blocks[n][:2] == ("json", "") and self.is_next(n)
            yield {self.blocks[one][0]: one for one in group}, n if shows else None

    def examples(self, language):
        """The blocks of a language, or that for the shell where there is no other: number, language, code, the
        JSON behind it, and the file in which the shell keeps the answer."""
        for group, shows in self.groups():
            kind = language if language in group else "sh"
            if kind in group:
                shell = self.blocks[group["sh"]][2] if "sh" in group else ""
                kept = re.search(r"\| tee (\w+\.json)", shell)
                yield group[kind], kind, self.blocks[group[kind]][2], shows, kept and kept[1]

    def is_example(self, n):
        return self.blocks[n][0] in RUNNERS and not self.blocks[n][1]

    def is_next(self, n):
        """Whether nothing stands between a block and the one before it."""
        return not self.text[self.blocks[n - 1][3][1]:self.blocks[n][3][0]].split("```")[1].strip()

    def helper(self, language):
        return "".join(code for kind, mark, code, _ in self.blocks if (kind, mark) == (language, "helper"))


MARKERS = {
    "sh": 'curl -s "$PASARELA/__block/{}"\n',
    "php": "\nfile_get_contents(getenv('PASARELA') . '/__block/{}');\n",
    "js": "await fetch(process.env.PASARELA + '/__block/{}');\n",
    "python": "__import__('urllib.request').request.urlopen(__import__('os').environ['PASARELA'] + '/__block/{}')\n",
}


SHELL = {
    "php": "passthru('bash {}', $failed); if ($failed) exit(1);\n",
    "js": "(await import('node:child_process')).execFileSync('bash', ['{}']);\n",
    "python": "__import__('subprocess').run(['bash', '{}'], check=True)\n",
}


def run(page, language, helper, servers):
    """Runs a page in one language; what differs, and the answers by the number of the JSON that shows them."""
    api, admin, token = servers
    examples = list(page.examples(language))
    if not any(kind == language for _, kind, *_ in examples):
        return [], {}
    tenant = call(f"{admin}/admin/tenants", {"authorization": f"Bearer {token}"}, {"name": page.path.stem})
    key = tenant["testKey"]["key"]
    proxy = Proxy(api)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    directory = tempfile.mkdtemp()
    for folder in ("vendor", "node_modules"):
        Path(directory, folder).symlink_to(Path(os.environ["GUIDES_SDKS"], folder))
    address = f"http://127.0.0.1:{proxy.server_port}"
    beginning = {"php": "" if helper.startswith("<?php") else "<?php\n"}
    program = beginning.get(language, "") + helper
    for n, kind, code, _, kept in examples:
        program += "\n" + MARKERS[language].format(n)
        if kind == language:
            program += code
        else:
            Path(directory, f"block{n}.sh").write_text(code)
            program += SHELL[language].replace("{}", f"block{n}.sh")
        if kept and kind == language != "sh":
            proxy.files[n] = Path(directory, kept)
    command, ending = RUNNERS[language]
    file = Path(directory, f"page.{ending}")
    file.write_text(program)
    environment = {**os.environ, "PASARELA": address, "KEY": key}
    ran = subprocess.run([*command, str(file)], cwd=directory, env=environment, capture_output=True, text=True, timeout=120)
    events = {e["event"]: e["data"] for e in call(f"{api}/v1/events?after=0&limit=100", {"x-api-key": key})["items"]}
    proxy.shutdown()
    proxy.server_close()
    shutil.rmtree(directory)
    if ran.returncode:
        return [f"{page.path} in {language}: it ended with {ran.returncode}\n{ran.stdout[-1500:]}{ran.stderr[-1500:]}"], {}
    found, answers = [], {}
    for n, kind, _, shows, _ in examples:
        if shows is None or kind != language:
            continue
        answers[shows] = proxy.answers.get(n)
        differ = differences(json.loads(page.blocks[shows][2], parse_float=Decimal), answers[shows])
        found += [f"{page.path} in {language}, block {n}: {one}" for one in differ]
    if language == "sh":
        for n, (kind, mark, code, _) in enumerate(page.blocks):
            if (kind, mark) == ("json", "event"):
                shown = json.loads(code, parse_float=Decimal)
                answers[n] = {"event": shown["event"], "data": events.get(shown["event"]), "timestamp": "2026-01-01T00:00:00.000Z"}
                found += [f"{page.path}, {shown['event']}: {one}" for one in differences(shown, answers[n])]
    return found, answers


SECRET = "whsec_" + base64.b64encode(b"a secret that nobody has guessed").decode()
# Calls the handler `verified` with what is in its arguments: secret, body, and headers as JSON.
CALLERS = {
    "php": "\n$seen = [];\n$event = verified($argv[1], $argv[2], json_decode($argv[3], true), $seen);\n"
    "if ($event['event'] !== 'test' || verified($argv[1], $argv[2], json_decode($argv[3], true), $seen) !== null) exit(1);\n",
    "js": "\nconst [secret, body, headers] = process.argv.slice(2);\nconst seen = new Set();\n"
    "if (verified(secret, body, JSON.parse(headers), seen).event !== 'test' || verified(secret, body, JSON.parse(headers), seen) !== null) process.exit(1);\n",
    "python": "\nimport sys\nsecret, body, headers = sys.argv[1:]\nseen = set()\n"
    "assert verified(secret, body.encode(), json.loads(headers), seen)['event'] == 'test'\n"
    "assert verified(secret, body.encode(), json.loads(headers), seen) is None\n",
}


# What a program has before it calls the SDK.
RECEIVED = {
    "php": "require 'vendor/pasarela/autoload.php';\n[, $secret, $body] = $argv;\n$headers = json_decode($argv[3], true);\n",
    "js": "const [secret, body] = process.argv.slice(2);\nconst headers = JSON.parse(process.argv[4]);\n",
    "python": "import json\nimport sys\n\nsecret, body, headers = sys.argv[1], sys.argv[2].encode(), json.loads(sys.argv[3])\n",
}


def verified(page, language, mark):
    """What is wrong with the handler of a page that checks signatures."""
    code = "".join(code for kind, marked, code, _ in page.blocks if (kind, marked) == (language, mark))
    if not code:
        return []
    body, now = '{"event": "test", "data": {"name": "Ana Pérez"}, "timestamp": "2026-01-01T00:00:00.000Z"}', int(time.time())

    def signature(sent_at):
        key = base64.b64decode(SECRET.removeprefix("whsec_"))
        return base64.b64encode(hmac.new(key, f"e1.{sent_at}.{body}".encode(), hashlib.sha256).digest()).decode()

    command, ending = RUNNERS[language]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, f"handler.{ending}")
        for folder in ("vendor", "node_modules"):
            Path(directory, folder).symlink_to(Path(os.environ["GUIDES_SDKS"], folder))
        around = (RECEIVED[language], "") if mark == "signed" else ("", CALLERS.get(language, ""))
        file.write_text(("<?php\n" if language == "php" else "") + around[0] + code + around[1])
        if language == "sh":
            Path(directory, "body.json").write_text(body)
            environment = {**os.environ, "SECRET": SECRET, "ID": "e1", "TIMESTAMP": str(now)}
            ran = subprocess.run([*command, str(file)], cwd=directory, env=environment, capture_output=True, text=True)
            return [] if ran.stdout.strip() == signature(now) else [f"{page.path} in sh: {ran.stdout}{ran.stderr} is no signature"]

        def takes(sent_at, signed, sent=body):
            headers = {"webhook-id": "e1", "webhook-timestamp": str(sent_at), "webhook-signature": f"v1,AAAA v1,{signed}"}
            ran = subprocess.run([*command, str(file), SECRET, sent, json.dumps(headers)], cwd=directory, capture_output=True, text=True)
            return ran.returncode == 0

        wrong = [
            ("refuses what is signed", not takes(now, signature(now))),
            ("takes another body", takes(now, signature(now), body + " ")),
            ("takes another time", takes(now - 1, signature(now))),
            ("takes what is old", takes(now - 600, signature(now - 600))),
        ]
    return [f"{page.path} in {language}, {mark}: the handler {what}" for what, is_so in wrong if is_so]


def received(page, language):
    """What is wrong with the receiver of a page, a server that is told its secret."""
    code = "".join(code for kind, mark, code, _ in page.blocks if (kind, mark) == (language, "receiver"))
    if not code:
        return []
    command, ending = RUNNERS[language]
    with tempfile.TemporaryDirectory() as directory, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        for folder in ("vendor", "node_modules"):
            Path(directory, folder).symlink_to(Path(os.environ["GUIDES_SDKS"], folder))
        Path(directory, f"hook.{ending}").write_text(code.replace("3000", str(port)))
        command = ["php", "-S", f"127.0.0.1:{port}"] if language == "php" else command
        log = Path(directory, "log")
        with log.open("w") as output:
            server = subprocess.Popen(
                [*command, f"hook.{ending}"], cwd=directory, env={**os.environ, "SECRET": SECRET}, stdout=output, stderr=output
            )
        try:
            answers = [delivered(port, body) for body in (DELIVERY, DELIVERY + b" ")]
        finally:
            server.terminate()
            server.wait()
        wrong = answers != [204, 400]
        return [f"{page.path} in {language}, receiver: it answers {answers}\n{log.read_text()[-1500:]}"] if wrong else []


DELIVERY = b'{"event": "test", "data": {"name": "Ana"}, "timestamp": "2026-01-01T00:00:00.000Z"}'


def delivered(port, body):
    """How a receiver answers a body under the signature of DELIVERY."""
    now = int(time.time())
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = base64.b64encode(hmac.new(key, f"e1.{now}.".encode() + DELIVERY, hashlib.sha256).digest()).decode()
    headers = {"webhook-id": "e1", "webhook-timestamp": str(now), "webhook-signature": f"v1,{signed}"}
    for _ in range(100):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("POST", "/hook", body, headers)
            return connection.getresponse().status
        except ConnectionRefusedError:
            time.sleep(0.1)
        finally:
            connection.close()
    return None


def written(page, answers):
    """The page with what was answered in the place of what is shown."""
    text = page.text
    for n in sorted(answers, reverse=True):
        start, end = page.blocks[n][3]
        shown = json.loads(page.blocks[n][2], parse_float=Decimal)
        new = taken(shown, answers[n])
        if new != shown:
            text = text[:start] + as_json(new) + "\n" + text[end:]
    page.path.write_text(text)


def as_json(value):
    """JSON to be read; decimals have the digits that they were answered with."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=lambda number: f"decimal:{number}")
    return re.sub(r'"decimal:([-0-9.]+)"', r"\1", text)


def as_program(page, language, code, servers, times=1):
    """Runs code as a program of its own, on an account of its own; the last run, and what was in the balance after each."""
    api, admin, token = servers
    tenant = call(f"{admin}/admin/tenants", {"authorization": f"Bearer {token}"}, {"name": page.path.stem})
    key = tenant["testKey"]["key"]
    command, ending = RUNNERS[language]
    balances = []
    with tempfile.TemporaryDirectory() as directory:
        for folder in ("vendor", "node_modules"):
            Path(directory, folder).symlink_to(Path(os.environ["GUIDES_SDKS"], folder))
        Path(directory, f"first.{ending}").write_text(code)
        environment = {**os.environ, "PASARELA": api, "KEY": key}
        for _ in range(times):
            ran = subprocess.run([*command, f"first.{ending}"], cwd=directory, env=environment, capture_output=True, text=True, timeout=120)
            balances.append(call(f"{api}/v1/balance", {"x-api-key": key})["ledgerNetVes"])
            if ran.returncode:
                break
    return ran, balances


def whole(page, language, servers):
    """What is wrong with the blocks of a page as one program, which a reader may run twice: nothing is charged or paid twice."""
    code = "\n".join(code for kind, _, code, _ in page.blocks if kind == language)
    ran, balances = as_program(page, language, code, servers, times=2)
    if ran.returncode or "invalid_data" not in ran.stdout:
        return [f"{page.path} in {language}, as one program: it ended with {ran.returncode}\n{ran.stdout[-1500:]}{ran.stderr[-1500:]}"]
    if balances != ["1920.00", "1920.00"]:
        return [f"{page.path} in {language}, run twice: {balances} are in the balance, not 1,970.00 less 50.00 each time"]
    return []


def alone(page, language, servers):
    """What is wrong with the blocks that make a client of their own, each as a program."""
    found = []
    for kind, mark, code, _ in page.blocks:
        if (kind, mark) == (language, "") and language != "sh" and re.search(r"Pasarela\(", code):
            ran, _ = as_program(page, language, code, servers)
            if ran.returncode:
                found.append(f"{page.path} in {language}, a block alone: it ended with {ran.returncode}\n{ran.stderr[-1500:]}")
    return found


def lacking(page):
    """Calls that are not shown in every language."""
    for group, _ in page.groups():
        if "sh" in group and "curl " in page.blocks[group["sh"]][2] and set(RUNNERS) - set(group):
            yield f"{page.path}: {page.blocks[group['sh']][2].splitlines()[0]} … is not shown in {', '.join(sorted(set(RUNNERS) - set(group)))}"


def stuck(page):
    """Steps in test mode that a reader of another language could not take: later ones build on them. To read the clock is none."""
    step = re.compile(r'/v1/test/(?!clock" -H "x-api-key: \$KEY" \|)')
    languages = {kind for kind, *_ in page.blocks if kind in RUNNERS}
    for group, _ in page.groups():
        if "sh" in group and languages - set(group) and step.search(page.blocks[group["sh"]][2]):
            yield f"{page.path}: {page.blocks[group['sh']][2].splitlines()[0]} … is not shown in {', '.join(sorted(languages - set(group)))}"


def lacks(language, command):
    """What is missing to run examples in a language."""
    if not shutil.which(command):
        return command
    built = Path(os.environ["GUIDES_SDKS"], "node_modules", "pasarela", "dist")
    return "the package of sdks/typescript" if language == "js" and not built.exists() else None


def main():
    *servers, = sys.argv[1:4]
    only, write = sys.argv[4:], os.environ.get("WRITE") == "1"
    ran, found, skipped = 0, [], set()
    for folder in ("es", "en"):
        start = Page(DOCS / folder / "quick-start.md")
        for path in sorted((DOCS / folder).glob("*.md")):
            if only and path.stem not in only:
                continue
            page = Page(path)
            is_start = path.stem == "quick-start"
            found += lacking(page) if is_start else stuck(page)
            for language, (command, _) in RUNNERS.items():
                if missing := lacks(language, command[0]):
                    skipped.add(f"skipped: the examples in {language}: {missing} is not here")
                    continue
                found += verified(page, language, "verify") + verified(page, language, "signed") + received(page, language)
                found += whole(page, language, servers) if is_start else alone(page, language, servers)
                differ, answers = run(page, language, start.helper(language), servers)
                ran += sum(kind == language for _, kind, *_ in page.examples(language))
                if write and language == "sh" and answers:
                    written(page, answers)
                    page = Page(path)
                else:
                    found += differ
    for one in [*sorted(skipped), *found]:
        print(one, file=sys.stderr)
    print(f"docs/es, docs/en: {ran} examples ran, {len(found)} are not as shown")
    sys.exit(1 if found else 0)


main()
