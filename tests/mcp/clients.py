"""The official Python client over both transports and in both ways to begin, then the inspector's command line."""

import asyncio
import json
import os
import subprocess
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
import httpx2

from plan import Refused, Rest, prepare, walk

BASE, KEY, KEY_FILE, BINARY = sys.argv[1:5]
INSPECTOR = sys.argv[5:]
PROMPTS = ["collect from a buyer", "pay my sellers", "why was this payment refused", "reconcile yesterday"]


def over_http():
    return streamable_http_client(f"{BASE}/mcp", http_client=httpx2.AsyncClient(headers={"x-api-key": KEY}, timeout=60))


def over_stdio():
    command = StdioServerParameters(command=BINARY, args=["mcp", "--url", BASE, "--key-file", KEY_FILE])
    return stdio_client(command)


def body_of(result):
    content = result["content"]
    assert len(content) == 1, result
    body = json.loads(content[0]["text"])
    # Before 2026-07-28 what is structured had to be an object.
    assert result.get("structuredContent", body if isinstance(body, list) else None) == body, result
    if result.get("isError"):
        raise Refused(body)
    return body


async def by_client(transport, mode, seller, run):
    async with Client(transport(), mode=mode) as client:
        tools = {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools}
        for tool in tools.values():
            hints = tool["annotations"]
            assert not (hints["readOnlyHint"] and hints.get("destructiveHint")), tool

        async def call(name, arguments):
            answer = await client.call_tool(name, arguments)
            return body_of(answer.model_dump(by_alias=True, exclude_none=True))

        payout = await walk(tools, call, Rest(BASE, KEY), seller, run)
        resources = (await client.list_resources()).resources
        assert [r.name for r in resources if r.name == "settings"] == ["settings"]
        for resource in resources:
            assert (await client.read_resource(resource.uri)).contents[0].text, resource
        template = (await client.list_resource_templates()).resource_templates[0].uri_template
        page = await client.read_resource(template.replace("{error}", "insufficient_balance"))
        assert "insufficient_balance" in page.contents[0].text
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == PROMPTS
        for prompt in prompts:
            given = {argument.name: f"«{argument.name}»" for argument in prompt.arguments}
            message = (await client.get_prompt(prompt.name, given)).messages[0].content.text
            assert all(value in message for value in given.values()), message
        print(f"client, {transport.__name__}, {mode}: {client.protocol_version}, {len(tools)} tools")
        return tools, payout


async def begun_again(payout):
    """A further session makes the same call again: it is answered with what was paid."""
    arguments = {"merchantId": payout["merchantId"], "monto": payout["monto"], "concepto": payout["concepto"],
                 "externalRef": payout["externalRef"]}
    for transport in (over_stdio, over_http):
        async with Client(transport()) as client:
            again = await client.call_tool("createPayout", dict(reversed(arguments.items())))
            assert again.structured_content == payout, again
    found = Rest(BASE, KEY)("GET", f"/v1/payouts?externalRef={payout['externalRef']}")
    assert len(found["items"]) == 1, found


async def by_inspector(target, tools, seller, run):
    async def invoke(*arguments):
        process = await asyncio.create_subprocess_exec(
            *INSPECTOR, *target, *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = await process.communicate()
        try:
            return json.loads(out)
        except json.JSONDecodeError:
            raise AssertionError(f"{arguments}: {process.returncode} {out.decode()} {err.decode()}") from None

    listed = await invoke("--method", "tools/list", "--strict")
    assert {tool["name"] for tool in listed["tools"]} == set(tools)

    async def call(name, arguments):
        pairs = [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items()]
        options = ["--tool-arg", *pairs] if pairs else []
        return body_of(await invoke("--method", "tools/call", "--tool-name", name, *options))

    await walk(tools, call, Rest(BASE, KEY), seller, run)
    assert (await invoke("--method", "resources/read", "--uri", "pasarela://settings"))["contents"]
    assert len((await invoke("--method", "prompts/list"))["prompts"]) == len(PROMPTS)
    print(f"inspector, {'http' if '--transport' in target else 'stdio'}: {len(tools)} tools")


async def main():
    listed, seller = None, prepare(Rest(BASE, KEY))
    for run, (transport, mode) in enumerate(
            ((over_http, "auto"), (over_http, "legacy"), (over_stdio, "auto"), (over_stdio, "legacy")), 1):
        tools, payout = await by_client(transport, mode, seller, run)
        assert listed is None or set(tools) == set(listed)
        listed = tools
    await begun_again(payout)
    with open(os.environ["TOOLS_FILE"], "w") as file:
        json.dump(list(listed.values()), file, ensure_ascii=False, separators=(",", ":"))
    if INSPECTOR:
        await asyncio.gather(
            by_inspector([f"{BASE}/mcp", "--transport", "http", "--header", f"x-api-key: {KEY}"], listed, seller, 11),
            by_inspector([BINARY, "mcp", "--url", BASE, "--key-file", KEY_FILE], listed, seller, 12))


asyncio.run(main())
