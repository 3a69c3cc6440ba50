"""Random numbers on the GPU, number for number those of PyTorch's on CUDA: Philox 4x32-10, counted as PyTorch counts.

Each thread of a launch has a sequence of its own; where an element's number comes from depends on how many threads PyTorch would
start, which depends on the GPU. The state is a seed and an offset, which every draw moves on.

In a captured graph both are read from GPU memory, where they are written anew before each replay; a draw then adds to the offset
what the draws before it in the graph have used.
"""

from __future__ import annotations

import secrets
from functools import cache
from typing import Any

import cupy
import numpy as np

from .. import captures
from .capture import from_host

BLOCK = 256

_SOURCE = r"""
struct Four { unsigned int x, y, z, w; };

__device__ Four philox(unsigned long long seed, unsigned long long sequence, unsigned long long counter) {
    Four c = {(unsigned int)counter, (unsigned int)(counter >> 32), (unsigned int)sequence, (unsigned int)(sequence >> 32)};
    unsigned int k0 = (unsigned int)seed, k1 = (unsigned int)(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        unsigned int h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
        unsigned int h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        Four n = {h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0};
        c = n;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

#define INV 2.3283064e-10f
#define INV_2PI (INV * 6.2831855f)

__device__ float unit(unsigned int x) { return x * INV + (INV / 2.0f); }

__device__ void pair(unsigned int x, unsigned int y, float* a, float* b) {
    float s = sqrtf(-2.0f * logf(unit(x)));
    float v = y * INV_2PI + (INV_2PI / 2.0f);
    __sincosf(v, a, b);
    *a *= s;
    *b *= s;
}

__device__ double unit_of_two(unsigned int x, unsigned int y) {
    unsigned long long z = (unsigned long long)x ^ ((unsigned long long)y << 21);
    return z * 1.1102230246251565e-16 + 0.5551115123125783e-16;
}

__device__ void pair_of_four(Four r, double* a, double* b) {
    unsigned long long z = (unsigned long long)r.z ^ ((unsigned long long)r.w << 21);
    double s = sqrt(-2.0 * log(unit_of_two(r.x, r.y)));
    sincospi(z * 2.220446049250313e-16 + 1.1102230246251565e-16, a, b);
    *a *= s;
    *b *= s;
}

// What is drawn: 0 uniform, 1 normal, 2 kept by dropout (1 or 0), 3 the bits themselves, 4 uniform in (0, 1] as it comes.
// EACH numbers come of one turn of the generator. They lie side by side (those of TOGETHER turns do), or as far apart as there
// are threads (TOGETHER is 0).
template <typename T, int WHAT, int EACH, int TOGETHER>
__global__ void draw(T* out, long long n, unsigned long long seed, unsigned long long offset, double low, double high,
                     const unsigned long long* state) {
    if (state) { seed = state[0]; offset += state[1]; }
    long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    long long stride = (long long)blockDim.x * gridDim.x;
    unsigned long long counter = offset / 4;
    const int TURNS = TOGETHER ? TOGETHER : 1;
    long long rounded = ((n - 1) / (stride * EACH * TURNS) + 1) * stride * EACH * TURNS;
    for (long long first = thread; first < rounded; first += stride * EACH * TURNS)
    for (int turn = 0; turn < TURNS; ++turn) {
        long long base = first;
        Four r = philox(seed, thread, counter++);
        unsigned int bits[4] = {r.x, r.y, r.z, r.w};
        float value[4];
        double wide[2];
        unsigned long long words[2];
        if (WHAT == 3 && EACH == 2) {
            words[0] = ((unsigned long long)r.x << 32) | r.y;
            words[1] = ((unsigned long long)r.z << 32) | r.w;
        } else if (EACH == 2) {
            if (WHAT == 1) pair_of_four(r, wide, wide + 1);
            else { wide[0] = unit_of_two(r.x, r.y); wide[1] = unit_of_two(r.z, r.w); }
        } else if (WHAT == 1) {
            pair(r.x, r.y, value, value + 1);
            pair(r.z, r.w, value + 2, value + 3);
        } else {
            for (int i = 0; i < 4; ++i) value[i] = unit(bits[i]);
        }
        for (int i = 0; i < EACH; ++i) {
            long long at = TOGETHER ? (base - thread) + (thread * TURNS + turn) * EACH + i : base + stride * i;
            if (at >= n) continue;
            if (WHAT == 0) {
                T v = EACH == 2 ? (T)(wide[i & 1] * (high - low) + low) : (T)(value[i] * ((float)high - (float)low) + (float)low);
                out[at] = v == (T)high ? (T)low : v;
            } else if (WHAT == 1) {
                out[at] = EACH == 2 ? (T)(wide[i & 1] * high + low) : (T)(value[i] * (float)high + (float)low);
            } else if (WHAT == 2) {
                out[at] = (T)(value[i] < (float)low ? 1 : 0);
            } else if (WHAT == 3) {
                out[at] = EACH == 2 ? (T)words[i & 1] : (T)bits[i];
            } else {
                out[at] = EACH == 2 ? (T)wide[i & 1] : (T)value[i];
            }
        }
    }
}
"""

