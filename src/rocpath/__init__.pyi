from . import changepoint, plots
from .auc_statistics.calibration import CalibrationCurve, calibration_curve
from .auc_statistics.differences import compare_auc, compare_auc_unpaired
from .auc_statistics.intervals import auc_interval
from .auc_statistics.many_curves import AUCComparisons, compare_aucs
from .auc_statistics.operating_points import OperatingPoint
from .auc_statistics.other_metrics import (
    average_precision_interval,
    bootstrap_interval,
    fpr_at_tpr,
    tpr_at_fpr,
)
from .auc_statistics.planning import n_positives_needed
from .auc_statistics.results import AUCComparison, AUCInterval, MetricInterval
from .auc_statistics.thresholds import choose_threshold
from .breakpoints import ErrorBreakpoints
from .changepoint import IntervalRegression, PenaltyRegressor
from .descent import Descent
from .line_search import aum_path, best_auc_step, best_aum_step, sweep
from .linear_model import minimize_aum
from .lines import Lines
from .pages.evaluation import evaluation_report
from .ranking import AUCBlender, AUCClassifier, ThresholdClassifier, scorers
from .ranking.scorers import partial_auc_score
from .roc import ROCCurve, auc, aum, aum_derivatives, aum_gradient, roc_curve
from .search_results import AUMPath, BestStep, StepPath
from .sequence_tables.labels import read_labels
from .sequence_tables.sequences import read_sequences
from .table_files.reading import read_table
from .tables.classifier import TableClassifier
from .tables.saved_models import load_model
from .threads import thread_limit

__all__ = [
    "AUCBlender",
    "AUCClassifier",
    "AUCComparison",
    "AUCComparisons",
    "AUCInterval",
    "AUMPath",
    "BestStep",
    "CalibrationCurve",
    "Descent",
    "ErrorBreakpoints",
    "IntervalRegression",
    "Lines",
    "MetricInterval",
    "OperatingPoint",
    "PenaltyRegressor",
    "ROCCurve",
    "StepPath",
    "TableClassifier",
    "ThresholdClassifier",
    "auc",
    "auc_interval",
    "aum",
    "aum_derivatives",
    "aum_gradient",
    "aum_path",
    "average_precision_interval",
    "best_auc_step",
    "best_aum_step",
    "bootstrap_interval",
    "calibration_curve",
    "changepoint",
    "choose_threshold",
    "compare_auc",
    "compare_auc_unpaired",
    "compare_aucs",
    "evaluation_report",
    "fpr_at_tpr",
    "load_model",
    "minimize_aum",
    "n_positives_needed",
    "partial_auc_score",
    "plots",
    "read_labels",
    "read_sequences",
    "read_table",
    "roc_curve",
    "scorers",
    "sweep",
    "thread_limit",
    "tpr_at_fpr",
]
