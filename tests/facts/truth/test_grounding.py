"""A fact belongs to the turn that says it, and what nobody said is no fact."""

from facts.truth import says_something, source_of

TURNS = ("I have moved to Lisbon with my cat Kiwi.", "How nice! Do you like it there?", "Ich wohne jetzt in Bonn.")


def test_a_fact_is_of_the_turn_that_says_most_of_it() -> None:
    assert source_of("The user moved to Lisbon.", TURNS) == 0
    assert source_of("The user moved to Lisbon.", TURNS, claimed=2) == 0
    assert source_of("Der Nutzer wohnt in Bonn.", TURNS, claimed=0) == 2


def test_among_equals_the_turn_that_was_named_stays() -> None:
    assert source_of("Likes tea.", ("I like tea.", "Tea, I like it."), claimed=1) == 1
    assert source_of("Likes tea.", ("I like tea.", "Tea, I like it."), claimed=7) == 0


def test_what_no_turn_says_has_no_source() -> None:
    assert source_of("John Smith owns a bakery.", TURNS) is None
    assert source_of("The user.", TURNS) is None
    assert source_of("Anything", ()) is None


def test_signs_alone_say_nothing() -> None:
    assert not any(says_something(text) for text in ("", " ", "...", "?!", "🙂 👍"))
    assert all(says_something(text) for text in ("ok", "7", "你好"))
