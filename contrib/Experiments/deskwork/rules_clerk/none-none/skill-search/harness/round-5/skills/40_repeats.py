WORDS = ["repeated"]


def solve(text):
    return "\n".join(dict.fromkeys(text.strip().split("\n")))
