"""The automaton finds every tag in every cut of the text, and reads each byte once."""

from hypothesis import given
from hypothesis import strategies as st

from evalspan.orchestrator.tags import TagAutomaton

TAGS = (b"<calc>", b"</calc>", b"<result>", b"</result>", "«é»".encode())
PIECES = st.sampled_from([b"<", b"<c", b"alc>", b"</", b"result>", b"calc", b">", b"x", "«é".encode(), b"\xbb"])


def find_all(text: bytes) -> list[tuple[int, bytes]]:
    """Every tag and where it ends, by plain search from the left."""
    found, position = [], 0
    while True:
        hits = [(text.find(tag, position), tag) for tag in TAGS]
        hits = [(start, tag) for start, tag in hits if start >= 0]
        if not hits:
            return found
        start, tag = min(hits)
        position = start + len(tag)
        found.append((position, tag))


@given(st.lists(PIECES | st.binary(max_size=4)))
def test_any_cut_finds_what_plain_search_finds(pieces: list[bytes]) -> None:
    automaton, state, read, found = TagAutomaton(TAGS), 0, 0, []
    for piece in pieces:
        end = 0
        while end < len(piece):
            state, end, tag = automaton.scan(state, piece, end)
            if tag >= 0:
                found.append((read + end, automaton.tags[tag]))
        read += len(piece)
    text = b"".join(pieces)
    assert found == find_all(text)
    held = automaton.depth[state]
    longest = max((n for n in range(1, 11) for tag in TAGS if n < len(tag) and text.endswith(tag[:n])), default=0)
    assert held == longest


def test_without_tags_all_is_text() -> None:
    assert TagAutomaton([]).scan(0, b"<calc>", 0) == (0, 6, -1)
