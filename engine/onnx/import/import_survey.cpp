#include "engine/onnx/import/import_survey.hpp"

#include <algorithm>
#include <utility>

#include "graph/values/text.hpp"

namespace penstock {
namespace {

constexpr std::size_t most_names = 20, most_reasons = 100;

/// Returns a text that says that there are `count` more items, or an empty one if there are none.
std::string and_more(std::size_t count) {
  return count > 0 ? " and " + std::to_string(count) + " more" : "";
}

/// Returns the first `most` items, and how many more there are.
template <class Item, class Of>
std::string first_of(const std::vector<Item>& items, std::size_t most, const Of& of,
                     std::string_view between) {
  if (items.size() <= most) return joined(items, of, between);
  const std::vector<Item> shown(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(most));
  return joined(shown, of, between) + and_more(items.size() - most);
}

/// Returns the reason that an error has behind the name of a tensor.
std::string reason_of(const Error& error, const std::string& tensor) {
  const std::string text = error.what(), start = "tensor " + quoted_text(tensor) + ": ";
  return text.starts_with(start) ? text.substr(start.size()) : text;
}

}  // namespace

void ImportSurvey::add(const OnnxNode& node, const Error& error) {
  if (error.code() != Errc::unsupported) return doubt();
  has_unsupported_ = true;
  add(node, error.what());
}

void ImportSurvey::add(const OnnxNode& node, const MixedSamples& mixed) {
  doubt();
  add(node, mixed.text);
}

void ImportSurvey::add(const OnnxNode& node, const NeededInputs& needed) {
  doubt();
  need(needed.sources);
  add(node, text_of(needed));
}

void ImportSurvey::add(const OnnxNode& node, const TooMuchComputed& limit) {
  if (!std::exchange(has_limit_, true)) add(node, std::string(limit.what()));
}

void ImportSurvey::add(const std::string& text) {
  others_.push_back(text);
}

void ImportSurvey::add(const ReadInitializer& initializer, const Error& error) {
  doubt();
  if (error.code() != Errc::unsupported) return;
  has_unsupported_ = true;
  const std::string reason = reason_of(error, initializer.name);
  auto place = std::ranges::find(tensors_, reason, &TensorRefusal::reason);
  if (place == tensors_.end()) place = tensors_.insert(place, {.reason = reason});
  place->names.push_back(initializer.name);
}

void ImportSurvey::add(const OnnxNode& node, const std::string& text) {
  const auto [place, is_new] = places_.try_emplace({operator_name(node), text}, refusals_.size());
  if (is_new) refusals_.push_back({.op_type = place->first.first, .reason = text});
  refusals_[place->second].nodes.push_back(layer_name(node));
}

std::string ImportSurvey::nodes_text() const {
  const bool is_one = refusals_.size() == 1 && refusals_[0].nodes.size() == 1;
  const auto line = [](const OnnxRefusal& refusal) {
    return refusal.op_type + " (" + first_of(refusal.nodes, most_names, quoted_text, ", ") +
           "): " + refusal.reason;
  };
  return (is_one ? "this node cannot be imported: " : "these nodes cannot be imported: ") +
         first_of(refusals_, most_reasons, line, "; ");
}

std::string ImportSurvey::text() const {
  std::vector<std::string> sentences;
  const auto itself = [](const std::string& text) { return text; };
  if (!others_.empty()) sentences.push_back(first_of(others_, most_reasons, itself, "; "));
  const auto line = [](const TensorRefusal& refusal) {
    return (refusal.names.size() == 1 ? "tensor " : "tensors ") +
           first_of(refusal.names, most_names, quoted_text, ", ") + ": " + refusal.reason;
  };
  if (!tensors_.empty()) sentences.push_back(first_of(tensors_, most_reasons, line, "; "));
  if (!refusals_.empty()) sentences.push_back(nodes_text());
  if (has_unsupported_)
    sentences.push_back(
        "export the model in another form (docs/onnx.md lists what can be imported)");
  return joined(sentences, {}, "; ");
}

std::string text_of(const NeededInputs& needed) {
  if (needed.sources.is_empty()) return needed.text;
  const std::vector<std::string> names = needed.sources.names(most_names);
  return needed.text + "; OnnxOptions::inputs may give the value of " +
         joined(names, quoted_text, ", ") + and_more(needed.sources.count() - names.size());
}

}  // namespace penstock
