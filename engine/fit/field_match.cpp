#include "engine/fit/field_match.hpp"

#include <algorithm>
#include <iterator>

#include "engine/names/known_names.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/fit.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse_fields(const std::string& subject, const std::string& text) {
  throw Error(Errc::invalid_argument, subject + ": " + text);
}

std::string list_of(const std::vector<std::string>& inputs) {
  return joined(inputs, [](const std::string& name) { return printable(name); });
}

std::string field_text(const Field& field) {
  return std::string(to_string(field.dtype)) + to_string(field.shape);
}

std::ptrdiff_t place_of(const std::string& name, const std::vector<Field>& fields) {
  return std::ranges::find(fields, name, &Field::name) - fields.begin();
}

/// Returns how a text goes on that says which field an input should have: it names the first input
/// that is no name of a field, and the field whose name is like it.
std::string missing_text(const std::vector<std::string>& inputs, const std::vector<Field>& fields) {
  for (const std::string& input : inputs)
    if (place_of(input, fields) == std::ssize(fields))
      return "there is no field " + quoted_text(input) + instead_of(input, fields, &Field::name);
  return "";
}

/// Refuses inputs that are names of fields elsewhere, although other inputs are not.
void expect_names_in_place(const std::string& subject, const std::vector<std::string>& inputs,
                           const std::vector<Field>& fields) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::ptrdiff_t place = place_of(inputs[i], fields);
    if (place == std::ssize(fields) || place == static_cast<std::ptrdiff_t>(i)) continue;
    refuse_fields(subject, "expected a field for each of the inputs " + list_of(inputs) +
                               ", by name or in that order, but field " + std::to_string(place) +
                               " is " + quoted_text(inputs[i]) + ", and " +
                               missing_text(inputs, fields));
  }
}

/// Refuses fields of one type that have other names than the inputs in whose places they are.
void expect_told_apart(const std::string& subject, const std::vector<std::string>& inputs,
                       const std::vector<Field>& fields) {
  std::vector<std::size_t> strange;
  for (std::size_t i = 0; i < std::min(inputs.size(), fields.size()); ++i)
    if (!fields[i].name.empty() && fields[i].name != inputs[i]) strange.push_back(i);
  for (const std::size_t i : strange)
    for (const std::size_t j : strange) {
      const Field &one = fields[i], &other = fields[j];
      if (i >= j || one.dtype != other.dtype || !(one.shape == other.shape)) continue;
      refuse_fields(subject, "expected fields that have the names of the inputs " +
                                 list_of(inputs) + ", since " + quoted_text(one.name) + " and " +
                                 quoted_text(other.name) + " are both " + field_text(one) +
                                 " and could be exchanged; " + missing_text(inputs, fields));
    }
}

}  // namespace

std::vector<std::string> field_names(const std::vector<Field>& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

std::optional<std::vector<std::size_t>> positions_among(const std::vector<std::string>& names,
                                                        const std::vector<std::string>& inputs) {
  std::vector<std::size_t> positions;
  for (const std::string& input : inputs) {
    const auto found = std::ranges::find(names, input);
    if (found == names.end()) return std::nullopt;
    positions.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return positions;
}

void expect_no_twins(const std::string& subject, const std::vector<std::string>& inputs,
                     const std::vector<Field>& fields) {
  for (const std::string& input : inputs)
    if (std::ranges::count(fields, input, &Field::name) > 1)
      refuse_fields(subject, "expected one field " + quoted_text(input) + ", got several");
}

void expect_in_place(const std::string& subject, const std::vector<std::string>& inputs,
                     const std::vector<Field>& fields) {
  expect_names_in_place(subject, inputs, fields);
  expect_told_apart(subject, inputs, fields);
}

FieldMatch::FieldMatch(const std::string& subject, const std::vector<std::string>& inputs,
                       const std::vector<Field>& fields)
    : inputs_(inputs.size()), positions_(positions_among(field_names(fields), inputs)) {
  expect_no_twins(subject, inputs, fields);
  if (!positions_) expect_in_place(subject, inputs, fields);
}

std::vector<Tensor> FieldMatch::of(const Batch& batch) const {
  if (!positions_)
    return {batch.begin(),
            batch.begin() + static_cast<std::ptrdiff_t>(std::min(batch.size(), inputs_))};
  std::vector<Tensor> chosen;
  for (const std::size_t position : *positions_) chosen.push_back(batch[position]);
  return chosen;
}

std::vector<NamedTensor> named_fields(const DataLoader& data, const Batch& batch) {
  return or_out_of_memory("named_fields", [&] {
    const std::vector<Field>& fields = data.fields();
    if (batch.size() != fields.size())
      throw Error(Errc::invalid_argument,
                  "named_fields: expected " + count_text(std::ssize(fields), "tensor") +
                      ", one for each field of the data, got " + std::to_string(batch.size()));
    std::vector<NamedTensor> named;
    for (std::size_t i = 0; i < batch.size(); ++i) named.push_back({fields[i].name, batch[i]});
    return named;
  });
}

}  // namespace penstock
