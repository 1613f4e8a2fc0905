"""Times of imports, which must stay below 50 ms excluding the startup of Python."""


def timeraw_import():
    """Import the package: its names are loaded only when they are used."""
    return "import rocpath"


def timeraw_search():
    """Import one search, which loads the core and NumPy but not scikit-learn."""
    return "from rocpath import best_auc_step"


timeraw_import.number = 1
timeraw_search.number = 1
