// These are the options of Model::load_weights(), and what it returns. They are plain data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "penstock/standard.hpp"

namespace penstock {

/// LoadOptions say which tensors of a file Model::load_weights() takes, and by which names. By
/// default the file must have exactly the model's parameters and buffers. Below, a parameter may be
/// a buffer, too.
struct LoadOptions {
  /// If `allow_missing` is true, parameters that the file does not have keep their values.
  bool allow_missing = false;
  /// If `allow_unexpected` is true, tensors of the file that are no parameters are ignored.
  bool allow_unexpected = false;
  /// `strip_prefix` is removed from names of the file that begin with it, such as "module.".
  std::string strip_prefix = "";
  /// `add_prefix` is put before names of the file, after `strip_prefix` was removed.
  std::string add_prefix = "";
  /// `names` has the parameters that tensors of the file stand for, by their names in the file. The
  /// prefixes have no effect on these names.
  std::map<std::string, std::string> names = {};
  /// Only parameters whose names match one of these patterns are loaded; see Model::initialize().
  /// All others keep their values, and what the file has for them is ignored.
  std::vector<std::string> parameters = {"*"};
};

/// LoadedWeights say what Model::load_weights() has done.
struct LoadedWeights {
  /// `loaded` has the names of the parameters and buffers that were loaded, in the model's order.
  std::vector<std::string> loaded = {};
  /// `left` has the names of those that have kept their values, in the model's order.
  std::vector<std::string> left = {};
  /// `ignored` has the names of the tensors of the file that were not used, in alphabetical order.
  std::vector<std::string> ignored = {};
};

}  // namespace penstock
