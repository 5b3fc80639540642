#include "engine/model/layer_errors.hpp"

#include "graph/values/text.hpp"

namespace penstock {
namespace {

/// Returns whether `text` begins with `subject` as a whole, as in `conv2d "c": ...`.
bool begins_with(std::string_view text, std::string_view subject) {
  if (!text.starts_with(subject) || text.size() == subject.size()) return false;
  const char next = text[subject.size()];
  return next == ':' || next == ' ';
}

/// Returns what `text` says behind `kind`, or behind another op of the layer's own name, as in
/// `conv2d "c": ...` of conv1d "c". If `of_model`, the text stood behind the name of the model, and
/// a word before its first colon is an op that the layer consists of, as in `hardtanh: ...` of
/// relu6.
std::string_view behind_subject(std::string_view text, std::string_view kind,
                                const std::string& quoted, bool of_model) {
  const std::size_t word = text.find_first_of(": ");
  if (word == std::string_view::npos) return {};
  const std::string_view rest = text.substr(word);
  if (rest.starts_with(" " + quoted + ": ")) return rest.substr(quoted.size() + 3);
  if (rest.starts_with(": ") && (of_model || text.substr(0, word) == kind)) return rest.substr(2);
  return {};
}

/// Returns whether `text` begins with something inside the layer `quoted`, as in
/// `reshape "q/image": ...` or `parameter "q.weight": ...` of a layer "q".
bool is_about_a_part(std::string_view text, const std::string& quoted) {
  const std::size_t name = text.find_first_of(": ");
  if (name == std::string_view::npos) return false;
  const std::string_view rest = text.substr(name);
  const std::string before = " " + quoted.substr(0, quoted.size() - 1);
  return rest.starts_with(before + "/") || rest.starts_with(before + ".");
}

}  // namespace

void rethrow_of_layer(const Error& error, std::string_view model, std::string_view layer,
                      const std::string& name) {
  const std::string whole = error.what(), of_model = "model " + quoted_text(model) + ": ";
  const std::string before = whole.starts_with(of_model) ? of_model : "";
  const std::string_view text = std::string_view(whole).substr(before.size());
  const std::string quoted = quoted_text(name);
  const std::string subject = std::string(layer) + (name.empty() ? "" : " " + quoted);
  // The ops inside a layer that has a name are called NAME/part.
  const std::string part = std::string(layer) + " " + quoted.substr(0, quoted.size() - 1) + "/";
  if (begins_with(text, subject) || text.starts_with(part)) throw;
  const std::string_view behind = behind_subject(text, layer, quoted, !before.empty());
  // A text about something else in the model stays as it is.
  if (!before.empty() && behind.empty() && (name.empty() || !is_about_a_part(text, quoted))) throw;
  throw Error(error.code(), before + subject + ": " + std::string(behind.empty() ? text : behind));
}

}  // namespace penstock
