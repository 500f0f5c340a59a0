"""The notebooks: each runs from top to bottom, says what it finds, and is committed without its output."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient

from support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
EVERY = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

STATED = {
    "tutorial": ["f'a fairness of {jain:.3f}'"],
    "anti-ecn": ["f'delivers {100 * gains[0.75]:.1f} % more'"],
    "blitz": [
        "f'takes TCP {times:.1f} times as long'",
        "f'{sum(gaps) / len(gaps):.2f} decades'",
    ],
    "cw-hstcp": ['f\'their ratio ends at {ratio["cw-hstcp", "A"]:.2f}\''],
    "exp-tcp": ["f'is {to_paper:.2f} times as long'"],
    "fiber-tcp": ["f'grow by {sum(slopes) / len(slopes):.2f} per round trip'"],
}
"""What the text of each says about its own numbers, as expressions over them."""

SURE = "{n: (found.here[n].verdict, v.verdict) for n, v in found.committed.items() if v.decided}"
"""The verdicts here and in the room, where more seeds would not turn that of the room."""

LARGEST = 20_000
LINK = re.compile(r"\]\((?!https?:)([^)\s#]+)")


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def executed(path: Path, folder: Path, expressions: list[str]) -> list[Any]:
    """Runs a notebook in a kernel of its own, and returns the values of expressions at its end."""
    notebook = read(path)
    asked = nbformat.v4.new_code_cell(f"print([{', '.join(expressions)}])")  # type: ignore[no-untyped-call]
    notebook.cells.append(asked)
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    client.execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.get("name") != "stderr", f"{cell.id}: {output.text}"
    values: list[Any] = ast.literal_eval(asked.outputs[0].text)
    return values


def test_there_is_one_for_each_paper_and_a_tutorial() -> None:
    papers = [room.parent.name for room in ROOT.glob("papers/*/claims.toml")]
    assert sorted(path.stem for path in NOTEBOOKS) == sorted([*papers, "tutorial"])
    assert STATED.keys() == {path.stem for path in NOTEBOOKS}


@EVERY
def test_it_runs_and_its_text_says_what_it_finds(
    path: Path, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(own_folder.parent / "jupyter"))
    stated = STATED[path.stem]
    verdicts = "{}" if path.stem == "tutorial" else SURE
    *found, sure = executed(path, own_folder, [*stated, verdicts])
    prose = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    words = " ".join(prose.split())
    for sentence in found:
        assert sentence in words
    assert bool(sure) == (path.stem != "tutorial")
    for name, (here, committed) in sure.items():
        assert here == committed, f"{name} is {here} here, {committed} in the room"


@EVERY
def test_it_is_small_whole_and_without_output(path: Path) -> None:
    assert path.stat().st_size < LARGEST
    notebook = read(path)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert cell.metadata == {}
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
        else:
            for target in LINK.findall(cell.source):
                assert (path.parent / target).exists(), target
