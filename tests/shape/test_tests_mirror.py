"""Tests stand where the code does: ``tests/unit/room/test_module.py`` holds ``room/_module.py``."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_unit_test_has_the_name_of_a_module_perhaps_with_what_it_is_about():
    package, tests = ROOT / "src" / "halftruth", ROOT / "tests" / "unit"
    modules = {(path.parent.relative_to(package), path.stem.lstrip("_")) for path in package.rglob("*.py")}
    astray = []
    for path in tests.rglob("test_*.py"):
        words = path.stem.split("_")[1:]
        names = {"_".join(words[:n]) for n in range(1, len(words) + 1)}
        if not any((path.parent.relative_to(tests), name) in modules for name in names):
            astray.append(str(path.relative_to(ROOT)))
    assert not astray
