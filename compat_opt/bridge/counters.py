"""Step counters of get_updates classes: read as before the step, however early the code adds to them.

``get_updates`` puts ``K.update_add(self.iterations, 1)`` first and reads ``self.iterations + 1`` after it. In the graphs of
multi-backend Keras nothing ran in the order of the lines; in a traced function all does.
"""

import contextlib
import threading

_STATE = threading.local()


@contextlib.contextmanager
def kept(counters):
    """A context at whose end additions to these variables are made."""
    before, waiting = getattr(_STATE, "waiting", {}), {id(counter): (counter, []) for counter in counters}
    _STATE.waiting = waiting
    try:
        yield
        for counter, added in waiting.values():
            for increment in added:
                counter.assign_add(increment)
    finally:
        _STATE.waiting = before


def update_add_of(backend):
    """The backend's update_add, which leaves these additions for later."""

    def update_add(x, increment):
        waiting = getattr(_STATE, "waiting", {})
        if id(x) not in waiting:
            return backend.update_add(x, increment)
        waiting[id(x)][1].append(increment)
        return x + increment

    return update_add