_ISLANDS = r"""
// Of neighbours with the same key, the first one shuffles them all.
template <typename T>
__global__ void islands(const T* keys, long long* data, long long n, unsigned long long seed, unsigned long long offset,
                        const unsigned long long* state) {
    if (state) { seed = state[0]; offset += state[1]; }
    long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at >= n - 1 || keys[at] != keys[at + 1] || (at && keys[at] == keys[at - 1])) return;
    long long size = 1;
    while (at + size < n && keys[at + size] == keys[at]) ++size;
    unsigned long long drawn = 0;
    Four r;
    for (long long i = size - 1; i > 0; --i, ++drawn) {
        if (drawn % 4 == 0) r = philox(seed, at, offset / 4 + drawn / 4);
        unsigned int bits[4] = {r.x, r.y, r.z, r.w};
        long long other = bits[drawn % 4] % (unsigned int)(i + 1);
        long long kept = data[at + i];
        data[at + i] = data[at + other];
        data[at + other] = kept;
    }
}
"""

NAMES = {"uniform": 0, "normal": 1, "kept": 2, "bits": 3, "unit": 4}
_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
_TYPES |= {np.dtype(np.uint32): "unsigned int", np.dtype(np.uint64): "unsigned long long"}
_FOR_EACH = 12  # what PyTorch moves the offset on by where every element has a probability of its own


@cache
def _function(kind: str, what: int, each: int, together: int) -> Any:
    name = f"draw<{kind}, {what}, {each}, {together}>"
    return cupy.RawModule(code=_SOURCE, options=("--std=c++17",), name_expressions=[name]).get_function(name)


@cache
def _most_blocks() -> int:
    found = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
    return int(found["multiProcessorCount"] * (found["maxThreadsPerMultiProcessor"] // BLOCK))


@cache
def _islands(kind: str) -> Any:
    name = f"islands<{kind}>"
    return cupy.RawModule(code=_SOURCE + _ISLANDS, options=("--std=c++17",), name_expressions=[name]).get_function(name)


class Drawn:
    """What the draws of a captured graph use of one generator."""

    def __init__(self, generator: Generator) -> None:
        self.generator, self.began, self.used = generator, generator.offset, 0
        self.place = from_host(self._state())

    def _state(self) -> np.ndarray:
        return np.asarray([self.generator._seed, self.generator.offset], np.uint64)

    def captured(self) -> None:
        """The capture ends: nothing has been drawn yet."""
        self.generator.offset = self.began

    def replayed(self, write: bool) -> None:
        """The graph is about to be launched: from the state that its place has already, or from the present one."""
        if write:
            self.place.set(self._state(), cupy.cuda.get_current_stream())
        self.generator.offset += self.used


class Generator:
    """The state of the GPU's random numbers."""

    def __init__(self, seed: int = 0) -> None:
        self.manual_seed(seed)

    def manual_seed(self, seed: int) -> None:
        """Restart from `seed`."""
        self._seed, self.offset = seed % 2**64, 0

    def seed(self) -> int:
        """Restart from a seed the operating system picks, and return it."""
        self.manual_seed(secrets.randbits(53))
        return self._seed

    def initial_seed(self) -> int:
        """The seed it was started from."""
        return self._seed

    def get_state(self) -> np.ndarray:
        """Seed and offset, as sixteen bytes."""
        return np.asarray([self._seed, self.offset], np.uint64).view(np.uint8)

    def set_state(self, state: np.ndarray) -> None:
        """Go on from a state."""
        seed, offset = np.ascontiguousarray(state).view(np.uint64)
        self._seed, self.offset = int(seed), int(offset)

    def _moved(self, used: int) -> tuple[int, Any]:
        """The offset of a draw, and where the state lies that it is counted from (0: the offset is all); the generator goes on."""
        offset, place = self.offset, 0
        if captures.current() is not None:
            drawn = captures.current().draws_of(self)
            offset, place = drawn.used, drawn.place
            drawn.used += used
        self.offset += used
        return offset, place

    def shuffle_islands(self, keys: Any, data: Any) -> None:
        """Shuffle neighbours that have the same key, in place, as PyTorch does in `randperm`."""
        n = keys.size
        offset, place = self._moved(-(-n // 4) * 4)
        numbers = np.int64(n), np.uint64(self._seed), np.uint64(offset), place
        _islands("int" if keys.itemsize == 4 else "long long")((-(-n // BLOCK),), (BLOCK,), (keys, data, *numbers))

    def draw(
        self,
        what: str,
        shape: tuple[int, ...],
        dtype: Any,
        low: float = 0.0,
        high: float = 1.0,
        for_each: bool = False,
    ) -> Any:
        """New numbers. Half precision is drawn in float32 and rounded. `for_each`: as PyTorch draws them for a tensor of
        probabilities, four elements by each of as many threads as that takes."""
        dtype = np.dtype(dtype)
        out = cupy.ndarray(shape, dtype if dtype in _TYPES else np.float32)
        n = out.size
        if n:
            each = 2 if out.dtype.itemsize == 8 and what != "kept" else 4
            together = int(for_each or (what == "kept" and n % 4 == 0))
            if what == "kept" and dtype.itemsize == 2 and n % 8 == 0:
                together = 2
            blocks = -(-n // (4 * BLOCK)) if for_each else min(-(-n // BLOCK), _most_blocks())
            function = _function(_TYPES[out.dtype], NAMES[what], each, together)
            used = _FOR_EACH if for_each else ((n - 1) // (BLOCK * blocks * each) + 1) * 4
            offset, place = self._moved(used)
            numbers = (np.int64(n), np.uint64(self._seed), np.uint64(offset), np.float64(low), np.float64(high), place)
            function((blocks,), (BLOCK,), (out, *numbers))
        if out.dtype == dtype:
            return out
        rounded = out.astype(dtype)
        if what == "uniform":  # the upper end is never reached, not even by rounding
            rounded[rounded == dtype.type(high)] = dtype.type(low)
        return rounded


default_generator = Generator()
