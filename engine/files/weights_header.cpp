#include "engine/files/weights_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/json/json_reader.hpp"
#include "engine/json/json_string.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(Errc::corrupt_file, what);
}

void require(bool condition, std::string_view name, const char* what) {
  if (!condition) corrupt("tensor " + quoted_name(name) + ": " + what);
}

/// A RawEntry is a tensor's entry as the header has it, before it is checked.
struct RawEntry {
  std::string name = {};
  std::optional<std::string> dtype = {};
  std::optional<std::vector<std::uint64_t>> shape = {};
  std::optional<std::vector<std::uint64_t>> offsets = {};
  bool has_more = false;  ///< `has_more` says whether the entry has an unknown field.
};

ElementType type_of(const RawEntry& entry) {
  if (const std::optional<ElementType> type = element_type(*entry.dtype)) return *type;
  throw Error(Errc::unsupported,
              "tensor " + quoted_name(entry.name) +
                  ": expected dtype F32, I64, U8, I32, BOOL, F16, BF16 or F64, got " +
                  quoted_name(*entry.dtype));
}

Shape shape_of(const RawEntry& entry) {
  std::vector<std::int64_t> dims;
  for (const std::uint64_t size : *entry.shape) {
    require(size <= INT64_MAX, entry.name, "its shape is too large");
    dims.push_back(static_cast<std::int64_t>(size));
  }
  try {
    return Shape(dims);
  } catch (const Error&) {
    corrupt("tensor " + quoted_name(entry.name) + ": its shape is too large");
  }
}

WeightsEntry checked(const RawEntry& entry, std::uint64_t data_bytes) {
  const std::string& name = entry.name;
  require(entry.dtype && entry.shape && entry.offsets && !entry.has_more, name,
          "expected dtype, shape and data_offsets");
  const ElementType type = type_of(entry);
  const std::uint64_t element_bytes = size_of(type);
  const Shape shape = shape_of(entry);
  const auto& offsets = *entry.offsets;
  require(offsets.size() == 2 && offsets[0] <= offsets[1], name,
          "its data_offsets are no begin and end");
  const std::uint64_t begin = offsets[0], end = offsets[1];
  require(end <= data_bytes, name, "its data_offsets end behind the end of the file");
  require(begin % element_bytes == 0, name, "its data_offsets are misaligned");
  const std::uint64_t bytes = end - begin;
  require(bytes % element_bytes == 0 &&
              bytes / element_bytes == static_cast<std::uint64_t>(shape.elements()),
          name, "its shape does not fit its data_offsets");
  return {name, type, shape, begin, end};
}

/// A HeaderBuilder checks and converts each tensor's entry as soon as the entry has been read, so
/// that memory never holds more than one RawEntry.
class HeaderBuilder : public JsonEvents {
 public:
  explicit HeaderBuilder(std::uint64_t data_bytes) : data_bytes_(data_bytes) {}

  WeightsHeader take() { return std::move(header_); }

  void begin_object(std::size_t) override {
    if (depth_ > 1) corrupt("header: an object inside a tensor's entry");
    if (depth_++ == 0) return;
    in_metadata_ = key_ == metadata_key;
    entry_ = {.name = key_};
  }
  void end_object() override {
    if (--depth_ == 1 && !in_metadata_) header_.entries.push_back(checked(entry_, data_bytes_));
  }
  void begin_list(std::size_t) override {
    if (depth_ != 2 || in_metadata_) corrupt("header: a list that is neither shape nor offsets");
    if (key_ == "dtype") require(false, entry_.name, "its dtype is not a text");
    depth_ = 3;
    list_.clear();
  }
  void end_list() override {
    depth_ = 2;
    if (key_ == "shape")
      set(entry_.shape, std::move(list_));
    else if (key_ == "data_offsets")
      set(entry_.offsets, std::move(list_));
    else
      entry_.has_more = true;
  }

  void key(std::string&& name, std::size_t) override {
    key_ = std::move(name);
    if (depth_ != 1 || key_ != metadata_key) return;
    if (had_metadata_) refuse_repetition(key_);
    had_metadata_ = true;
  }

  void text(std::string&& value, std::size_t) override {
    if (depth_ == 2 && in_metadata_) {
      if (!header_.metadata.emplace(key_, std::move(value)).second) refuse_repetition(key_);
    } else if (depth_ == 2 && key_ == "dtype") {
      set(entry_.dtype, std::move(value));
    } else {
      refuse_value();
    }
  }

