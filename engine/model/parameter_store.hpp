// ParameterStore holds the host's copy of a model's parameters and buffers, in model order, and
// knows where newer values are if a running training model has them. It is used inside a ModelCall.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/model/name_index.hpp"
#include "penstock/error.hpp"
#include "penstock/model.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// A WeightSource has newer weights than the host, as a training model does after a step.
class WeightSource {
 public:
  /// Returns the values of the parameters that the source has told mark_newer() or leave_to() of,
  /// in that order.
  virtual std::vector<Tensor> read_weights() = 0;
  /// Notes that the host has the weights that read_weights() has returned.
  virtual void weights_taken() {}

 protected:
  ~WeightSource() = default;
};

class ParameterStore {
 public:
  /// Makes an empty store. The text of every error begins with `model`.
  explicit ParameterStore(std::string model) : model_(std::move(model)) {}

  /// Appends a parameter with its initial value. The function does not throw if room was reserved
  /// for the parameter.
  void add(ParameterInfo info, Tensor value);
  /// Makes room for `count` more parameters.
  void reserve(std::size_t count);
  /// Takes back all but the first `count` parameters.
  void keep(std::size_t count);
  /// Returns what is known of the parameters and buffers. Which ones are frozen is a matter of the
  /// network: here no parameter is frozen.
  const std::vector<ParameterInfo>& parameters() const noexcept { return parameters_; }

  /// Returns the position in parameters() of the parameter called `name`.
  /// @throws Error invalid_argument if there is none.
  std::size_t position(const std::string& name);

  /// Returns every parameter's newest value. If a source holds newer values, they are read first.
  /// @throws Error if the source cannot be read, or if the newest values are lost. Every call
  /// throws until the source can be read or all values are replaced, so that older values are never
  /// taken for the newest.
  const std::vector<Tensor>& newest();
  /// Returns the newest value of the parameter `name`.
  /// @throws Error invalid_argument if there is no such parameter, and as newest().
  Tensor newest(const std::string& name);

  /// Replaces the value of the parameter `name`, after fetching all newer values.
  /// @throws Error invalid_argument if there is no such parameter, shape_mismatch if `value` does
  /// not fit it, and as newest(); then nothing has changed.
  void set(const std::string& name, const Tensor& value);
  /// Replaces the values of all parameters at once. Values that a source holds, or that were lost,
  /// are then out of date.
  /// @throws Error shape_mismatch; then nothing has changed.
  void replace(std::vector<Tensor> values);

  /// Returns a number that grows with each change of the newest values, wherever these are. A copy
  /// is out of date when its version differs: `if (held != store.version()) { copy(store.newest());
  /// held = store.version(); }`.
  std::uint64_t version() const noexcept { return version_; }
  /// Returns how often a source was read.
  std::uint64_t fetches() const noexcept { return fetches_; }

  /// Notes that `source` has copies of the newest values of the parameters at the positions `held`,
  /// and may change them, and frees the store's own values of them. The version stays. `held` lives
  /// as long as `source`.
  /// @throws Error as newest(), before anything has changed.
  void leave_to(WeightSource& source, std::span<const std::size_t> held);
  /// Notes that the values of the parameters at the positions `held`, which `source` has, are newer
  /// than before, and frees the store's own values of them. The newest values of all other
  /// parameters must be in the store. `held` lives as long as `source`. Returns the version of the
  /// newest values.
  std::uint64_t mark_newer(WeightSource& source, std::span<const std::size_t> held) noexcept;
  /// Fetches the newest values if `source` holds them, so that `source` may be destroyed.
  /// @throws what reading `source` throws; then `source` still holds the newest values.
  void take_from(WeightSource& source);
  /// Forgets `source`, after reading it if it holds the newest values. If reading it fails, the
  /// newest values are lost, and newest() throws until all values are replaced.
  void detach(WeightSource& source) noexcept;

 private:
  void expect(std::size_t index, const Tensor& value) const;
  void fetch();
  void read_newer();
  void let_have(WeightSource& source, std::span<const std::size_t> held) noexcept;
  struct Loss {
    Errc code = Errc::internal;
    std::string why = {};  // `why` is empty if there was no memory for the text.
  };
  void lose(Errc code, const char* why) noexcept;
  std::string subject() const;
  std::string lost_text() const;

  std::string model_;
  std::vector<ParameterInfo> parameters_;
  NameIndex names_;  // `names_` has the names of `parameters_`.
  // `values_` has an empty tensor for each value that only `newer_` has, or that was lost.
  std::vector<Tensor> values_;
  WeightSource* newer_ = nullptr;
  std::span<const std::size_t> held_;  // `newer_` has the newest values at these positions.
  // `loss_` says why the newest values were lost. It is empty once all values have been replaced.
  std::optional<Loss> loss_;
  std::uint64_t version_ = 1;
  std::uint64_t fetches_ = 0;
};

}  // namespace penstock
