"""The disk cache: whatever is wrong with it is never an error, and never wrong code."""

import errno
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fusejit.codegen.backend import cache as cache_module
from fusejit.codegen.backend import cache_key, native_loader
from fusejit.codegen.backend.cache import DiskCache, decode, encode
from fusejit.codegen.backend.compile import ArgType, compile_kernel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are kept as ELF objects")

SOURCE = """
def body(lo, hi, p_a, p_o, c):
    for i in range(lo, hi):
        put(p_o, i, float_mod(get(p_a, i), c) * c + get(p_a, i))

def kernel(o, a, c):
    parallel_for(body, a.shape[0], 10 * a.shape[0], flat(a), flat(o), c)
    return 0
"""

SIGNATURE = (
    ArgType("array", np.dtype("f8"), 1),
    ArgType("array", np.dtype("f8"), 1),
    ArgType("scalar", np.dtype("f8")),
)

PROGRAM = f"""
import sys
from pathlib import Path
import numpy as np
from fusejit.codegen.machine import pool
from fusejit.codegen.backend.compile import ArgType, compile_kernel
v = ArgType("array", np.dtype("f8"), 1)
pool.set_num_threads(2)
signature = (v, v, ArgType("scalar", np.dtype("f8")))
k = compile_kernel({SOURCE!r}, signature, cache_dir=Path(sys.argv[1]))
a = np.random.default_rng(0).standard_normal(100_000)
o = np.empty_like(a)
assert k.call(o, a, 0.7) == 0
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kernels"


def compiled(folder):
    return compile_kernel(SOURCE, SIGNATURE, cache_dir=folder)


def check(kernel):
    a = np.random.default_rng(0).standard_normal(1000)
    out = np.empty_like(a)
    assert kernel.call(out, a, 0.7) == 0
    np.testing.assert_array_equal(out, np.remainder(a, 0.7) * 0.7 + a)


def only_file(folder) -> Path:
    (path,) = folder.glob("*.kernel")
    return path


def run(folder, text):
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM + text, str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_second_time_from_disk(folder):
    first, second = compiled(folder), compiled(folder)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert first.name == second.name
    check(first)
    check(second)
    assert "define" in second.llvm()


def test_folder_and_files_are_private(folder):
    compiled(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert only_file(folder).stat().st_mode & 0o777 == 0o600


def test_a_fresh_process_gives_the_same_bits_without_numba(folder):
    show = (
        "import hashlib; print(k.from_cache, hashlib.sha256(o).hexdigest(), 'numba' in sys.modules)"
    )
    first, second = run(folder, show).split(), run(folder, show).split()
    assert (first[0], second[0]) == ("False", "True")
    assert first[1] == second[1]
    assert second[2] == "False"


def test_a_cached_parallel_kernel_runs_in_a_forked_child(folder):
    text = """
import os
wanted = o.copy()
child = os.fork()
if child == 0:
    o[:] = 0
    os._exit(k.call(o, a, 0.7) != 0 or not np.array_equal(o, wanted))
