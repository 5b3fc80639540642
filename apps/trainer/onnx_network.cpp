#include "apps/trainer/onnx_network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/trainer/download/sha256.hpp"
#include "apps/trainer/options/excerpt.hpp"
#include "apps/trainer/options/option_spelling.hpp"
#include "apps/trainer/options/read_value.hpp"
#include "apps/trainer/options/shortest_text.hpp"
#include "penstock/composed_datasets.hpp"
#include "penstock/error.hpp"
#include "penstock/onnx.hpp"

namespace trainer {
namespace {

using penstock::Model;
using penstock::OnnxTensorInfo;
using penstock::networks::ImageKind;

[[noreturn]] void refuse_file(const std::string& text) {
  throw penstock::Error(penstock::Errc::invalid_model, text);
}

std::string text_of(const OnnxTensorInfo& tensor) {
  return excerpt(tensor.name, longest_name) + ' ' + tensor.type + '[' + joined(tensor.shape, ",") +
         ']';
}

/// Returns descriptions of tensors for a text that refuses them.
std::string texts_of(const std::vector<OnnxTensorInfo>& tensors) {
  std::vector<std::string> texts;
  for (const OnnxTensorInfo& tensor : tensors) texts.push_back(text_of(tensor));
  return texts.empty() ? "none" : joined(texts);
}

/// Returns the numbers that the dimensions of a tensor are, but for the first one, which counts
/// samples; an empty list if one of them is no number.
std::vector<std::int64_t> sizes_of(const OnnxTensorInfo& tensor) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 1; i < tensor.shape.size(); ++i)
    if (std::int64_t size = 0; reads_as(tensor.shape[i], size) && size >= 1)
      sizes.push_back(size);
    else
      return {};
  return sizes;
}

/// Returns the square images that have so many numbers, or nothing.
std::optional<ImageKind> square_images(std::int64_t numbers) {
  for (const std::int64_t channels : {1, 3}) {
    const std::int64_t pixels = numbers / channels;
    const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(pixels)));
    if (side * side * channels == numbers)
      return ImageKind{.channels = channels, .height = side, .width = side};
  }
  return std::nullopt;
}

/// Returns the images that the one input of the file takes. The number of classes is still open.
ImageKind images_of(const penstock::OnnxSummary& summary) {
  if (summary.inputs.size() == 1 && summary.inputs[0].type == "float") {
    const std::vector<std::int64_t> sizes = sizes_of(summary.inputs[0]);
    if (sizes.size() == 3) return {.channels = sizes[0], .height = sizes[1], .width = sizes[2]};
    if (sizes.size() == 1)
      if (const std::optional<ImageKind> kind = square_images(sizes[0])) return *kind;
  }
  refuse_file(
      "expected one input of images, float[N,channels,height,width] with numbers for all sizes but "
      "N, or float[N,features] with those of a square image of 1 or 3 channels, got " +
      texts_of(summary.inputs));
}

/// Returns the shape of an output for one sample. An output that is known when the file is imported
/// is none of the model.
std::optional<penstock::Shape> shape_of(const Model& model, const std::string& output) try {
  return model.shape(model.output(output));
} catch (const penstock::Error&) {
  return std::nullopt;
}

/// Returns the name of the output that has the scores of the classes.
std::string logits_of(const Model& model, const penstock::OnnxSummary& summary) {
  std::vector<std::string> candidates, shapes;
  for (const OnnxTensorInfo& output : summary.outputs) {
    const std::optional<penstock::Shape> shape = shape_of(model, output.name);
    if (!shape) continue;
    shapes.push_back(excerpt(output.name, longest_name) + ' ' + to_string(*shape));
    if (shape->rank() == 2 && (*shape)[1] >= 2) candidates.push_back(output.name);
  }
  if (candidates.size() > 1 && std::ranges::count(candidates, "logits") == 1) return "logits";
  if (candidates.size() != 1)
    refuse_file(
        "expected one output of scores, [N,classes] with two classes or more, or one of them that "
        "is called \"logits\", got, for one sample, " +
        (shapes.empty() ? "none" : joined(shapes)));
  return candidates.front();
}

/// Checks that scores are logits, of which the loss takes the softmax itself.
void check_logits(const Model& model, const std::string& output) {
  const std::string name = model.tensor_name(model.output(output));
  for (const penstock::LayerStage& layer : model.stage_assignment())
    if (layer.layer == name && layer.op == "softmax")
      refuse_file("output " + excerpt(output, longest_name) +
                  ": expected logits, which the loss takes the softmax of, got those of a softmax "
                  "(layer " +
                  excerpt(name, longest_name) + "); export the network without it");
}

/// Gives norms in the form for inference the form for training.
void unfreeze_statistics(Model& model) {
  for (const penstock::ParameterInfo& parameter : model.parameters())
    if (parameter.buffer && parameter.frozen) model.unfreeze_statistics(parameter.name);
}

std::vector<std::string> infinite_constants(const Model& model) {
  std::vector<std::string> names;
  const auto is_finite = [](float element) { return std::isfinite(element); };
  for (const penstock::ParameterInfo& parameter : model.parameters()) {
    if (!parameter.buffer) continue;
    const penstock::Tensor tensor = model.weight(parameter.name);
    if (!std::ranges::all_of(tensor.as<float>(), is_finite)) names.push_back(parameter.name);
  }
  return names;
}

std::string digest_of(std::span<const std::byte> bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.digest();
}

// These are the names of the texts in which a file says how its pixels are normalized.
constexpr const char* mean_key = "penstock.pixel_mean";
constexpr const char* std_key = "penstock.pixel_std";

