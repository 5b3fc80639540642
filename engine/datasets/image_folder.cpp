#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "engine/datasets/image_paths.hpp"
#include "engine/datasets/normalizer.hpp"
#include "engine/images/image_file.hpp"
#include "engine/images/image_windows.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/images.hpp"

namespace penstock {
namespace {

void check_size(const ResizedCenterCrop& size) {
  const std::string subject = "image_folder.size";
  check_result_size(subject, size.rows, size.columns);
  check_number(subject + ".shorter_side", static_cast<double>(size.shorter_side),
               {static_cast<double>(std::max(size.rows, size.columns)), 65'536});
}

void check_size(const Resize& size) {
  check_result_size("image_folder.size", size.rows, size.columns);
}

void check_size(const RandomResizedCrop& size) {
  check_random_resized_crop(size);
}

Resizing resizing_of(const Resize& size, const PlaneSize& image, const SampleRequest&) {
  return Resizing::whole({0, 0, image.rows, image.columns}, size.rows, size.columns);
}

Resizing resizing_of(const RandomResizedCrop& size, const PlaneSize& image,
                     const SampleRequest& request) {
  return Resizing::whole(random_window(image, size, request), size.rows, size.columns);
}

Resizing resizing_of(const ResizedCenterCrop& size, const PlaneSize& image, const SampleRequest&) {
  const auto [rows, columns] = size_by_shorter_side(image, size.shorter_side);
  return {{0, 0, image.rows, image.columns},
          rows,
          columns,
          center_window({image.channels, rows, columns}, size.rows, size.columns)};
}

/// A FolderImages decodes the images of a folder when they are read.
class FolderImages : public Dataset {
 public:
  FolderImages(ImagePaths paths, const ImageFolderOptions& options, const PixelFormat& format)
      : paths_(std::move(paths)), options_(options), writer_(format) {
    const auto [rows, columns] = std::visit(
        [](const auto& size) { return std::pair(size.rows, size.columns); }, options.size);
    fields_ = writer_.fields({channels_of(options.images.color), rows, columns});
  }

  std::int64_t size() const override { return std::ssize(paths_.files); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    const auto i = static_cast<std::size_t>(request.index);
    const ImagePlanes image = read_image_file(paths_.files[i], options_.images);
    const Resizing resizing = std::visit(
        [&](const auto& size) { return resizing_of(size, image.size, request); }, options_.size);
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(fields_.front().shape.elements()));
    resize_image(std::span<const std::uint8_t>(image.pixels), image.size, resizing, pixels.data());
    writer_.write(pixels, destinations[0]);
    std::memcpy(destinations[1], &paths_.labels[i], sizeof paths_.labels[i]);
  }

 private:
  ImagePaths paths_;
  ImageFolderOptions options_;
  PixelWriter writer_;
  std::vector<Field> fields_;
};

/// Returns whether an error of this kind says that a file is broken, and not that this build or
/// this machine cannot decode it.
bool says_broken(Errc code) {
  return code == Errc::corrupt_file || code == Errc::invalid_data || code == Errc::io_error;
}

/// Decodes the image at `path`, and returns what is wrong with it, or an empty text.
std::string defect_of(const std::string& path, const ImageOptions& options) {
  try {
    read_image_file(path, options);
    return "";
  } catch (const Error& error) {
    if (!says_broken(error.code())) throw;
    return error.what();
  }
}

/// A Defect says what is wrong with an image of the class `label`.
struct Defect {
  std::int64_t label;
  std::string text;
};

/// Decodes all images, removes the broken ones from `paths`, and returns what is wrong with each.
std::vector<Defect> without_broken(ImagePaths& paths, const ImageOptions& options) {
  std::vector<Defect> defects;
  ImagePaths whole{.classes = paths.classes};
  for (std::size_t i = 0; i < paths.files.size(); ++i) {
    if (std::string text = defect_of(paths.files[i], options); !text.empty()) {
      defects.push_back({paths.labels[i], std::move(text)});
      continue;
    }
    whole.files.push_back(std::move(paths.files[i]));
    whole.labels.push_back(paths.labels[i]);
  }
  paths = std::move(whole);
  return defects;
}

/// Checks that each class has an image that is not broken.
void check_classes(const std::string& directory, const ImagePaths& paths,
                   const std::vector<Defect>& defects) {
  std::vector<bool> has_image(paths.classes.size(), false);
  for (const std::int64_t label : paths.labels) has_image[static_cast<std::size_t>(label)] = true;
  const auto empty = std::ranges::find(has_image, false);
  if (empty == has_image.end()) return;
  const std::int64_t label = empty - has_image.begin();
  throw Error(
      Errc::invalid_data,
      printable(directory) + ": expected an image of the class " +
          quoted_text(paths.classes[static_cast<std::size_t>(label)]) +
          " that can be decoded, got " +
          count_text(std::ranges::count(defects, label, &Defect::label), "image") +
          " that cannot; the first: " + std::ranges::find(defects, label, &Defect::label)->text +
          "; put whole images in their place, or remove the folder of the class");
}

ImageFolder read_folder(const std::string& directory, const PixelFormat& format,
                        const ImageFolderOptions& options) {
  return on_hosts_thread("read_image_folder", [&] {
    check_image_options(options.images);
    std::visit([](const auto& size) { check_size(size); }, options.size);
    if (format) check_normalization("normalization", *format);
    ImagePaths paths = image_paths(directory);
    ImageFolder folder{.classes = paths.classes};
    std::vector<Defect> defects;
    if (options.broken == BrokenImages::skipped) defects = without_broken(paths, options.images);
    check_classes(directory, paths, defects);
    for (Defect& defect : defects) folder.skipped.push_back(std::move(defect.text));
    folder.files = paths.files;
    folder.dataset = std::make_shared<FolderImages>(std::move(paths), options, format);
    return folder;
  });
}

}  // namespace

ImageFolder read_image_folder(const std::string& directory, const Normalization& normalization,
                              const ImageFolderOptions& options) {
  return read_folder(directory, normalization, options);
}

ImageFolder read_image_folder(const std::string& directory, AsBytes,
                              const ImageFolderOptions& options) {
  return read_folder(directory, std::nullopt, options);
}

}  // namespace penstock
