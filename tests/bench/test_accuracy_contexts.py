"""Facts are encoded behind exactly what their strategy says, and prompts are the gateway's."""

import numpy as np
import pytest

from inference.bench.accuracy.locomo import Conversation, read_conversations
from inference.bench.accuracy.modes import parse_modes
from inference.bench.accuracy.prompts import ConversationPrompts, chat
from inference.bench.errors import BenchError
from memory.encoding import parse_strategy
from memory.prompt import ChatTemplate, compose_prompt
from tests.bench.conversation import DATE, write_conversation
from tests.memory.prompt.tokenizers import demo_tokenizer

# Cosines with fact 3 rise in the order 0, 1, 5, 2, 4; with question 0 in the order 5, 4, 3, 2, 1, 0.
FACT_ANGLES = (80, 60, 20, 0, 10, 40)


def unit(*degrees: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.fixture(scope="module")
def template() -> ChatTemplate:
    return ChatTemplate(demo_tokenizer())


@pytest.fixture(scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory) -> Conversation:
    (found,) = read_conversations(write_conversation(tmp_path_factory.mktemp("own") / "own.json"))
    return found


@pytest.fixture(scope="module")
def prompts(template: ChatTemplate, conversation: Conversation) -> ConversationPrompts:
    vectors = unit(*FACT_ANGLES), unit(100, 0, 0)
    return ConversationPrompts(conversation, template, *vectors, fingerprint="model", max_tokens=2048, pass_tokens=4096)


def facts(prompts: ConversationPrompts, *places: int) -> str:
    return "".join(f"- {prompts.conversation.facts[place].text}\n" for place in places)


TURNS = (
    "Mira: I finally bought the red kayak, and I named it Comet.\n"
    "Otto: Lovely! My sister Hanna moved to Bergen last week.\n"
)
LAST_TURN = "Mira: Does she still play the cello?\n"


@pytest.mark.parametrize(
    ("strategy", "has_header", "turns", "places"),
    [
        ("turns(0)", False, "", ()),
        ("turns(1)", False, LAST_TURN, ()),
        ("turns(3)", False, TURNS + LAST_TURN, ()),
        ("neighbours(0)", True, "", ()),
        ("neighbours(2)", True, "", (1, 2)),
        ("nearest(2)", True, "", (2, 4)),
        ("nearest(16)", True, "", (0, 1, 5, 2, 4)),
        ("neighbours(1)+turns(3)", True, TURNS + LAST_TURN, (2,)),
        ("nearest(1)+turns(1)+tail(2)", True, LAST_TURN, (4,)),
    ],
)
def test_the_contexts_tokens(
    prompts: ConversationPrompts, strategy: str, has_header: bool, turns: str, places: tuple[int, ...]
) -> None:
    header = prompts.template.header if has_header else ""
    before = f"{header}{turns}{facts(prompts, *places)}"
    plan = prompts.encoded(parse_strategy(strategy)).passes[3]
    encode = prompts.template.tokenizer.encode
    assert plan.token_ids == encode(before + facts(prompts, 3), add_special_tokens=False)
    assert plan.token_ids[: plan.lines[0].start] == encode(before, add_special_tokens=False)
    assert (plan.header is not None) == has_header
    assert before.startswith(f"<|im_start|>system\n{'Below is'}") == has_header


@pytest.mark.parametrize(("pass_tokens", "runs"), [(4096, [6]), (120, [3, 2, 1]), (1, [1, 1, 1, 1, 1, 1])])
def test_a_window_is_encoded_in_passes_as_workers_do(
    template: ChatTemplate, conversation: Conversation, pass_tokens: int, runs: list[int]
) -> None:
    vectors = unit(*FACT_ANGLES), unit(0, 0, 0)
    prompts = ConversationPrompts(
        conversation, template, *vectors, fingerprint="model", max_tokens=2048, pass_tokens=pass_tokens
    )
    encoded = prompts.encoded(parse_strategy("window(1)"))
    assert [len(plan.lines) for plan in encoded.passes] == runs
    assert encoded.facts == 6
    assert len(encoded.segments) == 7
    start = 0
    for plan, count in zip(encoded.passes, runs, strict=True):
        places = range(max(0, start - 1), start + count)
        text = f"{template.header}{facts(prompts, *places)}"
        assert plan.token_ids == template.tokenizer.encode(text, add_special_tokens=False)
        start += count


def test_each_strategys_blobs_are_its_own(prompts: ConversationPrompts) -> None:
    names = ("turns(0)", "neighbours(0)", "neighbours(16)", "nearest(16)", "window(16)", "neighbours(16)+turns(1)")
    keys = [{segment.key for segment in prompts.encoded(parse_strategy(name)).segments} for name in names]
    assert len(set.union(*keys)) == sum(map(len, keys))


def test_prompts_are_the_gateways_with_the_best_fact_last(prompts: ConversationPrompts) -> None:
    prompt = prompts.prompt(0, 3)
    lines = [prompts.template.line(prompts.conversation.facts[place].text) for place in (5, 1, 0)]
    composed = compose_prompt(prompts.template, chat(prompts.conversation.questions[0]), lines)
    assert prompt.facts == (5, 1, 0)
    assert prompt.token_ids == composed.token_ids
    plain = compose_prompt(prompts.template, chat(prompts.conversation.questions[0]), [])
    assert prompts.prompt(0, 0).token_ids == plain.token_ids
    assert DATE not in prompts.template.tokenizer.decode(plain.token_ids)


@pytest.mark.parametrize("strategy", ["turns(3)", "neighbours(2)", "nearest(2)", "window(2)", "neighbours(2)+turns(2)"])
@pytest.mark.parametrize("tail", [0, 2, 6])
def test_injection_covers_header_and_facts_up_to_the_tail(
    prompts: ConversationPrompts, strategy: str, tail: int
) -> None:
    mode = parse_modes(f"{strategy}+tail({tail})")[1]
    assert mode.strategy
    prompt, encoded = prompts.prompt(1, 6), prompts.encoded(mode.strategy)
    injected = prompts.injection(prompt, mode, encoded)
    covered = prompt.token_ids[: sum(segment.tokens for segment in injected.segments)]
    served = facts(prompts, *prompt.facts[: 6 - tail])
    text = f"{prompts.template.header}{served}"
    assert covered == prompts.template.tokenizer.encode(text, add_special_tokens=False)


def test_a_fact_encoded_as_other_tokens_is_told(template: ChatTemplate, conversation: Conversation) -> None:
    prompts = ConversationPrompts(
        conversation,
        template,
        unit(*FACT_ANGLES),
        unit(0, 0, 0),
        fingerprint="model",
        max_tokens=2048,
        pass_tokens=4096,
    )
    mode = parse_modes("neighbours(2)")[1]
    assert mode.strategy
    encoded = prompts.encoded(mode.strategy)
    prompts.lines[3] = template.line("Otto bakes something else.")
    with pytest.raises(BenchError, match="other tokens"):
        prompts.injection(prompts.prompt(0, 6), mode, encoded)


def test_a_prompt_beyond_the_engines_length_is_told(template: ChatTemplate, conversation: Conversation) -> None:
    prompts = ConversationPrompts(
        conversation, template, unit(*FACT_ANGLES), unit(0, 0, 0), fingerprint="model", max_tokens=100, pass_tokens=4096
    )
    with pytest.raises(BenchError, match="the engine takes 100"):
        prompts.prompt(0, 6)
