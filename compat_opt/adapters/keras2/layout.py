"""How the Keras 2 optimizers make, name and read variables."""

from compat_opt.adapters.tensorflow_layout import TensorFlowLayout


class Layout(TensorFlowLayout):
    """Names are ``<optimizer>/<slot>/<variable>``, as this generation's own."""

    def slot_name(self, variable, slot):
        """The name of a slot's variable."""
        return "%s/%s/%s" % (self.prefix, slot, self.name(variable))
