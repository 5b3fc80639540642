#include "graph/kernels/depthwise/by_channels.hpp"

#include "graph/kernels/depthwise/workspace.hpp"
#include "graph/kernels/vectors/finish.hpp"
#include "graph/kernels/vectors/square.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

void copy(std::int64_t count, const float* from, float* to) {
  __builtin_memcpy(to, from, sizeof(float) * static_cast<std::size_t>(count));
}

/// Transposes `count` planes of `pixels` pixels to `to` [pixel][vector_size]. Squares overlap if
/// the pixels do not fill the last one. If they do not even fill one, they are copied to `spare`,
/// so that nothing is read behind the last plane.
void transpose_planes(std::int64_t count, std::int64_t pixels, const float* from, float* to,
                      float* spare) {
  Vector rows[vector_size];
  if (pixels < vector_size) {
    copy(count * pixels, from, spare);
    load_transposed(count, spare, pixels, rows);
    unrolled<vector_size>([&](auto i) { store(to + i * vector_size, rows[i]); });
    return;
  }
  for (std::int64_t pixel = 0; pixel < pixels; pixel += vector_size) {
    const std::int64_t last = pixels - vector_size, first = pixel < last ? pixel : last;
    load_transposed(count, from + first, pixels, rows);
    unrolled<vector_size>([&](auto i) { store(to + (first + i) * vector_size, rows[i]); });
  }
}

/// Transposes `from` [pixel][vector_size] to `count` planes of `pixels` pixels.
void put_planes(std::int64_t count, std::int64_t pixels, const float* from, float* to,
                float* spare) {
  Vector rows[vector_size];
  if (pixels < vector_size) {
    load_transposed(vector_size, from, vector_size, rows);
    unrolled<vector_size>([&](auto i) { store(spare + i * pixels, rows[i]); });
    return copy(count * pixels, spare, to);
  }
  for (std::int64_t pixel = 0; pixel < pixels; pixel += vector_size) {
    const std::int64_t last = pixels - vector_size, first = pixel < last ? pixel : last;
    load_transposed(vector_size, from + first * vector_size, vector_size, rows);
    unrolled<vector_size>([&](auto i) {
      if (i < count) store(to + i * pixels + first, rows[i]);
    });
  }
}

/// Meetings say, for each place along an axis, which pixels it meets through which taps.
class Meetings {
 public:
  struct Meeting {
    std::int16_t tap, pixel;
  };

  void add(std::int64_t place, std::int64_t tap, std::int64_t pixel) {
    met_[place][counts_[place]++] = {static_cast<std::int16_t>(tap),
                                     static_cast<std::int16_t>(pixel)};
  }
  int count(std::int64_t place) const { return counts_[place]; }
  Meeting at(std::int64_t place, int i) const { return met_[place][i]; }
  /// Returns whether `place` and the places behind it, `count` together, meet pixels through the
  /// same taps, each of them `step` pixels further than the place before it.
  bool alike(std::int64_t place, std::int64_t count, std::int64_t step) const {
    for (std::int64_t next = place + 1; next < place + count; ++next) {
      if (counts_[next] != counts_[place]) return false;
      for (int i = 0; i < counts_[place]; ++i)
        if (met_[next][i].tap != met_[place][i].tap ||
            met_[next][i].pixel != met_[place][i].pixel + (next - place) * step)
          return false;
    }
    return true;
  }

 private:
  int counts_[depthwise_places] = {};
  Meeting met_[depthwise_places][depthwise_taps];
};

/// An Axis has the sizes of a convolution along one axis.
struct Axis {
  std::int64_t size, outputs, taps, stride, padding, dilation;

