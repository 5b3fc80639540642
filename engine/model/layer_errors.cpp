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
/// `conv2d "c": ...` of conv1d "c".
std::string_view behind_subject(std::string_view text, std::string_view kind,
                                const std::string& quoted) {
  const std::size_t word = text.find_first_of(": ");
  if (word == std::string_view::npos) return {};
  const std::string_view rest = text.substr(word);
  if (rest.starts_with(" " + quoted + ": ")) return rest.substr(quoted.size() + 3);
  if (rest.starts_with(": ") && text.starts_with(kind) && word == kind.size())
    return rest.substr(2);
  return {};
}

}  // namespace

void rethrow_of_layer(const Error& error, std::string_view layer, const std::string& name) {
  const std::string_view text = error.what();
  const std::string quoted = quoted_text(name);
  const std::string subject = std::string(layer) + (name.empty() ? "" : " " + quoted);
  // The ops inside a layer that has a name are called NAME/part.
  const std::string part = std::string(layer) + " " + quoted.substr(0, quoted.size() - 1) + "/";
  if (begins_with(text, subject) || text.starts_with(part) || text.starts_with("model \"")) throw;
  const std::string_view behind = behind_subject(text, layer, quoted);
  throw Error(error.code(), subject + ": " + std::string(behind.empty() ? text : behind));
}

}  // namespace penstock
