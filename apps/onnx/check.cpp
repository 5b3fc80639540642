#include "apps/onnx/check.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <optional>

#include "apps/onnx/difference.hpp"
#include "apps/onnx/tensor_files.hpp"
#include "penstock/penstock.hpp"

namespace onnx_tool {
namespace {

namespace fs = std::filesystem;

/// Returns the tensors PREFIX_0.pb, PREFIX_1.pb and so on in a folder.
std::vector<penstock::Tensor> numbered_tensors(const fs::path& folder, const std::string& prefix) {
  std::vector<penstock::Tensor> tensors;
  for (std::size_t i = 0;; ++i) {
    const fs::path path = folder / (prefix + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(path)) return tensors;
    tensors.push_back(load_tensor(path.string()));
  }
}

Verdict compare(const penstock::NamedTensor& got, const penstock::Tensor& expected) {
  const std::string name = "output \"" + got.name + "\": ";
  if (got.tensor.dtype() != expected.dtype() || got.tensor.shape() != expected.shape())
    return {Outcome::failed, name + "expected " + std::string(to_string(expected.dtype())) +
                                 to_string(expected.shape()) + ", got " +
                                 std::string(to_string(got.tensor.dtype())) +
                                 to_string(got.tensor.shape())};
  const std::optional<double> apart = difference(got.tensor, expected);
  if (apart) return {Outcome::failed, name + "largest difference " + std::to_string(*apart)};
  return {};
}

/// Returns how many files there are in a folder whose names begin with PREFIX_ and end in .pb.
std::size_t files_of(const fs::path& folder, const std::string& prefix) {
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix + "_") && name.ends_with(".pb")) ++files;
  }
  return files;
}

/// Checks that the folder `data` has the `expected` tensors, one for each of `outputs`, and no
/// other file of an output.
Verdict check_files(const std::vector<penstock::NamedTensor>& outputs,
                    const std::vector<penstock::Tensor>& expected, const fs::path& data) {
  if (expected.size() < outputs.size())
    return {Outcome::failed, "expected " + data.filename().string() + "/output_" +
                                 std::to_string(expected.size()) + ".pb for output \"" +
                                 outputs[expected.size()].name + "\", but there is no such file"};
  if (const std::size_t files = files_of(data, "output"); files > outputs.size())
    return {Outcome::failed, "expected as many files output_0.pb and so on in " +
                                 data.filename().string() +
                                 " as the model has outputs, which are " +
                                 std::to_string(outputs.size()) + ", got " + std::to_string(files)};
  return {};
}

Verdict check_data(const penstock::LoadedOnnx& model, const fs::path& data) {
  const penstock::OnnxSummary& summary = model.summary();
  const std::vector<penstock::Tensor> tensors = numbered_tensors(data, "input");
  const std::vector<penstock::Tensor> expected = numbered_tensors(data, "output");
  if (tensors.size() > summary.inputs.size())
    return {Outcome::failed, "there are more inputs than the model has"};
  if (tensors.size() < summary.inputs.size())
    return {Outcome::failed, "expected " + data.filename().string() + "/input_" +
                                 std::to_string(tensors.size()) + ".pb for input \"" +
                                 summary.inputs[tensors.size()].name +
                                 "\", but there is no such file"};
  std::vector<penstock::NamedTensor> inputs;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    inputs.push_back({summary.inputs[i].name, tensors[i]});
  const std::vector<penstock::NamedTensor> outputs = model.run(inputs);
  if (Verdict verdict = check_files(outputs, expected, data); verdict.outcome != Outcome::passed)
    return verdict;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (Verdict verdict = compare(outputs[i], expected[i]); verdict.outcome != Outcome::passed)
      return verdict;
  return {};
}

std::vector<fs::path> data_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("test_data_set_"))
      folders.push_back(entry.path());
  std::ranges::sort(folders);
  return folders;
}

const char* name_of(Outcome outcome) {
  constexpr std::array names{"pass", "fail", "unsupported"};
  return names[static_cast<std::size_t>(outcome)];
}

/// Returns what in the file cannot be imported, or an empty text.
std::string unsupported_in(const penstock::OnnxSummary& summary) {
  std::string text;
  for (const penstock::OnnxOperatorUse& use : summary.operators)
    if (!use.supported) text += (text.empty() ? "operators " : ", ") + use.op_type;
  if (!text.empty()) return text;
  for (const auto* tensors : {&summary.inputs, &summary.outputs})
    for (const penstock::OnnxTensorInfo& tensor : *tensors)
      if (tensor.type == "undefined")
        return "\"" + tensor.name + "\" is no tensor";
      else if (tensor.type == "bfloat16")
        return "\"" + tensor.name + "\" is of bfloat16, which the tests write as integers";
  return "";
}

}  // namespace

Verdict check(const std::string& folder) try {
  const penstock::LoadedOnnx model((fs::path(folder) / "model.onnx").string());
  if (const std::string missing = unsupported_in(model.summary()); !missing.empty())
    return {Outcome::unsupported, missing};
  const std::vector<fs::path> data = data_folders(folder);
  if (data.empty()) return {Outcome::failed, "there is no folder test_data_set_0"};
  for (const fs::path& each : data)
    if (Verdict verdict = check_data(model, each); verdict.outcome != Outcome::passed)
      return verdict;
  return {};
} catch (const penstock::Error& error) {
  const bool unsupported = error.code() == penstock::Errc::unsupported;
  return {unsupported ? Outcome::unsupported : Outcome::failed, error.what()};
} catch (const std::exception& error) {
  return {Outcome::failed, error.what()};
}

bool check_all(const std::vector<std::string>& folders) {
  std::array<int, 3> counts{};
  for (const std::string& folder : folders) {
    const Verdict verdict = check(folder);
    ++counts[static_cast<std::size_t>(verdict.outcome)];
    fs::path name = fs::path(folder).lexically_normal();
    if (!name.has_filename()) name = name.parent_path();
    std::cout << name_of(verdict.outcome) << ' '
              << penstock::terminal_text(name.filename().string());
    if (!verdict.text.empty()) std::cout << ' ' << penstock::terminal_text(verdict.text);
    std::cout << std::endl;
  }
  std::cout << counts[0] << " passed, " << counts[1] << " failed, " << counts[2] << " unsupported"
            << std::endl;
  return counts[1] == 0;
}

}  // namespace onnx_tool