  /// Returns which pixels of x each output meets.
  Meetings forward() const {
    Meetings meetings;
    for (std::int64_t output = 0; output < outputs; ++output)
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t pixel = output * stride - padding + tap * dilation;
        if (pixel >= 0 && pixel < size) meetings.add(output, tap, pixel);
      }
    return meetings;
  }
  /// Returns which outputs each pixel of x is met by.
  Meetings backward() const {
    Meetings meetings;
    for (std::int64_t pixel = 0; pixel < size; ++pixel)
      for (std::int64_t tap = taps - 1; tap >= 0; --tap) {
        const std::int64_t distance = pixel + padding - tap * dilation;
        if (distance >= 0 && distance % stride == 0 && distance / stride < outputs)
          meetings.add(pixel, tap, distance / stride);
      }
    return meetings;
  }
  /// Returns which outputs meet a pixel of x through `tap`.
  Part outputs_of(std::int64_t tap) const {
    const auto from = [&](std::int64_t limit) {
      const std::int64_t distance = limit + padding - tap * dilation;
      const std::int64_t output = distance > 0 ? (distance + stride - 1) / stride : 0;
      return output < outputs ? output : outputs;
    };
    return {from(0), from(size)};
  }
};

Axis rows_of(const DepthwiseConvolution& conv) {
  return {conv.height,        conv.out_height,     conv.kernel_height,
          conv.stride_height, conv.padding_height, conv.dilation_height};
}
Axis columns_of(const DepthwiseConvolution& conv) {
  return {conv.width,        conv.out_width,     conv.kernel_width,
          conv.stride_width, conv.padding_width, conv.dilation_width};
}

/// A GroupEnd has the biases of a group of channels, and what is done with their sums, with a
/// number for each element of a Vector. The pointers of `epilogue` are null or point to these
/// numbers.
struct GroupEnd {
  Epilogue epilogue = {};
  float biases[vector_size] = {};
  float means[vector_size] = {}, factors[vector_size] = {}, shifts[vector_size] = {};
};

/// A Gathering computes target[place] = bias + the sum of weight[tap]·source[pixel] over what the
/// place meets. Each element of the tensors is a Vector.
struct Gathering {
  const Meetings &rows, &columns;
  std::int64_t height, width;  ///< These are the numbers of places.
  std::int64_t source_width, taps_per_row;
  std::int64_t step;  ///< Neighbouring places are this many pixels apart.
  const float *source, *weight;
  float* target;
};

/// Computes `places` neighbouring places of a row that meet pixels alike.
template <int places>
[[gnu::always_inline]] inline void gather_places(const Gathering& all, std::int64_t y,
                                                 std::int64_t x, const GroupEnd& end) {
  Vector sums[places];
  unrolled<places>([&](auto i) { sums[i] = load(end.biases); });
  for (int i = 0; i < all.rows.count(y); ++i) {
    const auto row = all.rows.at(y, i);
    const float* const source = all.source + row.pixel * all.source_width * vector_size;
    const float* const weight = all.weight + row.tap * all.taps_per_row * vector_size;
    for (int j = 0; j < all.columns.count(x); ++j) {
      const auto column = all.columns.at(x, j);
      const Vector factor = load(weight + column.tap * vector_size);
      const float* const pixel = source + column.pixel * vector_size;
      unrolled<places>([&](auto place) {
        sums[place] += factor * load(pixel + place * all.step * vector_size);
      });
    }
  }
  finish(
      end.epilogue, [&](auto work) { unrolled<places>([&](auto i) { work(sums[i]); }); },
      [](const float* numbers) { return load(numbers); });
  float* const to = all.target + (y * all.width + x) * vector_size;
  unrolled<places>([&](auto i) { store(to + i * vector_size, sums[i]); });
}

void gather(const Gathering& all, const GroupEnd& end) {
  constexpr int at_once = 4;
  bool alike[depthwise_places];
  for (std::int64_t x = 0; x < all.width; ++x)
    alike[x] = x + at_once <= all.width && all.columns.alike(x, at_once, all.step);
  for (std::int64_t y = 0; y < all.height; ++y)
    for (std::int64_t x = 0; x < all.width;)
      if (alike[x]) {
        gather_places<at_once>(all, y, x, end);
        x += at_once;
      } else {
        gather_places<1>(all, y, x, end);
        ++x;
      }
}

/// Calls `work(channel, count)` for the groups of channels of block `block` that fill a Vector.
template <class Work>
void for_each_group(const DepthwiseConvolution& conv, std::int64_t block, Work work) {
  const std::int64_t begin = block * depthwise_block, end = begin + depthwise_block;
  for (std::int64_t channel = begin; channel < end && channel < conv.channels;
       channel += vector_size) {
    const std::int64_t left = conv.channels - channel;
    work(channel, left < vector_size ? left : vector_size);
  }
}

