WORDS = ["alphabetical", "order"]


def solve(text):
    return "\n".join(sorted(text.split("\n")[:-1]))
