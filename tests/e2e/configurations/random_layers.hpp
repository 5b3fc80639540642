// These functions draw layers of a random network. Each of them adds one layer, or a few that
// belong together, and returns the result.
#pragma once

#include <string>

#include "penstock/penstock.hpp"
#include "tests/e2e/configurations/configuration.hpp"

namespace penstock::testing {

/// Adds a layer of images to x [N,C,H,W] and returns its result, which are images of any size. The
/// parameters of the layer are called `name`. `is_first` says whether no layer before it has a
/// name.
Value draw_image_layer(Model& model, Draws& draws, const std::string& name, Value x, bool is_first);

/// Adds a layer of sequences to x [N,T,C] and returns its result [N,T,D]. The parameters of the
/// layer are called `name`.
Value draw_sequence_layer(Model& model, Draws& draws, const std::string& name, Value x);

/// Adds a function of rows to x [N,C] and returns its result [N,D].
Value draw_row_function(Model& model, Draws& draws, Value x);

/// Adds a function of two tensors of one shape, and returns its result of the same shape.
Value draw_function_of_two(Model& model, Draws& draws, Value x, Value y);

}  // namespace penstock::testing
