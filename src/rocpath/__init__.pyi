from . import changepoint, plots
from .changepoint import IntervalRegression, PenaltyRegressor
from .changepoint.label_table import read_labels
from .evaluation import metrics
from .evaluation.bootstrap import bootstrap_interval
from .evaluation.calibration import CalibrationCurve, calibration_curve
from .evaluation.calibration_summary import CalibrationSummary, calibration_summary
from .evaluation.comparison_results import MetricComparison, MetricDifference
from .evaluation.comparisons import compare, compare_auc
from .evaluation.intervals import auc_interval, interval
from .evaluation.net_benefit import NetBenefit, NetBenefitPoint, net_benefit
from .evaluation.operating_points import OperatingPoint
from .evaluation.planning import n_positives_needed
from .evaluation.reader_results import ReaderComparison
from .evaluation.readers import compare_readers
from .evaluation.results import AUCComparison, AUCInterval, MetricInterval
from .evaluation.score_evaluation import ScoreEvaluation
from .evaluation.survival_evaluation import SurvivalEvaluation
from .evaluation.threshold_table import ThresholdRow, ThresholdTable, threshold_table
from .evaluation.thresholds import choose_threshold
from .files.sequences import read_sequences
from .files.tables import read_table
from .pages.evaluation import evaluation_report
from .ranking import AUCBlender, AUCClassifier, ThresholdClassifier, scorers
from .ranking.scorers import partial_auc_score
from .search.breakpoints import ErrorBreakpoints
from .search.certificates import CertificateError
from .search.descent import Descent
from .search.line_search import aum_path, best_auc_step, best_aum_step, sweep
from .search.linear_model import minimize_aum
from .search.lines import Lines
from .search.roc import ROCCurve, auc, aum, aum_derivatives, aum_gradient, roc_curve
from .search.search_results import AUMPath, BestStep, StepPath
from .search.verify import verify
from .survival import Survival
from .tables.classifier import TableClassifier
from .tables.saved_models import load_model
from .threads import thread_limit

__version__: str

__all__ = [
    "AUCBlender",
    "AUCClassifier",
    "AUCComparison",
    "AUCInterval",
    "AUMPath",
    "BestStep",
    "CalibrationCurve",
    "CalibrationSummary",
    "CertificateError",
    "Descent",
    "ErrorBreakpoints",
    "IntervalRegression",
    "Lines",
    "MetricComparison",
    "MetricDifference",
    "MetricInterval",
    "NetBenefit",
    "NetBenefitPoint",
    "OperatingPoint",
    "PenaltyRegressor",
    "ROCCurve",
    "ReaderComparison",
    "ScoreEvaluation",
    "StepPath",
    "Survival",
    "SurvivalEvaluation",
    "TableClassifier",
    "ThresholdClassifier",
    "ThresholdRow",
    "ThresholdTable",
    "auc",
    "auc_interval",
    "aum",
    "aum_derivatives",
    "aum_gradient",
    "aum_path",
    "best_auc_step",
    "best_aum_step",
    "bootstrap_interval",
    "calibration_curve",
    "calibration_summary",
    "changepoint",
    "choose_threshold",
    "compare",
    "compare_auc",
    "compare_readers",
    "evaluation_report",
    "interval",
    "load_model",
    "metrics",
    "minimize_aum",
    "n_positives_needed",
    "net_benefit",
    "partial_auc_score",
    "plots",
    "read_labels",
    "read_sequences",
    "read_table",
    "roc_curve",
    "scorers",
    "sweep",
    "thread_limit",
    "threshold_table",
    "verify",
]
