#include "actors/pipeline/pipeline_runtime.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "actors/pipeline/pipeline_cast.hpp"
#include "actors/pipeline/pipeline_end.hpp"
#include "actors/system/errors.hpp"

namespace penstock::actors {

struct PipelineRuntime::Cast : PipelineCast {};

PipelineRuntime::PipelineRuntime(PipelineSetup setup, UpdateRules rules,
                                 const SystemOptions& system)
    : PipelineRuntime(std::move(setup), std::move(rules), std::make_shared<ActorSystem>(system)) {}

PipelineRuntime::PipelineRuntime(PipelineSetup setup, UpdateRules rules,
                                 std::shared_ptr<ActorSystem> system)
    : setup_(completed(std::move(setup), rules)),
      host_(std::make_shared<HostCalls>()),
      system_(std::move(system)),
      cast_(std::make_unique<Cast>()) {
  // Nothing that can fail may follow the spawning of the actors: if this constructor threw, nobody
  // would tell them to end.
  static_cast<PipelineCast&>(*cast_) = spawn_pipeline(
      *system_, setup_, host_, std::make_shared<const UpdateRules>(std::move(rules)));
}

// The destructor of the actor system waits for programs that still run on an IPU.
PipelineRuntime::~PipelineRuntime() {
  actors::end(*cast_);
  cast_.reset();
}

template <class Message>
void PipelineRuntime::begin(Message message) {
  host_->begin();
  try {
    caf::anon_send(cast_->step, std::move(message));
  } catch (...) {
    host_->call.end();
    throw;
  }
}

Answer PipelineRuntime::await_answer() {
  if (!answered()) system_->run_pending();
  // In a deterministic system, all mail has been handled by now, so that an answer that is missing
  // never comes.
  if (system_->deterministic()) return host_->wait(0);
  return host_->wait(setup_->stall_seconds, [this](std::uint64_t beats, double quiet_seconds) {
    find_out_why_nothing_moves(*setup_, host_->pulse, *cast_, beats, quiet_seconds);
  });
}

// After a failure in the middle of an update, the number of updates is known only once the stages
// have ended. After a stall, the stages are not told to end, because a stalled stage would not end.
Answer PipelineRuntime::finish() {
  try {
    return await_answer();
  } catch (...) {
    const bool stalled = code_of(std::current_exception(), Errc::internal) == Errc::stalled;
    if (host_->updates.under_way() && !stalled) end();
    throw;
  }
}

template <class Message>
Answer PipelineRuntime::call(Message message) {
  begin(std::move(message));
  return finish();
}

void PipelineRuntime::begin_step(std::vector<Tensor> inputs, std::int64_t micro_batches,
                                 std::stop_token stop) {
  begin_rest({micro_batches}, std::move(inputs), std::move(stop));
}

void PipelineRuntime::begin_rest(RestOfStep rest, std::vector<Tensor> inputs,
                                 std::stop_token stop) {
  host_->expect_idle_or_failed();
  if (rest.done > 0) cast_->results->go_on_with(std::move(*rest.results), rest.done);
  // If the pipeline has failed already, take_rest() returns the step as it is.
  last_step_ = {micro_batches_begun_ - rest.done, rest.micro_batches, rest.done, updates()};
  begin(StepCall{std::move(inputs), last_step_.first_micro_batch, last_step_.micro_batches,
                 std::move(stop), last_step_.done});
  micro_batches_begun_ += rest.micro_batches - rest.done;
}

bool PipelineRuntime::answered() const {
  return host_->answered();
}

StepOutcome PipelineRuntime::finish_step() {
  Answer answer = finish();
  if (const auto* cut = std::get_if<CutAfter>(&answer)) {
    micro_batches_begun_ = last_step_.first_micro_batch + cut->micro_batches;
    throw Error(Errc::cancelled, "the call was asked to stop");
  }
  return std::get<StepOutcome>(std::move(answer));
}

std::span<const StageMemory> PipelineRuntime::memory_of(std::int32_t replica) const {
  const std::size_t stages = setup_->stages();
  return std::span(cast_->memory).subspan(static_cast<std::size_t>(replica) * stages, stages);
}

Variables PipelineRuntime::read_variables(std::int32_t replica) {
  if (host_->expect_idle_or_failed()) end_to_read();
  return actors::read_variables(*setup_->plan, cast_->memory, static_cast<std::size_t>(replica));
}

bool PipelineRuntime::end(double more_seconds) {
  if (more_seconds > 0 && !host_->updates.await_end(more_seconds) && is_updating()) return false;
  return end_pipeline(*system_, *host_, *cast_, setup_->stall_seconds) ||
         cast_->living->await_end(more_seconds);
}

void PipelineRuntime::end_for_good() noexcept {
  const bool ended =
      end_pipeline(*system_, *host_, *cast_, setup_->stall_seconds, IpuTime::unlimited);
  if (!ended && !system_->deterministic()) cast_->living->await_end();
}

void PipelineRuntime::end_to_read() {
  if (!end()) throw_busy();
}

void PipelineRuntime::throw_busy() {
  throw Error(Errc::stalled, "what the stages hold cannot be read: an IPU is still busy");
}

void PipelineRuntime::write_variables(const Variables& variables) {
  host_->expect_idle();
  actors::write_variables(cast_->memory, variables);
}

void PipelineRuntime::write_buffers(const Variables& variables, std::int32_t replica) {
  host_->expect_idle();
  actors::write_buffers(memory_of(replica), variables);
}

void PipelineRuntime::set_rules(UpdateRules rules) {
  const float loss_scale = constants_of(rules).loss_scale;
  call(SetRules{std::make_shared<const UpdateRules>(std::move(rules))});
  setup_->constants->set_loss_scale(loss_scale);
}

OptimizerTensors PipelineRuntime::read_optimizer() {
  if (host_->expect_idle_or_failed()) end_to_read();
  return actors::read_optimizer(*setup_->plan, cast_->memory);
}

void PipelineRuntime::write_optimizer(const OptimizerTensors& tensors) {
  host_->expect_idle();
  actors::write_optimizer(cast_->memory, tensors);
  const std::int64_t windows_begun = micro_batches_begun_ / setup_->gradient_accumulation;
  setup_->constants->set_first_update(tensors.updates - windows_begun);
  setup_->update_count->set(static_cast<std::uint64_t>(tensors.updates));
}

std::vector<StageStatus> PipelineRuntime::read_status() {
  if (host_->expect_idle_or_failed()) end_to_read();
  std::vector<StageStatus> statuses;
  statuses.reserve(cast_->statuses.size());
  for (const auto& status : cast_->statuses) statuses.push_back(status->take());
  return statuses;
}

std::vector<graph::StageProgramTimes> PipelineRuntime::take_program_times() {
  if (host_->expect_idle_or_failed()) end_to_read();
  std::vector<graph::StageProgramTimes> times(setup_->stages());
  for (std::size_t i = 0; i < cast_->memory.size(); ++i) {
    const graph::StageProgramTimes more = cast_->memory[i].arena->take_program_times();
    graph::add_times(times[i % times.size()], more);
  }
  return times;
}

EventLog<HostEvent> PipelineRuntime::take_host_events() noexcept {
  return setup_->host_trace ? setup_->host_trace->take() : EventLog<HostEvent>();
}

std::string PipelineRuntime::failure() const {
  return host_->failure.text();
}

std::optional<Error> PipelineRuntime::untold_failure() const {
  return host_->failure.untold();
}

bool PipelineRuntime::is_updating() const {
  return !host_->updates.await_end(0) &&
         std::ranges::any_of(ipus(), [](const auto& ipu) { return ipu->moment().has_value(); });
}

bool PipelineRuntime::can_be_replaced() {
  // If the actors were told to end now, an update would be cut that may still come to its end.
  if (is_updating()) throw_busy();
  end_to_read();
  return have_same_updates(cast_->memory);
}

std::optional<RestOfStep> PipelineRuntime::take_rest() {
  const auto windows = static_cast<std::int64_t>(updates() - last_step_.updates_before);
  const std::int64_t done = last_step_.done + windows * setup_->gradient_accumulation;
  micro_batches_begun_ = last_step_.first_micro_batch + done;
  if (done == 0) return RestOfStep{last_step_.micro_batches};
  if (!cast_->results->has_all_of(done)) return {};
  return RestOfStep{last_step_.micro_batches, done, cast_->results};
}

void PipelineRuntime::expect_open() {
  host_->failure.expect_none();
}

std::uint64_t PipelineRuntime::updates() const {
  return setup_->update_count->total();
}

bool PipelineRuntime::may_have_uncounted_update() const {
  return actors::may_have_uncounted_update(*host_, *cast_);
}

bool PipelineRuntime::show_waits(std::shared_ptr<WaitPicture> picture) const noexcept {
  return actors::show_waits(*cast_, std::move(picture));
}

const std::vector<std::shared_ptr<const IpuPulse>>& PipelineRuntime::ipus() const noexcept {
  return host_->pulse.ipus();
}

ActorSystem& PipelineRuntime::system() {
  return *system_;
}

const PipelineCast& PipelineRuntime::cast() const noexcept {
  return *cast_;
}

void prepare_to_end(ActorSystem& system) noexcept {
  system.prepare_to_end();
}

}  // namespace penstock::actors
