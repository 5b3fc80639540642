// A Dataset has samples by number. Here are Penstock's readers and generators, and the interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/shape.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// Describes one tensor of a sample, e.g. {"image", f32, [1,28,28]} or {"label", i64, []}.
struct Field {
  std::string name;          ///< This is the field's name.
  DType dtype = DType::f32;  ///< This is the type of the field's elements.
  /// This is the shape of one sample's tensor; a batch has a dimension before it.
  Shape shape = {};
};

/// Names the sample that a dataset is to read. A dataset whose samples are the same in every epoch
/// and are there at once needs nothing but `index`; one that wraps another dataset passes the whole
/// request on.
struct SampleRequest {
  std::int64_t index = 0;   ///< 0 to size()-1
  std::uint64_t epoch = 0;  ///< a loader's first epoch has number 0
  /// Says when nobody wants the sample any more, because the loader is being closed or has begun
  /// another epoch. A read that can block for long waits for this too, and then returns or throws;
  /// nobody looks at what it has written or thrown. Callbacks that are registered with it run on
  /// the thread that closes the loader or begins the epoch, which waits for them without a limit.
  std::stop_token stop = {};
};

/// Samples numbered from 0. A loader calls `read` from several threads of its own at once, and
/// everything else on the thread that makes the loader.
class Dataset {
 public:
  virtual ~Dataset() = default;
  /// Returns the number of samples, which never changes.
  virtual std::int64_t size() const = 0;
  /// Returns the tensors of one sample, in the order in which a batch has them.
  virtual const std::vector<Field>& fields() const = 0;
  /// Writes every element of the requested sample to `destinations`, which has one pointer per
  /// field. An exception that it throws reaches the loader's caller as Error invalid_data with the
  /// exception's text; std::bad_alloc, or an Error out_of_memory, as Error out_of_memory.
  virtual void read(const SampleRequest& request,
                    std::span<std::byte* const> destinations) const = 0;
};

/// (x/255 - mean) / std
struct Normalization {
  double mean = 0;  ///< This is subtracted from a pixel of 0 to 1.
  double std = 1;   ///< The difference is divided by this.
};

enum class Split : std::uint8_t { train, test };

/// Images and labels in the IDX format of MNIST, gzipped or plain: fields image f32
/// [1,rows,columns] and label i64 []. Kept as bytes, normalised when read.
/// @throws Error io_error, corrupt_file (magic, length, counts), invalid_data (a label of `classes`
/// or more; images that are not of `expected_image`, which is told before they are read): one line
/// that names the file. Nothing is allocated for what a header merely claims. invalid_argument for
/// a normalization or number of classes that makes no sense; out_of_memory.
std::shared_ptr<const Dataset> read_idx(const std::string& images, const std::string& labels,
                                        const Normalization& normalization, int classes = 10,
                                        const std::optional<Shape>& expected_image = {});
/// Reads them from a directory with the usual names (train-images-idx3-ubyte, t10k-..., with or
/// without .gz).
std::shared_ptr<const Dataset> read_idx(const std::string& directory, Split split,
                                        const Normalization& normalization, int classes = 10,
                                        const std::optional<Shape>& expected_image = {});
/// Returns the files that it reads there: images, labels. @throws Error io_error if one is missing.
std::vector<std::string> idx_files(const std::string& directory, Split split);

/// Images and labels in CIFAR-10's binary format, gzipped or plain: records of a label's byte and
/// 3x32x32 bytes, red, green, blue. Fields image f32 [3,32,32] of x/255, and label i64 []. The
/// files' samples follow one another in the order given; they are kept as bytes.
/// @throws Error io_error, corrupt_file (a record breaks off, no records, more than 100,000 in one
/// file), invalid_data (a label of 10 or more): one line that names the file. invalid_argument if
/// there are no files; out_of_memory.
std::shared_ptr<const Dataset> read_cifar10(const std::vector<std::string>& files);
/// Reads them from a directory with the usual names (see cifar10_files()).
std::shared_ptr<const Dataset> read_cifar10(const std::string& directory, Split split);
/// Returns the files that it reads there, with or without .gz: test_batch.bin, or data_batch_1.bin
/// and those numbered after it, up to 5.
/// @throws Error io_error if the first is missing or there is a gap.
std::vector<std::string> cifar10_files(const std::string& directory, Split split);

/// `count` images like handwritten digits, 28x28, ten classes, all from `seed`: the same fields as
/// read_idx() gives. Needs no files; a small network reaches 99 % in a hundred updates. Sample i
/// depends on `seed` and i alone. @throws Error invalid_argument as read_idx() does
std::shared_ptr<const Dataset> synthetic_digits(std::int64_t count, std::uint64_t seed,
                                                const Normalization& normalization);

/// One field per tensor; sample i is row i of each. @throws Error shape_mismatch if they disagree
/// in dimension 0, invalid_data if there are none.
std::shared_ptr<const Dataset> tensor_dataset(std::vector<Tensor> tensors);

/// Has the first `count` samples of another dataset. @throws Error invalid_data if it has fewer.
std::shared_ptr<const Dataset> first_samples(std::shared_ptr<const Dataset> dataset,
                                             std::int64_t count);

}  // namespace penstock
