"""Sessions: history grows, memory stays or changes, both modes see the same."""

from statistics import median

from inference.bench.chat import ChatClient
from inference.bench.session import Memory, SessionPlan, Taken, run_session, session_rows
from tests.bench.chat_server import ChatServer, chat_server

PLAN = SessionPlan(turns=3, k=5, tokens=2, seed="s")


def run(server: ChatServer, memory: Memory, between: list[int]) -> Taken:
    client = ChatClient(server.url, "key", model="m", user="ann")
    taken: Taken = {}
    for mode, turn, answer in run_session(client, memory, PLAN, between.append):
        taken.setdefault((memory, mode, turn), []).append(answer)
    return taken


def questions(server: ChatServer, mode: str) -> list[list[str]]:
    """What the user said up to each turn."""
    chats = [body["messages"] for body in server.bodies if body["memory"]["mode"] == mode]
    return [[message["content"] for message in chat if message["role"] == "user"] for chat in chats]


def test_with_the_same_memory_every_turn_asks_the_same_and_only_history_grows() -> None:
    between: list[int] = []
    with chat_server() as server:
        taken = run(server, "same", between)
    asked = questions(server, "auto")
    assert [len(said) for said in asked] == [1, 2, 3]
    assert len(set(asked[-1])) == 1
    assert between == []
    assert len(taken) == 6
    last = [body for body in server.bodies if body["memory"]["mode"] == "auto"][-1]
    assert [message["role"] for message in last["messages"]] == ["user", "assistant"] * 2 + ["user"]
    assert last["messages"][1]["content"] == "aa"
    sessions = {(body["memory"]["mode"], body["memory"]["session_id"]) for body in server.bodies}
    assert sessions == {("auto", "s-inject"), ("prompt", "s-prompt")}


def test_with_changing_memory_every_turn_asks_something_else_after_something_new_was_stored() -> None:
    between: list[int] = []
    with chat_server() as server:
        run(server, "changing", between)
    asked = questions(server, "auto")
    assert len(set(asked[-1])) == 3
    assert between == [2, 3]
    assert questions(server, "prompt") == asked
    assert {body["memory"]["order"] for body in server.bodies} == {"relevance"}
    assert all(body["ignore_eos"] for body in server.bodies)


def test_rows_are_by_turn_and_mode() -> None:
    with chat_server() as server:
        taken = run(server, "same", [])
    rows = {(row["mode"], row["turn"]): row for row in session_rows(taken, PLAN, {"shape": "tiny"})}
    assert set(rows) == {(mode, turn) for mode in ("prompt", "inject") for turn in (1, 2, 3)}
    assert median(rows["inject", 2]["samples_ms"]) > 0
    assert rows["inject", 2]["memory"] == "same"
