WORDS = ["reverse order"]


def solve(text):
    return "\n".join(reversed(text.strip().split("\n")))
