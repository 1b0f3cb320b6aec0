"""Detection is a pure function of one record: a row per TensorFlow minor, and the odd environments."""

import json

import pytest

from compat_opt.env import EnvironmentRecord, default_target, detect, find_target, read_environment, select, targets
from compat_opt.errors import TargetError

V2 = "optimizer_v2"
V2_ONLY = ["tf.keras:optimizer_v2"]
WITH_EXPERIMENTAL = ["tf.keras:optimizer_v2", "tf.keras.experimental:keras2"]
WITH_LEGACY = ["tf.keras:keras2", "tf.keras.legacy:optimizer_v2"]
SPLIT = ["keras:keras3", "tf_keras:keras2", "tf_keras.legacy:optimizer_v2"]


def keys(**fields):
    return [target.key for target in detect(EnvironmentRecord(**fields)).targets]


def minor(number):
    """The fields of TensorFlow 2.<number> as pip installs it, with tf-keras where there is one."""
    fields = {"tensorflow": "2.%d.1" % number}
    if 6 <= number <= 15:
        fields["keras"] = "2.%d.0" % number
    if number >= 16:
        fields.update(keras="3.15.1", tf_keras="2.%d.0" % number)
    return fields


@pytest.mark.parametrize(
    "number, expected",
    [(n, V2_ONLY) for n in range(0, 9)]
    + [(n, WITH_EXPERIMENTAL) for n in range(9, 11)]
    + [(n, WITH_LEGACY) for n in range(11, 16)]
    + [(n, SPLIT) for n in range(16, 22)],
)
def test_every_minor(number, expected):
    detection = detect(EnvironmentRecord(**minor(number)))
    assert [target.key for target in detection.targets] == expected
    assert detection.default == detection.targets[0]
    assert detection.reason
    for target in detection.targets:
        assert (target.backend, target.tensorflow) == ("tensorflow", "2.%d.1" % number)


def test_who_owns_the_class():
    assert detect(EnvironmentRecord(tensorflow="2.3.0", keras="2.4.3")).targets[0].keras is None
    assert detect(EnvironmentRecord(**minor(12))).targets[0].keras == "2.12.0"
    assert [t.keras for t in detect(EnvironmentRecord(**minor(20))).targets] == ["3.15.1", "2.20.0", "2.20.0"]


def test_pure():
    record = EnvironmentRecord(**minor(18))
    before = record.as_dict()
    assert detect(record) == detect(record)
    assert record.as_dict() == before


@pytest.mark.parametrize("value", ["1", "true", "True"])
def test_legacy_keras_is_the_default_when_asked_for(value):
    detection = detect(EnvironmentRecord(use_legacy_keras=value, **minor(16)))
    assert detection.default.key == "tf_keras:keras2"
    assert detection.reason == "TF_USE_LEGACY_KERAS=%s" % value
    assert sorted(target.key for target in detection.targets) == sorted(SPLIT)


@pytest.mark.parametrize("value", ["yes", "0", "", "TRUE", "on", None])
def test_other_values_of_the_switch_do_nothing(value):
    """As in tensorflow/__init__.py, which compares with the three spellings."""
    assert detect(EnvironmentRecord(use_legacy_keras=value, **minor(16))).default.key == "keras:keras3"


def test_legacy_keras_asked_for_and_missing():
    detection = detect(EnvironmentRecord(tensorflow="2.17.0", keras="3.5.0", use_legacy_keras="1"))
    assert detection.default is None
    assert detection.reason == "TF_USE_LEGACY_KERAS=1 asks for tf-keras, which is not installed"
    assert [target.key for target in detection.targets] == ["keras:keras3"]


def test_legacy_switch_before_2_16_does_nothing():
    assert detect(EnvironmentRecord(use_legacy_keras="1", **minor(15))).default.key == "tf.keras:keras2"


