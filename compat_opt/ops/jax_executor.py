"""The operations on JAX arrays, eager and traced."""

import jax
import jax.numpy as jnp

from compat_opt.ops.executor import Executor
from compat_opt.ops.numpy_executor import numpy_like_table


class JaxExecutor(Executor):
    """JAX arrays; step scalars are arrays of the widest enabled dtype (float32 without x64)."""

    name = "jax"

    def __init__(self):
        super().__init__()
        self.scalar_dtype = "float64" if jax.config.jax_enable_x64 else "float32"

    def _table(self):
        return dict(numpy_like_table(jnp), rsqrt=jax.lax.rsqrt, sigmoid=jax.nn.sigmoid)

    def constant(self, number, dtype):
        return jnp.asarray(number, dtype)

    def dtype(self, tensor):
        return jnp.asarray(tensor).dtype.name

    def cast(self, tensor, dtype):
        return jnp.asarray(tensor).astype(dtype)

    def eye(self, n, dtype):
        return jnp.eye(n, dtype=dtype)

    def arange_int32(self, count):
        return jnp.arange(count, dtype="int32")

    def xor_shift(self, x, count):
        return x ^ jax.lax.shift_right_logical(x, jnp.int32(count))

    def top_bits(self, x, count):
        return jax.lax.shift_right_logical(x, jnp.int32(32 - count))
