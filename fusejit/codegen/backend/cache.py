"""Compiled kernels on disk: a folder of the owner alone, files checked before use.

A file is ``magic, sha256 of the rest, length of the header, JSON header, object code``. Nothing is
unpickled. Whatever is wrong (damaged, foreign, too open, read-only, full disk) is a miss or a put
that does nothing, never an error.

Examples
--------
>>> import tempfile, pathlib
>>> cache = DiskCache(pathlib.Path(tempfile.mkdtemp()) / "kernels", max_bytes=1 << 20)
>>> cache.put("ab12", {"entry": "f"}, b"object")
True
>>> cache.get("ab12")
({'entry': 'f'}, b'object')
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import stat
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAGIC = b"FUSEJIT1"
DEFAULT_MAX_BYTES = 256 * 1024 * 1024

_SUFFIX = ".kernel"
_TEMP_SUFFIX = ".temp"
_TEMP_LIFETIME_S = 3600.0
_MAX_FILE_BYTES = 64 * 1024 * 1024
_HEADER_AT = len(MAGIC) + hashlib.sha256().digest_size

_HAS_DIR_FD = {os.open, os.stat, os.unlink} <= os.supports_dir_fd and hasattr(os, "geteuid")


def default_folder() -> Path | None:
    """``~/.cache/fusejit``, or below XDG_CACHE_HOME where that is set; None without a home."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base, "fusejit")
    try:
        return Path.home() / ".cache" / "fusejit"
    except RuntimeError:  # no HOME, and a user that no table of users has: in many containers
        return None


def encode(key: str, header: dict[str, Any], object_code: bytes) -> bytes:
    """The bytes of a cache file."""
    text = json.dumps({**header, "key": key}, sort_keys=True).encode()
    rest = struct.pack("<I", len(text)) + text + object_code
    return MAGIC + hashlib.sha256(rest).digest() + rest


def decode(key: str, data: bytes) -> tuple[dict[str, Any], bytes] | None:
    """Inverse of `encode`; None if anything is not as `encode` made it."""
    rest = data[_HEADER_AT:]
    if (
        data[: len(MAGIC)] != MAGIC
        or hashlib.sha256(rest).digest() != data[len(MAGIC) : _HEADER_AT]
    ):
        return None
    try:
        (length,) = struct.unpack_from("<I", rest)
        header = json.loads(rest[4 : 4 + length])
        if header.pop("key") != key:
            return None
    except (struct.error, ValueError, KeyError, AttributeError):
        return None
    return header, rest[4 + length :]


def _is_private(status: os.stat_result) -> bool:
    """Ours, and closed to group and others."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o077


class DiskCache:
    """Object code by key.

    Parameters
    ----------
    folder : Path
        Created with mode 0700 when first written to; refused if it is a link, not ours, or open to
        others.
    max_bytes : int
        When the files hold more, the least recently used go.
    """

    def __init__(self, folder: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self.folder = folder
        self.max_bytes = max_bytes

    def get(self, key: str) -> tuple[dict[str, Any], bytes] | None:
        """(header, object code), or None."""
        try:
            with self._open_folder(create=False) as folder:
                if folder is None:
                    return None
                data = _read_private(folder, key + _SUFFIX)
        except OSError:
            return None
        return None if data is None else decode(key, data)

    def put(self, key: str, header: dict[str, Any], object_code: bytes) -> bool:
        """Store, replacing what is there in one step; False if that was not possible."""
        data = encode(key, header, object_code)
        if len(data) > min(self.max_bytes, _MAX_FILE_BYTES):
            return False
        try:
            with self._open_folder(create=True) as folder:
                if folder is None:
                    return False
                _write_replacing(folder, key + _SUFFIX, data)
                self._tidy(folder)
        except OSError:
            return False
        return True

    def remove(self, key: str) -> None:
        """Forget `key`, if it is there."""
        with contextlib.suppress(OSError), self._open_folder(create=False) as folder:
            if folder is not None:
                os.unlink(key + _SUFFIX, dir_fd=folder)

    @contextlib.contextmanager
    def _open_folder(self, create: bool) -> Iterator[int | None]:
        """File descriptor of the folder, or None if it must not be used."""
        if not _HAS_DIR_FD:
            yield None
            return
        if create:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                self.folder.mkdir(mode=0o700)
        descriptor = os.open(
            self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        )
        try:
            yield descriptor if _is_private(os.fstat(descriptor)) else None
        finally:
            os.close(descriptor)

    def _tidy(self, folder: int) -> None:
        """Remove temporary files of writers that died, and the oldest kernels above `max_bytes`."""
        now = time.time()
        kernels: list[tuple[float, int, str]] = []
        for name in os.listdir(folder):
            try:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if name.endswith(_TEMP_SUFFIX) and now - status.st_mtime > _TEMP_LIFETIME_S:
                    os.unlink(name, dir_fd=folder)
                elif name.endswith(_SUFFIX):
                    kernels.append((status.st_mtime, status.st_size, name))
            except OSError:  # another process was faster
                continue
        total = sum(size for _, size, _ in kernels)
        for _, size, name in sorted(kernels):
            if total <= self.max_bytes:
                break
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            total -= size


def _read_private(folder: int, name: str) -> bytes | None:
    """Content of a regular file that is ours and closed to others; marks it as used now."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        is_file = stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_FILE_BYTES
        if not (is_file and _is_private(status)):
            return None
        with contextlib.suppress(OSError):  # read-only file system
            os.utime(descriptor)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read()
    finally:
        os.close(descriptor)


def _write_replacing(folder: int, name: str, data: bytes) -> None:
    """Write a new file and give it the name in one step, so that no reader sees a part."""
    temporary = f"{name}.{secrets.token_hex(8)}{_TEMP_SUFFIX}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
