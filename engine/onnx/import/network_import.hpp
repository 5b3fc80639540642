// A NetworkImport adds to a Model what the nodes of an ONNX graph compute. It knows how ONNX's
// tensors lie in the model's values (Placement), and makes parameters and constants of known
// tensors where the model needs values. One thread uses it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/onnx/import/choice_masks.hpp"
#include "engine/onnx/import/computed_count.hpp"
#include "engine/onnx/import/imported.hpp"
#include "graph/ir/graph.hpp"
#include "graph/ir/op.hpp"
#include "penstock/model.hpp"

namespace penstock {

struct ModelState;

class NetworkImport {
 public:
  /// Begins an import into `model`. `samples` are the two numbers of samples that the import goes
  /// by. `is_run` says that the model is run as the file says, and not trained.
  NetworkImport(const Model& model, std::array<std::int64_t, probes> samples, bool is_run);

  Model& model() { return model_; }
  std::int64_t samples(std::size_t probe) const { return samples_[probe]; }
  bool is_run() const { return is_run_; }
  /// Returns whether a node computes `value`.
  bool is_computed(const Value& value) const;

  /// Counts what is computed while the model is made.
  ComputedCount& computed_count() { return computed_count_; }

  /// Returns the masks of attentions that the import has read.
  ChoiceMasks& choice_masks() { return choice_masks_; }

  /// Counts steps of a layer that are written out one by one. Returns how many there are so far.
  std::int64_t count_steps(std::int64_t steps) { return steps_ += steps; }

  /// Names the nodes that are added from now on after `name`.
  void name_nodes(const std::string& name);

  /// Adds an input of the graph. Returns it without its Sources.
  Imported input(const std::string& name, OnnxType type, const Dims& sample,
                 const Placement& placement);

  /// Adds a node and returns its first output.
  Value apply(const graph::Op& op, const std::vector<Value>& inputs,
              graph::Attributes attributes = {});
  /// Returns output number `number` of the node that computes `first`.
  Value other_output(const Value& first, std::size_t number) const;
  /// Returns the type of a value for one sample.
  graph::TensorType type(const Value& value) const;
  Dims shape(const Value& value) const;
  /// Returns x with the dimensions `dims`, in which 0 keeps a dimension and -1 stands for whatever
  /// is left; x itself if it has them.
  Value reshaped_value(const Value& x, const Dims& dims);
  /// Returns a number as a value.
  Value number(double value);

  /// Returns the dimensions of ONNX's tensor. @throws MixedSamples if a known tensor has another
  /// number of axes for each number of samples.
  ProbedDims dims(const Imported& x) const;
  /// Returns the dimensions of ONNX's tensor for the first of the two numbers of samples.
  Dims first_dims(const Imported& x) const { return dims(x)[0]; }
  std::size_t rank(const Imported& x) const { return dims(x)[0].size(); }

  /// Returns the tensor x, which is known, and the same for both numbers of samples.
  /// @throws MixedSamples if it is not the same.
  static const Tensor& settled(const Imported& x);
  /// Returns the value of x as f32, in the form that Imported::placement says. A known tensor
  /// becomes a parameter or a constant.
  Value value(Imported& x);
  /// Returns the value of x, which stands for integers, as one of integers.
  Value integers(Imported& x);
  /// Returns the value of x as indices of an axis of `size` elements, of which negative ones count
  /// from the end.
  Value indices(Imported& x, std::int64_t size);
  /// Returns the value of x, which must not depend on samples. @throws NeededInputs if it does.
  Value raw(Imported& x);

  /// Returns the tensor x, which must be known, as a new buffer that is called as x is.
  Value buffer(Imported& x);
  /// Returns the name of a parameter, buffer or layer.
  std::string name_of(const Value& value) const { return model_.tensor_name(value); }
  /// Returns a name for a new layer, which is that of the node if no layer has it yet.
  std::string unused_name() const;

  /// Returns an Imported of a new value, computed from `from`.
  Imported computed(const Value& value, OnnxType type, const std::optional<Placement>& placement,
                    const std::vector<const Imported*>& from) const;
  /// Returns an Imported of a tensor that does not depend on the number of samples.
  static Imported constant(const Tensor& tensor, OnnxType type);

  /// Aligned are the values of several operands, which broadcast as in NumPy, and the placement of
  /// what is computed from them.
  struct Aligned {
    std::vector<Value> values;
    std::optional<Placement> placement;
  };
  /// Aligns operands, of which the last `kept` axes of each stay as they are, such as those of
  /// matrices. @throws MixedSamples if their samples are not at the same place.
  Aligned aligned(const std::vector<Imported*>& operands, std::size_t kept = 0);
  /// Returns the value of x as one that counts samples as `placement` says.
  /// @throws MixedSamples if x has its samples elsewhere, or rows for a number of samples.
  Value with_samples(Imported& x, const Placement& placement);

  /// Returns which axis of the value of x is axis number `axis` of ONNX's tensor.
  /// @throws MixedSamples if this axis has samples.
  std::int64_t axis_of_value(const Imported& x, std::int64_t axis) const;

  /// Returns x in the dimensions `to`.
  /// @throws MixedSamples if an axis of the result would have parts of samples.
  Imported reshaped(Imported& x, const ProbedDims& to);
  /// Returns x with its axes in the order `order`.
  Imported transposed(Imported& x, const Dims& order);

 private:
  Value constant_value(const std::string& name, const Imported& x);
  /// Counts the memory that the elements of x take as a constant of the model. Elements that the
  /// file has do not count where they become a constant for the first time.
  void count_constant(const Imported& x);
  /// Returns the value of x, which has samples, as that of a tensor of `rank` axes that has its
  /// samples as `placement` says. @throws MixedSamples if x has its samples elsewhere.
  Value placed(Imported& x, std::size_t rank, const Placement& placement);
  Value aligned_operand(Imported& x, std::size_t rank, const Placement& placement);
  Value without_samples(Imported& x, std::size_t rank, const Placement& placement);
  /// Returns the value, as f32, that x repeats along axis number `axis` of ONNX's tensor, with one
  /// element along that axis, or nothing if x is no such tensor. x has no samples.
  std::optional<Value> repeated_row(const Imported& x, std::size_t axis);
  /// Returns what the known tensor x has for one sample. x has rows for all samples as `placement`
  /// says. @throws MixedSamples if they are not the same for each sample, or if x is trained.
  Value known_row(const Imported& x, const Placement& placement);

  Model model_;
  std::shared_ptr<ModelState> state_;
  std::array<std::int64_t, probes> samples_;
  bool is_run_;
  std::int64_t steps_ = 0;
  ComputedCount computed_count_;
  ChoiceMasks choice_masks_;
  std::string node_name_;
  Value first_input_;
  // `parameters_` and `constants_` have the values of tensors that are in the model already, by
  // where their elements are, as two branches may call theirs the same; `kept_` keeps these
  // elements, so that no others are where they are.
  std::map<std::pair<const std::byte*, std::string>, Value> parameters_;
  std::map<std::pair<const std::byte*, Dims>, Value> constants_;
  std::vector<Tensor> kept_;
  // These are elements that the file has and that have become a constant.
  std::set<const std::byte*> constants_of_file_;
};

}  // namespace penstock