def test_missing_tf_keras():
    detection = detect(EnvironmentRecord(tensorflow="2.16.2", keras="3.4.1"))
    assert [target.key for target in detection.targets] == ["keras:keras3"]
    assert detection.missing == (
        (
            "tf_keras:keras2, tf_keras.legacy:optimizer_v2",
            "tf-keras is not installed",
            "pip install 'tf-keras~=2.16.0'",
        ),
    )


def test_keras_2_with_tensorflow_2_16():
    detection = detect(EnvironmentRecord(tensorflow="2.16.1", keras="2.15.0", tf_keras="2.16.0"))
    assert [target.key for target in detection.targets] == ["tf_keras:keras2", "tf_keras.legacy:optimizer_v2"]
    assert detection.default.key == "tf_keras:keras2"
    assert ("keras:keras3", "Keras 3 is not installed", "pip install 'keras>=3'") in detection.missing


@pytest.mark.parametrize(
    "backend, others, expected",
    [
        ("tensorflow", {}, []),
        ("jax", {"jax": "0.4.30"}, ["keras:keras3"]),
        ("torch", {"torch": "2.3.0"}, ["keras:keras3"]),
        ("jax", {}, []),
        ("torch", {}, []),
    ],
)
def test_keras_3_beside_tensorflow_2_15(backend, others, expected):
    """TensorFlow 2.15 takes tf.keras from a package that Keras 3 has replaced."""
    detection = detect(EnvironmentRecord(tensorflow="2.15.0", keras="3.3.3", keras_backend=backend, **others))
    assert [target.key for target in detection.targets] == expected
    why = {what: (reason, remedy) for what, reason, remedy in detection.missing}
    assert why["tf.keras"] == (
        "TensorFlow 2.15 takes tf.keras from keras 2.15, and keras 3.3.3 is installed",
        "pip install 'keras==2.15.*'",
    )
    if backend == "tensorflow":
        assert why["keras:keras3"][0] == "Keras 3 needs TensorFlow 2.16 or later for its tensorflow backend"
    elif not others:
        assert why["keras:keras3"] == (
            "Keras 3 is set to its %s backend, and %s is not installed" % (backend, backend),
            "pip install %s" % backend,
        )
    else:
        assert detection.default.backend == backend
        assert detection.reason == "tf.keras can't be imported here; Keras 3 can"


def test_keras_3_beside_a_tensorflow_that_bundles_its_own():
    assert keys(tensorflow="2.4.0", keras="3.0.0", keras_backend="tensorflow") == V2_ONLY


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_keras_3_without_tensorflow(backend):
    detection = detect(EnvironmentRecord(keras="3.15.0", keras_backend=backend, **{backend: "2.0"}))
    assert detection.default.key == "keras:keras3"
    assert (detection.default.backend, detection.default.tensorflow) == (backend, None)
    assert detection.reason == "Keras 3 on %s" % backend
    assert ("tf.keras", "TensorFlow is not installed", "pip install tensorflow") in detection.missing


def test_keras_3_on_tensorflow_without_tensorflow():
    detection = detect(EnvironmentRecord(keras="3.15.0"))
    assert detection.targets == () and detection.default is None
    assert "Keras 3 is set to its tensorflow backend, and TensorFlow is not installed" in str(detection.missing)


@pytest.mark.parametrize("backend", ["openvino", "numpy", "mxnet"])
def test_unknown_backend(backend):
    detection = detect(EnvironmentRecord(keras_backend=backend, **minor(21)))
    assert "keras:keras3" not in [target.key for target in detection.targets]
    assert detection.default.key == "tf_keras:keras2"
    assert detection.reason == "tf-keras is the only usable Keras here"
    assert detection.missing[0] == (
        "keras:keras3",
        "Keras 3 runs on its %s backend, which compat_opt has no adapter for" % backend,
        "set KERAS_BACKEND to tensorflow, jax or torch",
    )