/// Calls `work(channel, count, samples)` for the groups of channels of the units of `part`.
/// `samples` are those that the group belongs to.
template <class Work>
void for_each_group_of_units(const DepthwiseConvolution& conv, Part part, Work work) {
  for (std::int64_t block = 0; block < depthwise_blocks(conv); ++block) {
    const Part samples = overlap(part, block * conv.samples, conv.samples);
    if (empty(samples)) continue;
    for_each_group(conv, block, [&](std::int64_t channel, std::int64_t count) {
      work(channel, count, samples);
    });
  }
}

/// Transposes the weights of `count` channels to `to` [tap][vector_size].
void transpose_weights(std::int64_t count, std::int64_t cells, const float* weight, float* to) {
  for (std::int64_t tap = 0; tap < cells; ++tap)
    for (std::int64_t i = 0; i < vector_size; ++i)
      to[tap * vector_size + i] = weight[(i < count ? i : count - 1) * cells + tap];
}

/// A Pass computes the planes of one tensor from those of another one with the same channels. The
/// pixels of the target meet those of the source as `rows` and `columns` say.
struct Pass {
  Meetings rows, columns;
  std::int64_t source_height, source_width, height, width;
  std::int64_t step;  ///< Neighbouring pixels of the target meet pixels this far apart.
  const float* bias = nullptr;
  Epilogue epilogue = {};
};

/// Writes to `end` the biases of the `count` channels from `channel` on, and what is done with
/// their sums.
void set_end(const Pass& pass, std::int64_t channel, std::int64_t count, GroupEnd& end) {
  const auto copied = [&](const float* numbers, float* to) {
    copy(count, numbers + channel, to);
    return to;
  };
  if (pass.bias) copied(pass.bias, end.biases);
  end.epilogue = before_addend(pass.epilogue);
  if (!pass.epilogue.mean) return;
  end.epilogue.mean = copied(pass.epilogue.mean, end.means);
  end.epilogue.factor = copied(pass.epilogue.factor, end.factors);
  end.epilogue.shift = copied(pass.epilogue.shift, end.shifts);
}

/// Computes the planes of the units of `part`. `workspace` has room for transposed planes of the
/// source and of the target at `source` and `target`.
void compute(const DepthwiseConvolution& conv, Part part, const Pass& pass, const float* from,
             const float* weight, float* to, float* workspace, float* source, float* target) {
  const ChannelsWorkspace at = channels_workspace(conv);
  const std::int64_t pixels = pass.source_height * pass.source_width;
  const std::int64_t results = pass.height * pass.width;
  const std::int64_t cells = conv.kernel_height * conv.kernel_width;
  float *const weights = workspace + at.weights, *const spare = workspace + at.spare;
  const Gathering gathering{
      pass.rows,         pass.columns, pass.height, pass.width, pass.source_width,
      conv.kernel_width, pass.step,    source,      weights,    target};
  for_each_group_of_units(conv, part, [&](std::int64_t channel, std::int64_t count, Part samples) {
    transpose_weights(count, cells, weight + channel * cells, weights);
    GroupEnd end;
    set_end(pass, channel, count, end);
    for (std::int64_t sample = samples.begin; sample < samples.end; ++sample) {
      const std::int64_t plane = sample * conv.channels + channel;
      transpose_planes(count, pixels, from + plane * pixels, source, spare);
      gather(gathering, end);
      put_planes(count, results, target, to + plane * results, spare);
      add_addend(pass.epilogue, count * results, to, to + plane * results);
    }
  });
}

}  // namespace

