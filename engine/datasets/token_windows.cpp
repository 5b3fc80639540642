#include <algorithm>
#include <cstring>

#include "graph/ir/random.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/error.hpp"
#include "penstock/text.hpp"

namespace penstock {
namespace {

class TokenWindows : public Dataset {
 public:
  TokenWindows(Tensor tokens, std::int64_t length, WindowStart start, std::uint64_t seed)
      : tokens_(std::move(tokens)),
        length_(length),
        start_(start),
        seed_(seed),
        fields_{{"tokens", DType::i64, {length}}, {"next", DType::i64, {length}}} {}

  // The last token of the text follows another one, but is followed by none.
  std::int64_t size() const override { return (tokens_.elements() - 1) / length_; }
  const std::vector<Field>& fields() const override { return fields_; }

  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    const std::int64_t* const from = tokens_.as<std::int64_t>().data() + first_of(request);
    const std::size_t bytes = static_cast<std::size_t>(length_) * sizeof *from;
    std::memcpy(destinations[0], from, bytes);
    std::memcpy(destinations[1], from + 1, bytes);
  }

 private:
  /// Returns where a window begins. The windows of an epoch stand side by side, so that an epoch
  /// has nearly every token once, and the seed and the epoch say where the first one begins.
  /// A window that would reach beyond the end of the text begins near its beginning instead.
  std::int64_t first_of(const SampleRequest& request) const {
    const std::int64_t in_order = request.index * length_;
    if (start_ == WindowStart::in_order) return in_order;
    const graph::RandomKey key{
        .seed = seed_, .update = request.epoch, .name = graph::hash_name("token_windows")};
    const auto draws = graph::philox(key, 0);
    const std::uint64_t draw = std::uint64_t{draws[0]} << 32 | draws[1];
    const std::int64_t starts = tokens_.elements() - length_;
    const auto first = static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(starts));
    return (first + in_order) % starts;
  }

  Tensor tokens_;
  std::int64_t length_;
  WindowStart start_;
  std::uint64_t seed_;
  std::vector<Field> fields_;
};

}  // namespace

std::shared_ptr<const Dataset> token_windows(const Tensor& tokens, std::int64_t length,
                                             WindowStart start, std::uint64_t seed) {
  return or_out_of_memory("token_windows", [&]() -> std::shared_ptr<const Dataset> {
    const std::string subject = "token_windows: ";
    if (length < 1)
      throw Error(Errc::invalid_argument,
                  subject + "expected a length of 1 or more, got " + std::to_string(length));
    if (!tokens || tokens.dtype() != DType::i64 || tokens.shape().rank() != 1)
      throw Error(Errc::shape_mismatch,
                  subject + "expected tokens i64[count], got " +
                      (tokens ? std::string(to_string(tokens.dtype())) + to_string(tokens.shape())
                              : "an empty tensor"));
    if (tokens.elements() <= length)
      throw Error(Errc::invalid_data, subject + "expected more than " + std::to_string(length) +
                                          " tokens, for one window and the token behind it, got " +
                                          std::to_string(tokens.elements()));
    return std::make_shared<TokenWindows>(tokens, length, start, seed);
  });
}

}  // namespace penstock
