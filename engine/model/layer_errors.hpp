// Layers that are made of several ops share this function, so that a refusal of an op inside a
// layer begins with the layer that the host has called.
#pragma once

#include <string>
#include <string_view>

#include "penstock/error.hpp"

namespace penstock {

/// Throws `error`, which is being handled, again. Its text then begins with the kind of layer
/// `layer` and, if the layer has a name, with `name`: `conv1d "c": conv2d "c/product": expected 3
/// input channels, got 4`. An op that has the layer's own name is left out: `instance_norm "n":
/// ...` stands for `group_norm "n": ...`. If the text begins with the name of the model, `model`,
/// the layer comes behind that, in the place of an op that has its name or none. A text that begins as it
/// should stays as it is.
[[noreturn]] void rethrow_of_layer(const Error& error, std::string_view model,
                                   std::string_view layer, const std::string& name);

}  // namespace penstock
