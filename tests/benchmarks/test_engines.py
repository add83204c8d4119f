"""Engines: what they say when their library is missing, and the adapters around a fake library."""

import sys
import types
import warnings

import numpy as np
import pytest

from benchmarks import engine, own_engines, rivals
from benchmarks.client import WorkerProcess
from benchmarks.correctness import compare
from benchmarks.engine import NotInstalledError, import_library, with_namespace
from benchmarks.engines import DEFAULT_ENGINES, ENGINES, FUSION_ENGINES, PROGRAM_ENGINES, create
from benchmarks.gauge import Gauge
from benchmarks.own_engines import CopyEngine, FusejitEngine, UnfusedEngine
from benchmarks.rivals import JaxEngine, NumbaEngine, TorchEngine
from benchmarks.runner import Runner
from benchmarks.selection import Case
from benchmarks.worker import Worker
from benchmarks.workload import Workload
from benchmarks.workloads import by_name
from fusejit.api import FuseWarning


class Fake:
    """A device array: NumPy's numbers behind another type."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __mul__(self, other):
        return Fake(self.array * getattr(other, "array", other))

    def __add__(self, other):
        return Fake(self.array + getattr(other, "array", other))

    def numpy(self):
        return self.array


def fake_jax(log):
    """As much of JAX as the adapter touches; notes in which order it is used."""
    numpy = types.ModuleType("jax.numpy")
    numpy.exp = lambda x: Fake(np.exp(x.array))
    numpy.abs = lambda x: (_ for _ in ()).throw(TypeError("no abs here"))
    jax = types.ModuleType("jax")
    jax.__version__ = "fake"
    jax.__path__ = []
    jax.numpy = numpy
    jax.config = types.SimpleNamespace(update=lambda name, value: log.append((name, value)))
    jax.errors = types.SimpleNamespace(JAXTypeError=KeyError, JAXIndexError=IndexError)
    jax.jit = lambda function: log.append("jit") or function
    jax.device_put = lambda array: log.append("put") or Fake(array)
    jax.block_until_ready = lambda result: log.append("wait") or result
    return {"jax": jax, "jax.numpy": numpy}


def fake_torch(log):
    """As much of PyTorch as the adapter touches."""
    dynamo = types.ModuleType("torch._dynamo")
    dynamo.reset = lambda: log.append("reset")
    dynamo.exc = types.SimpleNamespace(TorchDynamoException=KeyError)
    torch = types.ModuleType("torch")
    torch.__version__ = "fake"
    torch.__path__ = []
    torch.compiler = types.SimpleNamespace(wrap_numpy=lambda f: log.append("wrap") or f)
    torch.compile = lambda f, dynamic, fullgraph: log.append((dynamic, fullgraph)) or f
    torch.from_numpy = Fake
    torch.is_tensor = lambda value: isinstance(value, Fake)
    return {"torch": torch, "torch._dynamo": dynamo}


def install(monkeypatch, modules):
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)


def product_and_one(a, b):
    return a * b + 1


def exponential(x):
    return np.exp(_twice(x))


def _twice(x):
    return x * 2 + np.exp(x) * 0


def magnitude(x):
    return np.abs(x)


def mutating(x):
    x[1:] = x[:-1]


def workload(function, count=1, **more):
    def build(rng, size, dtype):
        return tuple(rng.random(size).astype(dtype) for _ in range(count))

    return Workload(function.__name__, "test", function, build, **more)


@pytest.mark.parametrize(("name", "library"), [("jax", "jax"), ("torch", "torch")])
def test_a_missing_library_is_named_with_the_pip_command(name, library, monkeypatch):
    def missing(wanted):
        raise ModuleNotFoundError(f"No module named {wanted!r}", name=wanted.partition(".")[0])

    monkeypatch.setattr(engine.importlib, "import_module", missing)
    monkeypatch.setattr(rivals, "require_cxx_compiler", lambda: None)
    with pytest.raises(NotInstalledError, match=f"{library} is missing.*pip install {library}"):
        create(name)


def test_a_library_with_a_missing_dependency_is_not_called_missing(monkeypatch):
    def broken(wanted):
        raise ModuleNotFoundError("No module named 'dependency'", name="dependency")

    monkeypatch.setattr(engine.importlib, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="dependency"):
        import_library("jax", "pip install jax")


def test_torch_without_a_compiler_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(RuntimeError, match=r"C\+\+ compiler.*apt-get install g\+\+"):
        create("torch")


def test_a_missing_engine_is_listed_and_the_run_goes_on(tmp_path, monkeypatch):
    (tmp_path / "jax.py").write_text('raise ModuleNotFoundError("gone", name="jax")')
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Runner(["jax"], Gauge(lambda: 1.0), 1) as runner:
        assert "pip install jax" in runner.unavailable["jax"]
        record = runner.run_case(Case(by_name("chain2"), 100, "f64", False))
    assert list(record.engines) == ["numpy"]


def test_jax_puts_arguments_first_waits_for_results_and_converts_them(monkeypatch):
    log = []
    install(monkeypatch, fake_jax(log))
    adapter = JaxEngine()
    assert log == [("jax_enable_x64", True)]
    case = workload(product_and_one, 2)
    a, b = case.build(10, "f64")
    arguments = adapter.put((a, b))
    function = adapter.load(case, "f64", with_out=False)
    log.clear()
    result = function(*arguments)
    assert log == ["wait"], "neither conversion nor compilation in the timed call"
    (found,) = adapter.fetch([result])
    np.testing.assert_array_equal(found, a * b + 1)
    assert adapter.put((3,)) == (3,)


def test_the_namespace_is_replaced_in_called_functions_too(monkeypatch):
    install(monkeypatch, fake_jax([]))
    function = with_namespace(exponential, JaxEngine().namespace)
    x = np.linspace(0.0, 1.0, 5)
    np.testing.assert_array_equal(function(Fake(x)).array, np.exp(x * 2))
    assert exponential.__globals__["np"] is np, "the module itself is left alone"


def test_jax_has_neither_stores_nor_out(monkeypatch):
    install(monkeypatch, fake_jax([]))
    adapter = JaxEngine()
    assert adapter.supports(workload(product_and_one), with_out=False)
    assert not adapter.supports(by_name("add"), with_out=True)
    assert not adapter.supports(workload(mutating, mutates=True), with_out=False)


def test_torch_compiles_each_case_for_its_sizes(monkeypatch):
    log = []
    install(monkeypatch, fake_torch(log))
    monkeypatch.setattr(rivals, "require_cxx_compiler", lambda: None)
    adapter = TorchEngine()
    case = workload(product_and_one, 2)
    a, b = case.build(10, "f32")
    function = adapter.load(case, "f32", with_out=False)
    assert log == ["reset", "wrap", (False, True)]
    (found,) = adapter.fetch([function(*adapter.put((a, b)))])
    np.testing.assert_array_equal(found, a * b + 1)
    assert found.dtype == np.float32
    assert not adapter.supports(by_name("add"), with_out=True)


def test_a_refusal_is_an_answer_with_its_reason(monkeypatch):
    install(monkeypatch, fake_jax([]))
    case = workload(magnitude)
    monkeypatch.setattr("benchmarks.worker.by_name", lambda name: case)
    worker = Worker("jax")
    reply = worker.answer(
        {
            "command": "prepare",
            "workload": "magnitude",
            "size": 5,
            "dtype": "f64",
            "with_out": False,
        }
    )
    assert reply == {"supported": False, "refused": "TypeError: no abs here"}
    assert worker.function is None


def test_numba_refuses_what_it_does_not_accept_and_runs_the_rest(tmp_path):
    with WorkerProcess("numba") as worker:
        options = {"size": 1_000, "dtype": "f64", "with_out": False}
        reply = worker.request("prepare", workload="softmax", **options)
        assert not reply["supported"]
        assert "TypingError" in reply["refused"]
        reply = worker.request("prepare", workload="chain2", **options)
        assert reply["supported"]
        assert reply["declined"] is None
        path = tmp_path / "results.npz"
        worker.request("check", path=str(path))
        with np.load(path) as saved:
            found = [saved[name] for name in saved.files]
    plain = by_name("chain2")
    wanted = [plain.function(*plain.build(1_000, "f64"))]
    assert compare(wanted, found, 1_000, reassociates=False)[1] is None
    assert NumbaEngine().supports(by_name("add"), with_out=True)


def unsupported(x):
    w = x
    while w[0] < 5:
        x[0] += 1
        w = w + x
    return w


def test_fusejit_says_when_it_declines():
    adapter = FusejitEngine()
    fused = adapter.load(by_name("chain2"), "f64", with_out=False)
    fused(*by_name("chain2").build(100, "f64"))
    assert adapter.declined(fused) is None

    class Subclass(np.ndarray):
        pass

    with pytest.warns(FuseWarning, match="Subclass"):
        fused(*(a.view(Subclass) for a in by_name("chain2").build(100, "f64")))
    assert "Subclass" in adapter.declined(fused)


def test_what_fusejit_does_not_trace_is_said_to_be_pythons():
    adapter = FusejitEngine()
    fused = adapter.load(workload(unsupported), "f64", with_out=False)
    reason = "bound again in a loop that also changes in place"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fused(np.ones(3))
    assert reason in str(caught[0].message)
    assert {w.category for w in caught} == {FuseWarning}
    np.testing.assert_array_equal(found, unsupported(np.ones(3)), strict=True)
    assert "Python runs statements" in adapter.declined(fused)
    with pytest.raises(adapter.refusals, match=reason):
        adapter.fuse_jit(fullgraph=True)(unsupported)(np.ones(3))


def test_without_fusion_needs_the_parameter(monkeypatch):
    asked = []

    def fuse_jit(function=None, /, *, fusion="auto"):
        asked.append(fusion)
        return lambda f: f

    library = types.SimpleNamespace(fuse_jit=fuse_jit)
    errors = types.SimpleNamespace(UnsupportedError=ValueError, ConcretizationError=TypeError)
    modules = {"fusejit": library, "fusejit.errors": errors}
    monkeypatch.setattr(own_engines.importlib, "import_module", modules.__getitem__)
    case = workload(product_and_one, 2)
    assert UnfusedEngine().load(case, "f64", with_out=False) is product_and_one
    assert asked == ["none"]
    library.fuse_jit = lambda function: function
    with pytest.raises(RuntimeError, match="no parameter fusion"):
        UnfusedEngine()


def test_copy_runs_the_reference_and_only_where_there_is_one():
    adapter = CopyEngine()
    softmax = by_name("softmax")
    assert adapter.supports(softmax, with_out=True)
    assert not adapter.supports(by_name("chain8"), with_out=False)
    assert not adapter.supports(by_name("mean_var_max"), with_out=True)
    (x,) = softmax.build(1_000, "f32")
    np.testing.assert_array_equal(adapter.load(softmax, "f32", with_out=False)(x), x)
    out = np.empty_like(x)
    adapter.load(softmax, "f32", with_out=True)(x, out)
    np.testing.assert_array_equal(out, x)


def test_copy_is_timed_in_the_same_rounds_and_not_compared():
    with Runner(["copy"], Gauge(lambda: 1.0), 2) as runner:
        record = runner.run_case(Case(by_name("rms_norm"), 1_000, "f64", False))
        other = runner.run_case(Case(by_name("chain2"), 1_000, "f64", False))
        alone = runner.run_case(Case(by_name("rms_norm"), 1_000, "f64", False, ("numpy",)))
    assert len(record.engines["copy"].rounds_ns) == len(record.engines["numpy"].rounds_ns) == 2
    assert record.engines["copy"].mismatch is None
    assert record.engines["copy"].error is None
    assert list(other.engines) == ["numpy"]
    assert list(alone.engines) == ["numpy"], "a case names who takes part"


def test_lists_of_engines_name_engines():
    assert {*DEFAULT_ENGINES, *FUSION_ENGINES, *PROGRAM_ENGINES} == set(ENGINES)
