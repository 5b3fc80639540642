#include "graph/optimizers/norm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/kernels/kernel_table.hpp"

namespace penstock::graph {
namespace {

/// Blocks in their order, some of them put together from what shards have.
class Blocks {
 public:
  explicit Blocks(std::int64_t elements) : left_(elements) {}

  void add(double whole) {
    sum_ += whole;
    left_ -= std::min(left_, norm_block);
  }

  void add(const std::vector<float>& cut) {
    if (cut.empty()) return;
    block_.insert(block_.end(), cut.begin(), cut.end());
    if (std::ssize(block_) < std::min(left_, norm_block)) return;
    add(squared_norm(block_));
    block_.clear();
  }

  double sum() const { return sum_; }

 private:
  std::int64_t left_;  // elements of blocks that are not added yet
  std::vector<float> block_;
  double sum_ = 0;
};

}  // namespace

double squared_norm(std::span<const float> elements, float scale) {
  return kernel_table().updates.squared_norm(std::ssize(elements), scale, elements.data());
}

NormPart norm_part(const Part& shard, std::int64_t elements, const NormSource& source) {
  NormPart part;
  for (std::int64_t begin = shard.begin; begin < shard.end;) {
    const std::int64_t block = begin - begin % norm_block;
    const std::int64_t block_end = std::min(block + norm_block, elements);
    const Part own{begin, std::min(block_end, shard.end)};
    begin = own.end;
    if (own.begin == block && own.end == block_end) {
      part.blocks.push_back(source.squared_norm(own));
      continue;
    }
    std::vector<float>& cut = own.begin > block ? part.head : part.tail;
    cut.resize(static_cast<std::size_t>(own.end - own.begin));
    source.elements(own, cut.data());
  }
  return part;
}

double squared_norm(std::span<const NormPart> shards, std::int64_t elements) {
  Blocks blocks(elements);
  for (const NormPart& part : shards) {
    blocks.add(part.head);
    for (const double whole : part.blocks) blocks.add(whole);
    blocks.add(part.tail);
  }
  return blocks.sum();
}

double clip_factor(std::span<const double> squared_norms, double max_norm, bool exact) {
  const double norm = std::sqrt(std::accumulate(squared_norms.begin(), squared_norms.end(), 0.0));
  const double factor = max_norm / (exact ? norm : norm + 1e-6);
  return factor > 1 ? 1 : factor;
}

}  // namespace penstock::graph
