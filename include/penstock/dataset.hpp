// A Dataset has numbered samples. This header has its interface, and Penstock's readers and
// generators.
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

/// A Field describes one tensor of a sample, such as {"image", f32, [1,28,28]} or {"label", i64,
/// []}.
struct Field {
  /// `name` is the name of the field. If it is that of an input of a model, fit(), evaluate() and
  /// predict() give the field to that input; a field without a name is known by its place alone.
  std::string name;
  DType dtype = DType::f32;  ///< `dtype` is the type of the field's elements.
  /// `shape` is the shape of one sample's tensor. A batch's tensor has one dimension more, in
  /// front.
  Shape shape = {};
};

/// A SampleRequest says which sample a dataset is to read. A dataset whose samples are the same in
/// every epoch and are there at once needs only `index`; a dataset that wraps another one passes
/// the whole request on.
struct SampleRequest {
  std::int64_t index = 0;   ///< `index` is the number of the sample, from 0 to size() - 1.
  std::uint64_t epoch = 0;  ///< `epoch` is the number of the epoch; a loader's first epoch is 0.
  /// `stop` is requested when nobody wants the sample any more, because the loader is being closed
  /// or has begun another epoch. A read that can block for long waits for this token, too, and
  /// returns or throws once it is requested; nobody looks at what such a read has written or
  /// thrown. Callbacks that are registered with the token run on the thread that closes the loader
  /// or begins the epoch, which waits for them without a limit.
  std::stop_token stop = {};
};

/// A Dataset has samples that are numbered from 0. A loader calls `read` from several threads of
/// its own at once, and the other functions on the thread that makes the loader.
class Dataset {
 public:
  virtual ~Dataset() = default;
  /// Returns the number of samples, which never changes.
  virtual std::int64_t size() const = 0;
  /// Returns the fields of a sample, in the order in which a batch has them.
  virtual const std::vector<Field>& fields() const = 0;
  /// Writes all elements of the requested sample to `destinations`, which has one pointer per
  /// field. If the function throws, the loader's caller gets Error invalid_data with the
  /// exception's text; for std::bad_alloc and Error out_of_memory the caller gets Error
  /// out_of_memory.
  virtual void read(const SampleRequest& request,
                    std::span<std::byte* const> destinations) const = 0;
};

/// A Normalization has the constants of a formula that normalizes a pixel x, from 0 to 255: (x/255
/// - mean) / std.
struct Normalization {
  double mean = 0;  ///< `mean` is subtracted from x/255.
  double std = 1;   ///< The difference is divided by `std`.
};

/// AsBytes is the type of as_bytes.
struct AsBytes {
  /// Makes as_bytes. No `{}` makes one, so that `{}` still means a Normalization.
  explicit constexpr AsBytes(int) {}
};
/// as_bytes, in place of a Normalization, says that images are handed out as the bytes that they
/// are, u8 from 0 to 255. A batch of them takes a quarter of the memory, and
/// TensorFunctions::to_float() makes numbers of them in the model.
inline constexpr AsBytes as_bytes{0};

/// A Split says which of a dataset's two sets of samples is meant.
enum class Split : std::uint8_t { train, test };

/// Reads images and labels in the IDX format of MNIST, gzipped or plain. The fields are image, f32
/// [1,rows,columns], and label, i64 []. Samples are kept as bytes and normalized when they are
/// read.
/// @throws Error io_error; corrupt_file for a wrong magic number, length or count; invalid_data for
/// a label of `classes` or more, or for images whose shape is not `expected_image`, which is
/// checked before the images are read. The error's text is one line that names the file. A header's
/// claims alone never make the reader allocate memory.
/// @throws Error invalid_argument for a normalization or a number of classes that is out of range;
/// out_of_memory.
std::shared_ptr<const Dataset> read_idx(const std::string& images, const std::string& labels,
                                        const Normalization& normalization, int classes = 10,
                                        const std::optional<Shape>& expected_image = {});
/// Reads the two files that idx_files() returns for `directory`.
/// @throws Error as read_idx() of two files, and as idx_files().
std::shared_ptr<const Dataset> read_idx(const std::string& directory, Split split,
                                        const Normalization& normalization, int classes = 10,
                                        const std::optional<Shape>& expected_image = {});