/// Returns the number that the text called `key` has, or nothing if there is no such text.
std::optional<double> number_of(const penstock::OnnxSummary& summary, const char* key) {
  const auto found = summary.metadata.find(key);
  if (found == summary.metadata.end()) return std::nullopt;
  double number = 0;
  if (!reads_as(found->second, number) || !std::isfinite(number))
    refuse_file(std::string("metadata ") + key + ": expected a number, got \"" +
                excerpt(found->second, longest_name) + '"');
  return number;
}

/// Returns whether an f32 can be that number, not counting denormals.
bool is_f32(double number) {
  const auto rounded = static_cast<float>(number);
  return rounded == 0 ? number == 0 : std::isnormal(rounded);
}

/// Returns whether a normalization makes finite numbers of all pixels, of which the darkest is 0
/// and the brightest 1 before.
bool is_finite(const penstock::Normalization& normalization) {
  return std::ranges::all_of(std::array{0.0f, 1.0f}, [&](float pixel) {
    return std::isfinite((pixel - static_cast<float>(normalization.mean)) /
                         static_cast<float>(normalization.std));
  });
}

/// Returns how the pixels for the network of a file are normalized.
penstock::Normalization normalization_of(const penstock::OnnxSummary& summary,
                                         std::int64_t channels) {
  const std::optional<double> mean = number_of(summary, mean_key),
                              std = number_of(summary, std_key);
  if (!mean && !std)
    return channels == 3 ? penstock::networks::cifar10_pixels : penstock::networks::mnist_pixels;
  if (!mean || !std)
    refuse_file(std::string("metadata: expected ") + mean_key + " and " + std_key + ", got only " +
                (mean ? mean_key : std_key));
  if (!is_f32(*mean) || !is_f32(*std) || *std <= 0)
    refuse_file(std::string("metadata ") + mean_key + " and " + std_key +
                ": expected numbers of f32, the second one above 0, got " + shortest_text(*mean) +
                " and " + shortest_text(*std));
  const penstock::Normalization normalization{.mean = *mean, .std = *std};
  if (!is_finite(normalization))
    refuse_file(std::string("metadata ") + mean_key + " and " + std_key +
                ": expected numbers that make finite f32 of pixels, got " + shortest_text(*mean) +
                " and " + shortest_text(*std));
  return normalization;
}

/// Makes the network of a model of the file at `path`. An error begins with the path.
OnnxNetwork classifier(const std::string& path, const penstock::OnnxSummary& summary,
                       Model model) try {
  ImageKind images = images_of(summary);
  const std::string logits = logits_of(model, summary);
  check_logits(model, logits);
  unfreeze_statistics(model);
  const penstock::Value scores = model.output(logits);
  images.classes = model.shape(scores)[1];
  model.loss(model.cross_entropy(scores, model.labels()));
  return {model,
          logits,
          std::filesystem::path(path).filename().string(),
          images,
          summary.inputs[0].shape.size() == 2,
          normalization_of(summary, images.channels),
          infinite_constants(model)};
} catch (const penstock::Error& error) {
  throw penstock::Error(error.code(), excerpt(path, longest_name) + ": " + error.what());
}

/// Returns the text of a refusal in which the file stands in place of fields of the library that no
/// option sets.
std::string about_file(std::string text) {
  for (const auto& [field, file] :
       {std::pair("OnnxOptions::dimensions may say ", "the file has to say "),
        std::pair("OnnxOptions::inputs may give ", "the file has to give ")})
    for (auto at = text.find(field); at != text.npos; at = text.find(field, at))
      text.replace(at, std::string_view(field).size(), file);
  return text;
}

/// Throws `error`, which is about the import of the file at `path`, with the name of the option
/// that it is about in front of its text.
[[noreturn]] void refuse_import(const std::string& path, const penstock::Error& error) {
  const std::string subject = "ONNX file " + excerpt(path, path.size()) + ": ";
  std::string text = error.what();
  const bool has_subject = text.starts_with(subject);
  if (has_subject) text.erase(0, subject.size());
  text = with_option_names(about_file(std::move(text)));
  const bool is_of_constants = text.starts_with("--onnx-constants: ");
  const std::string option = is_of_constants ? "" : "--onnx: " + (has_subject ? subject : "");
  throw penstock::Error(error.code(), option + text);
}

}  // namespace

penstock::networks::Network OnnxNetwork::demand() const {
  return {.name = name, .images = images, .normalization = normalization, .blocks = {}};
}

std::map<std::string, std::string> normalization_texts(
    const penstock::Normalization& normalization) {
  return {{mean_key, shortest_text(normalization.mean)},
          {std_key, shortest_text(normalization.std)}};
}

std::optional<OnnxNetwork> open_onnx_network(const TrainerOptions& options) {
  if (!options.network.onnx) return std::nullopt;
  const std::string& path = *options.network.onnx;
  try {
    const penstock::LoadedOnnx file(path);
    const penstock::OnnxOptions import_options{
        .samples = penstock::OnnxSamples::axis,
        .constants = options.network.onnx_constants.value_or(std::vector<std::string>{})};
    OnnxNetwork network = classifier(path, file.summary(), file.model(import_options));
    if (options.checkpoints.dir) network.sha256 = digest_of(file.bytes());
    return network;
  } catch (const penstock::Error& error) {
    refuse_import(path, error);
  }
}

std::shared_ptr<const penstock::Dataset> as_rows(
    const std::shared_ptr<const penstock::Dataset>& images) {
  std::vector<penstock::Field> fields = images->fields();
  const penstock::Shape row{fields[0].shape.elements()};
  fields[0].shape = row;
  return penstock::map_dataset(images, fields,
                               [row](const std::vector<penstock::Tensor>& sample, const auto&) {
                                 std::vector<penstock::Tensor> made = sample;
                                 made[0] = made[0].reshaped(row);
                                 return made;
                               });
}

}  // namespace trainer
