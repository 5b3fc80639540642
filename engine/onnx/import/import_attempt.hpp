// An ImportAttempt is one attempt to import an ONNX graph, with one choice of the axis that counts
// samples.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/onnx/format/tensor_reader.hpp"
#include "engine/onnx/import/copy_count.hpp"
#include "engine/onnx/import/graph_plan.hpp"
#include "engine/onnx/import/import_graph.hpp"
#include "engine/onnx/import/import_survey.hpp"
#include "engine/onnx/import/imported.hpp"
#include "engine/onnx/import/network_import.hpp"
#include "engine/onnx/import/sample_axis.hpp"

namespace penstock {

/// One thread uses an ImportAttempt, once.
class ImportAttempt {
 public:
  /// Prepares an attempt, which refers to its arguments. The options have the values of
  /// `known_inputs`, which become constants.
  ImportAttempt(const ImportRequest& request, const GraphPlan& plan, TensorReader& reader,
                const SampleAxis& axis, const std::set<std::string>& known_inputs);

  /// Imports the graph. @throws MixedSamples, NeededInputs and Error for the first node that cannot
  /// be imported.
  ImportedGraph import();

  /// Notes in `survey` all that cannot be imported, apart from nodes that read what refused nodes
  /// compute: these are passed over, unless their operator is not supported.
  void look_through(ImportSurvey& survey);

 private:
  void walk();
  void add_input(std::size_t number);
  void add_initializer(const ReadInitializer& initializer);
  bool is_trainable(const Tensor& tensor, const std::string& name) const;
  void add_nodes();
  void add_pattern(const Pattern& pattern);
  std::vector<Imported*> inputs_of(const OnnxNode& node);
  bool is_unknown(const std::string& name) const;
  bool has_unknown_inputs(const OnnxNode& node) const;
  void forget_outputs(const OnnxNode& node);
  void add_branch(const OnnxNode& node);
  void count_repeated(const std::string& name, const Tensor& elements);
  void check_is_new(const std::string& name) const;
  bool condition_of(const OnnxNode& node);
  void add_node(const OnnxNode& node);
  void add_outputs_of(const OnnxNode& node);
  template <class Work>
  bool for_node(const OnnxNode& node, const Work& work);
  template <class Work>
  bool for_tensor(const std::string& description, const Work& work);
  std::vector<Imported> outputs_of(const OnnxNode& node, const std::vector<Imported*>& inputs);
  void add_output(const OnnxValueInfo& output);

  const OnnxFile& file_;
  const GraphPlan& plan_;
  const OnnxOptions& options_;
  const SampleAxis& axis_;
  const std::set<std::string>& known_inputs_;
  TensorReader& reader_;
  ImportSurvey* survey_ = nullptr;  // Without a survey, the first refusal is thrown.
  CopyCount copies_;                // This counts the nodes and the elements of branches.
  NetworkImport network_;
  ImportedGraph result_;
  // These are the tensors by name. One that a refused node would compute is neither known nor a
  // value of the model.
  std::map<std::string, Imported> values_;
  // These are the names of the tensors in branches that have the same elements.
  std::map<const std::byte*, std::set<std::string>> names_in_branches_;
};

}  // namespace penstock
