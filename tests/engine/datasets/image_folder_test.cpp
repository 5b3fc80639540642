#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/error.hpp"
#include "penstock/images.hpp"
#include "tests/support/drawn_images.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;
using Texts = std::vector<std::string>;

class ImageFolders : public ::testing::Test {
 protected:
  std::string path() const { return directory_.path().string(); }
  void add(const std::string& path, const std::string& image = "rgb.png") const {
    images_.write(image, directory_ / path);
  }
  /// Returns the paths of the samples in the folder.
  Texts files(const ImageFolder& folder) const {
    Texts paths;
    for (const std::string& file : folder.files) paths.push_back(file.substr(path().size() + 1));
    return paths;
  }
  /// Returns the text of an error without the path of the folder.
  std::string without_path(std::string text) const {
    for (auto at = text.find(path()); at != text.npos; at = text.find(path()))
      text.erase(at, path().size() + 1);
    return text;
  }

  testing::TemporaryDirectory directory_;
  testing::DrawnImages images_;
};

/// A Sample is a sample of a folder of bytes.
struct Sample {
  Tensor image;
  std::int64_t label = -1;
};

Sample sample_of(const Dataset& dataset, std::int64_t index, std::uint64_t epoch = 0) {
  const Field& field = dataset.fields()[0];
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(field.shape.elements()));
  Sample sample;
  const std::array destinations{reinterpret_cast<std::byte*>(pixels.data()),
                                reinterpret_cast<std::byte*>(&sample.label)};
  dataset.read({.index = index, .epoch = epoch}, destinations);
  sample.image = Tensor(field.shape, std::span<const std::uint8_t>(pixels));
  return sample;
}

// torchvision 0.14 gives the same classes and files in the same order.
TEST_F(ImageFolders, HaveTheClassesAndFilesOfTorchvisionInItsOrder) {
  for (const char* const file :
       {"dog/b.png", "dog/a-b/y.JPG", "dog/a/x.jpeg", "dog/a/deep/x.png", "dog/a.png", "dog/Z.png",
        "dog/notes.txt", "Cat/1.png", "Cat/10.png", "Cat/2.Png", "Cat/.hidden.png",
        "ant/deep/er/1.png", "top.png"})
    add(file);
  const ImageFolder folder = read_image_folder(path(), as_bytes);
  EXPECT_EQ(folder.classes, (Texts{"Cat", "ant", "dog"}));
  EXPECT_EQ(files(folder), (Texts{"Cat/.hidden.png", "Cat/1.png", "Cat/10.png", "Cat/2.Png",
                                  "ant/deep/er/1.png", "dog/Z.png", "dog/a.png", "dog/b.png",
                                  "dog/a/x.jpeg", "dog/a-b/y.JPG", "dog/a/deep/x.png"}));
  ASSERT_EQ(folder.dataset->size(), 11);
  EXPECT_EQ(sample_of(*folder.dataset, 3).label, 0);
  EXPECT_EQ(sample_of(*folder.dataset, 4).label, 1);
  EXPECT_EQ(sample_of(*folder.dataset, 9).label, 2);
  EXPECT_TRUE(folder.skipped.empty());
}

TEST_F(ImageFolders, BringImagesToOneSizeAsTorchvisionDoes) {
  add("a/1.png");
  const auto read = [&](const ImageFolderOptions& options) {
    const ImageFolder folder = read_image_folder(path(), as_bytes, options);
    EXPECT_EQ(folder.dataset->fields()[0].name, "image");
    EXPECT_EQ(folder.dataset->fields()[1].name, "label");
    return sample_of(*folder.dataset, 0).image;
  };
  EXPECT_TRUE(testing::same_bits(
      read({.size = ResizedCenterCrop{.rows = 9, .columns = 8, .shorter_side = 12}}),
      images_.tensor("center")));
  EXPECT_TRUE(testing::same_bits(read({.size = Resize{.rows = 18, .columns = 30}}),
                                 images_.tensor("resized_18x30")));
  const RandomResizedCrop whole{
      .rows = 9, .columns = 10, .smallest_area = 1, .narrowest = 1.5, .widest = 1.5};
  EXPECT_TRUE(testing::same_bits(read({.size = whole}), images_.tensor("resized_9x10")));
  EXPECT_EQ(read({}).shape(), (Shape{3, 224, 224}));
  EXPECT_TRUE(testing::same_bits(
      read({.size = Resize{.rows = 14, .columns = 21}, .images = {.color = ImageColor::gray}}),
      images_.tensor("rgb.png: gray")));
}

TEST_F(ImageFolders, HaveNumbersByTheNormalization) {
  add("a/1.png");
  const ImageFolder folder = read_image_folder(path(), Normalization{0.5, 0.25},
                                               {.size = Resize{.rows = 14, .columns = 21}});
  EXPECT_EQ(folder.dataset->fields()[0].dtype, DType::f32);
  DataLoader loader(folder.dataset, 1);
  const Batch batch = *loader.next();
  const auto pixels = images_.tensor("rgb.png: rgb").as<std::uint8_t>();
  for (std::size_t i = 0; i < pixels.size(); ++i)
    ASSERT_FLOAT_EQ(batch[0].as<float>()[i], (static_cast<float>(pixels[i]) / 255 - 0.5f) / 0.25f);
}

TEST_F(ImageFolders, DrawOtherWindowsInEveryEpoch) {
  add("a/1.png");
  add("a/2.png");
  const auto dataset =
      read_image_folder(path(), as_bytes, {.size = RandomResizedCrop{.rows = 5, .columns = 5}})
          .dataset;
  const Tensor first = sample_of(*dataset, 0).image;
  EXPECT_TRUE(testing::same_bits(sample_of(*dataset, 0).image, first));
  EXPECT_FALSE(testing::same_bits(sample_of(*dataset, 0, 1).image, first));
  EXPECT_FALSE(testing::same_bits(sample_of(*dataset, 1).image, first));
}

