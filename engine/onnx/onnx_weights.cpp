// These functions exchange the weights of ONNX files with hosts. What is not replaced keeps its
// bytes, whether or not Penstock knows what it means.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/names/known_names.hpp"
#include "engine/onnx/format/external_data.hpp"
#include "engine/onnx/format/external_references.hpp"
#include "engine/onnx/format/read_onnx_file.hpp"
#include "engine/onnx/format/tensor_reader.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "engine/onnx/format/wire_reader.hpp"
#include "engine/onnx/format/write_onnx_file.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/onnx.hpp"
#include "penstock/output_file.hpp"

namespace penstock {
namespace {

// These are the numbers of fields in the format.
constexpr std::uint32_t graph_of_model = 7, initializer_of_graph = 5;

/// A WeightsExchange copies a file with other weights.
class WeightsExchange {
 public:
  WeightsExchange(std::filesystem::path directory, const std::vector<NamedTensor>& weights)
      : directory_(std::move(directory)), external_(directory_) {
    for (const NamedTensor& weight : weights) weights_[weight.name] = &weight.tensor;
  }

  WireMessage model(std::span<const std::byte> bytes) {
    return copied(bytes, "model", graph_of_model, [&](std::span<const std::byte> graph) {
      return copied(graph, "graph", initializer_of_graph,
                    [&](std::span<const std::byte> tensor) { return initializer(tensor); });
    });
  }

  /// Checks that the file had an initializer for each weight.
  void expect_all_used() const {
    for (const auto& [name, tensor] : weights_)
      if (!names_.contains(name))
        throw Error(Errc::invalid_argument, "there is no initializer " + quoted_text(name) +
                                                instead_of(name, names_, std::identity()));
  }

 private:
  /// Returns a message with what `changed` makes of each field number `field`. If that is nothing,
  /// the field stays as it is.
  static WireMessage copied(std::span<const std::byte> bytes, std::string_view what,
                            std::uint32_t field, const auto& changed) {
    WireMessage message;
    for (WireReader reader(bytes, what); reader.next();)
      if (reader.is_integer()) {
        message.integer(reader.field(), reader.integer());
      } else {
        const std::span<const std::byte> content = reader.bytes();
        std::optional<WireMessage> other;
        if (reader.field() == field) other = changed(content);
        if (other)
          message.message(field, std::move(*other));
        else
          message.bytes(reader.field(), content);
      }
    return message;
  }

  std::optional<WireMessage> initializer(std::span<const std::byte> bytes) {
    OnnxTensor tensor = read_onnx_tensor(bytes);
    names_.insert(tensor.name);
    const auto weight = weights_.find(tensor.name);
    if (weight != weights_.end()) return replaced(tensor, *weight->second);
    if (tensor.external.empty()) return std::nullopt;
    tensor.raw = external_elements(tensor);
    tensor.external.clear();
    return onnx_message(tensor);
  }

  /// Returns the elements that a tensor has in another file. Tensors that have the same ones share
  /// them.
  std::span<const std::byte> external_elements(const OnnxTensor& tensor) {
    const std::uint64_t bytes = bytes_in_file(tensor);
    const auto [found, is_new] =
        read_.try_emplace({external_place(tensor.external, directory_), bytes});
    if (is_new) {
      external_.add(tensor.external, bytes);
      found->second = read_external_data(tensor.external, bytes, directory_);
    }
    return found->second;
  }

  /// Returns a tensor of the file with the elements of `weight`, in the type that the file has.
  WireMessage replaced(const OnnxTensor& tensor, const Tensor& weight) {
    OnnxTensor other = onnx_tensor_of(weight, tensor.name);
    const bool is_rounded = other.type == OnnxType::f32 && is_float(tensor.type);
    if ((other.type != tensor.type && !is_rounded) || other.dims != tensor.dims)
      throw Error(Errc::shape_mismatch, "initializer " + quoted_text(tensor.name) + ": expected " +
                                            to_string(tensor.type) + to_string(shape_of(tensor)) +
                                            ", got " + to_string(other.type) +
                                            to_string(weight.shape()));
    if (other.type == tensor.type) return onnx_message(other);
    try {
      rounded_.push_back(raw_floats(weight.as<float>(), tensor.type));
    } catch (const Error& error) {
      throw Error(error.code(), "initializer " + quoted_text(tensor.name) + ": " + error.what());
    }
    other.type = tensor.type;
    other.raw = rounded_.back();
    return onnx_message(other);
  }

  std::filesystem::path directory_;
  ExternalCount external_;
  std::map<std::string, const Tensor*> weights_;
  std::set<std::string> names_;
  /// `read_` are the elements that are in other files, by their places and numbers of bytes.
  std::map<std::pair<ExternalPlace, std::uint64_t>, std::vector<std::byte>> read_;
  std::vector<std::vector<std::byte>> rounded_;  ///< `rounded_` are elements of weights.
};

std::filesystem::path directory_of(const std::string& path) {
  std::error_code error;  // What cannot be found is refused when it is opened.
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path).parent_path(), error);
}

/// Checks that a copy of a file with `bytes` can be elsewhere: only initializers of the graph
/// itself are taken from other files into the copy.
void check_copy(std::span<const std::byte> bytes, const std::string& from, const std::string& to) {
  if (directory_of(from) != directory_of(to) && has_external_references(bytes))
    throw Error(Errc::unsupported,
                "tensors that are not among the graph's initializers have elements in other files, "
                "which a copy in another directory does not find; expected a copy in the same "
                "directory, got " +
                    quoted_text(to));
}

/// Does `action` with errors that name the file at `path`.
auto in_file(const std::string& path, const auto& action) {
  const std::string name = "ONNX file " + printable(path);
  const auto bytes = read_onnx_bytes(path, name);
  try {
    return action(bytes);
  } catch (const Error& error) {
    throw Error(error.code(), name + ": " + error.what());
  }
}

}  // namespace

std::vector<NamedTensor> load_onnx_weights(const std::string& path) {
  return on_hosts_thread("load_onnx_weights", [&] {
    return in_file(path, [&](const std::shared_ptr<const std::vector<std::byte>>& bytes) {
      std::vector<NamedTensor> weights;
      const OnnxFile file = read_onnx(bytes);
      TensorReader reader(std::filesystem::path(path).parent_path());
      for (const auto& tensor : file.graph.initializers)
        weights.push_back({tensor->name, reader.read(*tensor)});
      return weights;
    });
  });
}

void save_onnx_with_weights(const std::string& from, const std::string& to,
                            const std::vector<NamedTensor>& weights) {
  on_hosts_thread("save_onnx_with_weights", [&] {
    in_file(from, [&](const std::shared_ptr<const std::vector<std::byte>>& bytes) {
      read_onnx(bytes);  // This refuses what is no sound file.
      check_copy(*bytes, from, to);
      WeightsExchange exchange(std::filesystem::path(from).parent_path(), weights);
      const WireMessage message = exchange.model(*bytes);
      exchange.expect_all_used();
      if (message.size() >= onnx_bytes_limit)
        throw Error(Errc::unsupported, "with all weights inside, the file would have 2 GB or more");
      OutputFile file(to);
      write_message(message, file);
      file.commit();
    });
  });
}

}  // namespace penstock
