"""The part of the matrix that runs inside an environment: one cell, one process.

``python -m compat_opt.testing.matrix.worker FOLDER`` reads FOLDER/job.json and writes
FOLDER/result.json and FOLDER/traces.npz. Python 3.7 syntax; needs NumPy, packaging and the
framework of the cell, nothing else.
"""
