// onednn() loads this module. The module computes convolutions with oneDNN's direct algorithms,
// which are those that PyTorch asks for.
#include <omp.h>

#include <algorithm>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "benchmarks/onednn/onednn.hpp"

namespace penstock::benchmarks {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto direct = dnnl::algorithm::convolution_direct;

const dnnl::engine& processor() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// Tensors describes x, the weights and y. A gradient has the description of its tensor.
struct Tensors {
  memory::desc x, weights, y;
};

/// Returns the tensors of `c` in plain layouts, or in those that oneDNN is to choose.
Tensors tensors_of(const Convolution& c, Layouts layouts) {
  const auto tensor = [&](const memory::dims& dims, Tag plain) {
    return memory::desc(dims, memory::data_type::f32, layouts == Layouts::own ? Tag::any : plain);
  };
  const memory::dim inputs = c.in_channels / c.groups, outputs = c.out_channels / c.groups;
  return {.x = tensor({c.images, c.in_channels, c.size, c.size}, Tag::nchw),
          .weights = c.groups == 1
                         ? tensor({outputs, inputs, c.kernel, c.kernel}, Tag::oihw)
                         : tensor({c.groups, outputs, inputs, c.kernel, c.kernel}, Tag::goihw),
          .y = tensor({c.images, c.out_channels, c.out_size(), c.out_size()}, Tag::nchw)};
}

/// An Argument is a tensor of a primitive, by the number under which the primitive takes it.
struct Argument {
  int number;
  memory::desc layout;
};

/// A Chosen is the primitive that oneDNN has chosen for a pass.
struct Chosen {
  dnnl::primitive primitive;
  Argument first, second, result;
};

Chosen choose(const Convolution& c, Pass pass, const Tensors& t) {
  const memory::dims stride{c.stride, c.stride}, padding{c.padding(), c.padding()};
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, direct, t.x, t.weights, t.y, stride, padding, padding},
      processor());
  if (pass == Pass::weight_gradient) {
    const dnnl::convolution_backward_weights::primitive_desc chosen(
        {direct, t.x, t.weights, t.y, stride, padding, padding}, processor(), forward);
    return {dnnl::convolution_backward_weights(chosen),
            {DNNL_ARG_SRC, chosen.src_desc()},
            {DNNL_ARG_DIFF_DST, chosen.diff_dst_desc()},
            {DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc()}};
  }
  if (pass == Pass::input_gradient) {
    const dnnl::convolution_backward_data::primitive_desc chosen(
        {direct, t.x, t.weights, t.y, stride, padding, padding}, processor(), forward);
    return {dnnl::convolution_backward_data(chosen),
            {DNNL_ARG_DIFF_DST, chosen.diff_dst_desc()},
            {DNNL_ARG_WEIGHTS, chosen.weights_desc()},
            {DNNL_ARG_DIFF_SRC, chosen.diff_src_desc()}};
  }
  return {dnnl::convolution_forward(forward),
          {DNNL_ARG_SRC, forward.src_desc()},
          {DNNL_ARG_WEIGHTS, forward.weights_desc()},
          {DNNL_ARG_DST, forward.dst_desc()}};
}

/// A Signature describes the operands of a pass in plain layouts.
struct Signature {
  memory::desc first, second, result;
};

Signature signature_of(const Convolution& convolution, Pass pass) {
  const auto [x, weights, y] = tensors_of(convolution, Layouts::plain);
  if (pass == Pass::forward) return {x, weights, y};
  return pass == Pass::weight_gradient ? Signature{x, y, weights} : Signature{y, weights, x};
}

void convert(memory from, memory to, dnnl::stream& stream) {
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

class PrimitiveCall : public OnednnCall {
 public:
  PrimitiveCall(const Convolution& convolution, Pass pass, Layouts layouts,
                std::span<const float> first, std::span<const float> second)
      : PrimitiveCall(choose(convolution, pass, tensors_of(convolution, layouts)),
                      signature_of(convolution, pass)) {
    take(first, plain_.first, arguments_.at(chosen_.first.number));
    take(second, plain_.second, arguments_.at(chosen_.second.number));
  }

  void run() override {
    chosen_.primitive.execute(stream_, arguments_);
    stream_.wait();
  }

  std::vector<float> result() const override {
    memory plain(plain_.result, processor());
    dnnl::stream stream(processor());
    convert(arguments_.at(chosen_.result.number), plain, stream);
    const auto* values = static_cast<const float*>(plain.get_data_handle());
    return {values, values + plain_.result.get_size() / sizeof(float)};
  }

 private:
  PrimitiveCall(Chosen chosen, Signature plain)
      : chosen_(std::move(chosen)), plain_(std::move(plain)) {
    for (const Argument& argument : {chosen_.first, chosen_.second, chosen_.result})
      arguments_.emplace(argument.number, memory(argument.layout, processor()));
  }

  /// Converts `values`, which are in the layout `plain`, to the layout of `argument`.
  void take(std::span<const float> values, const memory::desc& plain, const memory& argument) {
    memory copy(plain, processor());
    std::ranges::copy(values, static_cast<float*>(copy.get_data_handle()));
    convert(copy, argument, stream_);
  }

  Chosen chosen_;
  Signature plain_;
  dnnl::stream stream_{processor()};
  std::unordered_map<int, memory> arguments_;
};

class Library : public Onednn {
 public:
  std::string version() const override {
    const dnnl_version_t& version = *dnnl_version();
    return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
           std::to_string(version.patch);
  }

  std::unique_ptr<OnednnCall> call(const Convolution& convolution, Pass pass, Layouts layouts,
                                   std::span<const float> first,
                                   std::span<const float> second) override {
    omp_set_num_threads(1);
    return std::make_unique<PrimitiveCall>(convolution, pass, layouts, first, second);
  }
};

}  // namespace
}  // namespace penstock::benchmarks

extern "C" [[gnu::visibility("default")]] penstock::benchmarks::Onednn*
penstock_benchmarks_onednn() {
  static penstock::benchmarks::Library library;
  return &library;
}
