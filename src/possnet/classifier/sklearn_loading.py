"""scikit-learn, or a sentence: it is not installed, or there is too little address space for it."""

from possnet.errors import InputError
from possnet.limits import require_address_space

require_address_space(240 << 20, "scikit-learn")  # measured; with less its libraries end the program, or hang
try:
    import sklearn  # noqa: F401
except ModuleNotFoundError:  # a library of it that does not fit into memory is another ImportError
    raise InputError("possnet.classifier needs scikit-learn; install it with: pip install 'possnet[sklearn]'") from None
