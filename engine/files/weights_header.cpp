#include "engine/files/weights_header.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using Json = nlohmann::json;

constexpr std::string_view metadata_key = "__metadata__";
constexpr std::string_view f32_name = "F32", i64_name = "I64";

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(Errc::corrupt_file, what);
}

void require(bool condition, std::string_view name, const char* what) {
  if (!condition) corrupt("tensor " + quoted_name(name) + ": " + what);
}

/// Watches the parser: refuses what a JSON value cannot tell any more (a name used twice) and what
/// would only fill memory (deep nesting, endless lists).
class Watch {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& value) {
    // The header is 0 deep, an entry 1, its shape and offsets 2; what they hold is one deeper.
    switch (event) {
      case Json::parse_event_t::object_start:
        if (depth > 1) corrupt("header: an object inside a tensor's entry");
        if (depth == 1) fields_.clear();
        break;
      case Json::parse_event_t::array_start:
        if (depth != 2) corrupt("header: a list that is neither shape nor offsets");
        list_size_ = 0;
        break;
      case Json::parse_event_t::key:
        see(depth == 1 ? names_ : fields_, value.get_ref<const std::string&>());
        break;
      case Json::parse_event_t::value:
        if (depth == 3 && ++list_size_ > Shape::max_rank)
          corrupt("header: a list of more than " + std::to_string(Shape::max_rank) + " numbers");
        break;
      default:
        break;
    }
    return true;
  }

 private:
  static void see(std::set<std::string>& seen, const std::string& name) {
    if (!seen.insert(name).second) corrupt("header: " + quoted_name(name) + " is there twice");
  }

  std::set<std::string> names_;
  std::set<std::string> fields_;
  std::size_t list_size_ = 0;
};

Json parse(std::string_view text) {
  Watch watch;
  try {
    return Json::parse(text, [&watch](int depth, Json::parse_event_t event, Json& value) {
      return watch(depth, event, value);
    });
  } catch (const Json::parse_error& error) {
    corrupt("header: not valid JSON near byte " + std::to_string(error.byte));
  } catch (const Json::exception&) {
    corrupt("header: a number out of range");
  }
}

std::map<std::string, std::string> parse_metadata(const Json& json) {
  if (!json.is_object()) corrupt("header: __metadata__ is not an object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) corrupt("header: __metadata__: " + quoted_name(key) + " is not a text");
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

DType parse_dtype(const std::string& name, const Json& json) {
  require(json.is_string(), name, "its dtype is not a text");
  const auto& dtype = json.get_ref<const std::string&>();
  if (dtype == f32_name) return DType::f32;
  if (dtype == i64_name) return DType::i64;
  throw Error(Errc::unsupported, "tensor " + quoted_name(name) +
                                     ": expected dtype F32 or I64, got " + quoted_name(dtype));
}

std::vector<std::uint64_t> parse_numbers(const std::string& name, const Json& json) {
  require(json.is_array(), name, "its shape or offsets are not a list");
  std::vector<std::uint64_t> numbers;
  for (const Json& number : json) {
    require(number.is_number_unsigned(), name, "a number in its shape or offsets is not a size");
    numbers.push_back(number.get<std::uint64_t>());
  }
  return numbers;
}

Shape parse_shape(const std::string& name, const Json& json) {
  std::vector<std::int64_t> dims;
  for (const std::uint64_t size : parse_numbers(name, json)) {
    require(size <= INT64_MAX, name, "its shape is too large");
    dims.push_back(static_cast<std::int64_t>(size));
  }
  try {
    return Shape(dims);
  } catch (const Error&) {
    corrupt("tensor " + quoted_name(name) + ": its shape is too large");
  }
}

WeightsEntry parse_entry(const std::string& name, const Json& json, std::uint64_t data_bytes) {
  require(json.is_object() && json.size() == 3 && json.contains("dtype") &&
              json.contains("shape") && json.contains("data_offsets"),
          name, "expected dtype, shape and data_offsets");
  const DType dtype = parse_dtype(name, json["dtype"]);
  const Shape shape = parse_shape(name, json["shape"]);
  const auto offsets = parse_numbers(name, json["data_offsets"]);
  require(offsets.size() == 2 && offsets[0] <= offsets[1], name,
          "its data_offsets are no begin and end");
  const std::uint64_t begin = offsets[0], end = offsets[1];
  require(end <= data_bytes, name, "its data_offsets end behind the end of the file");
  require(begin % size_of(dtype) == 0, name, "its data_offsets are misaligned");
  const std::uint64_t bytes = end - begin;
  require(bytes % size_of(dtype) == 0 &&
              bytes / size_of(dtype) == static_cast<std::uint64_t>(shape.elements()),
          name, "its shape does not fit its data_offsets");
  return {name, dtype, shape, begin, end};
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

}  // namespace

WeightsHeader parse_weights_header(std::string_view text, std::uint64_t data_bytes) {
  const Json json = parse(text);
  if (!json.is_object()) corrupt("header: not a JSON object");
  WeightsHeader header;
  for (const auto& [name, value] : json.items())
    if (name == metadata_key)
      header.metadata = parse_metadata(value);
    else
      header.entries.push_back(parse_entry(name, value, data_bytes));
  std::ranges::stable_sort(header.entries, {}, [](const WeightsEntry& entry) {
    return std::tuple(entry.begin, entry.end);
  });
  require_exact_cover(header.entries, data_bytes);
  return header;
}

std::string to_json(const WeightsHeader& header) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json[std::string(metadata_key)] = header.metadata;
  for (const WeightsEntry& entry : header.entries)
    json[entry.name] = {{"dtype", entry.dtype == DType::f32 ? f32_name : i64_name},
                        {"shape", std::vector(entry.shape.begin(), entry.shape.end())},
                        {"data_offsets", {entry.begin, entry.end}}};
  try {
    return json.dump();
  } catch (const Json::type_error&) {
    throw Error(Errc::invalid_argument, "a name or the metadata is not valid UTF-8");
  }
}

std::string quoted_name(std::string_view name) {
  constexpr std::size_t limit = 100;
  std::string text(name.substr(0, limit));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return "\"" + text + (name.size() > limit ? "...\"" : "\"");
}

}  // namespace penstock
