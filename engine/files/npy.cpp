#include "penstock/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "engine/files/element_type.hpp"
#include "engine/files/input_file.hpp"
#include "engine/files/npy_header.hpp"
#include "graph/values/element_type.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"

namespace penstock {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

constexpr std::string_view npy_magic = "\x93NUMPY";
// A header of eight dimensions has less than 300 bytes. NumPy itself refuses more than 10,000.
constexpr std::uint32_t most_header_bytes = 10'000;
constexpr std::size_t npy_alignment = 64;

/// A NumberConversion converts the elements of a file, of which there are as many as `to` has room
/// for. The function returns the first number that the elements of `to` cannot hold, as text.
using NumberConversion = std::optional<std::string> (*)(std::span<const std::byte> from,
                                                        std::span<std::byte> to);

template <ElementType type>
std::optional<std::string> to_f32(std::span<const std::byte> from, std::span<std::byte> to) {
  const std::span numbers(reinterpret_cast<float*>(to.data()), to.size() / sizeof(float));
  const auto refused = convert(type, from, numbers);
  return refused ? std::optional(number_text(*refused)) : std::nullopt;
}

template <class From, class To>
std::optional<std::string> widened(std::span<const std::byte> from, std::span<std::byte> to) {
  for (std::size_t i = 0; i < to.size() / sizeof(To); ++i) {
    From number;
    std::memcpy(&number, from.data() + i * sizeof number, sizeof number);
    if constexpr (sizeof(From) == sizeof(To))
      if (number > From{std::numeric_limits<To>::max()}) return std::to_string(number);
    const auto wide = static_cast<To>(number);
    std::memcpy(to.data() + i * sizeof wide, &wide, sizeof wide);
  }
  return std::nullopt;
}

/// An NpyType says how the elements of one type of NumPy's are read.
struct NpyType {
  std::string_view name;  ///< `name` is NumPy's name without the sign for the order of bytes.
  std::size_t bytes;
  DType dtype;               ///< `dtype` is the type of the elements once they were read.
  NumberConversion convert;  ///< `convert` is null if the elements are taken as they are.
};

constexpr NpyType npy_types[] = {
    {"f4", 4, DType::f32, nullptr},
    {"i8", 8, DType::i64, nullptr},
    {"i4", 4, DType::i32, nullptr},
    {"u1", 1, DType::u8, nullptr},
    {"b1", 1, DType::boolean, nullptr},
    {"f2", 2, DType::f32, to_f32<ElementType::f16>},
    {"f8", 8, DType::f32, to_f32<ElementType::f64>},
    {"i1", 1, DType::i32, widened<std::int8_t, std::int32_t>},
    {"i2", 2, DType::i32, widened<std::int16_t, std::int32_t>},
    {"u2", 2, DType::i32, widened<std::uint16_t, std::int32_t>},
    {"u4", 4, DType::i64, widened<std::uint32_t, std::int64_t>},
    {"u8", 8, DType::i64, widened<std::uint64_t, std::int64_t>},
};

const NpyType& npy_type_called(const std::string& name) {
  // A type of one byte has no order of bytes, for which the sign is "|".
  const auto has_name = [&](const NpyType& type) {
    return name == '<' + std::string(type.name) ||
           (type.bytes == 1 && name == '|' + std::string(type.name));
  };
  const auto* const type = std::ranges::find_if(npy_types, has_name);
  if (type != std::end(npy_types)) return *type;
  throw Error(Errc::unsupported,
              "expected elements of " +
                  joined(npy_types, [](const NpyType& t) { return '<' + std::string(t.name); }) +
                  ", got " + quoted_name(name));
}

/// An NpyReader reads one file from front to back.
class NpyReader {
 public:
  NpyReader(const std::string& path, const std::string& name) : file_(path, name) {}

  Tensor read() {
    const NpyHeader header = parse_npy_header(read_header());
    const NpyType& type = npy_type_called(header.type);
    const Shape shape = checked_shape(header, type);
    const auto elements = static_cast<std::size_t>(shape.elements());
    const auto block = allocate_block(elements * size_of(type.dtype));
    read_elements(type, {block.get(), elements * size_of(type.dtype)});
    const Tensor tensor = Tensor::wrap(type.dtype, shape, block);
    return header.fortran_order ? in_c_order(tensor) : tensor;
  }

 private:
  [[noreturn]] static void refuse_file(const std::string& text) {
    throw Error(Errc::corrupt_file, text);
  }

  void read_exactly(std::span<std::byte> destination) {
    if (file_.read(destination) != destination.size())
      refuse_file("truncated: the file ends early");
    taken_ += destination.size();
  }

  std::string read_header() {
    std::array<unsigned char, 8> start{};
    read_exactly(std::as_writable_bytes(std::span(start)));
    if (std::memcmp(start.data(), npy_magic.data(), npy_magic.size()) != 0)
      refuse_file("expected a file of numpy.save(), which begins with \\x93NUMPY");
    const int version = start[6];
    if (version < 1 || version > 3)
      throw Error(Errc::unsupported,
                  "expected format version 1, 2 or 3, got " + std::to_string(version));
    std::uint32_t size = 0;
    read_exactly(std::as_writable_bytes(std::span(&size, 1)).first(version == 1 ? 2 : 4));
    if (size > most_header_bytes)
      refuse_file("expected a header of at most " + std::to_string(most_header_bytes) +
                  " bytes, got " + std::to_string(size));
    std::string text(size, '\0');
    read_exactly(std::as_writable_bytes(std::span(text)));
    return text;
  }

