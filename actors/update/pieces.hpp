// A Piece is some of a parameter's elements, with all that an update needs of them. Pieces brings
// to the IPU what the host store keeps of it, and puts it back.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "actors/update/stage_update.hpp"
#include "actors/update/staging_buffer.hpp"

namespace penstock::actors {

/// Has elements of each tensor of a parameter's state.
class PieceState {
 public:
  void push_back(std::span<float> tensor) { tensors_[size_++] = tensor; }
  std::size_t size() const { return size_; }
  std::span<float> operator[](std::size_t tensor) const { return tensors_[tensor]; }
  operator std::span<const std::span<float>>() const { return std::span(tensors_).first(size_); }

 private:
  std::array<std::span<float>, graph::most_state_tensors> tensors_;
  std::size_t size_ = 0;
};

/// Has some of a parameter's elements, and says where the rule finds what goes with them.
struct Piece {
  graph::Part elements;
  PieceState state;
  graph::SummedGradient gradient;
  std::span<float> weight;
};

/// Returns the elements `part` of a piece, counted from the piece's own first one.
Piece part_of(const Piece& piece, const graph::Part& part);

/// Brings pieces to the IPU for one round of an update. It allocates nothing.
class Pieces {
 public:
  /// Serves a round of `update` that multiplies gradients by `clip_factor` if the rules clip.
  Pieces(StageUpdate& update, const StagingBuffer& staging, double clip_factor)
      : update_(update), staging_(staging), clip_factor_(clip_factor) {}

  /// Brings these elements with their state, their gradient and their weight.
  Piece bring(const TrainedVariable& trained, const graph::Part& elements) const;
  /// Brings these elements with their state and their weight, for the second step of a rule.
  Piece bring_followed(const TrainedVariable& trained, const graph::Part& elements) const;
  /// Puts back the state and the gradient sums of a piece.
  void put_back(const TrainedVariable& trained, const Piece& piece) const;
  /// Puts back what has changed of the weight, from the element `begin` on.
  void put_back_weight(const TrainedVariable& trained, std::int64_t begin,
                       std::span<const float> changed) const;

 private:
  graph::SummedGradient gradient(const TrainedVariable& trained) const;
  PieceState bring_state(const TrainedVariable& trained, const graph::Part& elements) const;
  std::span<float> bring_weight(const TrainedVariable& trained, const graph::Part& elements) const;
  /// Returns where the state of the elements from `begin` on is kept.
  float* kept(const TrainedVariable& trained, std::size_t tensor, std::int64_t begin) const;

  StageUpdate& update_;
  const StagingBuffer& staging_;
  double clip_factor_;
};

}  // namespace penstock::actors
