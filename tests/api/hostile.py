"""Names that an application may send for its users, made to be taken for one another."""

import unicodedata

from hypothesis import strategies as st

KINDS = ("user", "agent", "app", "run")
LONG = "n" * 254

# Pairs and groups that some reading makes equal: separators, case, blanks, normal forms, look-alikes, paths, patterns.
NAMES = (
    *("alice", "Alice", "ALICE", " alice", "alice ", "\u00a0alice", "ali\u200bce", "alice\u202e", "alice\ufe0f"),
    *("alice:bob", "alice/bob", "alice\\bob", "alice|bob", "alice,bob", "alice;bob", "alice bob", "alice\u2028bob"),
    *("user:alice", "user_id", "user", "alice/profile", "profile", ".", "..", "../alice", "%2e%2e", "a%2Fb", "a/b"),
    *("é", "e\u0301", "ﬀ", "ff", "Å", "\u212b", "\u212a", "K", "ı", "i", "İ", "ß", "ss", "ﷺ", "👩‍🌾", "👩🌾"),
    *("%", "_", "a_ice", "al%", "' OR '1'='1", '"alice"', "{alice}", "['alice']", "null", "None", "true", "0", "-1"),
    *("?user_id=alice", "#alice", "alice&user_id=bob", "**", "$alice", "\\u0061lice", f"{LONG}1", f"{LONG}2"),
    *("00000000-0000-0000-0000-000000000000", "123e4567-e89b-12d3-a456-426614174000"),
)
REFUSED = ("*", " ", "\u3000", "al\x00ice", "al\nice", "alice\x7f", "\x85", f"{LONG}12")

anything = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
decomposed = st.sampled_from(NAMES).map(lambda name: unicodedata.normalize("NFKD", name))
names = st.one_of(st.sampled_from(NAMES), decomposed, anything)
entities = st.lists(st.tuples(st.sampled_from(KINDS), names), min_size=2, max_size=4, unique=True)
