"""The peer finds facts with Mem0's own library, and its prompt is as long as ours."""

from pathlib import Path

import pytest
from django.conf import settings

from inference.bench.chat import ChatClient
from inference.bench.errors import BenchError
from inference.bench.facts import bench_facts
from inference.bench.mem0_peer import Mem0Memory, ask_with_mem0
from memory.models import resolve_embedding_model
from memory.prompt.block import memory_block
from memory.text import fact_line
from tests.bench.chat_server import chat_server

FACTS = list(bench_facts(4))


def test_facts_are_found_and_pasted_in_a_random_order(tmp_path: Path) -> None:
    pytest.importorskip("mem0")
    memory = Mem0Memory(tmp_path, resolve_embedding_model("demo", settings.ENV.home), "ann")
    memory.add(FACTS)
    assert memory.find("What did Joss buy near the station?", 1) == [FACTS[1]]
    with chat_server() as server:
        client = ChatClient(server.url, "key", model="m", user="ann")
        answer = ask_with_mem0(client, memory, "What did Joss buy?", k=4, max_tokens=2)
        with pytest.raises(BenchError, match="Mem0 found 4 facts, not 5"):
            ask_with_mem0(client, memory, "What did Joss buy?", k=5, max_tokens=2)
    system, question = server.bodies[0]["messages"]
    assert sorted(system["content"].splitlines()) == sorted(memory_block([fact_line(f) for f in FACTS]).splitlines())
    assert question["content"] == "What did Joss buy?"
    assert server.bodies[0]["memory"]["mode"] == "off"
    assert (answer.mode, answer.ttft_ms > 0) == ("mem0", True)
