"""Numpy kernels: packed bitmaps, grouping of equal rows, and counting. They trust their arguments."""
