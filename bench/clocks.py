"""What the GPU's clocks do, as NVML tells it. Looked at, never changed."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

# nvml.h, nvmlClocksEventReasons: those that make a sample slower than the kernel is.
_HARMFUL = {
    0x004: "power cap",
    0x008: "hardware slowdown",
    0x020: "software thermal slowdown",
    0x040: "hardware thermal slowdown",
    0x080: "power brake",
}


class Clocks:
    """One GPU's clocks. Where NVML is not to be had, `missing` says why and everything is unknown."""

    def __init__(self, pci_bus_id: str) -> None:
        self.missing = ""
        self._nvml: Any = None
        try:
            self._nvml = importlib.import_module("pynvml")
            self._nvml.nvmlInit()
            self._handle = self._nvml.nvmlDeviceGetHandleByPciBusId(pci_bus_id.encode())
            self.driver = _text(self._nvml.nvmlSystemGetDriverVersion())
        except Exception as error:
            self._nvml, self.driver = None, "unknown"
            self.missing = f"NVML is not to be had: {error}"

    def slowed_by(self) -> list[str] | None:
        """Why the clocks are lower than the kernel could use, at this moment; None where it is unknown."""
        if self._nvml is None:
            return None
        ask = getattr(self._nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
        ask = ask or self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons
        try:
            reasons = int(ask(self._handle))
        except self._nvml.NVMLError as error:
            self._nvml, self.missing = None, f"NVML does not tell why clocks are low: {error}"
            return None
        return [words for bit, words in _HARMFUL.items() if reasons & bit]

    def now(self) -> dict[str, float]:
        """Clocks in MHz, watts and degrees, as far as NVML tells them."""
        told: dict[str, float] = {}
        if self._nvml is None:
            return told
        nvml, handle = self._nvml, self._handle
        asked: tuple[tuple[str, Callable[[], float]], ...] = (
            ("sm_mhz", lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
            ("memory_mhz", lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM)),
            ("watts", lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000),
            ("degrees", lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
        )
        for name, ask in asked:
            with contextlib.suppress(nvml.NVMLError):
                told[name] = ask()
        return told


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
