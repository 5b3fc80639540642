// Layers that are made of several ops share this function, so that a refusal of an op inside a
// layer begins with the layer that the host has called.
#pragma once

#include <string>
#include <string_view>

#include "penstock/error.hpp"

namespace penstock {

/// Throws `error`, which is being handled, again, with a text that begins with the kind of layer
/// `layer` and, if the layer has a name, with `name`:
/// - A text about a part of the layer follows its name: `conv1d "c": conv2d "c/product": expected 3
///   input channels, got 4`. If the part is of the same kind, the text stays as it is.
/// - An op that has the layer's own name gives way to the layer, and so does an op of its kind that
///   has none: `group_norm "n": ...` becomes `instance_norm "n": ...`.
/// - If the text begins with the name of the model, `model`, the layer comes behind that, and an op
///   without a name gives way to it: `model "m": hardtanh: ...` becomes `model "m": relu6: ...`.
///   Such a text about something else in the model stays as it is.
[[noreturn]] void rethrow_of_layer(const Error& error, std::string_view model,
                                   std::string_view layer, const std::string& name);

}  // namespace penstock
