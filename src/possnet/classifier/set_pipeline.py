"""A pipeline that keeps the methods of its classifier: scikit-learn's own hides those that it does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

if TYPE_CHECKING:
    from collections.abc import Callable


def _last_step_has(name: str) -> Callable[[Any], bool]:
    def has(self: Any) -> bool:
        return hasattr(self.steps[-1][1], name)

    return has


class SetPipeline(Pipeline):  # type: ignore[misc]
    """A `sklearn.pipeline.Pipeline` with the methods of its last step that give sets and degrees.

    >>> from sklearn.preprocessing import StandardScaler
    >>> from possnet.classifier import PossibilisticClassifier, pipeline
    >>> X, y = [[k / 50] for k in range(50)], [0] * 25 + [1] * 25
    >>> model = pipeline(StandardScaler(), PossibilisticClassifier()).fit(X, y)
    >>> model.predict_set([[0.05], [0.95]], alpha=0.2).tolist()
    [[True, False], [False, True]]
    """

    @available_if(_last_step_has("predict_set"))  # type: ignore[untyped-decorator]
    def predict_set(self, X: Any, alpha: float | None = None) -> Any:
        """As `PossibilisticClassifier.predict_set`, after the transformations."""
        return self._ask_last("predict_set", X, alpha=alpha)

    @available_if(_last_step_has("predict_possibility"))  # type: ignore[untyped-decorator]
    def predict_possibility(self, X: Any) -> Any:
        """As `PossibilisticClassifier.predict_possibility`, after the transformations."""
        return self._ask_last("predict_possibility", X)

    @available_if(_last_step_has("predict_necessity"))  # type: ignore[untyped-decorator]
    def predict_necessity(self, X: Any) -> Any:
        """As `PossibilisticClassifier.predict_necessity`, after the transformations."""
        return self._ask_last("predict_necessity", X)

    @available_if(_last_step_has("predict_p_values"))  # type: ignore[untyped-decorator]
    def predict_p_values(self, X: Any) -> Any:
        """As `PossibilisticClassifier.predict_p_values`, after the transformations."""
        return self._ask_last("predict_p_values", X)

    def _ask_last(self, method: str, X: Any, **options: Any) -> Any:
        for _, _, step in self._iter(with_final=False):
            X = step.transform(X)
        return getattr(self.steps[-1][1], method)(X, **options)


def pipeline(*steps: Any, memory: Any = None, verbose: bool = False) -> SetPipeline:
    """A pipeline of steps, named after their classes, that keeps `predict_set` and its like.

    >>> from sklearn.preprocessing import StandardScaler
    >>> from possnet.classifier import PossibilisticClassifier
    >>> [name for name, _ in pipeline(StandardScaler(), PossibilisticClassifier()).steps]
    ['standardscaler', 'possibilisticclassifier']
    """
    from sklearn.pipeline import make_pipeline

    named = make_pipeline(*steps).steps
    return SetPipeline(named, memory=memory, verbose=verbose)
