"""Coverage and size of the sets of MAPIE and crepes for given probabilities; run by classifier_quality.py with its own Python."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from crepes import ConformalClassifier
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin


class GivenProbabilities(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are its probabilities."""

    def __init__(self, n_classes: int = 2) -> None:
        self.n_classes = n_classes

    def fit(self, rows: np.ndarray, labels: np.ndarray) -> "GivenProbabilities":
        """Nothing to learn."""
        del rows, labels
        self.classes_ = np.arange(self.n_classes)
        return self

    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        """The rows themselves."""
        shares = np.asarray(rows, dtype=float)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """The most probable class."""
        return np.asarray(rows).argmax(axis=1)


def main() -> None:
    """Answer all jobs."""
    warnings.simplefilter("ignore")
    document = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    answers: dict[str, dict[str, list[list[float]]]] = {"MAPIE": {}, "crepes": {}}
    for job in document["jobs"]:
        calibration, test = np.array(job["calibration"]), np.array(job["test"])
        labels, truth = np.array(job["labels"]), np.array(job["truth"])
        model = GivenProbabilities(calibration.shape[1]).fit(calibration, labels)
        alphas = document["alphas"]
        peer = SplitConformalClassifier(
            model, confidence_level=[1 - a for a in alphas], conformity_score="lac", prefit=True
        ).conformalize(calibration, labels)
        _, sets = peer.predict_set(test)
        hinge = ConformalClassifier().fit(1 - calibration[np.arange(len(labels)), labels])
        for number, alpha in enumerate(alphas):
            chosen = {
                "MAPIE": sets[:, :, number],
                "crepes": hinge.predict_set(1 - test, confidence=1 - alpha, smoothing=False),
            }
            for name, given in chosen.items():
                own = np.asarray(given, dtype=bool)
                figures = [float(own[np.arange(len(truth)), truth].mean()), float(own.sum(axis=1).mean())]
                answers[name].setdefault(str(alpha), []).append(figures)
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
