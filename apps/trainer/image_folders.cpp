#include "apps/trainer/image_folders.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include "apps/trainer/options/excerpt.hpp"
#include "apps/trainer/options/read_value.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

// One thread decodes all images ahead, which takes seconds for files that have so many bytes
// together, and too long for a large data set, which an epoch reads with --num-workers threads. A
// broken training image of a large data set is found in the first epoch, and a broken test image in
// the test, after which Run writes what was trained all the same.
constexpr std::uintmax_t most_bytes_ahead = std::uintmax_t{256} << 20;

constexpr const char* advice_to_skip = "; --broken-images skip leaves broken images out";

/// Returns whether an error says that a file is broken, so that --broken-images skip leaves it out.
bool says_broken(const penstock::Error& error) {
  return error.code() == penstock::Errc::corrupt_file ||
         error.code() == penstock::Errc::invalid_data || error.code() == penstock::Errc::io_error;
}

/// ImagesToRefuse are images of which a broken one is refused when it is read. The refusal says how
/// to leave such images out.
class ImagesToRefuse : public penstock::Dataset {
 public:
  explicit ImagesToRefuse(std::shared_ptr<const penstock::Dataset> images)
      : images_(std::move(images)) {}

  std::int64_t size() const override { return images_->size(); }
  const std::vector<penstock::Field>& fields() const override { return images_->fields(); }
  void read(const penstock::SampleRequest& request,
            std::span<std::byte* const> destinations) const override try {
    images_->read(request, destinations);
  } catch (const penstock::Error& error) {
    if (!says_broken(error)) throw;
    throw penstock::Error(error.code(), std::string(error.what()) + advice_to_skip);
  }

 private:
  std::shared_ptr<const penstock::Dataset> images_;
};

/// Reads one of the two folders.
penstock::ImageFolder read_folder(const std::string& directory, const FolderDemand& demand,
                                  penstock::ImageFolderOptions options) {
  options.images.color =
      demand.image[0] == 1 ? penstock::ImageColor::gray : penstock::ImageColor::rgb;
  options.broken = demand.broken;
  penstock::ImageFolder folder =
      penstock::read_image_folder(directory, demand.normalization, options);
  if (std::ssize(folder.classes) > demand.most_classes)
    throw penstock::Error(penstock::Errc::invalid_data, directory + ": expected at most " +
                                                            std::to_string(demand.most_classes) +
                                                            " folders, one for each class, got " +
                                                            std::to_string(folder.classes.size()));
  return folder;
}

/// Returns a text that names the first ones of `classes`, those of `folder`, that `others` lack; an
/// empty text if there are none. Both lists are sorted.
std::string classes_only_in(const std::string& folder, const std::vector<std::string>& classes,
                            const std::vector<std::string>& others) {
  constexpr std::size_t most_named = 10;
  std::vector<std::string> names;
  std::ranges::set_difference(classes, others, std::back_inserter(names));
  if (names.empty()) return "";
  for (std::string& name : names) name = '"' + excerpt(name, longest_name) + '"';
  return ", " + joined_first(names, most_named) + " only in " + folder;
}

[[noreturn]] void refuse_classes(const std::string& directory,
                                 const std::vector<std::string>& train,
                                 const std::vector<std::string>& test) {
  throw penstock::Error(
      penstock::Errc::invalid_data,
      directory + ": expected the same classes in the folders train and test, got" +
          (classes_only_in("train", train, test) + classes_only_in("test", test, train)).substr(1) +
          "; each class needs a folder of images in both");
}

/// Returns whether the files of both folders together have at most `most_bytes_ahead` bytes. The
/// sizes of the files of a large data set are not all asked for.
bool are_small(const penstock::ImageFolder& train, const penstock::ImageFolder& test) {
  std::uintmax_t bytes = 0;
  for (const penstock::ImageFolder* folder : {&train, &test})
    for (const std::string& file : folder->files) {
      std::error_code error;
      const std::uintmax_t size = std::filesystem::file_size(file, error);
      // What is wrong with a file without a size is said when the file is read.
      if (!error) bytes += size;
      if (bytes > most_bytes_ahead) return false;
    }
  return true;
}

/// Decodes all images of one of the two folders, and refuses the folder if one of them is broken.
void check_images(const std::string& directory, FolderDemand demand) {
  demand.broken = penstock::BrokenImages::skipped;
  const penstock::ImageFolder folder = read_folder(directory, demand, {});
  if (folder.skipped.empty()) return;
  throw penstock::Error(penstock::Errc::corrupt_file,
                        directory + ": expected images that can be decoded, got " +
                            std::to_string(folder.skipped.size()) + " of " +
                            std::to_string(folder.skipped.size() + folder.files.size()) +
                            " that cannot; the first: " + folder.skipped.front() + advice_to_skip);
}

/// Adds notes on the images of one of the two folders that were left out.
void note_skipped(const std::string& directory, const std::vector<std::string>& skipped,
                  std::vector<std::string>& notes) {
  constexpr std::size_t most_named = 10;
  const std::string subject = "--broken-images skip: ";
  for (std::size_t i = 0; i < std::min(skipped.size(), most_named); ++i)
    notes.push_back(subject + skipped[i] + "; it is left out");
  if (skipped.size() > most_named)
    notes.push_back(subject + directory + ": " + std::to_string(skipped.size() - most_named) +
                    " more images are left out");
}

}  // namespace

FolderImages read_folders(const std::string& directory, const FolderDemand& demand,
                          const std::function<void()>& on_read) {
  const std::int64_t rows = demand.image[1], columns = demand.image[2];
  const penstock::ImageFolderOptions middle{
      .size = penstock::ResizedCenterCrop{
          .rows = rows, .columns = columns, .shorter_side = std::max(rows, columns)}};
  const penstock::ImageFolderOptions windows{
      .size = penstock::RandomResizedCrop{.rows = rows, .columns = columns, .seed = demand.seed}};
  FolderImages images;
  const std::string train_directory = directory + "/train", test_directory = directory + "/test";
  const auto train = read_folder(train_directory, demand, demand.random_crops ? windows : middle);
  on_read();
  const auto test = read_folder(test_directory, demand, middle);
  on_read();
  if (train.classes != test.classes) refuse_classes(directory, train.classes, test.classes);
  if (demand.broken == penstock::BrokenImages::refused && are_small(train, test))
    for (const std::string& folder : {train_directory, test_directory})
      check_images(folder, demand);
  note_skipped(train_directory, train.skipped, images.notes);
  note_skipped(test_directory, test.skipped, images.notes);
  images.train = train.dataset;
  images.test = test.dataset;
  if (demand.broken == penstock::BrokenImages::refused)
    for (auto* dataset : {&images.train, &images.test})
      *dataset = std::make_shared<const ImagesToRefuse>(*dataset);
  images.classes = std::ssize(train.classes);
  return images;
}

}  // namespace trainer
