// open_onnx_network() makes a classifier of images of the file of --onnx.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/networks/networks.hpp"
#include "apps/trainer/options/options.hpp"
#include "penstock/dataset.hpp"
#include "penstock/model.hpp"

namespace trainer {

struct OnnxNetwork {
  penstock::Model model;  ///< The inputs are the file's images and labels, and there is a loss.
  std::string logits;     ///< This output has the score of each class.
  std::string name;       ///< This is the name of the file, without its directory.
  penstock::networks::ImageKind images = {};  ///< The network takes these images.
  bool takes_rows = false;  ///< An image is a row of all its numbers, as as_rows() makes it.
  /// The network takes pixels that are normalized so, as its file says or, failing that, as the
  /// trainer's networks for as many channels take them.
  penstock::Normalization normalization = {};
  /// These constants, such as masks, have elements that are not finite.
  std::vector<std::string> infinite_constants = {};
  /// This is the SHA-256 of the bytes that the network was made of, without the files of weights
  /// that they may name. It is empty if the run keeps no checkpoints.
  std::string sha256 = {};

  /// Returns what open_images() has to know of the network. The result refers to this object.
  penstock::networks::Network demand() const;
};

/// Makes a model of the file of --onnx, in the form for training: its norms use the statistics of
/// micro-batches, and tensors whose names match one of the patterns of --onnx-constants are not
/// trained. Returns nothing if `options` have no such file. The loss is the cross entropy of the
/// one output [N,classes], or of the one called "logits" if there are several.
/// @throws penstock::Error that begins with the option --onnx, as Model::from_onnx(), and
/// invalid_model if the file does not have one input of images [N,channels,height,width], or of
/// rows [N,features] of square images of 1 or 3 channels, or not one such output, or if that has
/// gone through a softmax already.
std::optional<OnnxNetwork> open_onnx_network(const TrainerOptions& options);

/// Returns what the trainer's ONNX files say of how the network's pixels are normalized, as texts
/// for OnnxExportOptions::metadata. open_onnx_network() reads them.
std::map<std::string, std::string> normalization_texts(
    const penstock::Normalization& normalization);

/// Returns `images` with each image as a row of its numbers.
std::shared_ptr<const penstock::Dataset> as_rows(
    const std::shared_ptr<const penstock::Dataset>& images);

}  // namespace trainer