assert os.waitpid(child, 0)[1] == 0
print(k.from_cache)
"""
    assert [run(folder, text), run(folder, text)] == ["False", "True"]


def test_disabled(folder):
    kernel = compile_kernel(SOURCE, SIGNATURE, cache_dir=folder, cache_enabled=False)
    check(kernel)
    assert not folder.exists()


def flip(position):
    def damage(data):
        at = position if position >= 0 else len(data) + position
        return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]

    return damage


DAMAGES = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "magic only": lambda data: data[:8],
    "no header": lambda data: data[:44],
    "half": lambda data: data[: len(data) // 2],
    "last byte missing": lambda data: data[:-1],
    "more at the end": lambda data: data + b"x",
    "garbage": lambda data: b"\xa5" * len(data),
    "bit in magic": flip(3),
    "bit in checksum": flip(12),
    "bit in length": flip(41),
    "bit in header": flip(60),
    "bit in object": flip(-500),
    "last bit": flip(-1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_replaced(folder, damage):
    compiled(folder)
    path = only_file(folder)
    whole = path.read_bytes()
    path.write_bytes(DAMAGES[damage](whole))
    again = compiled(folder)
    assert not again.from_cache
    check(again)
    assert len(path.read_bytes()) > 1000
    assert compiled(folder).from_cache


def test_a_file_of_another_kernel_is_not_taken(folder):
    compiled(folder)
    path = only_file(folder)
    other = compile_kernel(SOURCE.replace("* c", "- c"), SIGNATURE, cache_dir=folder)
    (other_path,) = set(folder.glob("*.kernel")) - {path}
    path.write_bytes(other_path.read_bytes())
    again = compiled(folder)
    assert not again.from_cache
    check(again)
    assert other.name != again.name


def rewrite(folder, change):
    """Change header or object of the only file, with a right checksum."""
    path = only_file(folder)
    key = path.name.removesuffix(".kernel")
    header, code = decode(key, path.read_bytes())
    path.write_bytes(encode(key, *change(header, code)))


def test_an_unknown_symbol_in_the_list_means_compiling_again(folder):
    compiled(folder)
    rewrite(folder, lambda header, code: ({**header, "symbols": ["no_such_symbol_xyz"]}, code))
    again = compiled(folder)
    assert not again.from_cache
    check(again)


def test_an_unknown_symbol_in_the_object_means_compiling_again(folder):
    compiled(folder)
    rewrite(folder, lambda header, code: (header, code.replace(b"PyErr_Clear", b"PyErr_Clxxr")))
    again = compiled(folder)
    assert not again.from_cache
    check(again)


@pytest.mark.parametrize(
    "header", [{}, {"entry": "nothing", "symbols": []}, {"entry": 5, "symbols": 7}]
)
def test_a_foolish_header_means_compiling_again(folder, header):
    compiled(folder)
    rewrite(folder, lambda _, code: (header, code))
    again = compiled(folder)
    assert not again.from_cache
    check(again)


@pytest.mark.parametrize("code", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 100])
def test_an_object_that_is_none_means_compiling_again(folder, code):
    compiled(folder)
    rewrite(folder, lambda header, _: (header, code))
    check(compiled(folder))


def test_undefined_symbols_are_listed(folder):
    compiled(folder)
    path = only_file(folder)
    header, code = decode(path.name.removesuffix(".kernel"), path.read_bytes())
    symbols = native_loader.undefined_symbols(code)
    assert {"fmod", "fusejit_pool", "PyLong_FromLongLong"} <= set(symbols)
    assert header["symbols"] == list(symbols)
    with pytest.raises(native_loader.ObjectFormatError):
        native_loader.undefined_symbols(b"MZ")


@pytest.mark.parametrize("mode", [0o777, 0o750, 0o705, 0o720])
def test_an_open_folder_is_refused(folder, mode):
    compiled(folder)
    folder.chmod(mode)
    kernel = compiled(folder)
    assert not kernel.from_cache
    check(kernel)


@pytest.mark.parametrize("mode", [0o660, 0o602, 0o644])
def test_an_open_file_is_refused_and_replaced(folder, mode):
    compiled(folder)
    only_file(folder).chmod(mode)
    assert not compiled(folder).from_cache
    assert compiled(folder).from_cache


def test_a_linked_folder_is_refused(tmp_path, folder):
    compiled(folder)
    link = tmp_path / "link"
    link.symlink_to(folder)
    kernel = compiled(link)
    assert not kernel.from_cache
    check(kernel)


def test_a_linked_file_is_refused(folder):
    compiled(folder)
    path = only_file(folder)
    elsewhere = folder / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert not compiled(folder).from_cache
    assert not path.is_symlink()


def test_a_named_pipe_does_not_block(folder):
    compiled(folder)
    path = only_file(folder)
    path.unlink()
    os.mkfifo(path, 0o600)
    check(compiled(folder))


def test_a_foreign_owner_is_refused(folder, monkeypatch):
    compiled(folder)
    owner = os.geteuid()
    monkeypatch.setattr(cache_module.os, "geteuid", lambda: owner + 1)
    kernel = compiled(folder)
    assert not kernel.from_cache
    check(kernel)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
def test_a_folder_that_cannot_be_written(folder, monkeypatch, number):
    """Tests run as root: the system's refusals are made here."""
    real_open = os.open

    def refusing(path, flags, *arguments, **keywords):
        if flags & os.O_CREAT:
            raise OSError(number, os.strerror(number))
        return real_open(path, flags, *arguments, **keywords)

    monkeypatch.setattr(cache_module.os, "open", refusing)
    for _ in range(2):
        kernel = compiled(folder)
        assert not kernel.from_cache
        check(kernel)


def test_a_read_only_folder_that_is_filled_is_read(folder, monkeypatch):
    compiled(folder)

    def refuse(*arguments, **keywords):
        raise OSError(errno.EROFS, "read-only")

    for name in ("utime", "unlink", "replace", "mkdir"):
        monkeypatch.setattr(cache_module.os, name, refuse)
    assert compiled(folder).from_cache


