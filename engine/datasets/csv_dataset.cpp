#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "engine/datasets/csv_rows.hpp"
#include "engine/files/element_type.hpp"
#include "engine/names/known_names.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/text.hpp"
#include "penstock/csv.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

void check_csv_options(const CsvOptions& options) {
  const auto refuse_option = [](const std::string& text) {
    throw Error(Errc::invalid_argument, "read_csv: " + text);
  };
  if (std::string_view("\"\n\r", 4).find(options.separator) != std::string_view::npos)
    refuse_option("expected a separator that is no quote, no end of a line and not NUL");
  if (options.label_dtype != DType::i64 && options.label_dtype != DType::f32)
    refuse_option("expected labels of i64 or f32, got " +
                  std::string(to_string(options.label_dtype)));
  if (!options.label.empty() && std::ranges::count(options.features, options.label) > 0)
    refuse_option("expected a label that is none of the features, got " +
                  quoted_text(options.label) + " as both");
  if (options.classes.empty()) return;
  if (options.label.empty()) refuse_option("expected the name of a label beside the classes");
  if (options.label_dtype != DType::i64) refuse_option("expected labels of i64 beside classes");
  for (const std::string& name : options.classes)
    if (std::ranges::count(options.classes, name) > 1)
      refuse_option("expected different classes, got " + quoted_text(name) + " twice");
}

/// Returns `text` without the spaces and tabulators around it.
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t end = text.find_last_not_of(" \t");
  return end == text.npos ? "" : text.substr(begin, end + 1 - begin);
}

/// Returns the whole number that is all of `text`, or nothing.
std::optional<std::int64_t> whole_number_in(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns whether `text`, which is a number that a double cannot hold, is too small for one rather
/// than too large: its first digit that is not 0 has a place far behind the decimal point.
bool is_tiny(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, mark);
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<std::int64_t>(digits.find_first_of("123456789"));
  std::string_view exponent = text.substr(std::min(mark + 1, text.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t power = 0;
  const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (read.ec == std::errc::result_out_of_range) return exponent.starts_with('-');
  return power < first - point;
}

/// Returns the number that is all of `text`, or nothing. A number that is nearer to 0 than those of
/// double are is 0.
std::optional<double> real_number_in(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range && is_tiny(text))
    return text.starts_with('-') ? -0.0 : 0.0;
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

/// A CsvColumns takes the features and the label out of rows.
class CsvColumns {
 public:
  CsvColumns(const CsvOptions& options, const CsvRows& rows) : options_(options), rows_(rows) {
    names_ = options.has_header ? rows.values() : numbers(rows.values().size());
    for (const std::string& feature : options.features) features_.push_back(column(feature));
    if (!options.label.empty()) label_ = column(options.label);
    if (!options.features.empty()) return;
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (label_ != i) features_.push_back(i);
    if (features_.empty()) refuse_data("expected a column beside the label, got none");
  }

  /// Appends the row that has just been read.
  void add() {
    const std::vector<std::string>& values = rows_.values();
    if (values.size() != names_.size())
      refuse_data("expected " + count_text(std::ssize(names_), "column") + ", got " +
                  std::to_string(values.size()));
    for (const std::size_t i : features_) numbers_.push_back(f32_in(i));
    if (label_) add_label(*label_);
    ++samples_;
  }

  std::shared_ptr<const Dataset> dataset() {
    if (samples_ == 0)
      throw Error(Errc::invalid_data, rows_.path() + ": expected samples, got none");
    std::vector<Tensor> tensors{
        held<float>({samples_, std::ssize(features_)}, std::move(numbers_))};
    std::vector<std::string> names{"features"};
    if (label_) {
      tensors.push_back(options_.label_dtype == DType::f32
                            ? held<float>({samples_}, std::move(f32_labels_))
                            : held<std::int64_t>({samples_}, std::move(i64_labels_)));
      names.push_back("label");
    }
    return tensor_dataset(std::move(tensors), std::move(names));
  }

 private:
  [[noreturn]] void refuse_data(const std::string& text) const {
    throw Error(Errc::invalid_data, rows_.place() + ": " + text);
  }

  static std::vector<std::string> numbers(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
    return names;
  }

  std::size_t column(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end())
      refuse_data("there is no column " + quoted_text(name) +
                  instead_of(name, names_, std::identity()));
    if (std::find(found + 1, names_.end(), name) != names_.end())
      refuse_data("expected one column " + quoted_text(name) + ", got several");
    return static_cast<std::size_t>(found - names_.begin());
  }

  [[noreturn]] void refuse_value(std::size_t i, const std::string& expected) const {
    const std::string& value = rows_.values()[i];
    refuse_data("column " + quoted_text(names_[i]) + ": expected " + expected + ", got " +
                (trimmed(value).empty() ? "a missing value" : quoted_text(value)));
  }

  float f32_in(std::size_t i) const {
    const auto number = real_number_in(trimmed(rows_.values()[i]));
    if (!number || !std::isfinite(*number)) refuse_value(i, "a finite number");
    if (exceeds_f32(*number)) refuse_value(i, "a number that f32 can hold");
    return static_cast<float>(*number);
  }

  void add_label(std::size_t i) {
    const std::string& value = rows_.values()[i];
    if (options_.label_dtype == DType::f32) return f32_labels_.push_back(f32_in(i));
    if (!options_.classes.empty()) {
      const auto found = std::ranges::find(options_.classes, value);
      if (found == options_.classes.end())
        refuse_value(i, "one of the classes " + shortened(joined(options_.classes, quoted_text)));
      return i64_labels_.push_back(found - options_.classes.begin());
    }
    const auto number = whole_number_in(trimmed(value));
    if (!number) refuse_value(i, "a whole number");
    i64_labels_.push_back(*number);
  }

  template <class T>
  static Tensor held(const Shape& shape, std::vector<T> values) {
    const auto vector = std::make_shared<const std::vector<T>>(std::move(values));
    return Tensor::wrap(dtype_of<T>::value, shape,
                        {vector, reinterpret_cast<const std::byte*>(vector->data())});
  }

  const CsvOptions& options_;
  const CsvRows& rows_;
  std::vector<std::string> names_;
  std::vector<std::size_t> features_;
  std::optional<std::size_t> label_;
  std::int64_t samples_ = 0;
  std::vector<float> numbers_;
  std::vector<float> f32_labels_;
  std::vector<std::int64_t> i64_labels_;
};

}  // namespace

std::shared_ptr<const Dataset> read_csv(const std::string& path, const CsvOptions& options) {
  return on_hosts_thread("read_csv", [&] {
    check_csv_options(options);
    CsvRows rows(path, options.separator);
    if (!rows.next())
      throw Error(Errc::invalid_data, rows.path() + ": expected a table, got an empty file");
    CsvColumns columns(options, rows);
    if (!options.has_header) columns.add();
    while (rows.next()) columns.add();
    return columns.dataset();
  });
}

}  // namespace penstock
