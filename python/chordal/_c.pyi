"""The compiled module, as cffi makes it."""

from typing import Any

ffi: Any
lib: Any
