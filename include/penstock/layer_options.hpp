// These are the options of a Model's layers. They are values with PyTorch's defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "penstock/standard.hpp"
#include "penstock/value.hpp"

namespace penstock {

/// A Size2d has a number for the rows of an image and one for its columns. One number alone stands
/// for both: `3` is `{3, 3}`.
struct Size2d {
  /// Makes a size with `both` rows and as many columns.
  constexpr Size2d(std::int64_t both) : rows(both), columns(both) {}
  /// Makes a size of so many rows and columns.
  constexpr Size2d(std::int64_t row_number, std::int64_t column_number)
      : rows(row_number), columns(column_number) {}

  std::int64_t rows;     ///< This is the number for the rows, or along a column.
  std::int64_t columns;  ///< This is the number for the columns, or along a row.

  /// Returns whether both sizes have the same rows and columns.
  constexpr bool operator==(const Size2d&) const = default;
};

/// Conv2dOptions are the options of Model::conv2d(), which are those of torch.nn.Conv2d.
struct Conv2dOptions {
  std::int64_t out_channels = 0;  ///< The result has this many channels, 1 or more.
  Size2d kernel = 0;              ///< The kernel has this many rows and columns.
  Size2d stride = 1;              ///< Windows are this many rows and columns apart.
  /// This many rows of zeros are added above and below an image, and this many columns on its left
  /// and right.
  Size2d padding = 0;
  Size2d dilation = 1;  ///< The elements of the kernel are this many rows and columns apart.
  /// The channels are divided into this many groups, and each group is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< `bias` says whether the layer has a parameter NAME.bias.
};

/// Conv1dOptions are the options of Model::conv1d(), which are those of torch.nn.Conv1d.
struct Conv1dOptions {
  std::int64_t out_channels = 0;  ///< The result has this many channels, 1 or more.
  std::int64_t kernel = 0;        ///< The kernel has this many elements.
  std::int64_t stride = 1;        ///< Windows are this many elements apart.
  std::int64_t padding = 0;       ///< This many zeros are added at each end.
  std::int64_t dilation = 1;      ///< The elements of the kernel are this far apart.
  /// The channels are divided into this many groups, and each group is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< `bias` says whether the layer has a parameter NAME.bias.
};

/// ConvTranspose2dOptions are the options of Model::conv_transpose2d(), which are those of
/// torch.nn.ConvTranspose2d.
struct ConvTranspose2dOptions {
  std::int64_t out_channels = 0;  ///< The result has this many channels, 1 or more.
  Size2d kernel = 0;              ///< The kernel has this many rows and columns.
  Size2d stride = 1;  ///< Pixels of x are this many rows and columns apart in the result.
  /// This many rows are taken away above and below the result, and this many columns on its left
  /// and right.
  Size2d padding = 0;
  /// This many rows are added below the result, and this many columns on its right. They are fewer
  /// than the stride.
  Size2d output_padding = 0;
  Size2d dilation = 1;  ///< The elements of the kernel are this many rows and columns apart.
  /// The channels are divided into this many groups, and each group is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< `bias` says whether the layer has a parameter NAME.bias.
};

/// MaxPool2dOptions are the options of Model::max_pool2d(), which are those of torch.nn.MaxPool2d.
struct MaxPool2dOptions {
  Size2d kernel = 2;  ///< A window has this many rows and columns.
  /// Windows are this many rows and columns apart; 0 stands for the size of the kernel.
  Size2d stride = 0;
  /// This many rows are added above and below an image, and this many columns on its left and
  /// right. They are never the maximum.
  Size2d padding = 0;
  /// `ceil_mode` says whether a last window that is partly outside of the padded image counts, too.
  bool ceil_mode = false;
};

/// AvgPool2dOptions are the options of Model::avg_pool2d(), which are those of torch.nn.AvgPool2d.
struct AvgPool2dOptions {
  Size2d kernel = 2;  ///< A window has this many rows and columns.
  /// Windows are this many rows and columns apart; 0 stands for the size of the kernel.
  Size2d stride = 0;
  /// This many rows are added above and below an image, and this many columns on its left and
  /// right.
  Size2d padding = 0;
  /// `ceil_mode` says whether a last window that is partly outside of the padded image counts, too.
  bool ceil_mode = false;
  /// `count_include_pad` says whether the padding counts as zeros or not at all.
  bool count_include_pad = true;
};

/// LpPool2dOptions are the options of Model::lp_pool2d(), which are those of torch.nn.LPPool2d.
struct LpPool2dOptions {
  Size2d kernel = 2;  ///< A window has this many rows and columns.
  /// Windows are this many rows and columns apart; 0 stands for the size of the kernel.
  Size2d stride = 0;
  /// `ceil_mode` says whether a last window that is partly outside of the image counts, too.
  /// PyTorch then multiplies the mean of such a window by the whole size of the kernel, and so does
  /// this.
  bool ceil_mode = false;
};

/// MaxPool1dOptions are the options of Model::max_pool1d(), which are those of torch.nn.MaxPool1d.
struct MaxPool1dOptions {
  std::int64_t kernel = 2;  ///< A window has this many elements.
  /// Windows are this many elements apart; 0 stands for the size of the kernel.
  std::int64_t stride = 0;
  std::int64_t padding = 0;  ///< This many elements are added at each end; none is the maximum.
  /// `ceil_mode` says whether a last window that is partly outside of the padded x counts, too.
  bool ceil_mode = false;
};

/// AvgPool1dOptions are the options of Model::avg_pool1d(), which are those of torch.nn.AvgPool1d.
struct AvgPool1dOptions {
  std::int64_t kernel = 2;  ///< A window has this many elements.
  /// Windows are this many elements apart; 0 stands for the size of the kernel.
  std::int64_t stride = 0;
  std::int64_t padding = 0;  ///< This many elements are added at each end.
  /// `ceil_mode` says whether a last window that is partly outside of the padded x counts, too.
  bool ceil_mode = false;
  /// `count_include_pad` says whether the padding counts as zeros or not at all.
  bool count_include_pad = true;
};

/// BatchNormOptions are the options of Model::batch_norm1d(), batch_norm2d() and batch_norm3d().
struct BatchNormOptions {
  double eps = 1e-5;  ///< `eps`, above 0, is added to the variances.
  /// Each micro-batch moves the running statistics towards its own by this share, from 0 to 1. If
  /// there is none, the running statistics are the means of those of all micro-batches so far.
  std::optional<double> momentum = 0.1;
  bool affine = true;  ///< `affine` says whether the layer has parameters.
  /// `track_running_stats` says whether the layer keeps running statistics, which it then uses in
  /// inference. Otherwise it uses those of the micro-batch in inference, too.
  bool track_running_stats = true;
};

/// AttentionOptions are the options of Model::attention().
struct AttentionOptions {
  /// The features of q, k and v are those of this many heads, side by side. Each head attends by
  /// itself.
  int heads = 1;
  bool causal = false;  ///< `causal` hides later positions from earlier ones.
  /// In training, this share of the softmax's results is dropped, as Model::dropout() does it.
  double dropout = 0;
  /// The dropout's masks depend on this name, which must be set if there is a dropout, and which no
  /// other layer has.
  std::string name = "";
  /// The features of k and v are those of this many heads, a divisor of `heads`; 0 stands for
  /// `heads`. Each head of k and v serves as many neighbouring heads of q.
  int kv_heads = 0;
  /// If `key_padding_mask`, f32 or i64 [N,S], is set, sample i does not see the keys at which its
  /// row is 1; elsewhere the row is 0. A query that sees no key at all gets zeros.
  Value key_padding_mask = {};
  /// If `attn_mask`, f32 [T,S] with a row for each query, is set, it is added to the scores of
  /// every sample and head: -infinity hides a key from a query. A parameter of the model is trained
  /// here.
  Value attn_mask = {};
};

/// CachedAttentionOptions are the options of Model::cached_attention().
struct CachedAttentionOptions {
  /// The features of q, k and v are those of this many heads, side by side. Each head attends by
  /// itself.
  int heads = 1;
  std::int64_t length = 0;  ///< The sequence grows up to this many rows, 1 or more.
  /// The features of k and v are those of this many heads, a divisor of `heads`; 0 stands for
  /// `heads`. Each head of k and v serves as many neighbouring heads of q.
  int kv_heads = 0;
};

}  // namespace penstock
