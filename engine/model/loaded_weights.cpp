#include "engine/model/loaded_weights.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "engine/names/known_names.hpp"
#include "engine/names/name_pattern.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string type_text(DType dtype, const Shape& shape) {
  return std::string(to_string(dtype)) + to_string(shape);
}

class WeightsChooser {
 public:
  WeightsChooser(const WeightsHeader& header, const std::vector<ParameterInfo>& parameters,
                 const std::string& model, const LoadOptions& options)
      : header_(header), parameters_(parameters), model_(quoted_text(model)), options_(options) {}

  WeightsChoice run() {
    find_selected();
    check_names();
    sort_entries();
    for (std::size_t i = 0; i < parameters_.size(); ++i) choose(i);
    if (!unexpected_.empty() && !options_.allow_unexpected)
      refuse(*unexpected_.begin()->second, "is no parameter of model " + model_);
    for (const auto& [name, entry] : unexpected_) choice_.names.ignored.push_back(entry->name);
    std::ranges::sort(choice_.names.ignored);
    return std::move(choice_);
  }

 private:
  using Entries = std::map<std::string, const WeightsEntry*>;

  /// Finds out which parameters match one of the patterns.
  void find_selected() {
    std::vector<std::string_view> names;
    for (const ParameterInfo& info : parameters_) names.push_back(info.name);
    selected_.resize(names.size());
    for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
      const std::string& pattern = options_.parameters[i];
      if (pattern == "*")
        selected_.assign(names.size(), true);
      else
        for (const std::size_t position :
             expect_matches(pattern, names,
                            "options.parameters[" + std::to_string(i) + "]: model " + model_ +
                                " has no parameter"))
          selected_[position] = true;
    }
  }

  void check_names() const {
    for (const auto& [tensor, parameter] : options_.names) {
      if (std::ranges::count(header_.entries, tensor, &WeightsEntry::name) == 0)
        misnamed("the file has no tensor " + quoted_text(tensor) +
                 instead_of(tensor, header_.entries, &WeightsEntry::name));
      if (std::ranges::count(parameters_, parameter, &ParameterInfo::name) == 0)
        misnamed("model " + model_ + " has no parameter " + quoted_text(parameter) +
                 instead_of(parameter, parameters_, &ParameterInfo::name));
    }
  }

  [[noreturn]] static void misnamed(const std::string& text) {
    throw Error(Errc::invalid_argument, "options.names: " + text);
  }

  /// Returns the name of the parameter that the tensor `name` of the file stands for.
  std::string renamed(const std::string& name) const {
    if (const auto mapped = options_.names.find(name); mapped != options_.names.end())
      return mapped->second;
    const std::string& prefix = options_.strip_prefix;
    return options_.add_prefix + (name.starts_with(prefix) ? name.substr(prefix.size()) : name);
  }

  void sort_entries() {
    for (const WeightsEntry& entry : header_.entries) {
      const auto [found, is_new] = unexpected_.emplace(renamed(entry.name), &entry);
      if (!is_new)
        throw Error(Errc::invalid_argument, "tensors " + quoted_name(found->second->name) +
                                                " and " + quoted_name(entry.name) +
                                                " both stand for parameter " +
                                                quoted_name(found->first));
    }
  }

  /// Chooses the tensor of parameter number `position`.
  void choose(std::size_t position) {
    const ParameterInfo& info = parameters_[position];
    const std::string expected = "expected " + type_text(DType::f32, info.shape);
    const auto entry = unexpected_.extract(info.name);
    choice_.tensors.emplace_back();
    const bool missing = !entry;
    if (!selected_[position] || missing) {
      if (selected_[position] && !options_.allow_missing)
        throw Error(Errc::shape_mismatch,
                    "tensor " + quoted_text(info.name) + ": " + expected + ", found none");
      choice_.names.left.push_back(info.name);
      if (!missing) choice_.names.ignored.push_back(entry.mapped()->name);
      return;
    }
    const WeightsEntry& found = *entry.mapped();
    if (found.dtype() != DType::f32 || found.shape != info.shape)
      refuse(found, expected + ", got " + type_text(found.dtype(), found.shape));
    choice_.tensors.back() = found.name;
    choice_.names.loaded.push_back(info.name);
  }

  /// Refuses the tensor `entry`. The text says which parameter the tensor stands for.
  [[noreturn]] void refuse(const WeightsEntry& entry, const std::string& text) const {
    const std::string parameter = renamed(entry.name);
    const std::string as = parameter == entry.name ? "" : ", as " + quoted_name(parameter);
    throw Error(Errc::shape_mismatch, "tensor " + quoted_name(entry.name) + as + ": " + text);
  }

  const WeightsHeader& header_;
  const std::vector<ParameterInfo>& parameters_;
  std::string model_;
  const LoadOptions& options_;
  std::vector<bool> selected_;  // This says of each parameter whether it may be loaded.
  // These are the tensors of the file that no parameter has got, by the names of the parameters
  // that they stand for.
  Entries unexpected_;
  WeightsChoice choice_;
};

}  // namespace

WeightsChoice choose_weights(const WeightsHeader& header,
                             const std::vector<ParameterInfo>& parameters, const std::string& model,
                             const LoadOptions& options) {
  return WeightsChooser(header, parameters, model, options).run();
}

}  // namespace penstock
