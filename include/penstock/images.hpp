// These functions read images: one from a file, or a dataset of a folder that has a folder of
// images for each class. A reader trusts nothing in a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "penstock/dataset.hpp"
#include "penstock/transforms.hpp"

namespace penstock {

/// An ImageColor says which channels an image gets, whatever it has in its file.
enum class ImageColor : std::uint8_t {
  rgb,   ///< Red, green and blue; alpha is dropped, as by Pillow's convert("RGB").
  gray,  ///< One channel, which is made of colors as by Pillow's convert("L").
  /// Red, green, blue and alpha, which is 255 if the file has none, and is resized as a color is.
  rgba,
};

/// ImageOptions say how images are decoded.
struct ImageOptions {
  ImageColor color = ImageColor::rgb;  ///< `color` says which channels an image gets.
  /// `exif_turn` says whether an image is turned upright as its EXIF data say, which cameras write.
  bool exif_turn = true;
  /// An image of more pixels is refused before it is decoded, which takes up to 20 bytes of memory
  /// for each pixel.
  std::int64_t most_pixels = std::int64_t{1} << 26;
};

/// Returns the image of a PNG or JPEG file, u8 [channels,rows,columns]. Samples of 16 bits lose
/// their lower byte, and the colors of a palette are looked up. The format is recognized by the
/// first bytes and not by the file's name.
/// @throws Error io_error if the file cannot be read; corrupt_file if it is neither PNG nor JPEG,
/// or if it is damaged or incomplete so that pixels cannot be read; invalid_data if it has too many
/// pixels; unsupported if Penstock was built without the library for the format; out_of_memory. The
/// text names the file. Because a JPEG file has no checksums, damage that reads as other pixels is
/// not noticed in one. Of a progressive image, the scans that a file has are read, though later
/// ones that would make the image sharp may be missing, and bytes between the parts of a JPEG file
/// that belong to none of them are passed over, as Pillow does it.
/// @throws Error invalid_argument if `most_pixels` is not 1 or more.
Tensor load_image(const std::string& path, const ImageOptions& options = {});

/// A ResizedCenterCrop is a view of the middle of an image: the image is resized so that its
/// shorter side has a given length, and cut to a window of `rows` times `columns` pixels. It is
/// what torchvision's Resize(shorter_side) and CenterCrop([rows, columns]) make.
struct ResizedCenterCrop {
  std::int64_t rows = 224;          ///< The result has this many rows.
  std::int64_t columns = 224;       ///< The result has this many columns.
  std::int64_t shorter_side = 256;  ///< This is no less than `rows` and `columns`.
};

/// BrokenImages say what read_image_folder() does about images that cannot be decoded.
enum class BrokenImages : std::uint8_t {
  refused,  ///< Nothing is decoded ahead. Whoever reads such a sample gets the error.
  skipped,  ///< Every image is decoded once ahead, and the dataset has no broken one.
};

/// ImageFolderOptions say how read_image_folder() reads a folder.
struct ImageFolderOptions {
  /// Images have many sizes, and samples have one: `size` says how an image is brought to it.
  std::variant<ResizedCenterCrop, Resize, RandomResizedCrop> size = ResizedCenterCrop{};
  ImageOptions images = {};                     ///< `images` says how images are decoded.
  BrokenImages broken = BrokenImages::refused;  ///< `broken` says what is done about broken ones.
};

/// An ImageFolder is a dataset of images, with what is known about it.
struct ImageFolder {
  std::shared_ptr<const Dataset> dataset = {};  ///< `dataset` has the images and their labels.
  std::vector<std::string> classes = {};        ///< The class of label i is called `classes`[i].
  std::vector<std::string> files = {};          ///< Sample i is read from the file `files`[i].
  /// `skipped` names each broken image that was left out, and says why.
  std::vector<std::string> skipped = {};
};

/// Reads a folder as torchvision's ImageFolder does: every folder in `directory` is a class, in the
/// order of their names, and every file in it or in a folder below it whose name ends with .png,
/// .jpg or .jpeg, in small or capital letters, is a sample. Links are followed. The files are read
/// whenever their samples are, and no image is kept. The fields of a sample are image, f32
/// [channels,rows,columns], and label, i64 [].
/// @throws Error io_error if there is no such directory; invalid_data if it has no folders, or if
/// one of them has no image, or none that is not broken; invalid_argument for options that make no
/// sense; unsupported if broken images are to be skipped, and Penstock was built without the
/// library for one of the files, which is otherwise said when the sample is read; out_of_memory.
ImageFolder read_image_folder(const std::string& directory, const Normalization& normalization,
                              const ImageFolderOptions& options = {});
/// Reads a folder as the other read_image_folder() does, except that the image is u8; see as_bytes.
/// @throws Error as the other function.
ImageFolder read_image_folder(const std::string& directory, AsBytes,
                              const ImageFolderOptions& options = {});

}  // namespace penstock
