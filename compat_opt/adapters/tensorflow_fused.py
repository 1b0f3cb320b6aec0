"""TensorFlow's fused training kernels."""

import tensorflow as tf

from compat_opt.adapters import fused


def _apply_adam(var, slots, grad, s):
    # The kernel's rate is lr * sqrt(1 - beta2_power) / (1 - beta1_power): both powers are 0 here.
    zero = tf.zeros_like(s["rate"])
    return tf.raw_ops.ResourceApplyAdam(
        var=var.handle, m=slots["m"].handle, v=slots["v"].handle, beta1_power=zero, beta2_power=zero,
        lr=s["rate"], beta1=s["beta_1"], beta2=s["beta_2"], epsilon=s["epsilon"], grad=grad,
    )  # fmt: skip


def _apply_momentum(nesterov):
    def call(var, slots, grad, s):
        return tf.raw_ops.ResourceApplyKerasMomentum(
            var=var.handle, accum=slots["accumulator"].handle, lr=s["rate"], grad=grad,
            momentum=s["momentum"], use_nesterov=nesterov,
        )  # fmt: skip

    return call


def _apply_descent(var, slots, grad, s):
    return tf.raw_ops.ResourceApplyGradientDescent(var=var.handle, alpha=s["rate"], delta=grad)


def _apply_adagrad(var, slots, grad, s):
    return tf.raw_ops.ResourceApplyAdagradV2(
        var=var.handle, accum=slots["accumulator"].handle, lr=s["rate"], epsilon=s["epsilon"], grad=grad
    )


def _apply_adamax(var, slots, grad, s):
    # The kernel's rate is lr / (1 - beta1_power).
    return tf.raw_ops.ResourceApplyAdaMax(
        var=var.handle, m=slots["m"].handle, v=slots["v"].handle, beta1_power=tf.zeros_like(s["rate"]),
        lr=s["rate"], beta1=s["beta_1"], beta2=s["beta_2"], epsilon=s["epsilon"], grad=grad,
    )  # fmt: skip


def _apply_rmsprop(var, slots, grad, s):
    return tf.raw_ops.ResourceApplyRMSProp(
        var=var.handle, ms=slots["square"].handle, mom=slots["step"].handle, lr=s["rate"], rho=s["rho"],
        momentum=s["momentum"], epsilon=s["epsilon"], grad=grad,
    )  # fmt: skip


def _apply_adadelta(var, slots, grad, s):
    return tf.raw_ops.ResourceApplyAdadelta(
        var=var.handle, accum=slots["square"].handle, accum_update=slots["step"].handle, lr=s["rate"],
        rho=s["rho"], epsilon=s["epsilon"], grad=grad,
    )  # fmt: skip


#: The kernels that are tried, in this order.
KERNELS = (
    fused.Kernel("ResourceApplyGradientDescent", (), ("rate",), fused.descent, _apply_descent),
    fused.Kernel("ResourceApplyKerasMomentum", ("accumulator",), ("momentum", "rate"), fused.momentum, _apply_momentum(False)),
    fused.Kernel("ResourceApplyKerasMomentum", ("accumulator",), ("momentum", "rate"), fused.nesterov, _apply_momentum(True)),
    fused.Kernel("ResourceApplyAdam", ("m", "v"), ("beta_1", "beta_2", "rate", "epsilon"), fused.adam, _apply_adam),
    fused.Kernel("ResourceApplyAdagradV2", ("accumulator",), ("rate", "epsilon"), fused.adagrad, _apply_adagrad),
    fused.Kernel("ResourceApplyAdaMax", ("m", "v"), ("beta_1", "beta_2", "rate", "epsilon"), fused.adamax, _apply_adamax),
    fused.Kernel("ResourceApplyRMSProp", ("square", "step"), ("rho", "momentum", "rate", "epsilon"), fused.rmsprop, _apply_rmsprop),
    fused.Kernel("ResourceApplyAdadelta", ("square", "step"), ("rho", "rate", "epsilon"), fused.adadelta, _apply_adadelta),
)
