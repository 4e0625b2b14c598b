import re

WORDS = ["date"]


def solve(text):
    return min(re.findall(r"\d{4}-\d\d-\d\d", text))
