"""clerk: does one job. `python agent.py FOLDER` reads goal.txt and input.txt there, writes answer.txt and trace.jsonl."""

import importlib.util
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def skills():
    for file in sorted((HERE / "skills").glob("*.py")):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield file.stem, module


def main(folder: Path) -> int:
    goal = (folder / "goal.txt").read_text().lower()
    text = (folder / "input.txt").read_text()
    with open(folder / "trace.jsonl", "w") as trace:
        for step, (name, skill) in enumerate(skills()):
            if not any(word in goal for word in skill.WORDS):
                print(json.dumps({"step": step, "skill": name, "fits": False}), file=trace)
                continue
            answer = skill.solve(text)
            print(json.dumps({"step": step, "skill": name, "fits": True, "reply": answer}), file=trace)
            (folder / "answer.txt").write_text(answer)
            print(json.dumps({"step": step, "submitted": True}), file=trace)
            return 0
        print(json.dumps({"step": step + 1, "reply": "no skill fits"}), file=trace)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