  /// Returns the shape of the array, which has exactly the bytes that are left of the file.
  Shape checked_shape(const NpyHeader& header, const NpyType& type) const {
    if (header.dims.size() > Shape::max_rank)
      throw Error(Errc::unsupported, "expected at most " + std::to_string(Shape::max_rank) +
                                         " dimensions, got " + std::to_string(header.dims.size()));
    const std::uint64_t bytes = file_.bytes() - std::min(file_.bytes(), taken_);
    const Shape shape = shape_of(header);
    const std::uint64_t needed = static_cast<std::uint64_t>(shape.elements()) * type.bytes;
    if (needed != bytes)
      refuse_file((needed > bytes ? "truncated: " : "") + to_string(shape) + " has " +
                  std::to_string(needed) + " bytes, but " + std::to_string(bytes) +
                  " follow the header");
    return shape;
  }

  static Shape shape_of(const NpyHeader& header) {
    try {
      return Shape(std::span<const std::int64_t>(header.dims));
    } catch (const Error& error) {
      refuse_file(error.what());
    }
  }

  void read_elements(const NpyType& type, std::span<std::byte> elements) {
    if (type.convert) return read_converted_elements(type, elements);
    read_exactly(elements);
    if (type.dtype != DType::boolean) return;
    if (const auto text = untruth_text(elements)) refuse_file(*text);
  }

  /// Reads and converts the elements in pieces, so that not all of them are in memory twice.
  void read_converted_elements(const NpyType& type, std::span<std::byte> elements) {
    constexpr std::size_t at_once = std::size_t{1} << 16;
    const std::size_t size = size_of(type.dtype);
    std::vector<std::byte> buffer(std::min(elements.size() / size, at_once) * type.bytes);
    while (!elements.empty()) {
      const std::size_t count = std::min(elements.size() / size, at_once);
      const std::span<std::byte> piece = std::span(buffer).first(count * type.bytes);
      read_exactly(piece);
      if (const auto refused = type.convert(piece, elements.first(count * size)))
        throw Error(Errc::unsupported, "expected numbers that " +
                                           std::string(to_string(type.dtype)) + " can hold, got " +
                                           *refused);
      elements = elements.subspan(count * size);
    }
  }

  /// Returns the tensor of the shape of `fortran` whose elements in Fortran order are those of
  /// `fortran` in C order.
  static Tensor in_c_order(const Tensor& fortran) {
    const Shape& shape = fortran.shape();
    if (shape.rank() < 2 || shape.elements() == 0) return fortran;
    const auto block = allocate_block(fortran.bytes());
    with_element_type(fortran.dtype(), [&]<class T>() {
      const T* const from = reinterpret_cast<const T*>(fortran.raw());
      T* to = reinterpret_cast<T*>(block.get());
      std::array<std::int64_t, Shape::max_rank> index{}, stride{};
      for (std::size_t axis = 0, step = 1; axis < shape.rank(); ++axis) {
        stride[axis] = static_cast<std::int64_t>(step);
        step *= static_cast<std::size_t>(shape.dims()[axis]);
      }
      std::int64_t place = 0;
      for (std::int64_t i = 0; i < shape.elements(); ++i) {
        *to++ = from[place];
        for (std::size_t axis = shape.rank(); axis-- > 0;) {
          place += stride[axis];
          if (++index[axis] < shape.dims()[axis]) break;
          place -= stride[axis] * index[axis];
          index[axis] = 0;
        }
      }
    });
    return Tensor::wrap(fortran.dtype(), shape, block);
  }

  InputFile file_;
  std::uint64_t taken_ = 0;  ///< This many bytes of the file were read.
};

std::string npy_type_of(DType dtype) {
  // The types of tensors come first in the table, each as it is.
  const auto* const type = std::ranges::find(npy_types, dtype, &NpyType::dtype);
  return (type->bytes == 1 ? '|' : '<') + std::string(type->name);
}

/// Returns everything of a file of version 1 that stands before the elements of `tensor`.
std::string npy_start(const Tensor& tensor) {
  const NpyHeader header{.type = npy_type_of(tensor.dtype()),
                         .dims = {tensor.shape().begin(), tensor.shape().end()}};
  std::string text = to_text(header);
  const std::size_t before = npy_magic.size() + 4;  // These are the magic, the version, the size.
  const std::size_t length = before + text.size() + 1;
  text.append((npy_alignment - length % npy_alignment) % npy_alignment, ' ');
  text += '\n';
  const auto size = static_cast<std::uint16_t>(text.size());
  std::string start(npy_magic);
  start += {'\1', '\0', static_cast<char>(size & 0xff), static_cast<char>(size >> 8)};
  return start + text;
}

}  // namespace

Tensor load_npy(const std::string& path) {
  return on_hosts_thread("load_npy", [&] {
    const std::string name = "NumPy file \"" + printable(path) + '"';
    NpyReader reader(path, name);
    try {
      return reader.read();
    } catch (const Error& error) {
      const std::string text = error.what();
      throw Error(error.code(), text.starts_with(name) ? text : name + ": " + text);
    }
  });
}

void save_npy(const std::string& path, const Tensor& tensor) {
  on_hosts_thread("save_npy", [&] {
    if (!tensor)
      throw Error(Errc::invalid_argument, "save_npy: expected elements, got an empty tensor");
    OutputFile file(path);
    file.write(npy_start(tensor));
    file.write({tensor.raw(), tensor.bytes()});
    file.commit();
  });
}

}  // namespace penstock
