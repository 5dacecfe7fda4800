"""EM over the hidden trace: learning that recovers a network from imprecise data, missing cells included."""

from possnet.em.fit import CellMasses, EmResult, fit_em

__all__ = ["CellMasses", "EmResult", "fit_em"]