def test_keras_3_of_a_tensorflow_installation_on_jax():
    detection = detect(EnvironmentRecord(keras_backend="jax", jax="0.5.0", **minor(19)))
    assert [(t.key, t.backend) for t in detection.targets] == [
        ("keras:keras3", "jax"),
        ("tf_keras:keras2", "tensorflow"),
        ("tf_keras.legacy:optimizer_v2", "tensorflow"),
    ]


@pytest.mark.parametrize("version", ["2.22.0-dev20260101", "2.21.0rc1", "2.22.0.dev20260101", "2.16.0rc0"])
def test_nightlies_and_candidates(version):
    assert keys(tensorflow=version, keras="3.12.0.dev2026010103") == ["keras:keras3"]


def test_nothing():
    detection = detect(EnvironmentRecord())
    assert (detection.targets, detection.default) == ((), None)
    assert detection.reason == "neither TensorFlow nor a usable Keras 3 is installed"
    assert [item[0] for item in detection.missing] == ["keras:keras3", "tf.keras"]


def test_what_is_missing_says_what_to_do():
    for number in range(22):
        for item in detect(EnvironmentRecord(**minor(number))).missing:
            assert len(item) == 3 and all(item)


def test_unknown_fields_are_refused():
    with pytest.raises(TypeError, match="unknown fields: tensorflwo"):
        EnvironmentRecord(tensorflwo="2.0")


# Names of targets


@pytest.fixture
def environment(monkeypatch):
    def pretend(**fields):
        monkeypatch.setattr(select, "read_environment", lambda: EnvironmentRecord(**fields))

    return pretend


@pytest.mark.parametrize(
    "number, name, expected",
    [
        (21, None, "keras:keras3"),
        (21, "keras3", "keras:keras3"),
        (21, "keras2", "tf_keras:keras2"),
        (21, "optimizer_v2", "tf_keras.legacy:optimizer_v2"),
        (21, "tf_keras", "tf_keras:keras2"),
        (21, "tf_keras:keras2", "tf_keras:keras2"),
        (21, "tf.keras", "keras:keras3"),
        (21, "tf.keras:keras3", "keras:keras3"),
        (21, "tf.keras.legacy:optimizer_v2", "tf_keras.legacy:optimizer_v2"),
        (13, "keras2", "tf.keras:keras2"),
        (13, "optimizer_v2", "tf.keras.legacy:optimizer_v2"),
        (10, "keras2", "tf.keras.experimental:keras2"),
        (0, "optimizer_v2", "tf.keras:optimizer_v2"),
    ],
)
def test_find_target(environment, number, name, expected):
    environment(**minor(number))
    assert find_target(name).key == expected
    assert find_target(find_target(name)).key == expected
    assert default_target() == targets()[0]


def test_find_target_with_legacy_keras(environment):
    environment(use_legacy_keras="1", **minor(21))
    assert find_target().key == "tf_keras:keras2"
    assert find_target("tf.keras").key == "tf_keras:keras2"
    assert find_target("keras3").key == "keras:keras3"


def test_find_target_says_what_there_is(environment):
    environment(**minor(4))
    with pytest.raises(TargetError) as caught:
        find_target("keras3")
    assert str(caught.value) == (
        "This environment has no target 'keras3'. Expected: one of tf.keras:optimizer_v2. Received: target='keras3'. "
        "keras:keras3: Keras 3 optimizers came with TensorFlow 2.16, and 2.4.1 is installed; "
        "pip install 'tensorflow>=2.16'. tf.keras.experimental:keras2: Keras 2 optimizers came with TensorFlow 2.9, "
        "and 2.4.1 is installed; pip install 'tensorflow>=2.9'."
    )


def test_find_target_suggests_a_name(environment):
    environment(**minor(21))
    with pytest.raises(TargetError) as caught:
        find_target("kers2")
    assert str(caught.value) == (
        "This environment has no target 'kers2'. Expected: one of keras:keras3, tf_keras:keras2, "
        "tf_keras.legacy:optimizer_v2. Received: target='kers2'. Did you mean 'keras2'?"
    )


