"""An assistant asks the questions of the command line, each within its seconds, and reads the same answers."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from own_theorem import of_gradient_descent

from boundlab.cli import invoke

MINE = of_gradient_descent("(8*K)")


def asked(questions: Callable[[Any], Awaitable[Any]]) -> Any:
    mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
    from boundlab.cli.mcp import server

    async def all_of_them() -> Any:
        async with mcp.Client(server()) as client:
            return await questions(client)

    return asyncio.run(all_of_them())


def answers(*calls: tuple[str, dict[str, Any]]) -> list[tuple[bool, Any]]:
    async def questions(client: Any) -> list[tuple[bool, Any]]:
        found = []
        for tool, given in calls:
            result = await client.call_tool(tool, given)
            found.append((bool(result.is_error), result.content[0].text))
        return found

    return [(wrong, text if wrong else json.loads(text)) for wrong, text in asked(questions)]


@pytest.mark.nightly
def test_a_guessed_theorem_is_violated_where_its_bound_is_too_small() -> None:
    # |x| - 1/2 from x = 3: a step of 1 leaves the gap 3/2, above 9/8; after five steps it is 0.
    given = {"theorem": MINE, "problem": "huber:x0=3", "iterations": [1, 5]}
    [(_, shown), (_, checked), (_, compared)] = answers(
        ("show", {"theorem": MINE}), ("check", {"theorem": MINE}), ("compare", given)
    )
    assert shown["answer"]["id"] == "mine"
    assert checked["exit"] == 0
    assert compared["exit"] == 1
    assert compared["answer"]["verdict"] == "violated"


@pytest.mark.nightly
def test_what_is_wrong_is_one_line_and_what_takes_too_long_says_so() -> None:
    [(unknown, line), (option, _), (long, seconds), (_, late)] = answers(
        ("check", {"theorem": "no.such"}),
        ("show", {"theorem": "--help"}),
        ("check", {"theorem": "classics.gd.convex", "seconds": 1e6}),
        ("falsify", {"theorem": "area.theorem8", "seconds": 0.2}),
    )
    assert unknown
    assert "unknown theorem 'no.such'" in line
    assert "\n" not in line
    assert option
    assert long
    assert "at most 600" in seconds
    assert late == {"exit": 3, "reason": "no answer within 0.2 seconds"}


def test_tools_say_what_they_take_and_pages_can_be_read() -> None:
    async def questions(client: Any) -> Any:
        tools = {one.name: one.input_schema for one in (await client.list_tools()).tools}
        page = await client.read_resource("boundlab://docs/write-a-theorem")
        return tools, page.contents[0].text, (await client.read_resource("boundlab://schema/theorem")).contents[0].text

    tools, page, schema = asked(questions)
    assert {*tools} == {"check", "falsify", "compare", "exact", "constants", "prove", "show", "find"}
    assert tools["falsify"]["properties"]["seconds"]["default"] == 60
    assert page.startswith("# Write a theorem")
    assert json.loads(schema)["type"] == "object"


def test_without_the_sdk_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert invoke(["mcp"]) == 2
    assert "pip install 'boundlab[mcp]'" in capsys.readouterr().err
