"""An experiment, or a hold-out check, as one self-contained HTML page; figures for papers."""

from possnet.report.check_page import write_check
from possnet.report.report_files import prepare_drawing, write_report
from possnet.report.verdicts import state_answer

__all__ = ["prepare_drawing", "state_answer", "write_check", "write_report"]
