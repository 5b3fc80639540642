// These tests check that the samples that a host gets do not depend on the floating-point
// environment that the host has set.
#include <fenv.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/transforms.hpp"

namespace penstock {
namespace {

/// An Environment sets a rounding mode, and which floating-point exceptions trap. Its destructor
/// restores both.
class Environment {
 public:
  Environment(int rounding, int traps) {
    fegetenv(&before_);
    fesetround(rounding);
    feenableexcept(traps);
  }
  ~Environment() { fesetenv(&before_); }

 private:
  fenv_t before_;
};

/// A Thirds is a dataset in which each sample is a division that must be rounded.
class Thirds : public Dataset {
 public:
  std::int64_t size() const override { return 8; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    const volatile float number = static_cast<float>(request.index + 1), three = 3;
    const float third = number / three, negative = -number / three;
    std::memcpy(destinations[0], &third, sizeof third);
    std::memcpy(destinations[0] + sizeof third, &negative, sizeof negative);
  }

 private:
  std::vector<Field> fields_{{"x", DType::f32, {2}}};
};

/// A StreamOfThirds has the samples of Thirds as a stream.
class StreamOfThirds : public IterableDataset {
 public:
  const std::vector<Field>& fields() const override { return thirds_.fields(); }
  std::unique_ptr<SampleStream> begin(const WorkerInfo& worker) const override {
    return std::make_unique<Stream>(thirds_, worker);
  }

 private:
  struct Stream : SampleStream {
    Stream(const Thirds& dataset, const WorkerInfo& worker)
        : thirds(dataset), index(worker.begin(8)), end(worker.end(8)) {}
    bool next(std::span<std::byte* const> destinations, const std::stop_token&) override {
      if (index == end) return false;
      thirds.read({.index = index++}, destinations);
      return true;
    }
    const Thirds& thirds;
    std::int64_t index, end;
  };

  Thirds thirds_;
};

void append(std::string& bytes, DataLoader loader) {
  EXPECT_GE(loader.waited_seconds(), 0);
  while (const auto batch = loader.next())
    for (const Tensor& tensor : *batch)
      bytes.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
}

/// Makes loaders of several kinds, and returns the bytes of all their batches.
std::string all_bytes() {
  std::string bytes;
  for (const int workers : {0, 2}) {
    const DataLoaderOptions options{.workers = workers, .timeout_seconds = 20.1};
    append(bytes, DataLoader(std::make_shared<Thirds>(), 2, options));
    append(bytes, DataLoader(std::make_shared<StreamOfThirds>(), 2, options));
    auto digits = synthetic_digits(20, 7, {.mean = 0.1307, .std = 0.3081});
    digits = normalize(std::move(digits), {{0.1234567891}, {0.7654321}});
    digits = random_crop(std::move(digits), {.rows = 28, .columns = 28, .padding = 2, .seed = 3});
    digits = random_horizontal_flip(std::move(digits), {.probability = 0.3, .seed = 4});
    append(bytes, DataLoader(std::move(digits), 5, options));
  }
  return bytes;
}

/// Has the digits of another dataset, and leaves another floating-point environment behind each
/// time that one is read.
class Disturbing : public Dataset {
 public:
  explicit Disturbing(std::shared_ptr<const Dataset> digits) : digits_(std::move(digits)) {}
  std::int64_t size() const override { return digits_->size(); }
  const std::vector<Field>& fields() const override { return digits_->fields(); }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    digits_->read(request, destinations);
    fesetround(FE_DOWNWARD);
    feenableexcept(FE_ALL_EXCEPT);
  }

 private:
  std::shared_ptr<const Dataset> digits_;
};

TEST(DataLoaderEnvironment, ThatADatasetLeavesBehindChangesNoBitOfASample) {
  const auto bytes_of = [](bool disturbs) {
    auto digits = synthetic_digits(20, 7, {.mean = 0.1307, .std = 0.3081});
    if (disturbs) digits = std::make_shared<Disturbing>(std::move(digits));
    digits = normalize(std::move(digits), {{0.1234567891}, {0.7654321}});
    std::string bytes;
    append(bytes, DataLoader(std::move(digits), 5, {.workers = 1}));
    return bytes;
  };
  EXPECT_TRUE(bytes_of(true) == bytes_of(false));
}

TEST(DataLoaderEnvironment, OfTheHostChangesNoBitOfASampleAndIsLeftAsItWas) {
  const std::string expected = all_bytes();
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
    for (const int traps : {0, FE_ALL_EXCEPT}) {
      const Environment environment(rounding, traps);
      EXPECT_TRUE(all_bytes() == expected) << rounding << ", " << traps;
      EXPECT_EQ(fegetround(), rounding);
      EXPECT_EQ(fegetexcept(), traps);
    }
}

}  // namespace
}  // namespace penstock
