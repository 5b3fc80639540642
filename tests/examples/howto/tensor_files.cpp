// This program keeps tensors of its own in a file, and reads weights that another program has
// written in half precision.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <penstock/penstock.hpp>
#include <span>
#include <string>
#include <vector>

using namespace penstock;

namespace {

/// Writes a file as a program does that trains in half precision: one tensor of two numbers, 1.5
/// and -2, of type BF16.
void write_half_precision(const std::string& path) {
  std::string header = R"({"fc.weight":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}})";
  const std::uint64_t size = header.size();
  const std::uint16_t elements[] = {0x3FC0, 0xC000};
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&size), sizeof size);
  file << header;
  file.write(reinterpret_cast<const char*>(elements), sizeof elements);
}

}  // namespace

int main() {
  const std::vector<float> means{0.5f, 0.25f}, deviations{2, 4};
  save_safetensors("normalizer.safetensors",
                   {{"means", Tensor({2}, std::span<const float>(means))},
                    {"deviations", Tensor({2}, std::span<const float>(deviations))}},
                   {{"data", "training set of 2026"}});
  const TensorFile file = load_safetensors("normalizer.safetensors");
  std::cout << file.metadata.at("data") << ": " << file.tensors.size() << " tensors\n";
  const bool kept = file.tensor("deviations").as<float>()[1] == 4;

  write_half_precision("half.safetensors");
  Model model("small");
  model.linear("fc", model.input("x", {2}), 1, false);
  model.load_weights("half.safetensors");
  const Tensor weight = model.weight("fc.weight");
  std::cout << "weights " << weight.as<float>()[0] << " and " << weight.as<float>()[1] << '\n';
  return kept && weight.as<float>()[0] == 1.5f && weight.as<float>()[1] == -2 ? 0 : 1;
}
