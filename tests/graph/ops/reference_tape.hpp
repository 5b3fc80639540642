// A ReferenceTape is a tape whose leaves are the inputs of a reference file, by name.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/reference_file.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {

class ReferenceTape {
 public:
  explicit ReferenceTape(testing::ReferenceFile file) : file_(std::move(file)) {}

  /// Returns the file's tensor "in.NAME" as a leaf. Every call with the same name returns the same
  /// leaf.
  ValueId in(const std::string& name);
  /// Applies the op called `op`, and returns its outputs.
  std::vector<ValueId> apply(std::string_view op, std::vector<ValueId> inputs,
                             Attributes attributes = {});
  /// Declares `value` to be what the file calls "out.NAME".
  void also_computes(const std::string& name, ValueId value) { others_[name] = value; }

  /// Returns one of the file's attributes, converted to a number. @throws std::out_of_range if
  /// there is no such attribute.
  std::int64_t integer(const std::string& name) const { return std::stoll(text(name)); }
  double real(const std::string& name) const { return std::stod(text(name)); }
  const std::string& text(const std::string& name) const { return file_.metadata.at(name); }

  const testing::ReferenceFile& file() const { return file_; }
  testing::Tape& tape() { return tape_; }
  const std::map<std::string, ValueId>& inputs() const { return inputs_; }
  const std::map<std::string, ValueId>& others() const { return others_; }

 private:
  testing::ReferenceFile file_;
  testing::Tape tape_;
  std::map<std::string, ValueId> inputs_;
  std::map<std::string, ValueId> others_;
};

}  // namespace penstock::graph
