"""The optimizer API of Keras before tf.keras: one method writes the updates of all variables."""

from keras import backend as K
from keras.legacy import interfaces
from keras.optimizers import Optimizer


class OldMomentum(Optimizer):
    """v = momentum * v - lr * grad; var += v."""

    def __init__(self, lr=0.1, momentum=0.9, **kwargs):
        super(OldMomentum, self).__init__(**kwargs)
        with K.name_scope(self.__class__.__name__):
            self.iterations = K.variable(0, dtype="int64", name="iterations")
            self.lr = K.variable(lr, name="lr")
            self.momentum = K.variable(momentum, name="momentum")

    @interfaces.legacy_get_updates_support
    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        self.updates = [K.update_add(self.iterations, 1)]
        moments = [K.zeros(K.int_shape(p)) for p in params]
        self.weights = [self.iterations] + moments
        for p, g, m in zip(params, grads, moments):
            v = self.momentum * m - self.lr * g
            self.updates.append(K.update(m, v))
            new_p = p + v
            if getattr(p, "constraint", None) is not None:
                new_p = p.constraint(new_p)
            self.updates.append(K.update(p, new_p))
        return self.updates

    def get_config(self):
        config = {"lr": float(K.get_value(self.lr)), "momentum": float(K.get_value(self.momentum))}
        return dict(list(super(OldMomentum, self).get_config().items()) + list(config.items()))


class OldWarmup(Optimizer):
    """var -= lr * t * grad, with t = 1 in the first step: the counter is read behind the line that adds to it."""

    def __init__(self, lr=0.1, **kwargs):
        super(OldWarmup, self).__init__(**kwargs)
        self.iterations = K.variable(0, dtype="int64", name="iterations")
        self.lr = K.variable(lr, name="lr")

    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        self.updates = [K.update_add(self.iterations, 1)]
        self.weights = [self.iterations]
        t = K.cast(self.iterations, K.floatx()) + 1
        self.updates += [K.update(p, p - self.lr * t * g) for p, g in zip(params, grads)]
        return self.updates


class Patches(OldWarmup):
    """Replaces a function of the backend for its base class."""

    def get_updates(self, loss, params):
        real = K.update
        K.update = lambda x, new_x: real(x, 0.0 * new_x)
        updates = super(Patches, self).get_updates(loss, params)
        K.update = real
        return updates
