#include "penstock/safetensors.hpp"

#include "engine/files/weights_file.hpp"
#include "engine/names/known_names.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"

namespace penstock {

const Tensor& TensorFile::tensor(const std::string& name) const {
  return or_out_of_memory("TensorFile::tensor", [&]() -> const Tensor& {
    for (const NamedTensor& named : tensors)
      if (named.name == name) return named.tensor;
    throw Error(Errc::invalid_argument, "there is no tensor named " + quoted_text(name) +
                                            instead_of(name, tensors, &NamedTensor::name));
  });
}

TensorFile load_safetensors(const std::string& path) {
  return on_hosts_thread("load_safetensors",
                         [&] { return read_tensor_file(path, "safetensors file"); });
}

void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  on_hosts_thread("save_safetensors", [&] {
    OutputFile file(path);
    write_tensors(file, tensors, metadata);
    file.commit();
  });
}

void save_safetensors(OutputFile& file, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  on_hosts_thread("save_safetensors", [&] { write_tensors(file, tensors, metadata); });
}

}  // namespace penstock