  void number(std::string_view spelling, std::size_t) override {
    if (depth_ != 3) refuse_value();
    if (list_.size() == Shape::max_rank)
      corrupt("header: a list of more than " + std::to_string(Shape::max_rank) + " numbers");
    std::uint64_t size = 0;
    const char* const end = spelling.data() + spelling.size();
    const auto [stop, error] = std::from_chars(spelling.data(), end, size);
    if (error != std::errc() || stop != end) refuse_value();
    list_.push_back(size);
  }

  void boolean(bool, std::size_t) override { refuse_value(); }
  void null(std::size_t) override { refuse_value(); }

  Error failure(std::size_t at, const char* reason) override {
    return {Errc::corrupt_file,
            "header: not valid JSON near byte " + std::to_string(at + 1) + ": " + reason};
  }

 private:
  [[noreturn]] static void refuse_repetition(std::string_view name) {
    corrupt("header: " + quoted_name(name) + " is there twice");
  }

  template <class Field, class Value>
  void set(std::optional<Field>& field, Value&& value) {
    if (field) refuse_repetition(key_);
    field = std::forward<Value>(value);
  }

  /// Refuses the value that was read last, because no value of its kind belongs there.
  [[noreturn]] void refuse_value() const {
    if (depth_ == 0) corrupt("header: not a JSON object");
    if (depth_ == 1 && key_ == metadata_key) corrupt("header: __metadata__ is not an object");
    if (depth_ == 1)
      corrupt("tensor " + quoted_name(key_) + ": expected dtype, shape and data_offsets");
    if (in_metadata_) corrupt("header: __metadata__: " + quoted_name(key_) + " is not a text");
    const char* const what = depth_ == 3       ? "a number in its shape or offsets is not a size"
                             : key_ == "dtype" ? "its dtype is not a text"
                             : key_ == "shape" || key_ == "data_offsets"
                                 ? "its shape or offsets are not a list"
                                 : "expected dtype, shape and data_offsets";
    corrupt("tensor " + quoted_name(entry_.name) + ": " + what);
  }

  std::uint64_t data_bytes_;
  WeightsHeader header_;
  RawEntry entry_;
  std::vector<std::uint64_t> list_;
  std::string key_;
  // `depth_` is 1 inside the header, 2 inside an entry or the metadata, and 3 inside a list.
  int depth_ = 0;
  bool in_metadata_ = false;
  bool had_metadata_ = false;
};

void require_different_names(const std::vector<WeightsEntry>& entries) {
  std::vector<std::string_view> names;
  for (const WeightsEntry& entry : entries) names.push_back(entry.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) corrupt("header: " + quoted_name(*twice) + " is there twice");
}

void require_exact_cover(const std::vector<WeightsEntry>& entries, std::uint64_t data_bytes) {
  std::uint64_t covered = 0;
  for (const WeightsEntry& entry : entries) {
    require(entry.begin >= covered, entry.name, "its bytes overlap another tensor's");
    require(entry.begin == covered, entry.name, "the bytes before it belong to no tensor");
    covered = entry.end;
  }
  if (covered != data_bytes)
    corrupt("the last " + std::to_string(data_bytes - covered) + " bytes belong to no tensor");
}

std::string numbers_text(const auto& numbers) {
  return '[' +
         joined(
             numbers, [](auto number) { return std::to_string(number); }, ",") +
         ']';
}

std::string entry_text(const WeightsEntry& entry) {
  return json_string(entry.name) + R"(:{"dtype":")" + std::string(name_of(entry.type)) +
         R"(","shape":)" + numbers_text(entry.shape) + R"(,"data_offsets":)" +
         numbers_text(std::array{entry.begin, entry.end}) + '}';
}

std::string metadata_text(const std::map<std::string, std::string>& metadata) {
  return json_string(metadata_key) + ":{" +
         joined(
             metadata,
             [](const auto& item) {
               return json_string(item.first) + ':' + json_string(item.second);
             },
             ",") +
         '}';
}

}  // namespace

WeightsHeader parse_weights_header(std::string_view text, std::uint64_t data_bytes) {
  HeaderBuilder builder(data_bytes);
  read_json_text(text, builder);
  WeightsHeader header = builder.take();
  require_different_names(header.entries);
  std::ranges::stable_sort(header.entries, {}, [](const WeightsEntry& entry) {
    return std::tuple(entry.begin, entry.end);
  });
  require_exact_cover(header.entries, data_bytes);
  return header;
}

std::string to_json(const WeightsHeader& header) {
  std::string json = "{";
  if (!header.metadata.empty()) json += metadata_text(header.metadata);
  for (const WeightsEntry& entry : header.entries) {
    if (json.size() > 1) json += ',';
    json += entry_text(entry);
  }
  return json + '}';
}

}  // namespace penstock
