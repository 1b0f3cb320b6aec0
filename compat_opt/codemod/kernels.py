"""The formulas of TensorFlow's fused update kernels, in the names of their arguments.

Each is written from the kernel's documented definition (tf.raw_ops). `var`, `accum`, `m`, ... are the
handles that the kernel assigns; what it reads is read before it assigns.
"""

KERNELS = {
    "ResourceApplyGradientDescent": """
        var = var - alpha * delta
    """,
    "ResourceApplyMomentum": """
        accum = accum * momentum + grad
        var = var - (grad * lr + accum * momentum * lr if use_nesterov else accum * lr)
    """,
    "ResourceApplyKerasMomentum": """
        accum = accum * momentum - grad * lr
        var = var + (accum * momentum - grad * lr if use_nesterov else accum)
    """,
    "ResourceApplyAdam": """
        m = m + (grad - m) * (1 - beta1)
        v = v + (tf.square(grad) - v) * (1 - beta2)
        alpha = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        var = var - alpha * (m * beta1 + (1 - beta1) * grad if use_nesterov else m) / (tf.sqrt(v) + epsilon)
    """,
    "ResourceApplyAdamWithAmsgrad": """
        m = m + (grad - m) * (1 - beta1)
        v = v + (tf.square(grad) - v) * (1 - beta2)
        vhat = tf.maximum(vhat, v)
        alpha = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        var = var - alpha * m / (tf.sqrt(vhat) + epsilon)
    """,
    "ResourceApplyAdaMax": """
        m = m + (grad - m) * (1 - beta1)
        v = tf.maximum(beta2 * v, tf.abs(grad))
        var = var - lr / (1 - beta1_power) * m / (v + epsilon)
    """,
    "ResourceApplyAdagrad": """
        accum = accum + tf.square(grad)
        var = var - lr * grad * tf.rsqrt(accum)
    """,
    "ResourceApplyAdagradV2": """
        accum = accum + tf.square(grad)
        var = var - lr * grad / (tf.sqrt(accum) + epsilon)
    """,
    "ResourceApplyAdadelta": """
        accum = accum * rho + tf.square(grad) * (1 - rho)
        update = tf.sqrt(accum_update + epsilon) * tf.rsqrt(accum + epsilon) * grad
        accum_update = accum_update * rho + tf.square(update) * (1 - rho)
        var = var - update * lr
    """,
    "ResourceApplyRMSProp": """
        ms = ms + (tf.square(grad) - ms) * (1 - rho)
        mom = mom * momentum + grad * lr * tf.rsqrt(ms + epsilon)
        var = var - mom
    """,
    "ResourceApplyCenteredRMSProp": """
        ms = ms + (tf.square(grad) - ms) * (1 - rho)
        mg = mg + (grad - mg) * (1 - rho)
        mom = mom * momentum + grad * lr * tf.rsqrt(ms - tf.square(mg) + epsilon)
        var = var - mom
    """,
    "ResourceApplyProximalGradientDescent": """
        prox = var - delta * alpha
        var = tf.sign(prox) * tf.maximum(tf.abs(prox) - alpha * l1, 0.0) / (1.0 + l2 * alpha)
    """,
    "ResourceApplyProximalAdagrad": """
        accum = accum + tf.square(grad)
        rate = lr * tf.rsqrt(accum)
        prox = var - grad * rate
        var = tf.sign(prox) * tf.maximum(tf.abs(prox) - rate * l1, 0.0) / (1.0 + l2 * rate)
    """,
    "ResourceApplyAddSign": """
        m = m * beta + grad * (1 - beta)
        var = var - lr * (alpha + sign_decay * tf.sign(grad) * tf.sign(m)) * grad
    """,
    "ResourceApplyPowerSign": """
        m = m * beta + grad * (1 - beta)
        var = var - lr * tf.exp(logbase * sign_decay * tf.sign(grad) * tf.sign(m)) * grad
    """,
}

#: Positional order, where kernels are called without argument names (training_ops).
ARGUMENTS = {
    "ResourceApplyGradientDescent": "var alpha delta",
    "ResourceApplyMomentum": "var accum lr grad momentum",
    "ResourceApplyKerasMomentum": "var accum lr grad momentum",
    "ResourceApplyAdam": "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad",
    "ResourceApplyAdamWithAmsgrad": "var m v vhat beta1_power beta2_power lr beta1 beta2 epsilon grad",
    "ResourceApplyAdaMax": "var m v beta1_power lr beta1 beta2 epsilon grad",
    "ResourceApplyAdagrad": "var accum lr grad",
    "ResourceApplyAdagradV2": "var accum lr epsilon grad",
    "ResourceApplyAdadelta": "var accum accum_update lr rho epsilon grad",
    "ResourceApplyRMSProp": "var ms mom lr rho momentum epsilon grad",
    "ResourceApplyCenteredRMSProp": "var mg ms mom lr rho momentum epsilon grad",
    "ResourceApplyProximalGradientDescent": "var alpha l1 l2 delta",
    "ResourceApplyProximalAdagrad": "var accum lr l1 l2 grad",
    "ResourceApplyAddSign": "var m lr alpha sign_decay beta grad",
    "ResourceApplyPowerSign": "var m lr logbase sign_decay beta grad",
}

#: Flags that some kernels read, and what they are when not given.
FLAGS = {"use_nesterov": False}


def kernel_name(function):
    """The kernel that a function of tf.raw_ops or training_ops stands for, its sparse kind, or None.

    Returns:
        (name of the dense kernel, whether `function` is its sparse counterpart), or (None, False).
    """
    name = "".join(part[:1].upper() + part[1:] for part in function.split("_"))
    wanted = name.lower().replace("sparseapply", "apply").replace("rmsprop", "rmsprop")
    for known in KERNELS:
        if known.lower() == wanted:
            return known, "sparseapply" in name.lower()
    return None, False
