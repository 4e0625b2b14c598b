"""What people wrote, as a message may quote it. Reads nothing, knows no field."""


def short(value: object, limit: int = 100) -> str:
    """A value on one line: cut where it is long, with what can't be seen or would turn the line written out."""
    text = str(value)
    seen = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text[:limit])
    return seen if len(text) <= limit else f"{seen}…"
