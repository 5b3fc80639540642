// Whatever the number of a loader's workers, its batches have the same bits, and what is drawn for
// a sample changes with the epoch, also inside of datasets that are made of others.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "penstock/composed_datasets.hpp"
#include "penstock/csv.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/npy.hpp"
#include "penstock/transforms.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using DatasetPointer = std::shared_ptr<const Dataset>;

constexpr std::int64_t samples = 37;

/// Returns the bytes of all batches of one epoch.
std::string epoch_of(DataLoader& loader) {
  std::string bytes;
  for (const Batch& batch : loader)
    for (const Tensor& field : batch)
      bytes.append(reinterpret_cast<const char*>(field.raw()), field.bytes());
  return bytes;
}

/// Returns images of 3 by 4 by 5 numbers, all of them different, and their labels.
DatasetPointer images() {
  std::vector<float> pixels(samples * 60);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>(i) / static_cast<float>(pixels.size());
  std::vector<std::int64_t> labels(samples);
  std::iota(labels.begin(), labels.end(), 0);
  return tensor_dataset({Tensor({samples, 3, 4, 5}, std::span<const float>(pixels)),
                         Tensor({samples}, std::span<const std::int64_t>(labels))},
                        {"image", "label"});
}

DatasetPointer random_images() {
  return color_jitter(random_resized_crop(images(), {.rows = 3, .columns = 3, .seed = 1}),
                      {.brightness = {0.5, 1.5}, .hue = {-0.5, 0.5}, .seed = 2});
}

DatasetPointer csv() {
  const testing::TemporaryDirectory directory;
  std::string text = "a,b,y\n";
  for (std::int64_t i = 0; i < samples; ++i)
    text += std::to_string(i) + ",0." + std::to_string(i) + "," + std::to_string(i % 3) + "\n";
  testing::write_file(directory / "a.csv", text);
  return read_csv((directory / "a.csv").string(), {.label = "y"});
}

/// Returns numbers that were read from a NumPy file.
DatasetPointer npy() {
  const testing::TemporaryDirectory directory;
  std::vector<float> numbers(samples * 2);
  std::iota(numbers.begin(), numbers.end(), 0.5f);
  const std::string path = (directory / "a.npy").string();
  save_npy(path, Tensor({samples, 2}, std::span<const float>(numbers)));
  return tensor_dataset({load_npy(path)}, {"numbers"});
}

DatasetPointer concatenated() {
  return concat_datasets({random_images(), random_images()});
}

DatasetPointer divided() {
  return split_by_counts(random_images(), {30, 7}, {.seed = 3})[0];
}

/// Returns the images of random_images() with the epoch added to each number.
DatasetPointer mapped() {
  const auto with_epoch = [](const std::vector<Tensor>& sample, const SampleRequest& request) {
    std::vector<float> numbers(sample[0].as<float>().begin(), sample[0].as<float>().end());
    for (float& number : numbers) number += static_cast<float>(request.epoch);
    return std::vector{Tensor(sample[0].shape(), std::span<const float>(numbers)), sample[1]};
  };
  return map_dataset(random_images(), random_images()->fields(), with_epoch);
}

struct NewDataset {
  const char* name;
  DatasetPointer (*make)();
  bool draws = true;  ///< `draws` says that every epoch has other samples.
};

class NewDatasets : public ::testing::TestWithParam<NewDataset> {};

TEST_P(NewDatasets, HaveTheSameBatchesWhateverTheNumberOfWorkers) {
  const DatasetPointer dataset = GetParam().make();
  DataLoader one(dataset, 4, {.shuffle = true, .workers = 1, .seed = 7});
  const std::string first = epoch_of(one), second = epoch_of(one);
  EXPECT_FALSE(first.empty());
  EXPECT_NE(first, second);
  for (const int workers : {2, 3, 8}) {
    DataLoader several(dataset, 4, {.shuffle = true, .workers = workers, .seed = 7});
    EXPECT_TRUE(epoch_of(several) == first) << workers;
    EXPECT_TRUE(epoch_of(several) == second) << workers;
  }
}

TEST_P(NewDatasets, HaveTheEpochsOfTheDatasetsThatTheyAreMadeOf) {
  const DatasetPointer dataset = GetParam().make();
  DataLoader loader(dataset, 4, {.workers = 2});
  const std::string first = epoch_of(loader), second = epoch_of(loader);
  EXPECT_EQ(first != second, GetParam().draws);
  DataLoader later(dataset, 4, {.workers = 3});
  later.skip_epochs(1);
  EXPECT_TRUE(epoch_of(later) == second);
}

INSTANTIATE_TEST_SUITE_P(Of, NewDatasets,
                         ::testing::Values(NewDataset{"Csv", csv, false},
                                           NewDataset{"Npy", npy, false},
                                           NewDataset{"RandomImages", random_images},
                                           NewDataset{"Concatenated", concatenated},
                                           NewDataset{"Divided", divided},
                                           NewDataset{"Mapped", mapped}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace penstock
