#include "benchmarks/convolutions/deep_convolutions.hpp"

#include <cstdint>

namespace penstock::benchmarks {
namespace {

Convolution strided(Convolution convolution) {
  convolution.stride = 2;
  return convolution;
}

Convolution depthwise(std::int64_t channels, std::int64_t size) {
  return {channels, channels, 3, size, 1, channels};
}

}  // namespace

std::vector<DeepConvolution> deep_convolutions() {
  constexpr const char *resnet18 = "resnet18", *resnet50 = "resnet50", *mobilenet = "mobilenet-v2";
  return {{resnet18, {64, 64, 3, 8}},
          {resnet18, strided({64, 128, 3, 8})},
          {resnet18, {128, 128, 3, 4}},
          {resnet18, {256, 256, 3, 2}},
          {resnet18, {512, 512, 3, 1}},
          {resnet50, {64, 256, 1, 8}},
          {resnet50, {256, 64, 1, 8}},
          {resnet50, strided({128, 128, 3, 8})},
          {resnet50, {1024, 256, 1, 2}},
          {resnet50, {2048, 512, 1, 1}},
          {mobilenet, {32, 16, 1, 48}},
          {mobilenet, {16, 96, 1, 48}},
          {mobilenet, strided(depthwise(96, 48))},
          {mobilenet, depthwise(144, 24)},
          {mobilenet, depthwise(384, 6)},
          {mobilenet, {576, 96, 1, 6}}};
}

}  // namespace penstock::benchmarks
