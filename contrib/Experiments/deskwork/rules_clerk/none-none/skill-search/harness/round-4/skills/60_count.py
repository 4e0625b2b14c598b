WORDS = ["how many words"]


def solve(text):
    return str(text.count(" ") + text.count("\n"))
