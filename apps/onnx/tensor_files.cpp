#include "apps/onnx/tensor_files.hpp"

#include "penstock/error.hpp"
#include "penstock/npy.hpp"
#include "penstock/onnx.hpp"

namespace onnx_tool {

penstock::Tensor load_tensor(const std::string& path) {
  if (path.ends_with(".pb")) return penstock::load_onnx_tensor(path).tensor;
  if (path.ends_with(".npy")) return penstock::load_npy(path);
  throw penstock::Error(penstock::Errc::invalid_argument,
                        path + ": expected a name that ends in .pb or .npy");
}

}  // namespace onnx_tool
