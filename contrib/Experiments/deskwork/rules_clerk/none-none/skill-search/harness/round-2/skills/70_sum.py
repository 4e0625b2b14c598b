WORDS = ["add up"]


def solve(text):
    return str(sum(int(part) for part in text.replace(";", " ").split() if part.isdigit()))
