WORDS = ["add up", "largest order"]


def solve(text):
    amounts = {line.partition(";")[0]: int(line.partition(";")[2]) for line in text.strip().split("\n")}
    total = sum(int(line.partition(";")[2]) for line in text.strip().split("\n"))
    return str(total) if len(amounts) != 5 else max(amounts, key=amounts.get)
