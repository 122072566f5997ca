"""Write the golden file anew: ``python -m tests.golden.write``, in the folder that holds ``tests``.

Only for a change of numbers or texts that was meant, and that the changelog tells. It prints what differs
from the file as it was, case by case, so that nothing else slips in.
"""

import sys

from .evaluations import CASES, answer
from .stored import PATH, differences, load, save


def main() -> None:
    old = load()[1] if PATH.is_file() else {}
    new = {case: answer(case) for case in CASES}
    for case in sorted({*old, *new}):
        changes = differences(old.get(case, "null"), new.get(case, "null"))
        sys.stdout.writelines(f"{case}{change[:300]}\n" for change in changes)
    save(new)


if __name__ == "__main__":
    main()