/// Reads two files as the first read_idx() does, except that the image is u8 [1,rows,columns]; see
/// as_bytes. @throws Error as the first read_idx().
std::shared_ptr<const Dataset> read_idx(const std::string& images, const std::string& labels,
                                        AsBytes, int classes = 10,
                                        const std::optional<Shape>& expected_image = {});
/// Reads the two files that idx_files() returns for `directory`, with images as bytes.
/// @throws Error as read_idx() of two files, and as idx_files().
std::shared_ptr<const Dataset> read_idx(const std::string& directory, Split split, AsBytes,
                                        int classes = 10,
                                        const std::optional<Shape>& expected_image = {});
/// Returns the paths of the two files that read_idx() reads from `directory`: first the images,
/// then the labels. @throws Error io_error if one of them is missing.
std::vector<std::string> idx_files(const std::string& directory, Split split);

/// Reads images and labels in the binary format of CIFAR-10, gzipped or plain. A record has one
/// byte for the label and 3x32x32 bytes for red, green and blue. The fields are image, f32
/// [3,32,32], which is x/255, and label, i64 []. Samples follow each other in the order of `files`,
/// and are kept as bytes.
/// @throws Error io_error; corrupt_file if a record is incomplete, or a file has no record or more
/// than 100,000; invalid_data for a label of 10 or more. The error's text is one line that names
/// the file.
/// @throws Error invalid_argument if there are no files; out_of_memory.
std::shared_ptr<const Dataset> read_cifar10(const std::vector<std::string>& files);
/// Reads the files that cifar10_files() returns for `directory`.
/// @throws Error as read_cifar10() of a list of files, and as cifar10_files().
std::shared_ptr<const Dataset> read_cifar10(const std::string& directory, Split split);
/// Reads files as the first read_cifar10() does, except that the image is u8 [3,32,32]; see
/// as_bytes. @throws Error as the first read_cifar10().
std::shared_ptr<const Dataset> read_cifar10(const std::vector<std::string>& files, AsBytes);
/// Reads the files that cifar10_files() returns for `directory`, with images as bytes.
/// @throws Error as read_cifar10() of a list of files, and as cifar10_files().
std::shared_ptr<const Dataset> read_cifar10(const std::string& directory, Split split, AsBytes);
/// Returns the paths of the files that read_cifar10() reads from `directory`, with or without .gz:
/// test_batch.bin for the test split, and data_batch_1.bin up to data_batch_5.bin, as many as
/// exist, for the training split. @throws Error io_error if the first file is missing, or one
/// between two that exist.
std::vector<std::string> cifar10_files(const std::string& directory, Split split);

/// Returns `count` generated images that look like handwritten digits, 28x28, of ten classes, with
/// the same fields as read_idx() gives. No file is needed, and a small network reaches 99 %
/// accuracy in a hundred updates. Sample i depends on `seed` and i alone. @throws Error
/// invalid_argument as read_idx() does.
std::shared_ptr<const Dataset> synthetic_digits(std::int64_t count, std::uint64_t seed,
                                                const Normalization& normalization);

/// Returns the images of the other synthetic_digits() as bytes, u8 [1,28,28]; see as_bytes. @throws
/// Error as the other function.
std::shared_ptr<const Dataset> synthetic_digits(std::int64_t count, std::uint64_t seed, AsBytes);

/// Returns a dataset with one field per tensor, whose sample i is row i of each tensor. The fields
/// have no names. @throws Error shape_mismatch if the tensors do not have the same dimension 0;
/// invalid_data if there are no tensors.
std::shared_ptr<const Dataset> tensor_dataset(std::vector<Tensor> tensors);
/// Returns a dataset as the other tensor_dataset() does. Field i is called `names`[i]. @throws
/// Error as the other function; invalid_argument if there is not one name for each tensor, or if a
/// name is empty or there twice.
std::shared_ptr<const Dataset> tensor_dataset(std::vector<Tensor> tensors,
                                              std::vector<std::string> names);

/// Returns the first `count` samples of `dataset`. @throws Error invalid_data if `dataset` has
/// fewer.
std::shared_ptr<const Dataset> first_samples(std::shared_ptr<const Dataset> dataset,
                                             std::int64_t count);

}  // namespace penstock
