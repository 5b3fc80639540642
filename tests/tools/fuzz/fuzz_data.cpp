// This program fuzzes the readers of files of data, and checks how much memory they ask for. The
// test suite runs it for a short time; a long run is
//
//   build-test/tests/tools/fuzz/fuzz_data --seconds 600 [--seed S] [READER...]
//
// where --seconds is the time for each reader. The readers are npy, csv, csv_classes, wav and, if
// Penstock is built with libpng and libjpeg, png and jpeg.
#include <memory>
#include <stdexcept>

#include "penstock/csv.hpp"
#include "penstock/error.hpp"
#include "penstock/images.hpp"
#include "penstock/npy.hpp"
#include "penstock/wav.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/drawn_images.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/fuzz/fuzzer.hpp"
#include "tests/tools/fuzz/memory_file.hpp"

namespace penstock::testing {
namespace {

/// A reader may ask for this much memory beside what grows with the file.
constexpr std::uint64_t fixed_bytes = std::uint64_t{8} << 20;

/// Returns a reader that writes its input to a file and calls `read` with the file's path. It is a
/// defect if that call asks for more than `fixed_bytes` and `bytes_per_byte` bytes for each byte of
/// the file.
FuzzedReader bounded(const std::string& name, std::vector<std::string> seeds,
                     std::vector<std::string> words, std::uint64_t bytes_per_byte,
                     const std::function<void(const std::string&)>& read) {
  const auto file = std::make_shared<MemoryFile>();
  return {name, std::move(seeds), std::move(words), [=](const std::string& bytes) {
            file->write(bytes);
            const std::uint64_t limit = fixed_bytes + bytes_per_byte * bytes.size();
            const std::uint64_t before = heap_bytes();
            take_most_block_bytes();
            const auto check = [&] {
              const std::uint64_t taken =
                  heap_bytes() - before + static_cast<std::uint64_t>(take_most_block_bytes());
              if (taken > limit)
                throw std::runtime_error(std::to_string(taken) + " bytes were asked for, for " +
                                         std::to_string(bytes.size()) + " of a file");
            };
            try {
              read(file->path());
            } catch (const std::exception&) {
              check();
              throw;
            }
            check();
          }};
}

std::string npy_bytes(const Tensor& tensor) {
  const TemporaryDirectory directory;
  save_npy(directory / "a.npy", tensor);
  return file_content(directory / "a.npy");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

FuzzedReader npy() {
  const std::string of_f32 = npy_bytes(Tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  return bounded(
      "npy",
      {of_f32, npy_bytes(Tensor::zeros(DType::i64, {4})),
       npy_bytes(Tensor::zeros(DType::boolean, {1, 2, 1, 3})), replaced(of_f32, "False", "True "),
       replaced(npy_bytes(Tensor::zeros(DType::i64, {5})), "i8", "f8"),
       replaced(npy_bytes(Tensor::zeros(DType::u8, {5})), "u1", "i1")},
      {"<f2", "<u8", "<i2", ">f4", "True", "False", "(", ")", "9223372036854775807, 9",
       "4294967296, 4294967296", "0, ", "-1", "'", "}", "shape", "descr"},
      32, [](const std::string& path) { load_npy(path); });
}

FuzzedReader csv(const std::string& name, const std::string& text, const CsvOptions& options) {
  return bounded(name, {text, "\xEF\xBB\xBF" + text, replaced(text, "\n", "\r\n")},
                 {",", "\"", "\"\"", "\n", "\r\n", ",,,,,,,,", "1e999", "nan", "-", "+", "0x1", ""},
                 256, [options](const std::string& path) { read_csv(path, options); });
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
  return bounded("wav", {wav_bytes(1, 16, "12345678"), wav_bytes(3, 32, "12345678")},
                 {"fmt ", "data", "LIST", std::string("\xfe\xff", 2), std::string("\3\0", 2)}, 16,
                 [](const std::string& path) { load_wav(path); });
}

/// Returns the bytes of the drawn images whose names end with `ending`.
std::vector<std::string> drawn_files(const std::string& ending) {
  const DrawnImages images;
  std::vector<std::string> files;
  for (const NamedTensor& named : images.all())
    if (named.name.ends_with(ending)) files.push_back(images.bytes(named.name));
  return files;
}

/// Returns a reader of images. The number of pixels is limited, and not the size of the file: the
/// largest image takes less than `fixed_bytes`.
FuzzedReader images(const std::string& name, const std::string& ending,
                    std::vector<std::string> words) {
  return bounded(name, drawn_files(ending), std::move(words), 16, [](const std::string& path) {
    load_image(path, {.color = ImageColor::rgba, .most_pixels = std::int64_t{1} << 18});
  });
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

std::vector<FuzzedReader> data_readers() {
  std::vector<FuzzedReader> readers{
      npy(),
      csv("csv", "a,b,c\n1,-2.5,\"3\"\n4,5e3, 6\n", {.label = "b", .label_dtype = DType::f32}),
      csv("csv_classes", "a;y\n1;dog\n2;\"cat\"\n3;dog\n",
          {.label = "y", .classes = {"cat", "dog"}, .separator = ';'}),
      wav()};
  if (is_supported("rgb.png"))
    readers.push_back(
        images("png", ".png",
               {"IHDR", "PLTE", "tRNS", "IDAT", "IEND", "eXIf", "zTXt", "iCCP", "acTL", "gAMA"}));
  if (is_supported("rgb.jpg"))
    readers.push_back(images("jpeg", ".jpg",
                             {"\xff\xc0", "\xff\xc2", "\xff\xc4", "\xff\xda", "\xff\xd9",
                              "\xff\xdd", "\xff\xe1", "Exif", "Adobe"}));
  return readers;
}

}  // namespace
}  // namespace penstock::testing

int main(int argc, char** argv) {
  return penstock::testing::fuzz(penstock::testing::data_readers(), argc, argv);
}
