"""Memory goes where the chat template has a fixed place for it, before everything the application says."""

import pytest

from memory.prompt.block import MEMORY_HEADER, memory_block
from memory.prompt.template import ChatTemplate, TemplateUnsupported
from tests.memory.prompt.templates import CHATML, COUNTING, GEMMA_2, LAST_ONLY, LLAMA_3, MISTRAL_V03, SUPPORTED
from tests.memory.prompt.tokenizers import demo_tokenizer, metaspace_tokenizer

BLOCK = memory_block(["- Alice likes tea.\n"])
APP = {"role": "system", "content": "\nAnswer in French. "}
ASK = {"role": "user", "content": "\n\nWhat does Alice like?"}
TURN = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


@pytest.mark.parametrize(
    ("source", "placement"),
    [(CHATML, "system"), (LLAMA_3, "system"), (MISTRAL_V03, "user"), (GEMMA_2, "user")],
    ids=["ChatML", "Llama 3 prints a date", "Mistral v0.3 moves system text", "Gemma 2 refuses system text"],
)
def test_placement_is_found_by_trying(source: str, placement: str) -> None:
    assert ChatTemplate(metaspace_tokenizer(), source).placement == placement


def test_the_demo_model_takes_memory_as_system_message() -> None:
    template = ChatTemplate(demo_tokenizer())
    assert (template.placement, template.header) == ("system", f"<|im_start|>system\n{MEMORY_HEADER}")


@pytest.mark.parametrize("chat", [[ASK], [APP, ASK], [*TURN, ASK], [APP, *TURN, ASK]])
@pytest.mark.parametrize("name", SUPPORTED)
def test_every_chat_begins_with_the_header_and_the_facts(name: str, chat: list[dict[str, str]]) -> None:
    template = ChatTemplate(metaspace_tokenizer(), SUPPORTED[name])
    text = template.render(template.place(chat, BLOCK))

    assert text.startswith(template.header + BLOCK.removeprefix(MEMORY_HEADER))
    assert text.index("End of memories.") < text.index("What does Alice like?")


@pytest.mark.parametrize("name", SUPPORTED)
def test_the_applications_prompt_follows_the_facts(name: str) -> None:
    template = ChatTemplate(metaspace_tokenizer(), SUPPORTED[name])
    text = template.render(template.place([APP, *TURN, ASK], BLOCK))
    assert text.index("End of memories.") < text.index("Answer in French.") < text.index("Hello")


def test_developer_text_follows_the_facts_like_system_text() -> None:
    template = ChatTemplate(demo_tokenizer())
    developer = {"role": "developer", "content": "Be brief."}

    assert template.place([APP, ASK, developer], BLOCK) == [
        {"role": "system", "content": f"{BLOCK}\n\n\nAnswer in French. \n\nBe brief."},
        ASK,
    ]


def test_text_parts_are_read_as_one_text() -> None:
    template = ChatTemplate(demo_tokenizer())
    parts = [{"type": "text", "text": "What does"}, {"type": "text", "text": "Alice like?"}]
    assert "What does\nAlice like?" in template.render(template.place([{"role": "user", "content": parts}], BLOCK))


def test_the_callers_messages_are_not_changed() -> None:
    template = ChatTemplate(metaspace_tokenizer(), GEMMA_2)
    chat = [dict(APP), dict(ASK)]
    template.place(chat, BLOCK)
    assert chat == [APP, ASK]


@pytest.mark.parametrize("source", [COUNTING, LAST_ONLY], ids=["counts messages", "shows the last message only"])
def test_a_template_without_a_fixed_place_is_refused(source: str) -> None:
    with pytest.raises(TemplateUnsupported, match="no fixed place for memory"):
        ChatTemplate(demo_tokenizer(), source)


def test_a_model_without_template_is_refused() -> None:
    with pytest.raises(TemplateUnsupported, match="no chat template"):
        ChatTemplate(metaspace_tokenizer())
