"""The matrix: one optimizer, every TensorFlow, and what changed where.

::

    releases      which releases there are and what they need (releases.tsv)     data
    plan          releases x targets -> cells
    subjects      what is tried: a rule, a built-in, any class or factory
    cache         folders, keys, results that are there already
    environments  one environment a release, made by uv
    process       one cell in a process of its own
    schedule      several of them side by side
    compare       distances, first differences, groups of cells that agree
    baseline      traces written down, and compared with later
    bisect        the release where the numbers change
    report/       text table, HTML, JSON, JUnit
    run           all of it, for `compat-opt matrix`
    worker/       the only part that runs inside the environments

Nothing is imported from here before it is needed; NumPy is needed by ``compare`` only.
"""
