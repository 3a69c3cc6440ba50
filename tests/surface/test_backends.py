"""`torch.backends`: switches of libraries that are not here can be asked and set as PyTorch's."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion.kernels import precision


def test_switches_are_kept_and_come_back():
    import clarion.backends.cudnn as cudnn

    assert cudnn is torch.backends.cudnn
    assert (cudnn.enabled, cudnn.benchmark) == (True, False)
    assert cudnn.is_available() is (cudnn.version() is not None) is torch.cuda.is_available()
    with cudnn.flags(enabled=False, deterministic=True):
        assert (cudnn.enabled, cudnn.deterministic) == (False, True)
    assert (cudnn.enabled, cudnn.deterministic) == (True, False)
    before = torch.backends.mkldnn.set_flags(_enabled=False)
    assert torch.backends.mkldnn.enabled is False
    torch.backends.mkldnn.set_flags(*before)
    assert torch.backends.mkldnn.enabled is True
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"), cudnn.flags(speed=3):
        pass


def test_ways_to_compute_attention():
    cuda = torch.backends.cuda
    with cuda.sdp_kernel(enable_flash=False):
        assert (cuda.flash_sdp_enabled(), cuda.math_sdp_enabled()) == (False, True)
    assert cuda.flash_sdp_enabled()
    cuda.enable_math_sdp(False)
    assert not cuda.math_sdp_enabled()
    cuda.enable_math_sdp(True)
    assert cuda.is_built() is torch.cuda.is_available()


def test_precision_of_float32():
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    assert (matmul.allow_tf32, torch.get_float32_matmul_precision()) == (False, "highest")
    matmul.allow_tf32 = True
    assert (torch.get_float32_matmul_precision(), precision.products) == ("high", True)
    torch.set_float32_matmul_precision("highest")
    assert (matmul.allow_tf32, precision.products) == (False, False)
    assert cudnn.allow_tf32 is precision.layers is True
    with cudnn.flags(enabled=True, allow_tf32=False):
        assert precision.layers is False
    cudnn.allow_tf32 = False
    assert precision.layers is False
    cudnn.allow_tf32 = True
    assert precision.layers is True


def test_the_rest_is_there_to_be_asked():
    assert not torch.backends.mps.is_available()
    assert torch.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    assert torch.backends.quantized.engine in torch.backends.quantized.supported_engines
    with pytest.raises(AttributeError, match=r"torch\.backends\.nothing"):
        torch.backends.nothing
    with pytest.raises(RuntimeError, match="without MPS backend"):
        torch.backends.mps.is_macos_or_newer(13, 0)
