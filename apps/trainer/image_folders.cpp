#include "apps/trainer/image_folders.hpp"

#include <algorithm>

#include "penstock/error.hpp"
#include "penstock/images.hpp"

namespace trainer {
namespace {

/// Reads one of the two folders.
penstock::ImageFolder read_folder(const std::string& directory, const FolderDemand& demand,
                                  penstock::ImageFolderOptions options) {
  options.images.color =
      demand.image[0] == 1 ? penstock::ImageColor::gray : penstock::ImageColor::rgb;
  penstock::ImageFolder folder =
      penstock::read_image_folder(directory, demand.normalization, options);
  if (std::ssize(folder.classes) > demand.most_classes)
    throw penstock::Error(penstock::Errc::invalid_data, directory + ": expected at most " +
                                                            std::to_string(demand.most_classes) +
                                                            " folders, one for each class, got " +
                                                            std::to_string(folder.classes.size()));
  return folder;
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
  const auto train =
      read_folder(directory + "/train", demand, demand.random_crops ? windows : middle);
  on_read();
  const auto test = read_folder(directory + "/test", demand, middle);
  on_read();
  if (train.classes != test.classes)
    throw penstock::Error(penstock::Errc::invalid_data,
                          directory + ": expected the same classes in the folders train and test");
  images.train = train.dataset;
  images.test = test.dataset;
  images.classes = std::ssize(train.classes);
  return images;
}

}  // namespace trainer
