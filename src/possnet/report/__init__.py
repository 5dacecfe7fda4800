"""An experiment as one self-contained HTML page, and figures for papers."""

from possnet.report.report_files import write_report

__all__ = ["write_report"]
