#include "engine/onnx/format/external_references.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/onnx/format/wire_reader.hpp"
#include "engine/onnx/shapes/corrupt.hpp"

namespace penstock {
namespace {

enum class Message : std::uint8_t {
  model,
  graph,
  branch,  ///< This is a graph that is not that of the model.
  node,
  function,
  attribute,
  training,
  sparse_tensor,
  tensor,
};

/// A Part is a field of a message that may have tensors inside.
struct Part {
  Message whole;
  std::uint32_t field;
  Message part;
};

// The numbers of the fields are those of the file onnx.proto of ONNX (github.com/onnx/onnx).
constexpr std::array parts{
    Part{Message::model, 7, Message::graph},
    Part{Message::model, 20, Message::training},
    Part{Message::model, 25, Message::function},
    Part{Message::graph, 1, Message::node},
    Part{Message::graph, 15, Message::sparse_tensor},
    Part{Message::branch, 1, Message::node},
    Part{Message::branch, 5, Message::tensor},
    Part{Message::branch, 15, Message::sparse_tensor},
    Part{Message::node, 5, Message::attribute},
    Part{Message::function, 7, Message::node},
    Part{Message::function, 11, Message::attribute},
    Part{Message::attribute, 5, Message::tensor},
    Part{Message::attribute, 6, Message::branch},
    Part{Message::attribute, 10, Message::tensor},
    Part{Message::attribute, 11, Message::branch},
    Part{Message::attribute, 22, Message::sparse_tensor},
    Part{Message::attribute, 23, Message::sparse_tensor},
    Part{Message::training, 1, Message::branch},
    Part{Message::training, 2, Message::branch},
    Part{Message::sparse_tensor, 1, Message::tensor},
    Part{Message::sparse_tensor, 2, Message::tensor},
};
constexpr std::uint32_t location_of_tensor = 14;
constexpr std::int64_t external = 1;
constexpr int deepest = 100;

bool has_external(std::span<const std::byte> bytes, Message message, int depth) {
  if (depth > deepest) corrupt("messages are inside each other, more than 100 deep");
  for (WireReader reader(bytes, "message"); reader.next();) {
    if (message == Message::tensor && reader.field() == location_of_tensor)
      if (reader.integer() == external) return true;
    const auto part = std::ranges::find_if(parts, [&](const Part& each) {
      return each.whole == message && each.field == reader.field();
    });
    if (part != parts.end() && has_external(reader.bytes(), part->part, depth + 1)) return true;
  }
  return false;
}

}  // namespace

bool has_external_references(std::span<const std::byte> model) {
  return has_external(model, Message::model, 0);
}

}  // namespace penstock
