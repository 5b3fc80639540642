#include "actors/pipeline_runtime.hpp"

#include "actors/pipeline_cast.hpp"

namespace penstock::actors {

struct PipelineRuntime::Cast : PipelineCast {};

namespace {

std::shared_ptr<const PipelineSetup> with_host(PipelineSetup setup) {
  setup.host = std::make_shared<HostPort>();
  return std::make_shared<const PipelineSetup>(std::move(setup));
}

}  // namespace

PipelineRuntime::PipelineRuntime(PipelineSetup setup, UpdateRules rules,
                                 const SystemOptions& system)
    : setup_(with_host(std::move(setup))),
      system_(std::make_unique<ActorSystem>(system)),
      cast_(std::make_unique<Cast>(Cast{spawn_pipeline(
          *system_, setup_, std::make_shared<const UpdateRules>(std::move(rules)))})) {}

// Stages know each other, so nobody ends by running out of handles: each is told. What still runs
// on an IPU is waited for by the system's destructor.
PipelineRuntime::~PipelineRuntime() {
  caf::anon_send_exit(cast_->supervisor, caf::exit_reason::user_shutdown);
  for (const caf::actor& actor : cast_->others)
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  cast_.reset();
}

template <class Message>
void PipelineRuntime::begin(Message message) {
  setup_->host->begin_call();
  caf::anon_send(cast_->supervisor, WatchCall{});
  caf::anon_send(cast_->step, std::move(message));
}

Answer PipelineRuntime::finish() {
  // The watchdog answers within two intervals and a second; this is for the day it does not.
  return setup_->host->wait(3 * setup_->stall_seconds + 10);
}

template <class Message>
Answer PipelineRuntime::call(Message message) {
  begin(std::move(message));
  return finish();
}

void PipelineRuntime::begin_step(std::vector<Tensor> inputs, std::int64_t micro_batches) {
  begin(StepCall{std::move(inputs), micro_batches_begun_, micro_batches});
  micro_batches_begun_ += micro_batches;
}

bool PipelineRuntime::answered() const {
  return setup_->host->answered();
}

Outputs PipelineRuntime::finish_step() {
  return std::get<Outputs>(finish());
}

Outputs PipelineRuntime::step(std::vector<Tensor> inputs, std::int64_t micro_batches) {
  begin_step(std::move(inputs), micro_batches);
  return finish_step();
}

Variables PipelineRuntime::read_variables() {
  return std::get<Variables>(call(ReadVariables{}));
}

void PipelineRuntime::write_variables(const Variables& variables) {
  call(WriteVariables{std::make_shared<const Variables>(variables)});
}

void PipelineRuntime::set_rules(UpdateRules rules) {
  call(SetRules{std::make_shared<const UpdateRules>(std::move(rules))});
}

std::vector<StageStatus> PipelineRuntime::read_status() {
  return std::get<std::vector<StageStatus>>(call(ReadStatus{}));
}

ActorSystem& PipelineRuntime::system() {
  return *system_;
}

}  // namespace penstock::actors
