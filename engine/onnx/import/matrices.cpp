// The operators that multiply matrices.
#include <algorithm>
#include <array>

#include "engine/onnx/import/matrix_product.hpp"
#include "engine/onnx/import/operators.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/movement/rearrange.hpp"

namespace penstock {
namespace {

Results matmul(NodeImport& n) {
  return {matrix_product(n.network, n.input(0), n.input(1))};
}

/// Returns whether the node is a linear layer: x·weightᵀ + bias or x·weight + bias.
bool is_linear(const NodeImport& n, double alpha, double beta) {
  if (n.flag("transA") || alpha != 1 || n.input(1).placement) return false;
  return !n.has(2) || (beta == 1 && !n.input(2).placement && n.rank(2) == 1 &&
                       n.dims(2)[0] == n.dims(1)[n.flag("transB") ? 0 : 1]);
}

Results gemm(NodeImport& n) {
  n.expect(n.rank(0) == 2 && n.rank(1) == 2, "expected matrices of two axes, got " +
                                                 std::to_string(n.rank(0)) + " and " +
                                                 std::to_string(n.rank(1)) + " axes");
  const double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  if (is_linear(n, alpha, beta)) {
    n.network.axis_of_value(n.input(0), 1);
    std::vector<Value> inputs{n.value(0), n.raw(1)};
    if (!n.flag("transB"))
      inputs[1] = n.apply(graph::transpose, {inputs[1]}, {{"axes", Dims{1, 0}}});
    if (n.has(2)) inputs.push_back(n.raw(2));
    return {n.like_first(n.apply(graph::linear, inputs))};
  }
  Imported product =
      matrix_product(n.network, n.input(0), n.input(1), n.flag("transA"), n.flag("transB"));
  if (alpha != 1) product.value = n.apply(graph::scale, {product.value}, {{"factor", alpha}});
  if (!n.has(2)) return {product};
  const auto [values, placement] = n.network.aligned({&product, &n.input(2)});
  const Value scaled =
      beta == 1 ? values[1] : n.apply(graph::scale, {values[1]}, {{"factor", beta}});
  return {n.result(n.apply(graph::add, {values[0], scaled}), product.type, placement)};
}

/// An Equation is an equation of Einsum: a letter for each axis of each operand and of the result.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

/// Writes out the axes that "..." stands for as digits, the last one of them always as 0.
std::string written_out(const NodeImport& n, std::string letters, std::size_t axes) {
  const std::size_t dots = letters.find("...");
  if (dots == std::string::npos) return letters;
  const std::size_t named = letters.size() - 3;
  n.expect(axes >= named && axes - named <= 8,
           "expected an equation with as many axes as operands");
  std::string ellipsis;
  for (std::size_t i = axes - named; i-- > 0;) ellipsis += static_cast<char>('0' + i);
  return letters.replace(dots, 3, ellipsis);
}

Equation equation_of(const NodeImport& n) {
  std::string text = n.text("equation", "");
  std::erase(text, ' ');
  Equation equation;
  const std::size_t arrow = text.find("->");
  std::string operands = text.substr(0, arrow);
  std::size_t most = 0;
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    const std::size_t comma = operands.find(',');
    const std::string letters = operands.substr(0, comma);
    operands = comma == std::string::npos ? "" : operands.substr(comma + 1);
    if (letters.find("...") != std::string::npos)
      most = std::max(most, n.rank(i) + 3 - letters.size());
    equation.operands.push_back(written_out(n, letters, n.rank(i)));
    n.expect(equation.operands.back().size() == n.rank(i),
             "expected an equation with as many letters as axes");
  }
  std::string shared;
  for (std::size_t i = most; i-- > 0;) shared += static_cast<char>('0' + i);
  if (arrow != std::string::npos) {
    equation.result = text.substr(arrow + 2);
    if (const std::size_t dots = equation.result.find("..."); dots != std::string::npos)
      equation.result.replace(dots, 3, shared);
    return equation;
  }
  // Without an arrow, the result has the letters that occur once, in their order.
  std::string all;
  for (const std::string& letters : equation.operands) all += letters;
  std::string once = all;
  std::ranges::sort(once);
  equation.result = shared;
  for (const char letter : once)
    if (std::ranges::count(all, letter) == 1 && !std::isdigit(static_cast<unsigned char>(letter)))
      equation.result += letter;
  return equation;
}

bool contains(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

/// Sums x, whose axes are `letters`, over those that are not in `kept`.
Imported summed(NodeImport& n, Imported x, std::string& letters, const std::string& kept) {
  Dims axes;
  std::string kept_letters;
  std::optional<Placement> placement = x.placement;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (contains(kept, letters[i])) {
      kept_letters += letters[i];
      continue;
    }
    axes.push_back(n.network.axis_of_value(x, static_cast<std::int64_t>(i)));
    if (placement && !placement->whole && i < x.placement->axis) --placement->axis;
  }
  letters = kept_letters;
  if (axes.empty()) return x;
  return n.network.computed(
      n.apply(graph::sum, {n.network.value(x)}, {{"axes", axes}, {"keep", std::int64_t{0}}}),
      x.type, placement, {&x});
}

/// Returns x with its axes in the order of `wanted`, which has the same letters.
Imported ordered(NodeImport& n, Imported x, const std::string& letters, const std::string& wanted) {
  Dims order;
  for (const char letter : wanted) order.push_back(static_cast<std::int64_t>(letters.find(letter)));
  return n.network.transposed(x, order);
}

/// Multiplies two operands, and sums over the letters that the result does not have.
Imported contracted(NodeImport& n, Imported a, std::string of_a, Imported b, std::string of_b,
                    const std::string& kept, std::string& letters) {
  a = summed(n, a, of_a, of_b + kept);
  b = summed(n, b, of_b, of_a + kept);
  std::string shared, along, rows, columns;
  for (const char letter : of_a)
    (!contains(of_b, letter) ? rows : contains(kept, letter) ? shared : along) += letter;
  for (const char letter : of_b)
    if (!contains(of_a, letter)) columns += letter;
  Imported left = ordered(n, a, of_a, shared + rows + along);
  Imported right = ordered(n, b, of_b, shared + along + columns);
  const ProbedDims of_left = n.network.dims(left), of_right = n.network.dims(right);
  ProbedDims left_matrix, right_matrix, result;
  for (std::size_t probe = 0; probe < probes; ++probe) {
    const Dims &l = of_left[probe], &r = of_right[probe];
    const auto product = [](const Dims& dims, std::size_t begin, std::size_t count) {
      std::int64_t all = 1;
      for (std::size_t i = begin; i < begin + count; ++i) all *= dims[i];
      return all;
    };
    Dims outer(l.begin(), l.begin() + static_cast<std::ptrdiff_t>(shared.size()));
    left_matrix[probe] = right_matrix[probe] = outer;
    const std::int64_t inner = product(l, shared.size() + rows.size(), along.size());
    left_matrix[probe].insert(left_matrix[probe].end(),
                              {product(l, shared.size(), rows.size()), inner});
    right_matrix[probe].insert(right_matrix[probe].end(),
                               {inner, product(r, shared.size() + along.size(), columns.size())});
    result[probe].assign(l.begin(),
                         l.begin() + static_cast<std::ptrdiff_t>(shared.size() + rows.size()));
    result[probe].insert(result[probe].end(),
                         r.begin() + static_cast<std::ptrdiff_t>(shared.size() + along.size()),
                         r.end());
  }
  Imported left_side = n.network.reshaped(left, left_matrix);
  Imported right_side = n.network.reshaped(right, right_matrix);
  Imported product = matrix_product(n.network, left_side, right_side);
  letters = shared + rows + columns;
  return n.network.reshaped(product, result);
}

Results einsum(NodeImport& n) {
  const Equation equation = equation_of(n);
  for (const std::string& letters : equation.operands)
    for (const char letter : letters)
      n.expect_supported(std::ranges::count(letters, letter) == 1,
                         "its equation names an axis of an operand twice");
  Imported x = n.input(0);
  std::string letters = equation.operands[0];
  for (std::size_t i = 1; i < n.input_count(); ++i) {
    std::string kept = equation.result;
    for (std::size_t later = i + 1; later < n.input_count(); ++later)
      kept += equation.operands[later];
    std::string of_product;
    x = contracted(n, x, letters, n.input(i), equation.operands[i], kept, of_product);
    letters = of_product;
  }
  x = summed(n, x, letters, equation.result);
  n.expect(letters.size() == equation.result.size(),
           "expected a result whose letters are those of operands");
  return {ordered(n, x, letters, equation.result)};
}

}  // namespace

