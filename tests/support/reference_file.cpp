#include "tests/support/reference_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

namespace penstock::testing {
namespace {

using Json = nlohmann::json;

std::vector<char> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
Tensor copied(const Shape& shape, const char* bytes) {
  std::vector<T> elements(static_cast<std::size_t>(shape.elements()));
  std::memcpy(elements.data(), bytes, elements.size() * sizeof(T));
  return {shape, std::span<const T>(elements)};
}

Tensor read_tensor(const Json& entry, const std::vector<char>& bytes, std::size_t data_begin) {
  const Shape shape(entry.at("shape").get<std::vector<std::int64_t>>());
  const std::string dtype = entry.at("dtype");
  const std::size_t begin = data_begin + entry.at("data_offsets").at(0).get<std::size_t>();
  const std::size_t size = static_cast<std::size_t>(shape.elements()) * (dtype == "F32" ? 4 : 8);
  if (begin + size > bytes.size()) throw std::runtime_error("a tensor ends past the file's end");
  if (dtype == "F32") return copied<float>(shape, bytes.data() + begin);
  if (dtype == "I64") return copied<std::int64_t>(shape, bytes.data() + begin);
  throw std::runtime_error("no reference file has elements of type " + dtype);
}

}  // namespace

ReferenceFile read_reference(const std::filesystem::path& path) {
  const std::vector<char> bytes = read_bytes(path);
  std::uint64_t header_size = 0;
  if (bytes.size() < sizeof header_size) throw std::runtime_error(path.string() + " is too short");
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  if (header_size > bytes.size() - sizeof header_size)
    throw std::runtime_error(path.string() + ": the header ends past the file's end");
  const std::size_t data_begin = sizeof header_size + header_size;
  ReferenceFile file;
  const Json header = Json::parse(bytes.begin() + sizeof header_size,
                                  bytes.begin() + static_cast<long>(data_begin));
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__")
      file.metadata = entry.get<std::map<std::string, std::string>>();
    else
      file.tensors.emplace(name, read_tensor(entry, bytes, data_begin));
  }
  return file;
}

double relative_difference(const Tensor& actual, const Tensor& expected) {
  double largest = 0, most = 0;
  for (std::size_t i = 0; i < expected.as<float>().size(); ++i) {
    const double should_be = expected.as<float>()[i];
    const double error = std::abs(actual.as<float>()[i] - should_be);
    largest = std::max(largest, std::abs(should_be));
    most = std::isnan(error) ? HUGE_VAL : std::max(most, error);
  }
  return most / largest;
}

}  // namespace penstock::testing
