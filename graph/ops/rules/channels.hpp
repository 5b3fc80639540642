// These rules check the images and channels of convolutions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Checks that `type`, which messages call `name`, is f32 and has rank 4.
void expect_image(const TensorType& type, std::string_view name);
/// Checks that `channels` divide into `groups`. Messages call the channels those of the `which`.
void expect_groups(std::int64_t channels, std::int64_t groups, const std::string& which);

}  // namespace penstock::graph
