"""Load saved models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocpath.model_file import read_saved
from rocpath.tables.classifier import TableClassifier
from rocpath.tables.model import TableModel

if TYPE_CHECKING:
    import os


def load_model(source: str | os.PathLike[str]) -> TableClassifier:
    """Load a model that ``rocpath fit`` has saved.

    Loading runs no code of the file: it may hold numbers, text and the types that
    models of rocpath are made of, and is refused if it holds others, is damaged, has
    weights that are not finite or would unpack to more than 1 GiB.

    Parameters
    ----------
    source : path
        The folder of a fit, or its ``model.skops``.

    Returns
    -------
    TableClassifier
        Takes data frames of pandas or polars with the columns of the table.

    Raises
    ------
    ValueError
        If the file is no such model.

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.load_model("no-such-folder")
    Traceback (most recent call last):
        ...
    ValueError: 'no-such-folder' does not exist.
    """
    return TableClassifier(read_saved(str(source), TableModel))
