"""What the demo loads and asks fits together."""

from inference.demo.script import conversation, questions


def test_there_are_enough_facts_and_each_comes_from_a_turn() -> None:
    turns = conversation()
    assert sum(len(turn.facts) for turn in turns) >= 60
    assert {turn.speaker for turn in turns} == {"Nora", "Felix"}
    assert turns == sorted(turns, key=lambda turn: turn.said_at)


def test_every_expected_answer_stands_in_a_fact_and_not_in_its_question() -> None:
    facts = [fact for turn in conversation() for fact in turn.facts]
    asked = questions()
    assert len(asked) == 10
    for question in asked:
        assert 1 <= sum(question.expected in fact for fact in facts) <= 3
        assert question.expected not in question.question
