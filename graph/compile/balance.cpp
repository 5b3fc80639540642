#include "graph/compile/balance.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace penstock::graph {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A Prefix is the best cut of the first few atoms into a few stages. If there is no such cut,
/// `slowest` is infinite.
struct Prefix {
  double slowest = infinity;
  std::int64_t bytes = 0;  ///< This many bytes travel between these stages.
  std::int32_t begin = 0;  ///< This is the first atom of the last of these stages.
};

bool faster(const Prefix& a, const Prefix& b) {
  return a.slowest < b.slowest;
}

bool fewer_bytes(const Prefix& a, const Prefix& b) {
  if (a.slowest == infinity || b.slowest == infinity) return faster(a, b);
  return std::pair(a.bytes, a.slowest) < std::pair(b.bytes, b.slowest);
}

/// Balancing finds the best cut by dynamic programming over the number of stages and the number of
/// atoms that they cover. The cost of a stage is a difference of two prefix sums, always of the
/// same list, so that a stage costs the same, bit by bit, in every comparison.
class Balancing {
 public:
  explicit Balancing(const Balance& problem) : problem_(problem), sums_{0}, dearer_sums_{0} {
    for (std::size_t i = 0; i < problem.costs.size(); ++i) {
      const double extra = problem.extra_costs.empty() ? 0 : problem.extra_costs[i];
      sums_.push_back(sums_.back() + problem.costs[i]);
      dearer_sums_.push_back(dearer_sums_.back() + problem.costs[i] + extra);
    }
  }

  std::optional<std::vector<std::int32_t>> run() {
    fill(infinity, faster);
    const double fastest = best_[stages() - 1][atoms()].slowest;
    if (fastest == infinity) return std::nullopt;
    fill(fastest * (1 + problem_.tolerance), fewer_bytes);
    return begins();
  }

 private:
  using Better = bool (*)(const Prefix&, const Prefix&);

  std::size_t atoms() const { return problem_.costs.size(); }
  std::size_t stages() const { return static_cast<std::size_t>(problem_.stages); }
  double cost(std::size_t first, std::size_t last, std::size_t stage) const {
    const bool dearer = !problem_.dearer.empty() && problem_.dearer[stage];
    const auto& sums = dearer ? dearer_sums_ : sums_;
    return sums[last] - sums[first];
  }

  bool fits(std::size_t first, std::size_t last, std::size_t stage) const {
    return !problem_.fits ||
           problem_.fits(static_cast<std::int32_t>(first), static_cast<std::int32_t>(last),
                         static_cast<std::int32_t>(stage));
  }

  /// Computes `best_`, in which best_[s][n] is the best cut of the first n atoms into the stages 0
  /// to s. No stage costs more than `limit`, and `better` says which of two cuts is better.
  void fill(double limit, Better better) {
    best_.assign(stages(), std::vector<Prefix>(atoms() + 1));
    for (std::size_t stage = 0; stage < stages(); ++stage)
      for (std::size_t end = stage + 1; end <= atoms(); ++end)
        best_[stage][end] = best_prefix(stage, end, limit, better);
  }

  Prefix best_prefix(std::size_t stage, std::size_t end, double limit, Better better) const {
    if (stage == 0)
      return cost(0, end, 0) <= limit && fits(0, end, 0) ? first_stage(end) : Prefix{};
    Prefix best;
    for (std::size_t begin = end - 1; begin >= stage; --begin) {
      if (cost(begin, end, stage) > limit) break;  // A stage that begins earlier costs more.
      const Prefix candidate = extended(stage, begin, end);
      if (better(candidate, best) && fits(begin, end, stage)) best = candidate;
    }
    return best;
  }

  Prefix first_stage(std::size_t end) const { return {.slowest = cost(0, end, 0)}; }

  Prefix extended(std::size_t stage, std::size_t begin, std::size_t end) const {
    const Prefix& before = best_[stage - 1][begin];
    return {.slowest = std::max(before.slowest, cost(begin, end, stage)),
            .bytes = before.bytes + problem_.bytes_before[begin],
            .begin = static_cast<std::int32_t>(begin)};
  }

  std::vector<std::int32_t> begins() const {
    std::vector<std::int32_t> result(stages());
    std::size_t end = atoms();
    for (std::size_t stage = stages(); stage-- > 0; end = static_cast<std::size_t>(result[stage]))
      result[stage] = best_[stage][end].begin;
    return result;
  }

  const Balance& problem_;
  std::vector<double> sums_;  // Element n is the sum of the costs of the first n atoms.
  // Element n is the sum of the costs and the extra costs of the first n atoms.
  std::vector<double> dearer_sums_;
  std::vector<std::vector<Prefix>> best_;  // The comment of fill() says what is at [s][n].
};

}  // namespace

std::optional<std::vector<std::int32_t>> balance(const Balance& problem) {
  return Balancing(problem).run();
}

}  // namespace penstock::graph
