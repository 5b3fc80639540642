#include "actors/update/pieces.hpp"

#include "actors/update/optimizer_tensors.hpp"

namespace penstock::actors {

Piece part_of(const Piece& piece, const graph::Part& part) {
  const auto first = static_cast<std::size_t>(part.begin),
             count = static_cast<std::size_t>(size(part));
  Piece result{{piece.elements.begin + part.begin, piece.elements.begin + part.end},
               {},
               piece.gradient,
               piece.weight.subspan(first, count)};
  for (std::size_t s = 0; s < piece.state.size(); ++s)
    result.state.push_back(piece.state[s].subspan(first, count));
  result.gradient.sum += part.begin;
  return result;
}

Piece Pieces::bring(const TrainedVariable& trained, const graph::Part& elements) const {
  Piece piece = bring_followed(trained, elements);
  piece.gradient.sum += elements.begin;
  if (trained.sums_on_host()) {
    const std::int64_t slot =
        trained.state_in_host_store ? static_cast<std::int64_t>(piece.state.size()) : 0;
    const auto sum =
        staging_.load(slot, piece.gradient.sum, size(elements), update_.arena->accumulator_moves());
    piece.gradient.sum = sum.data();
  }
  return piece;
}

Piece Pieces::bring_followed(const TrainedVariable& trained, const graph::Part& elements) const {
  return {elements, bring_state(trained, elements), gradient(trained),
          bring_weight(trained, elements)};
}

void Pieces::put_back(const TrainedVariable& trained, const Piece& piece) const {
  if (trained.state_in_host_store)
    for (std::size_t s = 0; s < piece.state.size(); ++s)
      staging_.store(piece.state[s], kept(trained, s, piece.elements.begin), update_.state_moves);
}

void Pieces::put_back_weight(const TrainedVariable& trained, std::int64_t begin,
                             std::span<const float> changed) const {
  if (trained.weight_on_host())
    staging_.store(changed, update_.weight(trained, {begin, begin + std::ssize(changed)}).data(),
                   update_.arena->weight_moves());
}

graph::SummedGradient Pieces::gradient(const TrainedVariable& trained) const {
  return {.sum = update_.sums.to_read(trained),
          .scale = update_.gradient_scale(),
          .clip = update_.clips() ? static_cast<float>(clip_factor_) : 1.0f};
}

PieceState Pieces::bring_state(const TrainedVariable& trained, const graph::Part& elements) const {
  PieceState state;
  for (std::size_t s = 0; s < trained.state_offsets.size(); ++s) {
    float* const here = kept(trained, s, elements.begin);
    const auto slot = static_cast<std::int64_t>(s);
    state.push_back(trained.state_in_host_store
                        ? staging_.load(slot, here, size(elements), update_.state_moves)
                        : std::span(here, static_cast<std::size_t>(size(elements))));
  }
  return state;
}

std::span<float> Pieces::bring_weight(const TrainedVariable& trained,
                                      const graph::Part& elements) const {
  const std::span<float> here = update_.weight(trained, elements);
  if (!trained.weight_on_host()) return here;
  const std::int64_t slot = graph::rule_tensors(update_.staged(trained)).tensors - 1;
  return staging_.load(slot, here.data(), size(elements), update_.arena->weight_moves());
}

float* Pieces::kept(const TrainedVariable& trained, std::size_t tensor, std::int64_t begin) const {
  return reinterpret_cast<float*>(block_of(trained, update_.state) +
                                  trained.state_offsets[tensor]) +
         (begin - trained.share.begin);
}

}  // namespace penstock::actors
