// This program fuzzes the readers of files of data, and checks how much memory they ask for. The
// test suite runs it for a short time; a long run is
//
//   build-test/tests/tools/fuzz/fuzz_data --seconds 600 [--seed S] [READER...]
//
// where --seconds is the time for each reader. The readers are npy, csv, csv_classes, wav,
// idx_images, idx_gzip, cifar10 and, if Penstock is built with libpng and libjpeg, png and jpeg.

#include "penstock/csv.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"
#include "penstock/images.hpp"
#include "penstock/npy.hpp"
#include "penstock/wav.hpp"
#include "tests/support/drawn_images.hpp"
#include "tests/support/idx_bytes.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/fuzz/bounded_reader.hpp"
#include "tests/tools/fuzz/memory_file.hpp"

namespace penstock::testing {
namespace {

/// A gzipped file holds at most this many bytes for each of its own, and a vector that grows to
/// hold them asks for three times as many in all.
constexpr std::uint64_t bytes_per_gzipped_byte = 3 * 1032 + 16;

/// Returns `reader`, whose `read` takes the path of a file, as one that takes the content of the
/// file, and that is bounded().
FuzzedReader bounded_file(FuzzedReader reader, std::uint64_t bytes_per_byte) {
  return bounded(of_a_file(std::move(reader)), bytes_per_byte);
}

std::string npy_bytes(const Tensor& tensor) {
  const TemporaryDirectory directory;
  save_npy(directory / "a.npy", tensor);
  return file_content(directory / "a.npy");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// Returns the header of a NumPy file of `shape`, such as "(2, 3)", without any data behind it.
std::string npy_header(const std::string& shape) {
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  text.resize((10 + text.size() + 64) / 64 * 64 - 11, ' ');
  text += '\n';
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) +
         static_cast<char>(text.size() >> 8) + text;
}

FuzzedReader npy() {
  const std::string of_f32 = npy_bytes(Tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  return bounded_file(
      {.name = "npy",
       .seeds = {of_f32, npy_bytes(Tensor::zeros(DType::i64, {4})),
                 npy_bytes(Tensor::zeros(DType::boolean, {1, 2, 1, 3})),
                 replaced(of_f32, "False", "True "),
                 replaced(npy_bytes(Tensor::zeros(DType::i64, {5})), "i8", "f8"),
                 replaced(npy_bytes(Tensor::zeros(DType::u8, {5})), "u1", "i1")},
       .words = {"<f2", "<u8", "<i2", ">f4", "True", "False", "(", ")", "9223372036854775807, 9",
                 "4294967296, 4294967296", "0, ", "-1", "'", "}", "shape", "descr"},
       .read = [](const std::string& path) { load_npy(path); },
       .hostile = {npy_header("(1000000000,)"), npy_header("(4294967296, 4294967296)"),
                   npy_header("(9223372036854775807, 3)"), npy_header("(0, 9223372036854775808)"),
                   npy_header("((((((((((1,),),),),),),),),),)"), npy_header("(-1,)"),
                   npy_header(std::string(3 * 60000, '9')), of_f32.substr(0, 70), of_f32 + "x"}},
      32);
}

FuzzedReader csv(const std::string& name, const std::string& text, const CsvOptions& options) {
  return bounded_file(
      {.name = name,
       .seeds = {text, "\xEF\xBB\xBF" + text, replaced(text, "\n", "\r\n")},
       .words = {",", "\"", "\"\"", "\n", "\r\n", ",,,,,,,,", "1e999", "1e-999", "nan", "-", "+",
                 "0x1", ""},
       .read = [options](const std::string& path) { read_csv(path, options); },
       .hostile = {text + "\"", text + std::string(70'000, ','), text + std::string(1000, '"'),
                   "\n", text + std::string(20'000, '9') + "e99999999999999999999"}},
      256);
}

std::string wav_bytes(int tag, int bits, const std::string& samples) {
  std::string format(16, '\0');
  format[0] = static_cast<char>(tag);
  format[2] = 1;
  format[4] = 8;
  format[12] = static_cast<char>(bits / 8);
  format[14] = static_cast<char>(bits);
  const std::string size{static_cast<char>(samples.size()), 0, 0, 0};
  return std::string("RIFF\xff\0\0\0WAVEfmt \x10\0\0\0", 20) + format + "data" + size + samples;
}

FuzzedReader wav() {
  const std::string plain = wav_bytes(1, 16, "12345678");
  return bounded_file(
      {.name = "wav",
       .seeds = {plain, wav_bytes(3, 32, "12345678")},
       .words = {"fmt ", "data", "LIST", std::string("\xfe\xff", 2), std::string("\3\0", 2)},
       .read = [](const std::string& path) { load_wav(path); },
       .hostile = {plain.substr(0, 40) + "\xff\xff\xff\xff", plain.substr(0, 36),
                   replaced(plain, "fmt ", "LIST"), wav_bytes(1, 0, "12345678")}},
      16);
}

void read_as_images(const std::string& path) {
  static MemoryFile labels;
  labels.write(idx_bytes({3}));
  read_idx(path, labels.path(), {});
}

std::string records(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i)
    bytes += static_cast<char>(i % 10) + std::string(3 * 32 * 32, static_cast<char>(i));
  return bytes;
}

/// Returns the bytes of the drawn images whose names end with `ending`.
std::vector<std::string> drawn_files(const std::string& ending) {
  const DrawnImages images;
  std::vector<std::string> files;
  for (const NamedTensor& named : images.all())
    if (named.name.ends_with(ending)) files.push_back(images.bytes(named.name));
  return files;
}

FuzzedReader idx(const std::string& name, std::vector<std::string> seeds) {
  const std::string zeros = std::string(std::size_t{4} << 20, '\0');
  return bounded_file(
      {.name = name,
       .seeds = std::move(seeds),
       .read = read_as_images,
       .hostile = {idx_header({3, 0xffffffff, 0xffffffff}), idx_header({0x80000000, 0x80000000, 4}),
                   idx_bytes({3, 4, 5}) + "x", gzipped(idx_header({3, 2000, 2000}) + zeros),
                   gzipped(idx_header({3, 1500, 1500}) + zeros),
                   gzipped(gzipped(idx_bytes({3, 4, 5})))}},
      bytes_per_gzipped_byte);
}

FuzzedReader cifar10() {
  return bounded_file(
      {.name = "cifar10",
       .seeds = {records(2), gzipped(records(3))},
       .read = [](const std::string& path) { read_cifar10({path}); },
       .hostile = {records(1) + "x", gzipped(std::string(std::size_t{4} << 20, '\0')),
                   std::string("\x1f\x8b"), ""}},
      bytes_per_gzipped_byte);
}

/// Returns a reader of images. The number of pixels is limited, and not the size of the file: the
/// largest image takes less than the 8 MiB that bounded() allows.
FuzzedReader images(const std::string& name, const std::string& ending,
                    std::vector<std::string> words, std::vector<std::string> hostile) {
  return bounded_file(
      {.name = name,
       .seeds = drawn_files(ending),
       .words = std::move(words),
       .read =
           [](const std::string& path) {
             load_image(path, {.color = ImageColor::rgba, .most_pixels = std::int64_t{1} << 18});
           },
       .hostile = std::move(hostile)},
      16);
}

/// Returns the image file `name` with the `size` that stands `behind` bytes after `mark`, and half
/// of the file.
std::vector<std::string> damaged(const std::string& name, const std::string& mark,
                                 std::size_t behind, const std::string& size) {
  const std::string whole = DrawnImages().bytes(name);
  std::string resized = whole;
  resized.replace(whole.find(mark) + behind, size.size(), size);
  return {resized, whole.substr(0, whole.size() / 2)};
}

/// Returns whether Penstock is built with the library that reads `file`.
bool is_supported(const std::string& file) try {
  const TemporaryDirectory directory;
  write_file(directory / "image", DrawnImages().bytes(file));
  load_image((directory / "image").string());
  return true;
} catch (const Error& error) {
  if (error.code() != Errc::unsupported) throw;
  return false;
}

}  // namespace

std::vector<FuzzedReader> fuzzed_readers() {
  const std::string plain = idx_bytes({3, 4, 5}, 'i'), packed = gzipped(plain);
  std::vector<FuzzedReader> readers{
      npy(),
      csv("csv", "a,b,c\n1,-2.5,\"3\"\n4,5e3, 6\n", {.label = "b", .label_dtype = DType::f32}),
      csv("csv_classes", "a;y\n1;dog\n2;\"cat\"\n3;dog\n",
          {.label = "y", .classes = {"cat", "dog"}, .separator = ';'}),
      wav(),
      idx("idx_images", {plain, packed}),
      idx("idx_gzip", {packed, gzipped(plain.substr(0, 30)) + gzipped(plain.substr(30))}),
      cifar10()};
  if (is_supported("rgb.png"))
    readers.push_back(
        images("png", ".png",
               {"IHDR", "PLTE", "tRNS", "IDAT", "IEND", "eXIf", "zTXt", "iCCP", "acTL", "gAMA"},
               damaged("rgb.png", "IHDR", 4, std::string("\x7f\xff\xff\xff\x7f\xff\xff\xff", 8))));
  if (is_supported("rgb.jpg"))
    readers.push_back(images("jpeg", ".jpg",
                             {"\xff\xc0", "\xff\xc2", "\xff\xc4", "\xff\xda", "\xff\xd9",
                              "\xff\xdd", "\xff\xe1", "Exif", "Adobe"},
                             damaged("rgb.jpg", "\xff\xc0", 5, "\xff\xff\xff\xff")));
  return readers;
}

}  // namespace penstock::testing
