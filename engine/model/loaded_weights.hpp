// choose_weights() decides which tensors of a weights file a model takes. It is a pure function.
#pragma once

#include <string>
#include <vector>

#include "engine/files/weights_header.hpp"
#include "penstock/load_options.hpp"
#include "penstock/model.hpp"

namespace penstock {

/// A WeightsChoice says which tensor of a file each parameter of a model gets.
struct WeightsChoice {
  /// `tensors` has, for each parameter, the name of its tensor in the file, which is empty for a
  /// parameter that keeps its value.
  std::vector<std::string> tensors = {};
  LoadedWeights names = {};  ///< `names` has the names of what is loaded, left and ignored.
};

/// Returns what a model called `model`, with these parameters and buffers, takes from a file with
/// this header.
/// @throws Error shape_mismatch, naming the tensor, if the file lacks a parameter, has a tensor of
/// another type, or has one that is no parameter, and `options` do not allow for that;
/// invalid_argument if `options` name a tensor or a parameter that does not exist, or two tensors
/// for one parameter.
WeightsChoice choose_weights(const WeightsHeader& header,
                             const std::vector<ParameterInfo>& parameters, const std::string& model,
                             const LoadOptions& options);

}  // namespace penstock
