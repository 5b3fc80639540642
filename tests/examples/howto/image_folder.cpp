// This program trains on a folder of images, which has a folder for each class, and tests on
// another one. It makes the folders itself, of two images.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <penstock/penstock.hpp>
#include <span>
#include <string>

using namespace penstock;

namespace {

// These are PNG files of 16 times 12 pixels, which are all red and all blue.
const unsigned char red[] = {137, 80,  78,  71,  13, 10,  26, 10,  0,  0,  0,  13,  73,  72,  68,
                             82,  0,   0,   0,   16, 0,   0,  0,   12, 1,  3,  0,   0,   0,   81,
                             41,  175, 194, 0,   0,  0,   6,  80,  76, 84, 69, 200, 40,  30,  0,
                             0,   0,   25,  171, 97, 127, 0,  0,   0,  11, 73, 68,  65,  84,  120,
                             218, 99,  96,  32,  12, 0,   0,  36,  0,  1,  37, 194, 168, 227, 0,
                             0,   0,   0,   73,  69, 78,  68, 174, 66, 96, 130};
const unsigned char blue[] = {137, 80,  78,  71, 13,  10,  26, 10,  0,  0,  0,  13,  73,  72,  68,
                              82,  0,   0,   0,  16,  0,   0,  0,   12, 1,  3,  0,   0,   0,   81,
                              41,  175, 194, 0,  0,   0,   6,  80,  76, 84, 69, 30,  60,  210, 0,
                              0,   0,   116, 55, 254, 177, 0,  0,   0,  11, 73, 68,  65,  84,  120,
                              218, 99,  96,  32, 12,  0,   0,  36,  0,  1,  37, 194, 168, 227, 0,
                              0,   0,   0,   73, 69,  78,  68, 174, 66, 96, 130};

void write_images(const std::string& folder, std::span<const unsigned char> bytes, int count) {
  std::filesystem::create_directories(folder);
  for (int i = 0; i < count; ++i) {
    std::ofstream file(folder + "/" + std::to_string(i) + ".png", std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }
}

Model network() {
  Model model("colors", 1);
  const Value image = model.input("image", {3, 8, 8});
  const Value label = model.labels("label");
  Value x = model.relu(model.conv2d("conv", image, {.out_channels = 4, .kernel = 3, .stride = 2}));
  x = model.linear("fc", model.flatten(x), 2);
  model.output("scores", x);
  model.loss(model.cross_entropy(x, label));
  return model;
}

}  // namespace

int main() {
  write_images("images/train/red", red, 16);
  write_images("images/train/blue", blue, 16);
  write_images("images/test/red", red, 4);
  write_images("images/test/blue", blue, 4);
  const Model model = network();
  const Options options{.batch_size = 8};
  const ChannelNormalization normalization{{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};

  const ImageFolder folder = read_image_folder(
      "images/train", {},
      {.size = RandomResizedCrop{.rows = 8, .columns = 8}, .broken = BrokenImages::skipped});
  for (const std::string& text : folder.skipped) std::cerr << text << '\n';
  // Windows, colors and sides differ from epoch to epoch.
  auto images = color_jitter(folder.dataset, {.brightness = {0.6, 1.4}, .hue = {-0.05, 0.05}});
  images = normalize(random_horizontal_flip(images), normalization);
  DataLoader data(images, options, {.shuffle = true});
  TrainingModel training(model, options, AdamW{.learning_rate = 0.01});
  fit(training, data, {.epochs = 10});

  const ImageFolder test_folder =
      read_image_folder("images/test", {},
                        {.size = ResizedCenterCrop{.rows = 8, .columns = 8, .shorter_side = 9}});
  DataLoader test_data(normalize(test_folder.dataset, normalization), options);
  InferenceModel inference(model, options);
  const Evaluation test = evaluate(inference, test_data, {accuracy("scores")});
  const double accuracy = value_of(test.values, "accuracy");
  std::cout << folder.classes[0] << " or " << folder.classes[1] << ": accuracy " << accuracy
            << '\n';
  return accuracy == 1 ? 0 : 1;
}
