#include "engine/onnx/import/import_survey.hpp"

#include "engine/onnx/import/graph_plan.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

constexpr std::size_t most_names = 20, most_reasons = 100;

/// Returns the first `most` items, and how many more there are.
template <class Item, class Of>
std::string first_of(const std::vector<Item>& items, std::size_t most, const Of& of,
                     std::string_view between) {
  if (items.size() <= most) return joined(items, of, between);
  const std::vector<Item> shown(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(most));
  return joined(shown, of, between) + " and " + std::to_string(items.size() - most) + " more";
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
  need(needed.names);
  add(node, text_of(needed));
}

void ImportSurvey::add(const OnnxNode& node, const TooMuchComputed& limit) {
  if (!std::exchange(has_limit_, true)) add(node, std::string(limit.what()));
}

void ImportSurvey::add(const std::string& description, const TooMuchComputed& limit) {
  if (!std::exchange(has_limit_, true)) add(description + ": " + limit.what());
}

void ImportSurvey::add(const std::string& text) {
  if (others_.size() < most_reasons) others_.push_back(text);
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
         first_of(refusals_, most_reasons, line, "; ") +
         (has_unsupported_
              ? "; export the model in another form (docs/onnx.md lists what can be imported)"
              : "");
}

std::string ImportSurvey::text() const {
  std::vector<std::string> sentences = others_;
  if (!refusals_.empty()) sentences.push_back(nodes_text());
  return joined(sentences, {}, "; ");
}

std::string text_of(const NeededInputs& needed) {
  if (needed.names.empty()) return needed.text;
  return needed.text + "; OnnxOptions::inputs may give the value of " +
         joined(needed.names, quoted_text);
}

}  // namespace penstock
