"""Serves the tools of one AgentDojo suite over MCP on standard input and output.

    python server.py VERSION SUITE ATTACK[,ATTACK...] SOCKET

The state behind the tools is one case's. A second door, a Unix socket that no MCP client sees, changes cases; a line of
JSON is asked and a line answered, each request an object with `ask`:

    cases   all cases: [{id, user, injection, attack}]
    begin   makes the environment of `case` (an entry of that list); gives intent and script, or `skip`
    end     the score of the case under way
"""

import asyncio
import dataclasses
import json
import sys

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from pydantic import create_model

from cases import Case, Cases, plain, structured


def tools(cases: Cases) -> list[types.Tool]:
    return [
        types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=tool.parameters.model_json_schema(),
            output_schema=output_schema(tool.return_type),
        )
        for tool in cases.suite.tools
    ]


def output_schema(returns: type | None) -> dict | None:
    """The schema of `structuredContent`, as the Python SDK makes it from a function's signature."""
    if returns in (str, None, type(None)):
        return None
    if hasattr(returns, "model_json_schema"):
        return returns.model_json_schema(mode="serialization")
    return create_model("Output", result=(returns, ...)).model_json_schema(mode="serialization")


def result(value, error: str | None) -> types.CallToolResult:
    if error is not None:
        return types.CallToolResult(content=[types.TextContent(type="text", text=error)], is_error=True)
    if isinstance(value, str):
        return types.CallToolResult(content=[types.TextContent(type="text", text=value)])
    text = json.dumps(plain(value), ensure_ascii=False)
    content = [] if value is None else [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=structured(value))


async def main() -> None:
    version, suite, attacks, socket = sys.argv[1:]
    cases = Cases(version, suite, attacks.split(","))

    async def list_tools(_context, _params) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools(cases))

    async def call_tool(_context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return result(*cases.call(params.name, params.arguments or {}))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            request = json.loads(line)
            match request["ask"]:
                case "cases":
                    reply = [dataclasses.asdict(case) for case in cases.all()]
                case "begin":
                    reply = cases.begin(Case(**request["case"]))
                case "end":
                    reply = cases.end()
                case other:
                    reply = {"error": f"what is {other!r}?"}
            writer.write(json.dumps(reply).encode() + b"\n")
            await writer.drain()

    # A line holds a whole script.
    side = await asyncio.start_unix_server(answer, socket, limit=16 << 20)
    server = Server(suite, version=version, on_list_tools=list_tools, on_call_tool=call_tool)
    async with side, stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


asyncio.run(main())
