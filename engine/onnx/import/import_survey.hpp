// An ImportSurvey collects what of an ONNX graph cannot be imported, so that one error can say it
// all at once.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"
#include "engine/onnx/import/computed_count.hpp"
#include "engine/onnx/import/graph_plan.hpp"
#include "engine/onnx/import/imported.hpp"
#include "penstock/error.hpp"
#include "penstock/onnx.hpp"

namespace penstock {

/// One thread uses an ImportSurvey.
class ImportSurvey {
 public:
  /// Notes that a node is refused for an error's reason. An error that is not about what is
  /// unsupported is no refusal, but makes the survey doubtful: it may come from the choice of the
  /// samples' axis.
  void add(const OnnxNode& node, const Error& error);
  /// Notes that a node mixes samples, so that another choice of their axis may import it.
  void add(const OnnxNode& node, const MixedSamples& mixed);
  /// Notes that a node needs to know inputs of the graph.
  void add(const OnnxNode& node, const NeededInputs& needed);
  /// Notes the node from which on too much is computed, unless such a node has been noted before.
  void add(const OnnxNode& node, const TooMuchComputed& limit);
  /// Notes a refusal of an input or an output, which `text` names.
  void add(const std::string& text);
  /// Notes that an initializer is refused for an error's reason.
  void add(const ReadInitializer& initializer, const Error& error);

  /// Makes the survey doubtful: another choice of the samples' axis may import what this one
  /// cannot.
  void doubt() { is_doubtful_ = true; }
  /// Notes inputs that have to be known.
  void need(const Sources& inputs) { needed_.add(inputs); }

  bool is_empty() const { return refusals_.empty() && others_.empty() && tensors_.empty(); }
  bool is_doubtful() const { return is_doubtful_; }
  /// Returns the names of the inputs that refused nodes and inputs have to know.
  std::vector<std::string> needed() const { return needed_.names(); }
  /// Returns the nodes that are refused, by operator and reason.
  const std::vector<OnnxRefusal>& refusals() const { return refusals_; }
  /// Returns the text of an error, with the names of all initializers by reason, and those of all
  /// nodes by operator and reason. It counts names from the 21st one with the same reason on, and
  /// reasons from the 101st one of each kind on.
  std::string text() const;

 private:
  /// A TensorRefusal has the names of the initializers that are refused for one reason.
  struct TensorRefusal {
    std::string reason;
    std::vector<std::string> names = {};
  };

  void add(const OnnxNode& node, const std::string& text);
  std::string nodes_text() const;

  std::vector<OnnxRefusal> refusals_;
  // These are the places in `refusals_`, by operator and reason.
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
  std::vector<std::string> others_;
  std::vector<TensorRefusal> tensors_;
  Sources needed_;
  bool is_doubtful_ = false;
  bool has_unsupported_ = false;
  bool has_limit_ = false;  // The survey has said already that too much is computed.
};

/// Returns the sentence that says which inputs a host may give. It counts names from the 21st one
/// on.
std::string text_of(const NeededInputs& needed);

}  // namespace penstock