void convolve_by_channels(const DepthwiseConvolution& conv, Part part, const float* x,
                          const float* weight, const float* bias, float* y, float* workspace) {
  const ChannelsWorkspace at = channels_workspace(conv);
  const Pass pass{.rows = rows_of(conv).forward(),
                  .columns = columns_of(conv).forward(),
                  .source_height = conv.height,
                  .source_width = conv.width,
                  .height = conv.out_height,
                  .width = conv.out_width,
                  .step = conv.stride_width,
                  .bias = bias,
                  .epilogue = conv.epilogue};
  compute(conv, part, pass, x, weight, y, workspace, workspace + at.x, workspace + at.y);
}

void input_gradient_by_channels(const DepthwiseConvolution& conv, Part part, const float* dy,
                                const float* weight, float* dx, float* workspace) {
  const ChannelsWorkspace at = channels_workspace(conv);
  const Pass pass{.rows = rows_of(conv).backward(),
                  .columns = columns_of(conv).backward(),
                  .source_height = conv.out_height,
                  .source_width = conv.out_width,
                  .height = conv.height,
                  .width = conv.width,
                  .step = 1};
  compute(conv, part, pass, dy, weight, dx, workspace, workspace + at.y, workspace + at.x);
}

namespace {

/// Returns the sum of the products of outputs and pixels that meet through tap (row,column) of the
/// kernel. Output i of a run adds to sum i%4.
Vector sum_of_tap(const DepthwiseConvolution& conv, std::int64_t row, std::int64_t column,
                  const float* x, const float* dy) {
  constexpr int sums_at_once = 4;
  const Part ys = rows_of(conv).outputs_of(row), xs = columns_of(conv).outputs_of(column);
  const std::int64_t step = conv.stride_width * vector_size;
  const std::int64_t left =
      xs.begin * conv.stride_width - conv.padding_width + column * conv.dilation_width;
  Vector sums[sums_at_once] = {};
  for (std::int64_t y = ys.begin; y < ys.end; ++y) {
    const std::int64_t from =
        y * conv.stride_height - conv.padding_height + row * conv.dilation_height;
    const float* pixel = x + (from * conv.width + left) * vector_size;
    const float* gradient = dy + (y * conv.out_width + xs.begin) * vector_size;
    std::int64_t count = xs.end - xs.begin;
    for (; count >= sums_at_once; count -= sums_at_once) {
      unrolled<sums_at_once>(
          [&](auto i) { sums[i] += load(gradient + i * vector_size) * load(pixel + i * step); });
      pixel += sums_at_once * step;
      gradient += sums_at_once * vector_size;
    }
    unrolled<sums_at_once - 1>([&](auto i) {
      if (i < count) sums[i] += load(gradient + i * vector_size) * load(pixel + i * step);
    });
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

void weight_gradient_by_channels(const DepthwiseConvolution& conv, Part part, const float* x,
                                 const float* dy, float* dweight, float* workspace) {
  const ChannelsWorkspace at = channels_workspace(conv);
  const std::int64_t pixels = conv.height * conv.width, outputs = conv.out_height * conv.out_width;
  const std::int64_t columns = conv.kernel_width, cells = conv.kernel_height * columns;
  float *const sums = workspace + at.weights, *const spare = workspace + at.spare;
  const auto sum_group = [&](std::int64_t channel, std::int64_t count) {
    __builtin_memset(sums, 0, sizeof(float) * static_cast<std::size_t>(cells * vector_size));
    for (std::int64_t sample = 0; sample < conv.samples; ++sample) {
      const std::int64_t plane = sample * conv.channels + channel;
      transpose_planes(count, pixels, x + plane * pixels, workspace + at.x, spare);
      transpose_planes(count, outputs, dy + plane * outputs, workspace + at.y, spare);
      for (std::int64_t tap = 0; tap < cells; ++tap) {
        float* const sum = sums + tap * vector_size;
        store(sum, load(sum) + sum_of_tap(conv, tap / columns, tap % columns, workspace + at.x,
                                          workspace + at.y));
      }
    }
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t tap = 0; tap < cells; ++tap)
        dweight[(channel + i) * cells + tap] = sums[tap * vector_size + i];
  };
  const Part blocks = within(part, depthwise_blocks(conv));
  for (std::int64_t block = blocks.begin; block < blocks.end; ++block)
    for_each_group(conv, block, sum_group);
}

}  // namespace penstock::graph::PENSTOCK_ISA
