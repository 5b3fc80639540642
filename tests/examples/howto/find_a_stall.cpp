// This program has a dataset that never returns a sample. The loader gives up after a while, and
// the text of its error says what the loader was waiting for.
#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

class StuckData : public Dataset {
 public:
  std::int64_t size() const override { return 64; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const>) const override {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait(lock, request.stop, [] { return false; });
  }

 private:
  std::vector<Field> fields_ = {{"x", DType::f32, {1}}};
};

}  // namespace

int main() {
  DataLoader data(std::make_shared<StuckData>(), 16, {.timeout_seconds = 0.2});
  try {
    data.next();
  } catch (const Error& error) {
    std::cout << to_string(error.code()) << ": " << error.what() << '\n';
    return error.code() == Errc::stalled ? 0 : 1;
  }
  return 1;
}
