// load_wav() reads sound from a WAV file. A reader trusts nothing in a file.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/tensor.hpp"

namespace penstock {

/// A Waveform is a sound.
struct Waveform {
  /// `samples` is f32 [channels, samples of a channel]. Full scale is -1 to 1.
  Tensor samples = {};
  std::int64_t sample_rate = 0;  ///< A channel has this many samples in a second.
};

/// Reads a WAV file of 16-bit PCM, whose samples are divided by 32768, or of 32-bit floating-point
/// numbers, which are taken as they are. The call allocates no more than a small multiple of the
/// file's size, whatever the file claims.
/// @throws Error io_error if the file cannot be read; corrupt_file if it breaks the format;
/// unsupported for samples of another kind; out_of_memory. The text names the file.
Waveform load_wav(const std::string& path);

}  // namespace penstock
