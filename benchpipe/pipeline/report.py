"""What assets say of themselves: metadata in forms that the UI renders well. Tables are capped: the event log keeps them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

MAX_ROWS = 50


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dg.TableMetadataValue:
    """At most MAX_ROWS rows with these columns; None is shown as "—". An empty table still shows its columns."""
    schema = dg.TableSchema(columns=[dg.TableColumn(name) for name in columns])
    shown = [dg.TableRecord({name: _cell(row.get(name)) for name in columns}) for row in rows[:MAX_ROWS]]
    return dg.MetadataValue.table(records=shown, schema=schema)


def _cell(value: Any) -> str | int | float | bool:
    return "—" if value is None else value if isinstance(value, str | int | float | bool) else str(value)


def problems(found: Iterable[str]) -> dict[str, Any]:
    """Metadata about things that could not be read or decided; nothing when there are none."""
    lines = list(found)
    if not lines:
        return {}
    more = f"\n- … and {len(lines) - MAX_ROWS} more" if len(lines) > MAX_ROWS else ""
    text = "\n".join(f"- {line[:300]}" for line in lines[:MAX_ROWS])
    return {"n_problems": len(lines), "problems": dg.MetadataValue.md(text + more)}


def result(inputs: str, output: str | None = None, **metadata: Any) -> dg.MaterializeResult[Any]:
    """A materialisation built from `inputs`. `output`: digest of what was made, its data version.

    `files={name: path}` among the metadata become links.
    """
    files: Mapping[str, Path] = metadata.pop("files", {})
    links = {name: dg.MetadataValue.path(str(path)) for name, path in files.items()}
    return dg.MaterializeResult(
        metadata={**metadata, **links, "inputs": inputs}, data_version=dg.DataVersion(output if output else inputs)
    )
