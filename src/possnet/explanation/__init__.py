"""Answers that explain themselves: why, what matters, conflicts, sensitivity, next questions, scenarios, decisions."""

from possnet.explanation.answer_explanation import AnswerExplanation
from possnet.explanation.best_stories import explain
from possnet.explanation.conflicts import Conflicts, Repair, conflicts
from possnet.explanation.contributions import Contribution, Contributions, contributions
from possnet.explanation.decisions import ActUtility, Decision, decide
from possnet.explanation.next_questions import NextQuestion, NextQuestions, PossibleAnswer, next_questions
from possnet.explanation.scenario_comparison import Scenario, ScenarioComparison, scenarios
from possnet.explanation.sensitivity import EntrySensitivity, Sensitivity, sensitivity

__all__ = [
    "ActUtility",
    "AnswerExplanation",
    "Conflicts",
    "Contribution",
    "Contributions",
    "Decision",
    "EntrySensitivity",
    "NextQuestion",
    "NextQuestions",
    "PossibleAnswer",
    "Repair",
    "Scenario",
    "ScenarioComparison",
    "Sensitivity",
    "conflicts",
    "contributions",
    "decide",
    "explain",
    "next_questions",
    "scenarios",
    "sensitivity",
]