def test_disk_full_in_the_middle_of_a_file(folder, monkeypatch):
    def full(*arguments, **keywords):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(cache_module.os, "replace", full)
    check(compiled(folder))
    assert list(folder.iterdir()) == []


def test_no_home_to_write_to(tmp_path):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    check(compiled(blocked / "kernels"))
    check(compiled(blocked))


def test_a_user_without_home(monkeypatch):
    """No HOME, and a number that no table of users has, as in containers: nothing is kept."""

    def unknown(number):
        raise KeyError(number)

    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert cache_module.default_folder() is None
    kernel = compiled(None)
    assert not kernel.from_cache
    check(kernel)


def test_the_oldest_go_when_the_cache_is_full(folder):
    cache = DiskCache(folder, max_bytes=10_000)
    for k in range(20):
        assert cache.put(f"key{k}", {}, bytes(1000))
        os.utime(folder / f"key{k}.kernel", (k, k))
    kept = sorted(path.name for path in folder.iterdir())
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 10_000
    assert "key19.kernel" in kept
    assert "key0.kernel" not in kept
    assert not cache.put("large", {}, bytes(20_000))


def test_use_keeps_a_kernel_young(folder):
    cache = DiskCache(folder, max_bytes=3_500)
    for k in range(3):
        cache.put(f"key{k}", {}, bytes(1000))
        os.utime(folder / f"key{k}.kernel", (k, k))
    assert cache.get("key0") is not None
    cache.put("key3", {}, bytes(1000))
    assert cache.get("key0") is not None
    assert cache.get("key1") is None


def test_temporary_files_of_the_dead_are_removed(folder):
    cache = DiskCache(folder)
    cache.put("a", {}, b"x")
    old, young = folder / "old.temp", folder / "young.temp"
    for path in (old, young):
        path.write_bytes(b"half")
    hour_ago = time.time() - 3700
    os.utime(old, (hour_ago, hour_ago))
    cache.put("b", {}, b"x")
    assert not old.exists()
    assert young.exists()


def test_kill_during_a_write(folder):
    program = f"""
import os, signal, sys
from pathlib import Path
from fusejit.codegen.backend import cache
def dying(*arguments, **keywords):
    os.kill(os.getpid(), signal.SIGKILL)
cache.os.replace = dying
cache.DiskCache(Path({str(folder)!r})).put("a", {{}}, bytes(100_000))
"""
    result = subprocess.run([sys.executable, "-c", program], check=False)
    assert result.returncode == -signal.SIGKILL
    cache = DiskCache(folder)
    assert len(list(folder.iterdir())) == 1
    assert cache.get("a") is None
    assert cache.put("a", {}, b"new")
    assert cache.get("a") == ({}, b"new")


def test_processes_at_once(folder):
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    programs = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    for program in programs:
        assert program.wait(120) == 0, program.stderr.read().decode()
        program.stderr.close()
    assert len(list(folder.iterdir())) == 1
    assert run(folder, "print(k.from_cache)") == "True"


def test_remove(folder):
    cache = DiskCache(folder)
    cache.remove("nothing")
    cache.put("a", {}, b"x")
    cache.remove("a")
    assert cache.get("a") is None


def test_options_and_signature_are_part_of_the_key(folder):
    compiled(folder)
    wide = compile_kernel(SOURCE, SIGNATURE, cache_dir=folder, vector_width=512)
    assert not wide.from_cache
    single = tuple(ArgType(a.kind, np.dtype("f4"), a.ndim) for a in SIGNATURE)
    assert not compile_kernel(SOURCE, single, cache_dir=folder).from_cache
    assert compiled(folder).from_cache


def test_every_module_that_makes_code_is_in_the_key():
    package = Path(cache_module.__file__).parents[1]
    files = [*package.glob("intrinsics_jit/[a-z]*.py"), *package.glob("backend/na*.py")]
    makers = {f"{path.parent.name}.{path.stem}" for path in files}
    assert makers <= set(cache_key._CODE_MAKERS)


def test_a_package_in_an_archive(folder, tmp_path):
    """The files of modules are found through what loads them; no kernel could be named before."""
    root = Path(cache_module.__file__).parents[3]
    archive = shutil.make_archive(str(tmp_path / "archive"), "zip", root, "fusejit")
    program = f"import sys\nsys.path.insert(0, {archive!r})\n{PROGRAM}\nassert not k.from_cache"
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, timeout=120)
    assert only_file(folder)


def test_environment_key_names_what_matters():
    facts = json.loads(cache_key.environment_key())
    assert facts["cpu"]
    assert facts["features"]
    assert np.__version__ in facts["packages"]
