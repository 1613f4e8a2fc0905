"""Check names and types of columns without importing other libraries."""

import re
from collections.abc import Collection

from rocpath.files.table_names import listed

KINDS = ("number", "category", "date", "drop")
# Final words of the names of columns that identify people, things or rows.
_IDENTIFIER = re.compile(
    r"(^|[_\s.-])(id|ids|uuid|guid|ssn|index|customer|client|patient|subject|user|person|"
    r"account|household|family|member|employee|student|device|machine|session|visitor|"
    r"company|store|hospital|school|cust|card|mrn|usubjid|subjid|pat|kunde|kunden|kunden_?nummer|"
    r"cliente|klant|e_?mail|iban)([_\s]?(id|no|nr|num|number|code|key|name))?$"
)


def check_found(name: str, names: Collection[str], role: str) -> None:
    """Raise an error that lists the existing columns, unless the column is among them."""
    if name not in names:
        raise ValueError(f"{role} column {name!r} not found; columns are: {listed(names)}.")


def is_kind(given: str) -> bool:
    """Return whether a type is one of ``KINDS``, or a date or number with a format."""
    return given in (*KINDS, "number:.", "number:,") or given.startswith("date:%")


def is_identifier_name(name: str) -> bool:
    """Return whether a column is named like an identifier, such as ``customerId``."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return _IDENTIFIER.search(words) is not None
