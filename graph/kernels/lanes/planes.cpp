#include "graph/kernels/lanes/planes.hpp"

#include "graph/kernels/lanes/tiles.hpp"
#include "graph/kernels/vectors/square.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Transposes a square of the first `vector_size` columns of the first `vector_size` samples, so
/// that the samples lie side by side in lanes. `samples` is the number of samples from `x` on,
/// whose rows are `length` floats apart; lanes without a sample become zero.
void square_to_lanes(std::int64_t samples, std::int64_t length, const float* x, float* to) {
  Vector rows[vector_size];
  unrolled<vector_size>([&](auto i) { rows[i] = i < samples ? load(x + i * length) : Vector{}; });
  transpose(rows);
  unrolled<vector_size>([&](auto i) { store(to + i * lanes, rows[i]); });
}

void square_from_lanes(std::int64_t samples, std::int64_t length, const float* from, float* x) {
  Vector rows[vector_size];
  unrolled<vector_size>([&](auto i) { rows[i] = load(from + i * lanes); });
  transpose(rows);
  unrolled<vector_size>([&](auto i) {
    if (i < samples) store(x + i * length, rows[i]);
  });
}

/// Writes the first `vector_size` samples from `x` on, or all `samples` if they are fewer, to the
/// lanes that begin at `to`.
void samples_to_lanes(std::int64_t samples, std::int64_t length, const float* x, float* to) {
  std::int64_t column = 0;
  for (; column + vector_size <= length; column += vector_size)
    square_to_lanes(samples, length, x + column, to + column * lanes);
  for (; column < length; ++column)
    for (std::int64_t i = 0; i < vector_size; ++i)
      to[column * lanes + i] = i < samples ? x[i * length + column] : 0.0f;
}

void samples_from_lanes(std::int64_t samples, std::int64_t length, const float* from, float* x) {
  std::int64_t column = 0;
  for (; column + vector_size <= length; column += vector_size)
    square_from_lanes(samples, length, from + column * lanes, x + column);
  for (; column < length; ++column)
    for (std::int64_t i = 0; i < vector_size && i < samples; ++i)
      x[i * length + column] = from[column * lanes + i];
}

/// Calls `work(first, left, offset)` for every `vector_size` lanes of every block of samples.
/// `first` is the number of the first sample in these lanes, `left` is the number of samples from
/// that one on, and `offset` is the offset where the lanes begin.
template <class Work>
void for_each_vector(std::int64_t samples, std::int64_t length, Work work) {
  for (std::int64_t block = 0; block * lanes < samples; ++block)
    for (std::int64_t lane = 0; lane < lanes; lane += vector_size)
      work(block * lanes + lane, samples - block * lanes - lane, block * lanes * length + lane);
}

/// A Span is the positions [begin, end) of a window along one axis that lie in the image, not in
/// the padding.
struct Span {
  std::int64_t begin, end;

  Span(std::int64_t first_pixel, std::int64_t kernel, std::int64_t size)
      : begin(first_pixel < 0 ? -first_pixel : 0),
        end(first_pixel + kernel > size ? size - first_pixel : kernel) {}
};

/// Calls `work(position, pixel)` for each position that lies in the image, row by row, in the
/// window of the output pixel at row `out_row` and column `out_column`. `position` is the number of
/// the position in the window, counted row by row, and `pixel` is the offset in the plane of the
/// pixel at that position.
template <class Work>
[[gnu::always_inline]] inline void for_each_position(const Pooling& pool, std::int64_t out_row,
                                                     std::int64_t out_column, Work work) {
  const std::int64_t row = out_row * pool.stride_height - pool.padding_height;
  const std::int64_t column = out_column * pool.stride_width - pool.padding_width;
  const Span rows(row, pool.kernel_height, pool.height);
  const Span columns(column, pool.kernel_width, pool.width);
  for (std::int64_t kh = rows.begin; kh < rows.end; ++kh)
    for (std::int64_t kw = columns.begin; kw < columns.end; ++kw)
      work(static_cast<std::int32_t>(kh * pool.kernel_width + kw),
           ((row + kh) * pool.width + column + kw) * lanes);
}

/// Calls `work(out_row, out_column, plane, pixel)` for every output pixel, once for every Vector of
/// its lanes. `plane` is the offset where these lanes of the plane of the image begin, and `pixel`
/// is the offset of these lanes of the output pixel.
template <class Work>
void for_each_output(const Pooling& pool, Work work) {
  std::int64_t pixel = 0;
  for (std::int64_t plane = 0; plane < pool.planes; ++plane)
    for (std::int64_t row = 0; row < pool.out_height; ++row)
      for (std::int64_t column = 0; column < pool.out_width; ++column, pixel += lanes)
        for (std::int64_t lane = 0; lane < lanes; lane += vector_size)
          work(row, column, plane * pool.height * pool.width * lanes + lane, pixel + lane);
}

}  // namespace

void to_lanes(std::int64_t samples, std::int64_t length, const float* x, float* to) {
  for_each_vector(samples, length, [&](std::int64_t first, std::int64_t left, std::int64_t offset) {
    samples_to_lanes(left, length, x + first * length, to + offset);
  });
}

void from_lanes(std::int64_t samples, std::int64_t length, const float* from, float* x) {
  for_each_vector(samples, length, [&](std::int64_t first, std::int64_t left, std::int64_t offset) {
    samples_from_lanes(left, length, from + offset, x + first * length);
  });
}

void pool_maximum(const Pooling& pool, const float* x, float* y, std::uint8_t* winners) {
  for_each_output(
      pool, [&](std::int64_t row, std::int64_t column, std::int64_t plane, std::int64_t pixel) {
        Vector best{};
        Mask winner = Mask{} - 1;  // A winner of -1 means that no pixel has won yet.
        for_each_position(pool, row, column, [&](std::int32_t position, std::int64_t offset) {
          const Vector challenger = load(x + plane + offset);
          const Mask wins = (challenger > best) | (challenger != challenger) | (winner < 0);
          best = wins ? challenger : best;
          winner = wins ? Mask{} + position : winner;
        });
        store(y + pixel, best);
        const Bytes bytes = __builtin_convertvector(winner, Bytes);
        __builtin_memcpy(winners + pixel, &bytes, sizeof bytes);
      });
}

void pool_maximum_gradient(const Pooling& pool, const std::uint8_t* winners, const float* dy,
                           float* dx) {
  const std::int64_t floats = pool.planes * pool.height * pool.width * lanes;
  __builtin_memset(dx, 0, sizeof(float) * static_cast<std::size_t>(floats));
  for_each_output(
      pool, [&](std::int64_t row, std::int64_t column, std::int64_t plane, std::int64_t pixel) {
        Bytes bytes;
        __builtin_memcpy(&bytes, winners + pixel, sizeof bytes);
        const Mask winner = __builtin_convertvector(bytes, Mask);
        const Vector gradient = load(dy + pixel);
        for_each_position(pool, row, column, [&](std::int32_t position, std::int64_t offset) {
          float* const target = dx + plane + offset;
          store(target, load(target) + (winner == position ? gradient : Vector{}));
        });
      });
}

}  // namespace penstock::graph::PENSTOCK_ISA
