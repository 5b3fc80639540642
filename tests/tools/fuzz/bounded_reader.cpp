#include "tests/tools/fuzz/bounded_reader.hpp"

#include <memory>
#include <stdexcept>

#include "tests/support/allocation_counter.hpp"
#include "tests/support/malloc_counter.hpp"
#include "tests/tools/fuzz/memory_file.hpp"

namespace penstock::testing {

FuzzedReader of_a_file(FuzzedReader reader) {
  const auto file = std::make_shared<MemoryFile>();
  reader.read = [file, read = reader.read](const std::string& bytes) {
    file->write(bytes);
    read(file->path());
  };
  return reader;
}

FuzzedReader bounded(FuzzedReader reader, std::uint64_t bytes_per_byte, std::uint64_t fixed_bytes) {
  reader.read = [bytes_per_byte, fixed_bytes, read = reader.read](const std::string& bytes) {
    const std::uint64_t limit = fixed_bytes + bytes_per_byte * bytes.size();
    const std::uint64_t before = malloc_bytes();
    take_most_block_bytes();
    const auto check = [&] {
      const std::uint64_t taken =
          malloc_bytes() - before + static_cast<std::uint64_t>(take_most_block_bytes());
      if (taken > limit)
        throw std::runtime_error(std::to_string(taken) + " bytes were asked for, for " +
                                 std::to_string(bytes.size()) + " of an input");
    };
    try {
      read(bytes);
    } catch (const std::exception&) {
      check();
      throw;
    }
    check();
  };
  return reader;
}

}  // namespace penstock::testing
