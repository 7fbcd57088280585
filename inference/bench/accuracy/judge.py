"""Answers judged right or wrong by a language model behind an OpenAI-compatible endpoint."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import islice

import httpx

from inference.bench.accuracy.locomo import Conversation, Question
from inference.bench.accuracy.records import QuestionRow, Records
from inference.bench.errors import BenchError

AT_ONCE = 16
SECONDS = 120
RETRIES = 2
SAVE_EVERY = 64
INSTRUCTION = """\
You compare an answer with the gold answer to the same question. The answer is right when it names what the gold \
answer names, however it is worded, and also when it is longer; for dates the same time in any format is right. \
Reply with one word: RIGHT or WRONG."""

Place = tuple[str, int, str]


class JudgeError(BenchError):
    """The endpoint cannot be used."""


@dataclass(frozen=True)
class Judge:
    """`url` is that before `/chat/completions`. The key may be empty."""

    url: str
    model: str
    key: str = ""

    def is_right(self, client: httpx.Client, question: Question, answer: str) -> bool:
        """Raises JudgeError."""
        text = f"Question: {question.text}\nGold answer: {question.gold}\nAnswer: {answer}"
        messages = [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": text}]
        body = {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": 8}
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            reply = client.post(f"{self.url.rstrip('/')}/chat/completions", json=body, headers=headers)
            said = reply.raise_for_status().json()["choices"][0]["message"]["content"]
        except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
            raise JudgeError(f"the judge at {self.url} gives no verdict: {error!r}") from error
        return verdict(str(said))


def verdict(said: str) -> bool:
    """Anything but a clear RIGHT is wrong."""
    words = said.strip().upper().split()
    return bool(words) and words[0].strip(".,:!*") == "RIGHT"


def judge_all(
    judge: Judge, conversations: Sequence[Conversation], records: Records, progress: Callable[[int], None]
) -> None:
    """All answers that have no verdict yet; an answer given in several modes is judged once. Raises JudgeError."""
    questions = {
        (conversation.name, question.number): question
        for conversation in conversations
        for question in conversation.questions
    }
    left = (row for row in records.questions if (row.conversation, row.question, row.mode) not in records.judged)
    asked = (row for row in left if (row.conversation, row.question) in questions)
    transport = httpx.HTTPTransport(retries=RETRIES)
    with httpx.Client(timeout=SECONDS, transport=transport) as client, ThreadPoolExecutor(AT_ONCE) as pool:
        while rows := list(islice(asked, SAVE_EVERY)):
            groups: dict[tuple[str, int, str], list[QuestionRow]] = {}
            for row in rows:
                groups.setdefault((row.conversation, row.question, row.answer), []).append(row)
            calls = {
                pool.submit(judge.is_right, client, questions[conversation, number], answer): group
                for (conversation, number, answer), group in groups.items()
            }
            found: dict[Place, bool] = {}
            for call in as_completed(calls):
                right = call.result()
                found |= {(row.conversation, row.question, row.mode): right for row in calls[call]}
            records.add_judged(found)
            progress(len(rows))
