"""The closed table of operations.

Kinds:
    elementwise: acts on each element; arguments are promoted to one dtype.
    compare: as elementwise, and the result is boolean.
    logical: as elementwise, on booleans.
    reduce: ``(x, axis=None, keepdims=False)``.
    linalg: matrix functions over the last two axes.
    shape: moves elements without computing.
    create: makes an array; ``dtype=None`` is the compute dtype.
    random: seeded random numbers, equal on all executors up to the rounding of log and cos.

Operations that need an order (maximum, less, floor, ...) refuse complex values on every executor.
"""

import collections

Operation = collections.namedtuple("Operation", "name kind arguments meaning")

_ROWS = """
abs              elementwise  x            absolute value; real for complex input
abs_square       elementwise  x            |x|^2 in the dtype of x (x * conj(x)); equals square for real x
add              elementwise  x1, x2       x1 + x2
atan2            elementwise  x1, x2       angle of the point (x2, x1)
ceil             elementwise  x            smallest integer >= x, same dtype
clip             elementwise  x, min, max  limits x to [min, max]; a limit may be None
conj             elementwise  x            complex conjugate; x itself for real x
cos              elementwise  x            cosine of radians
divide           elementwise  x1, x2       x1 / x2
exp              elementwise  x            e^x
expm1            elementwise  x            e^x - 1
floor            elementwise  x            largest integer <= x, same dtype
log              elementwise  x            natural logarithm
log1p            elementwise  x            log(1 + x)
maximum          elementwise  x1, x2       larger of the two; NaN if either is
minimum          elementwise  x1, x2       smaller of the two; NaN if either is
multiply         elementwise  x1, x2       x1 * x2
negative         elementwise  x            -x
pow              elementwise  x1, x2       x1 ** x2
imag             elementwise  x            imaginary part; real dtype
real             elementwise  x            real part; real dtype
reciprocal       elementwise  x            1 / x
round            elementwise  x            nearest integer, halves to even, same dtype
rsqrt            elementwise  x            1 / sqrt(x)
sigmoid          elementwise  x            1 / (1 + e^-x)
sign             elementwise  x            -1, 0 or 1; x / |x| for complex x
sin              elementwise  x            sine of radians
sqrt             elementwise  x            square root
square           elementwise  x            x * x
subtract         elementwise  x1, x2       x1 - x2
tanh             elementwise  x            hyperbolic tangent
where            elementwise  condition, x1, x2  x1 where condition is true, else x2
equal            compare      x1, x2       x1 == x2
greater          compare      x1, x2       x1 > x2
greater_equal    compare      x1, x2       x1 >= x2
isfinite         compare      x            neither infinite nor NaN
isnan            compare      x            not a number
less             compare      x1, x2       x1 < x2
less_equal       compare      x1, x2       x1 <= x2
not_equal        compare      x1, x2       x1 != x2
logical_and      logical      x1, x2       both
logical_not      logical      x            the opposite
logical_or       logical      x1, x2       at least one
all              reduce       x            whether all elements are true
any              reduce       x            whether any element is true
max              reduce       x            largest element
mean             reduce       x            arithmetic mean
min              reduce       x            smallest element
prod             reduce       x            product
sum              reduce       x            sum
vector_norm      reduce       x            Euclidean norm over the axes; real for complex input
cholesky         linalg       x            lower triangular L with L @ L^H = x
diag             linalg       x            square matrix with the vector x on its diagonal
eigh             linalg       x            (eigenvalues ascending, eigenvectors) of a symmetric matrix
inv              linalg       x            inverse of a square matrix
matmul           linalg       x1, x2       matrix product
matrix_diagonal  linalg       x            the main diagonal
matrix_transpose linalg       x            last two axes swapped
outer            linalg       x1, x2       outer product of two vectors
qr               linalg       x            (Q, R), reduced form
solve            linalg       x1, x2       z with x1 @ z = x2
tensordot        linalg       x1, x2, axes  contraction over `axes`, an int or a pair of lists
trace            linalg       x            sum of the main diagonal
astype           shape        x, dtype     the same values in another dtype
broadcast_to     shape        x, shape     x repeated to `shape`
concat           shape        arrays, axis=0  arrays one after the other
expand_dims      shape        x, axis=0    a new axis of length 1
flip             shape        x, axis      elements in reverse order along one axis
permute_dims     shape        x, axes      axes in another order
reshape          shape        x, shape     the same elements in another shape
squeeze          shape        x, axis      without an axis of length 1
stack            shape        arrays, axis=0  arrays along a new axis
tril             shape        x, k=0       lower triangle, zero elsewhere
triu             shape        x, k=0       upper triangle, zero elsewhere
eye              create       n, dtype=None  identity matrix
full             create       shape, value, dtype=None  filled with one value
full_like        create       x, value     of the shape and dtype of x
ones             create       shape, dtype=None  ones
ones_like        create       x            ones of the shape and dtype of x
zeros            create       shape, dtype=None  zeros
zeros_like       create       x            zeros of the shape and dtype of x
random_normal    random       shape, seed=0   standard normal numbers
random_uniform   random       shape, seed=0   uniform numbers in [0, 1), multiples of 2^-24
"""


def _parse(rows):
    table = collections.OrderedDict()
    for line in rows.strip().splitlines():
        name, kind, rest = line.split(None, 2)
        arguments, _, meaning = rest.partition("  ")
        table[name] = Operation(name, kind, arguments.strip(), meaning.strip())
    return table


#: Every operation by name.
OPERATIONS = _parse(_ROWS)


def describe(name):
    """``sqrt(x): square root``, for messages and documentation."""
    operation = OPERATIONS[name]
    arguments = operation.arguments
    if operation.kind == "reduce":
        arguments += ", axis=None, keepdims=False"
    return "%s(%s): %s" % (name, arguments, operation.meaning)