def test_no_target_at_all(environment):
    environment()
    assert targets() == ()
    with pytest.raises(TargetError) as caught:
        default_target()
    assert str(caught.value) == (
        "There is no default optimizer API in this environment: neither TensorFlow nor a usable Keras 3 is installed. "
        "keras:keras3: Keras 3 is not installed; pip install 'keras>=3'. tf.keras: TensorFlow is not installed; "
        "pip install tensorflow. `compat-opt doctor` shows the whole picture."
    )
    with pytest.raises(TargetError, match="Expected: an environment with TensorFlow or Keras 3"):
        find_target("keras3")


def test_describe():
    target = detect(EnvironmentRecord(keras="3.15.0", keras_backend="jax", jax="0.5")).default
    assert (str(target), target.describe()) == ("keras:keras3", "keras:keras3, Keras 3.15.0, backend jax")
    assert detect(EnvironmentRecord(**minor(7))).default.describe() == "tf.keras:optimizer_v2, TensorFlow 2.7.1, Keras 2.7.0"


# Reading a folder of installed distributions


def installed(folder, *names):
    for name in names:
        (folder / name).mkdir()
    return str(folder)


def test_read_environment(tmp_path):
    path = installed(
        tmp_path,
        "tensorflow_cpu-2.13.1.dist-info",
        "keras-2.13.1.dist-info",
        "tf_keras-2.16.0.dist-info",
        "torch-2.3.0+cpu.dist-info",
        "jax-0.4.30.egg-info",
        "tensorflow_datasets-4.9.dist-info",
        "keras_tuner-1.4.dist-info",
        "keras",
    )
    record = read_environment({"TF_USE_LEGACY_KERAS": "1", "KERAS_HOME": path}, [path, path + "/no_such_folder"])
    assert record.tensorflow == "2.13.1"
    assert (record.keras, record.tf_keras, record.torch, record.jax) == ("2.13.1", "2.16.0", "2.3.0+cpu", "0.4.30")
    assert (record.use_legacy_keras, record.keras_backend) == ("1", "tensorflow")


@pytest.mark.parametrize(
    "name, version",
    [
        ("tf_nightly-2.22.0.dev20260101.dist-info", "2.22.0.dev20260101"),
        ("tensorflow_macos-2.9.0.dist-info", "2.9.0"),
        ("intel_tensorflow-2.12.0.dist-info", "2.12.0"),
        ("tensorflow-2.3.0-py3.7.egg-info", "2.3.0"),
        ("tensorflow.cpu-2.20.0.dist-info", "2.20.0"),
    ],
)
def test_distributions_that_provide_tensorflow(tmp_path, name, version):
    path = installed(tmp_path, name)
    record = read_environment({"KERAS_HOME": path}, [path])
    assert record.tensorflow == version
    assert detect(record).targets or version.startswith(("2.9", "2.12", "2.20", "2.22"))  # those need a keras beside


def test_the_first_folder_of_the_path_counts(tmp_path):
    for folder, version in (("first", "2.16.1"), ("second", "2.4.0")):
        (tmp_path / folder).mkdir()
        installed(tmp_path / folder, "tensorflow-%s.dist-info" % version)
    record = read_environment({}, [str(tmp_path / "first"), str(tmp_path / "second")])
    assert record.tensorflow == "2.16.1"


@pytest.mark.parametrize(
    "written, environ, expected",
    [
        ({"backend": "torch"}, {}, "torch"),
        ({"backend": "torch"}, {"KERAS_BACKEND": "jax"}, "jax"),
        ({"floatx": "float32"}, {}, "tensorflow"),
        ("no json", {}, "tensorflow"),
        (None, {"KERAS_BACKEND": ""}, "tensorflow"),
    ],
)
def test_the_backend(tmp_path, written, environ, expected):
    if written is not None:
        text = written if isinstance(written, str) else json.dumps(written)
        (tmp_path / "keras.json").write_text(text)
    assert read_environment(dict(environ, KERAS_HOME=str(tmp_path)), []).keras_backend == expected
