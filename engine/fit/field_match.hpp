// A loop matches the fields of its data with the inputs of its model: by name if all inputs are
// names of fields, and by place otherwise.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"

namespace penstock {

/// Returns the names of `fields`. A field without a name has an empty one.
std::vector<std::string> field_names(const std::vector<Field>& fields);

/// Returns, for each of `inputs`, its first position in `names`, or nothing if not every input is
/// there.
std::optional<std::vector<std::size_t>> positions_among(const std::vector<std::string>& names,
                                                        const std::vector<std::string>& inputs);

/// Checks that no input could be either of two fields. @throws Error invalid_argument, whose text
/// begins with `subject`, if two of `fields` have the name of one of `inputs`.
void expect_no_twins(const std::string& subject, const std::vector<std::string>& inputs,
                     const std::vector<Field>& fields);

/// Checks that the first of `fields` may be taken as the inputs `inputs`, which are not all names
/// of fields. @throws Error invalid_argument, whose text begins with `subject`, if a field that has
/// the name of an input is not in the input's place; or if two fields of one type are in the places
/// of inputs, and have other names, so that nobody would notice if they were exchanged. A field
/// without a name contradicts nothing.
void expect_in_place(const std::string& subject, const std::vector<std::string>& inputs,
                     const std::vector<Field>& fields);

/// A FieldMatch says which fields of a batch are the inputs of a step.
class FieldMatch {
 public:
  /// @throws Error as expect_no_twins() and expect_in_place().
  FieldMatch(const std::string& subject, const std::vector<std::string>& inputs,
             const std::vector<Field>& fields);

  /// Returns the inputs. If the batch has too few fields, all of them are returned, and the model's
  /// call reports what is missing.
  std::vector<Tensor> of(const Batch& batch) const;

 private:
  std::size_t inputs_;
  std::optional<std::vector<std::size_t>> positions_;  // `positions_` is empty if places count.
};

}  // namespace penstock
