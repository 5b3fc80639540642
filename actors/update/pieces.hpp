// A Piece has some elements of a parameter's weight, of its gradient sum and of its optimizer
// state, for an update. A Pieces brings elements that the host store keeps to the IPU, and puts
// them back.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "actors/update/stage_update.hpp"
#include "actors/update/staging_buffer.hpp"

namespace penstock::actors {

/// A PieceState has some elements of each tensor of a parameter's state.
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

/// A Piece says where the rule finds the state, the gradient and the weight of the elements
/// `elements` of a parameter.
struct Piece {
  graph::Part elements;
  PieceState state;
  graph::SummedGradient gradient;
  std::span<float> weight;
};

/// Returns the piece that has the elements `part` of `piece`. They are counted from the first
/// element of `piece`.
Piece part_of(const Piece& piece, const graph::Part& part);

/// A Pieces brings pieces to the IPU for one round of an update. It allocates nothing.
class Pieces {
 public:
  /// Makes the Pieces of a round of `update` that multiplies gradients by `clip_factor` if the
  /// rules clip.
  Pieces(StageUpdate& update, const StagingBuffer& staging, double clip_factor)
      : update_(update), staging_(staging), clip_factor_(clip_factor) {}

  /// Brings the state, the gradient and the weight of `elements`.
  Piece bring(const TrainedVariable& trained, const graph::Part& elements) const;
  /// Brings the state and the weight of `elements`, which are enough for the second step of a rule.
  Piece bring_followed(const TrainedVariable& trained, const graph::Part& elements) const;
  /// Puts back the state of `piece` if the host store keeps the state.
  void put_back(const TrainedVariable& trained, const Piece& piece) const;
  /// Puts back `changed`, the new weight of the elements from `begin` on, if the host store keeps
  /// the weight.
  void put_back_weight(const TrainedVariable& trained, std::int64_t begin,
                       std::span<const float> changed) const;

 private:
  graph::SummedGradient gradient(const TrainedVariable& trained) const;
  PieceState bring_state(const TrainedVariable& trained, const graph::Part& elements) const;
  std::span<float> bring_weight(const TrainedVariable& trained, const graph::Part& elements) const;
  /// Returns the address of element number `begin` in tensor number `tensor` of the state.
  float* kept(const TrainedVariable& trained, std::size_t tensor, std::int64_t begin) const;

  StageUpdate& update_;
  const StagingBuffer& staging_;
  double clip_factor_;
};

}  // namespace penstock::actors