TEST_F(ImageFolders, GiveALoaderTheSameBatchesWhateverTheNumberOfItsWorkers) {
  for (int i = 0; i < 9; ++i) add("a/" + std::to_string(i) + (i % 2 ? ".png" : ".jpg"), "rgb.jpg");
  add("b/0.png");
  const auto dataset =
      read_image_folder(path(), as_bytes, {.size = RandomResizedCrop{.rows = 5, .columns = 5}})
          .dataset;
  DataLoader one(dataset, 10, {.shuffle = true, .workers = 1});
  const Batch first = *one.begin(), second = *one.begin();
  EXPECT_FALSE(testing::same_bits(first[0], second[0]));
  for (const int workers : {2, 5}) {
    DataLoader several(dataset, 10, {.shuffle = true, .workers = workers});
    for (const Batch& expected : {first, second}) {
      const Batch batch = *several.begin();
      EXPECT_TRUE(testing::same_bits(batch[0], expected[0])) << workers;
      EXPECT_TRUE(testing::same_bits(batch[1], expected[1])) << workers;
    }
  }
}

TEST_F(ImageFolders, NameBrokenImagesAndRefuseOrSkipThem) {
  add("a/1.png");
  testing::write_file(directory_ / "a/2.png", images_.bytes("rgb.png").substr(0, 200));
  testing::write_file(directory_ / "a/3.jpg", "no image");
  add("b/4.jpg", "rgb.jpg");
  const ImageFolder refusing = read_image_folder(path(), as_bytes);
  EXPECT_EQ(refusing.dataset->size(), 4);
  EXPECT_EQ(without_path(refusal(Errc::corrupt_file, [&] { sample_of(*refusing.dataset, 2); })),
            "a/3.jpg: expected a PNG or JPEG image, got something else");
  DataLoader loader(refusing.dataset, 4);
  EXPECT_NE(refusal(Errc::invalid_data, [&] { loader.next(); }).find("a/2.png: damaged PNG image"),
            std::string::npos);

  const ImageFolder skipping =
      read_image_folder(path(), as_bytes, {.broken = BrokenImages::skipped});
  EXPECT_EQ(files(skipping), (Texts{"a/1.png", "b/4.jpg"}));
  EXPECT_EQ(sample_of(*skipping.dataset, 1).label, 1);
  ASSERT_EQ(skipping.skipped.size(), 2u);
  EXPECT_EQ(without_path(skipping.skipped[0]), "a/2.png: damaged PNG image: truncated");
  EXPECT_EQ(without_path(skipping.skipped[1]),
            "a/3.jpg: expected a PNG or JPEG image, got something else");
}

TEST_F(ImageFolders, WithoutClassesOrImagesAreRefused) {
  const auto text = [&](const ImageFolderOptions& options = {}) {
    return without_path(
        refusal(Errc::invalid_data, [&] { read_image_folder(path(), as_bytes, options); }));
  };
  EXPECT_EQ(text(), " expected a folder of images for each class, got none");
  std::filesystem::create_directories(directory_ / "a/folder.png");
  EXPECT_EQ(text(), "a: expected images, whose names end with .png, .jpg or .jpeg, got none");
  testing::write_file(directory_ / "a/1.png", "");
  EXPECT_EQ(text({.broken = BrokenImages::skipped}),
            " expected an image of the class \"a\" that can be decoded, got 1 image that cannot; "
            "the first: a/1.png: expected a PNG or JPEG image, got something else; put whole "
            "images in their place, or remove the folder of the class");
  add("a/2.png");
  add("b/1.jpg", "rgb.jpg");
  for (const std::string file : {"c/3.png", "c/4.png"}) {
    std::filesystem::create_directories(directory_ / "c");
    testing::write_file(directory_ / file, "");
  }
  EXPECT_EQ(text({.broken = BrokenImages::skipped})
                .find(" expected an image of the class \"c\" that can be decoded, got 2 images "
                      "that cannot; the first: c/3.png: "),
            0u);
  EXPECT_EQ(refusal(Errc::io_error, [&] { read_image_folder(path() + "2", as_bytes); }),
            path() + "2: expected a directory, there is none");
}

TEST_F(ImageFolders, OfALinkToItselfAreRefused) {
  add("a/1.png");
  std::filesystem::create_directory_symlink(directory_ / "a", directory_ / "a/again");
  EXPECT_NE(refusal(Errc::invalid_data, [&] { read_image_folder(path(), as_bytes); })
                .find("expected at most 32 folders inside of each other, got more"),
            std::string::npos);
}

TEST_F(ImageFolders, NeedOptionsThatMakeSense) {
  add("a/1.png");
  const auto text = [&](const ImageFolderOptions& options) {
    return refusal(Errc::invalid_argument, [&] { read_image_folder(path(), as_bytes, options); });
  };
  EXPECT_EQ(text({.size = ResizedCenterCrop{.rows = 300}}),
            "image_folder.size.shorter_side: expected 300 to 65536, got 256");
  EXPECT_EQ(text({.size = Resize{.rows = 0}}),
            "image_folder.size.rows: expected 1 to 65536, got 0");
  EXPECT_NE(text({.size = RandomResizedCrop{.widest = 0}}), "accepted");
  EXPECT_NE(text({.images = {.most_pixels = 0}}), "accepted");
}

}  // namespace
}  // namespace penstock
