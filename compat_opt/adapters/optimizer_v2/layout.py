"""How OptimizerV2 makes, names and reads variables: as TensorFlow does."""

from compat_opt.adapters.tensorflow_layout import TensorFlowLayout


class Layout(TensorFlowLayout):
    """Names are ``<optimizer>/<variable>/<slot>``, as OptimizerV2's own."""