Imported matrix_product(NetworkImport& network, Imported& a, Imported& b, bool transpose_a,
                        bool transpose_b) {
  const std::size_t rank_a = network.rank(a), rank_b = network.rank(b);
  if (rank_a == 0 || rank_b == 0)
    NodeImport::expect(false, "expected operands with one axis or more");
  if (rank_a == 1 || rank_b == 1) {
    // A vector is a matrix of one row or one column, which the result does not have.
    ProbedDims left = network.dims(a), right = network.dims(b);
    ProbedDims result;
    for (std::size_t probe = 0; probe < probes; ++probe) {
      if (rank_a == 1) left[probe].insert(left[probe].begin(), 1);
      if (rank_b == 1) right[probe].push_back(1);
    }
    Imported matrix_a = network.reshaped(a, left), matrix_b = network.reshaped(b, right);
    Imported product = matrix_product(network, matrix_a, matrix_b);
    result = network.dims(product);
    for (Dims& dims : result) {
      if (rank_b == 1) dims.pop_back();
      if (rank_a == 1) dims.erase(dims.end() - (rank_b == 1 ? 1 : 2));
    }
    return network.reshaped(product, result);
  }
  const graph::Attributes flags{{"transpose_a", std::int64_t{transpose_a}},
                                {"transpose_b", std::int64_t{transpose_b}}};
  // The rows of the first operand may have samples if the second one has none.
  const bool rows_have_samples =
      a.placement && !a.placement->whole && a.placement->axis + 2 == rank_a;
  if (rows_have_samples && rank_b == 2 && !b.placement && !transpose_a) {
    network.axis_of_value(a, -1);
    return network.computed(
        network.apply(graph::matmul, {network.value(a), network.value(b)}, flags), a.type,
        a.placement, {&a, &b});
  }
  const auto [values, placement] = network.aligned({&a, &b}, 2);
  return network.computed(network.apply(graph::matmul, values, flags), a.type, placement, {&a, &b});
}

std::span<const OnnxOperator> matrix_operators() {
  static constexpr std::array<OnnxOperator, 3> operators{{
      {"Einsum", einsum},
      {"Gemm", gemm},
      {"MatMul", matmul},
  }};
  return operators;
}

}  // namespace penstock
