"""The tasks of deskwork: goal, input, and the answer worked out from the input. Always the same, on every machine."""

import random
from collections.abc import Callable
from dataclasses import dataclass

NAMES = "Ada Ben Chi Dua Eli Fay Gus Hal Ida Jon Kim Lea Max Nia Oda Pia Quin Rex Sam Tia Uma Vic Wen Xia Yan Zoe".split()
SURNAMES = "Abel Berg Cole Dahl Egli Frey Gray Hahn Ines Jost Koch Lund Moss Nord Ozan Pohl".split()


@dataclass(frozen=True)
class Task:
    """One task: what the harness is told, what it finds in input.txt, what is right."""

    id: str
    goal: str
    text: str
    answer: str


def sum_amounts(rng: random.Random) -> tuple[str, str, str]:
    amounts = [rng.randint(-40, 99) for _ in range(rng.randint(4, 8))]
    lines = [f"{rng.choice(NAMES)};{amount}" for amount in amounts]
    return "Add up the amounts after the semicolons.", "\n".join(lines), str(sum(amounts))


def sort_names(rng: random.Random) -> tuple[str, str, str]:
    names = rng.sample(NAMES, 6)
    return "Put the names into alphabetical order, one per line.", "\n".join(names), "\n".join(sorted(names))


def count_words(rng: random.Random) -> tuple[str, str, str]:
    lines = [" ".join(rng.choices(NAMES, k=rng.randint(2, 7))) for _ in range(3)]
    return "How many words are there?", "\n".join(lines), str(sum(len(line.split()) for line in lines))


def drop_repeats(rng: random.Random) -> tuple[str, str, str]:
    names = rng.choices(NAMES[:6], k=9)
    return "Remove repeated lines, keep the first of each.", "\n".join(names), "\n".join(dict.fromkeys(names))


def first_date(rng: random.Random) -> tuple[str, str, str]:
    dates = [f"{rng.randint(2019, 2025)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}" for _ in range(5)]
    lines = [f"{rng.choice(NAMES)} came on {day}." for day in dates]
    return "Which date comes first?", "\n".join(lines), min(dates)


def to_centimetres(rng: random.Random) -> tuple[str, str, str]:
    inches = rng.randint(2, 90)
    return "Give the length in centimetres with two decimals.", f"{inches} in", f"{inches * 2.54:.2f}"


def initials(rng: random.Random) -> tuple[str, str, str]:
    people = [f"{rng.choice(NAMES)} {rng.choice(SURNAMES)}" for _ in range(4)]
    answer = "\n".join("".join(part[0] for part in person.split()) for person in people)
    return "Write the initials of each person, one per line.", "\n".join(people), answer


def largest_order(rng: random.Random) -> tuple[str, str, str]:
    orders = dict(zip(rng.sample(NAMES, 5), rng.sample(range(10, 300), 5), strict=True))
    lines = [f"{name};{amount}" for name, amount in orders.items()]
    return "Who placed the largest order?", "\n".join(lines), max(orders, key=lambda name: orders[name])


def roman_numeral(rng: random.Random) -> tuple[str, str, str]:
    number = rng.randint(4, 399)
    rest, text = number, ""
    for value, sign in [(100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]:
        text += sign * (rest // value)
        rest %= value
    return "Write the Roman numeral as a number.", text, str(number)


def backwards(rng: random.Random) -> tuple[str, str, str]:
    lines = [" ".join(rng.sample(NAMES, 3)) for _ in range(4)]
    return "Give the lines in reverse order.", "\n".join(lines), "\n".join(reversed(lines))


KINDS: dict[str, Callable[[random.Random], tuple[str, str, str]]] = {
    "sum_amounts": sum_amounts,
    "sort_names": sort_names,
    "count_words": count_words,
    "drop_repeats": drop_repeats,
    "first_date": first_date,
    "to_centimetres": to_centimetres,
    "initials": initials,
    "largest_order": largest_order,
    "roman_numeral": roman_numeral,
    "backwards": backwards,
}


def make(kind: str, name: str) -> Task:
    """The task `<kind>_<name>`."""
    goal, text, answer = KINDS[kind](random.Random(f"deskwork {kind} {name}"))
    return Task(f"{kind}_{name}", goal, text + "\n", answer)


POOLS: dict[str, list[Task]] = {
    "exam": [make(kind, name) for kind in sorted(KINDS) for name in ("1", "2", "3")],
    "study": [make(kind, "s") for kind in sorted(KINDS)],
}
"""Declared task sets by name."""


def is_right(task: Task, answer: str) -> bool:
    """The verifier: equal to the right answer but for space around it and at line ends."""
    return [line.rstrip() for line in answer.strip().split("\n")] == task.answer.split("\n")
