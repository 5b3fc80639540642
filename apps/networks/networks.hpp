// These are the networks that the trainer, the tests and the benchmarks share, by name. To add a
// network, write its source and header, include the header in networks.cpp and add the network to
// the list.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "penstock/dataset.hpp"
#include "penstock/model.hpp"

namespace penstock::networks {

/// An ImageKind is the shape of images [channels,height,width], and the number of classes that they
/// are divided into. The default is the kind of MNIST.
struct ImageKind {
  std::int64_t channels = 1;
  std::int64_t height = 28;
  std::int64_t width = 28;
  std::int64_t classes = 10;

  Shape shape() const { return {channels, height, width}; }
  bool operator==(const ImageKind&) const = default;
};

/// Returns a text such as "[3,32,32] in 10 classes".
std::string to_string(const ImageKind& kind);

inline constexpr ImageKind mnist_images{};
inline constexpr ImageKind cifar10_images{.channels = 3, .height = 32, .width = 32};

/// These are the mean and the standard deviation of the training images' pixels.
inline constexpr Normalization mnist_pixels{.mean = 0.1307, .std = 0.3081};
/// The numbers for CIFAR-10 are taken over all channels together.
inline constexpr Normalization cifar10_pixels{.mean = 0.4734, .std = 0.2516};

/// A BlockStart says that a block begins at a layer; see Model::begin_block_at().
struct BlockStart {
  const char* layer;
  const char* block;
};

/// A Network is a classifier of images. Its inputs are "image" and "labels"; its outputs are
/// "logits" [N,classes] and a loss.
struct Network {
  std::string_view name;
  ImageKind images = mnist_images;  ///< The network is made for these images.
  /// `takes_all_images` says whether the network can be built for other images than `images`.
  bool takes_all_images = false;
  /// `normalization` is for the pixels of `images`.
  Normalization normalization = {};
  /// Adds the layers between the input and the logits, and returns the logits.
  Value (*layers)(Model& model, Value image, std::int64_t classes) = nullptr;
  /// If `loss` is null, the loss is the cross entropy.
  Value (*loss)(Model& model, Value logits, Value labels) = nullptr;
  /// These are the blocks of the network, which Model::remove_block_marks() removes.
  std::span<const BlockStart> blocks;

  /// Builds the network for `images`.
  Model build(std::uint64_t seed) const { return build(images, seed); }
  /// Builds the network for images of the kind `kind`. @throws Error invalid_argument if the
  /// network does not take these, or if a number of `kind` is below 1.
  Model build(const ImageKind& kind, std::uint64_t seed) const;
};

/// Returns the network called `name`. @throws Error invalid_argument, whose text lists the names of
/// all networks, if there is no such network.
const Network& find_network(std::string_view name);
/// Returns all networks, in the order of their names.
std::span<const Network* const> all_networks();

}  // namespace penstock::networks
