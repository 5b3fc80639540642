// This program reads a table, an array of NumPy and a sound from files. It writes the files itself,
// as other programs would.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <penstock/penstock.hpp>
#include <span>
#include <string>
#include <vector>

using namespace penstock;

namespace {

/// Writes a WAV file of one channel and 4 samples of 16 bits, 8000 of them a second.
void write_sound(const std::string& path) {
  const std::uint32_t rate = 8000, numbers[] = {rate, 2 * rate};
  const std::int16_t samples[] = {0, 16384, 0, -16384};
  std::ofstream file(path, std::ios::binary);
  file.write("RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0", 24);
  file.write(reinterpret_cast<const char*>(numbers), sizeof numbers);
  file.write("\2\0\x10\0data\x08\0\0\0", 12);
  file.write(reinterpret_cast<const char*>(samples), sizeof samples);
}

}  // namespace

int main() {
  std::ofstream("flowers.csv") << "length,width,kind\n"
                                  "1.4,0.2,setosa\n"
                                  "4.7,1.4,versicolor\n"
                                  "1.3,0.2,setosa\n"
                                  "4.5,1.5,versicolor\n";
  const auto flowers =
      read_csv("flowers.csv", {.label = "kind", .classes = {"setosa", "versicolor"}});
  const auto parts = split_by_fractions(flowers, {0.75, 0.25}, {.seed = 1});
  DataLoader data(parts[0], 3, {.shuffle = true});
  const Batch batch = *data.next();
  std::cout << "features " << to_string(batch[0].shape()) << ", labels "
            << to_string(batch[1].shape()) << '\n';

  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  save_npy("numbers.npy", Tensor({2, 3}, std::span<const float>(numbers)));
  const Tensor array = load_npy("numbers.npy");

  write_sound("tone.wav");
  const Waveform tone = load_wav("tone.wav");
  std::cout << tone.samples.elements() << " samples at " << tone.sample_rate << " Hz\n";
  const bool right = batch[0].shape() == Shape{3, 2} && array.as<float>()[5] == 6 &&
                     tone.samples.as<float>()[1] == 0.5f;
  return right ? 0 : 1;
}
