"""Load saved models."""

import os
from typing import Any

from rocpath.changepoint import LearnedDetector
from rocpath.changepoint.saved_detector import SavedDetector
from rocpath.files.models import read_saved
from rocpath.tables.classifier import TableClassifier
from rocpath.tables.model import TableModel


def load_model(source: str | os.PathLike[str]) -> TableClassifier | LearnedDetector:
    """Load a model that was saved by an estimator or the command line.

    Loading runs no code from the file, which may only contain numbers, text and the
    types of rocpath's models. Damaged files are rejected, and so are files with other types, with
    weights that are not finite, or with an unpacked size of more than 1 GiB.

    Parameters
    ----------
    source : path
        Folder of a fit, or its ``model.skops``.

    Returns
    -------
    TableClassifier or LearnedDetector
        Fitted estimator; it has no ``comparison_`` and no report.

    Raises
    ------
    ValueError
        If the file is not a valid model.

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.load_model("no-such-folder")
    Traceback (most recent call last):
        ...
    ValueError: 'no-such-folder' does not exist.
    """
    found: Any = read_saved(str(source), TableModel, SavedDetector)
    is_detector = isinstance(found, SavedDetector)
    return found.detector() if is_detector else TableClassifier.from_model(found)
