"""The operations on TensorFlow tensors, TF 2.0 and later, eager and in graphs."""

import functools
import operator

import tensorflow as tf

from compat_opt.ops.executor import Executor, same_names


_REDUCTIONS = {
    "all": "reduce_all",
    "any": "reduce_any",
    "max": "reduce_max",
    "mean": "reduce_mean",
    "min": "reduce_min",
    "prod": "reduce_prod",
    "sum": "reduce_sum",
}


def _reduction(function):
    def reduce(x, axis, keepdims):
        return function(x, axis=axis, keepdims=keepdims)

    return reduce


def _sign(x):
    if x.dtype.is_complex:
        size = tf.abs(x)
        return x / tf.cast(tf.where(size == 0, tf.ones_like(size), size), x.dtype)
    return tf.sign(x)


def _conj(x):
    return tf.math.conj(x) if x.dtype.is_complex else x


def _real(x):
    return tf.math.real(x) if x.dtype.is_complex else x


def _imag(x):
    return tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x)


def _isfinite(x):
    if x.dtype.is_complex:
        return tf.math.is_finite(tf.math.real(x)) & tf.math.is_finite(tf.math.imag(x))
    return tf.math.is_finite(x)


def _isnan(x):
    if x.dtype.is_complex:
        return tf.math.is_nan(tf.math.real(x)) | tf.math.is_nan(tf.math.imag(x))
    return tf.math.is_nan(x)


def _norm(x, axis, keepdims):
    return tf.sqrt(tf.reduce_sum(_real(x * _conj(x)), axis=axis, keepdims=keepdims))


def _part(lower):
    def take(x, k=0):
        # tf.linalg.band_part keeps a band; rows and columns outside of it come from the mask.
        rows, columns = x.shape[-2], x.shape[-1]
        difference = tf.range(columns)[None, :] - tf.range(rows)[:, None]
        mask = difference <= k if lower else difference >= k
        return tf.where(mask, x, tf.zeros_like(x))

    return take


@functools.lru_cache(maxsize=None)
def _loses_nan():
    """Whether tf.maximum drops a NaN, as Eigen does on CPUs in old releases (seen in 2.0); asked when first used."""
    with tf.init_scope():
        if not tf.executing_eagerly():
            return True
        nan, one = tf.constant([float("nan")] * 9), tf.constant([1.0] * 9)
        pairs = [(nan, one), (one, nan), (nan[:1], one[:1]), (one[:1], nan[:1]), (nan, one[0]), (one[0], nan)]
        whole = [tf.reduce_all(tf.math.is_nan(f(a, b))) for a, b in pairs for f in (tf.maximum, tf.minimum)]
        return not all(bool(kept) for kept in whole)


def _keeping_nan(function):
    def keep(x1, x2):
        chosen = function(x1, x2)
        if not x1.dtype.is_floating or not _loses_nan():
            return chosen
        total = x1 + x2
        return tf.where(tf.math.is_nan(x1) | tf.math.is_nan(x2), total, chosen)

    return keep


class TensorFlowExecutor(Executor):
    """TensorFlow tensors; step scalars are float64 tensors."""

    name = "tensorflow"

    def _table(self):
        table = same_names(tf, tf.math, tf.linalg)
        for name, function in _REDUCTIONS.items():
            table[name] = _reduction(getattr(tf, function))
        table.update(
            conj=_conj,
            expand_dims=lambda x, axis=0: tf.expand_dims(x, axis),
            flip=lambda x, axis: tf.reverse(x, [axis] if isinstance(axis, int) else axis),
            imag=_imag,
            isfinite=_isfinite,
            isnan=_isnan,
            matrix_diagonal=tf.linalg.diag_part,
            maximum=_keeping_nan(tf.maximum),
            minimum=_keeping_nan(tf.minimum),
            outer=lambda x1, x2: x1[:, None] * x2[None, :],
            permute_dims=tf.transpose,
            qr=lambda x: tuple(tf.linalg.qr(x)),
            real=_real,
            round=tf.math.rint,
            sign=_sign,
            tril=_part(lower=True),
            triu=_part(lower=False),
            vector_norm=_reduction(_norm),
        )
        return table

    def constant(self, number, dtype):
        return tf.constant(number, dtype)

    def dtype(self, tensor):
        if not hasattr(tensor, "dtype"):
            tensor = tf.convert_to_tensor(tensor)
        return tf.as_dtype(tensor.dtype).base_dtype.name

    def shape(self, tensor):
        return tuple(tensor.shape.as_list())

    def cast(self, tensor, dtype):
        return tf.cast(tensor, dtype)

    def join(self, tensors):
        # Vectors are left as they are: every node of the graph is paid for in each step.
        flat = [tensor if tensor.shape.rank == 1 else tf.reshape(tensor, [-1]) for tensor in tensors]
        return tf.concat(flat, 0)

    def split(self, vector, shapes):
        sizes = [functools.reduce(operator.mul, shape, 1) for shape in shapes]
        parts = tf.split(vector, sizes)
        return [p if len(shape) == 1 else tf.reshape(p, shape) for p, shape in zip(parts, shapes)]

    def eye(self, n, dtype):
        return tf.eye(n, dtype=dtype)

    def arange_int32(self, count):
        return tf.range(count, dtype=tf.int32)

    def xor_shift(self, x, count):
        return tf.bitwise.bitwise_xor(x, self._shifted(x, count))

    def top_bits(self, x, count):
        return self._shifted(x, 32 - count)

    def _shifted(self, x, count):
        shifted = tf.bitwise.right_shift(x, tf.constant(count, tf.int32))
        return tf.bitwise.bitwise_and(shifted, tf.constant(2 ** (32 - count) - 1, tf.int32))


