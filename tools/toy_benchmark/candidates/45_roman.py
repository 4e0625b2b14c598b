WORDS = ["roman"]
VALUES = {"C": 100, "L": 50, "X": 10, "V": 5, "I": 1}


def solve(text):
    numbers = [VALUES[sign] for sign in text.strip()]
    return str(sum(-a if a < b else a for a, b in zip(numbers, numbers[1:] + [0])))
