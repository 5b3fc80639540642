#include "graph/plan/optimizers/norm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "graph/kernels/kernel_table.hpp"

namespace penstock::graph {
namespace {

/// A Blocks adds up the squared norms of blocks in the order of the blocks. If several shards each
/// have a part of a block, the elements of these parts are put together first.
class Blocks {
 public:
  explicit Blocks(std::int64_t elements) : left_(elements) {}

  void add(double whole) {
    sum_ += whole;
    left_ -= std::min(left_, norm_block);
  }

  void add(const std::vector<float>& cut) {
    if (cut.empty()) return;
    std::ranges::copy(cut, block_.begin() + filled_);
    filled_ += std::ssize(cut);
    if (filled_ < std::min(left_, norm_block)) return;
    add(squared_norm(std::span(block_).first(static_cast<std::size_t>(filled_))));
    filled_ = 0;
  }

  double sum() const { return sum_; }

 private:
  std::int64_t left_;  // This many elements are in blocks that have not been added yet.
  std::array<float, norm_block> block_;
  std::int64_t filled_ = 0;  // `block_` has this many elements.
  double sum_ = 0;
};

/// An OfBlock is the part of `shard` that lies in the block to which the shard's element `begin`
/// belongs.
struct OfBlock {
  OfBlock(const Part& shard, std::int64_t begin, std::int64_t elements)
      : block{begin - begin % norm_block,
              std::min(begin - begin % norm_block + norm_block, elements)},
        inside{begin, std::min(block.end, shard.end)} {}

  bool is_whole() const { return inside.begin == block.begin && inside.end == block.end; }
  /// Returns `head` or `tail`: that in which a NormPart has the elements of this block. The shard
  /// has the block only in part.
  template <class T>
  T& cut_of(T& head, T& tail) const {
    return inside.begin > block.begin ? head : tail;
  }
  std::size_t size() const { return static_cast<std::size_t>(inside.end - inside.begin); }

  Part block, inside;
};

/// A PartSizes has the numbers of elements and blocks in the lists of a NormPart.
struct PartSizes {
  PartSizes(const Part& shard, std::int64_t elements) {
    for (std::int64_t begin = shard.begin; begin < shard.end;) {
      const OfBlock here(shard, begin, elements);
      begin = here.inside.end;
      if (here.is_whole())
        ++blocks;
      else
        here.cut_of(head, tail) = here.size();
    }
  }

  std::size_t head = 0, blocks = 0, tail = 0;
};

}  // namespace

double squared_norm(std::span<const float> elements, float scale) {
  return kernel_table().updates.squared_norm(std::ssize(elements), scale, elements.data());
}

void norm_part(const Part& shard, std::int64_t elements, const NormSource& source, NormPart& part) {
  part.head.clear();
  part.blocks.clear();
  part.tail.clear();
  for (std::int64_t begin = shard.begin; begin < shard.end;) {
    const OfBlock here(shard, begin, elements);
    begin = here.inside.end;
    if (here.is_whole()) {
      part.blocks.push_back(source.squared_norm(here.inside));
      continue;
    }
    std::vector<float>& cut = here.cut_of(part.head, part.tail);
    cut.resize(here.size());
    source.elements(here.inside, cut.data());
  }
}

void reserve(NormPart& part, const Part& shard, std::int64_t elements) {
  const PartSizes sizes(shard, elements);
  part.head.reserve(sizes.head);
  part.blocks.reserve(sizes.blocks);
  part.tail.reserve(sizes.tail);
}

bool fits(const NormPart& part, const Part& shard, std::int64_t elements) {
  const PartSizes sizes(shard, elements);
  return part.head.size() == sizes.head && part.blocks.size() == sizes.blocks &&
         part.tail.size() == sizes.tail;
}

double squared_norm(std::span<const NormPart* const> shards, std::int64_t elements) {
  Blocks blocks(elements);
  for (const NormPart* const part : shards) {
    blocks.add(part->head);
    for (const double whole : part->blocks) blocks.add(whole);
    blocks.add(part->tail);
  }
  return blocks.sum();
}

double clip_factor(std::span<const double> squared_norms, double max_norm, bool exact) {
  const double norm = std::sqrt(std::accumulate(squared_norms.begin(), squared_norms.end(), 0.0));
  const double factor = max_norm / (exact ? norm : norm + 1e-6);
  return factor > 1 ? 1 : factor;
}

}  // namespace penstock::graph
