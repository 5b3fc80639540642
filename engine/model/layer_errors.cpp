#include "engine/model/layer_errors.hpp"

#include "graph/values/text.hpp"

namespace penstock {
namespace {

/// A Subject is what the text of an error is about.
struct Subject {
  enum class Kind { layer, part, op, other };

  std::string_view op;      // This is the first word of the text.
  Kind kind = Kind::other;  // For Kind::op, the text begins with `op: `, and gives no name.
  std::string_view text;    // This is what the text says of the subject, behind a colon.
};

/// Returns the subject of `text`, as seen from the layer called `name`: `conv2d "c": ...` is about
/// the layer "c", whatever its kind, and `reshape "c/image": ...` and `parameter "c.weight": ...`
/// are about parts of it.
Subject subject_of(std::string_view text, const std::string& name) {
  const std::size_t word = text.find_first_of(": ");
  if (word == std::string_view::npos) return {};
  const std::string_view op = text.substr(0, word), rest = text.substr(word);
  if (rest.starts_with(": ")) return {op, Subject::Kind::op, rest.substr(2)};
  std::string before = " " + quoted_text(name);
  before.pop_back();  // This is the quote behind the name.
  if (name.empty() || !rest.starts_with(before)) return {op, Subject::Kind::other, {}};
  const std::string_view behind = rest.substr(before.size());
  if (behind.starts_with('/') || behind.starts_with('.')) return {op, Subject::Kind::part, {}};
  if (!behind.starts_with('"')) return {op, Subject::Kind::other, {}};
  return {op, Subject::Kind::layer, behind.starts_with("\": ") ? behind.substr(3) : ""};
}

}  // namespace

void rethrow_of_layer(const Error& error, std::string_view model, std::string_view layer,
                      const std::string& name) {
  using Kind = Subject::Kind;
  const std::string whole = error.what(), of_model = "model " + quoted_text(model) + ": ";
  const std::string before = whole.starts_with(of_model) ? of_model : "";
  const std::string_view text = std::string_view(whole).substr(before.size());
  const Subject subject = subject_of(text, name);
  const bool is_own = subject.kind == Kind::layer || subject.kind == Kind::part;
  if (subject.op == layer && (name.empty() || is_own)) throw;
  // Behind the name of the model, a single word is an op that the layer consists of, as in
  // `hardtanh: ...` of relu6. Something else there is about another layer.
  const bool has_subject = subject.kind == Kind::layer ||
                           (subject.kind == Kind::op && (!before.empty() || subject.op == layer));
  const bool is_replaced = has_subject && !subject.text.empty();
  if (!before.empty() && !is_replaced && subject.kind != Kind::part) throw;
  throw Error(error.code(), before + std::string(layer) +
                                (name.empty() ? "" : " " + quoted_text(name)) + ": " +
                                std::string(is_replaced ? subject.text : text));
}

}  // namespace penstock
