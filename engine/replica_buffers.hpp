// ReplicaBuffers are the buffers, such as the statistics of batch norms, that the replicas of a
// training model have made of their own samples. They are plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/named_tensor.hpp"

namespace penstock {

struct ReplicaBuffers {
  /// `length` is the length of the dynamic axes in the step that has made the buffers. A step of
  /// another length begins with the buffers of the first replica. It is 0 if the model has no
  /// dynamic axis.
  std::int64_t length = 0;
  /// `buffers` has a list for each replica but the first. It is empty if all replicas go on from
  /// the buffers of the first one.
  std::vector<std::vector<NamedTensor>> buffers = {};
};

}  // namespace penstock
