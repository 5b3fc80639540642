#include "actors/pipeline/pipeline_runtime.hpp"

#include "actors/pipeline/pipeline_cast.hpp"

namespace penstock::actors {

struct PipelineRuntime::Cast : PipelineCast {};

namespace {

std::shared_ptr<const PipelineSetup> with_host(PipelineSetup setup) {
  setup.host = std::make_shared<HostPort>(setup.updates);
  return std::make_shared<const PipelineSetup>(std::move(setup));
}

}  // namespace

PipelineRuntime::PipelineRuntime(PipelineSetup setup, UpdateRules rules,
                                 const SystemOptions& system)
    : PipelineRuntime(std::move(setup), std::move(rules), std::make_shared<ActorSystem>(system)) {}

PipelineRuntime::PipelineRuntime(PipelineSetup setup, UpdateRules rules,
                                 std::shared_ptr<ActorSystem> system)
    : setup_(with_host(std::move(setup))),
      system_(std::move(system)),
      constants_(constants_of(rules)),
      cast_(std::make_unique<Cast>()) {
  // Nothing can fail once the actors are there, for nobody would tell them to end.
  static_cast<PipelineCast&>(*cast_) =
      spawn_pipeline(*system_, setup_, std::make_shared<const UpdateRules>(std::move(rules)));
}

// What still runs on an IPU is waited for by the system's destructor.
PipelineRuntime::~PipelineRuntime() {
  actors::end(*cast_);
  cast_.reset();
}

template <class Message>
void PipelineRuntime::begin(Message message) {
  setup_->host->begin_call();
  try {
    caf::anon_send(cast_->step, std::move(message));
  } catch (...) {
    setup_->host->abandon_call();
    throw;
  }
}

Answer PipelineRuntime::finish() {
  if (!answered()) system_->run_pending();
  if (system_->deterministic()) return setup_->host->wait(0);  // nobody is left who could answer
  return setup_->host->wait(setup_->stall_seconds, [this](std::uint64_t progress) {
    try {
      caf::anon_send(cast_->supervisor, NothingMoves{progress});
    } catch (const std::bad_alloc&) {
      // The supervisor is silent then, which the host's wait takes as its answer.
    }
  });
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

Variables PipelineRuntime::read_variables(std::int32_t replica) {
  if (replica > 0 || !setup_->host->failed())
    return std::get<Variables>(call(ReadVariables{replica}));
  end_to_read();
  return variables_after_end(*setup_->plan, cast_->memory);
}

// An update that has begun is let finish, so that the weights are those of all stages' last one.
bool PipelineRuntime::end() {
  const double limit = system_->deterministic() ? 0 : setup_->stall_seconds;
  system_->run_pending();
  setup_->host->await_update_end(limit);
  actors::end(*cast_);
  system_->run_pending();
  return cast_->living->await_end(limit);
}

void PipelineRuntime::end_to_read() {
  if (!end())
    throw Error(Errc::stalled, "what the stages hold cannot be read: an IPU is still busy");
}

void PipelineRuntime::write_variables(const Variables& variables) {
  call(WriteVariables{std::make_shared<const Variables>(variables)});
}

void PipelineRuntime::set_rules(UpdateRules rules) {
  const RunConstants constants{constants_.first_update, constants_of(rules).loss_scale};
  call(SetRules{std::make_shared<const UpdateRules>(std::move(rules))});
  set_constants(constants);
}

OptimizerTensors PipelineRuntime::read_optimizer() {
  return std::get<OptimizerTensors>(call(ReadState{}));
}

void PipelineRuntime::write_optimizer(OptimizerTensors tensors) {
  const std::int64_t windows_begun = micro_batches_begun_ / setup_->gradient_accumulation;
  const RunConstants constants{tensors.updates - windows_begun, constants_.loss_scale};
  const auto updates = static_cast<std::uint64_t>(tensors.updates);
  call(WriteState{std::make_shared<const OptimizerTensors>(std::move(tensors))});
  set_constants(constants);
  setup_->host->set_updates(updates);
}

void PipelineRuntime::set_constants(const RunConstants& constants) {
  constants_ = constants;
  call(SetRunConstants{constants});
}

std::vector<StageStatus> PipelineRuntime::read_status() {
  if (!setup_->host->failed()) return std::get<std::vector<StageStatus>>(call(ReadStatus{}));
  end_to_read();
  std::vector<StageStatus> statuses;
  for (const auto& status : cast_->statuses) {
    statuses.push_back(*status);
    status->trace.clear();
  }
  return statuses;
}

std::string PipelineRuntime::failure() const {
  return setup_->host->failure();
}

std::uint64_t PipelineRuntime::updates() const {
  return setup_->host->updates();
}

ActorSystem& PipelineRuntime::system() {
  return *system_;
}

}  // namespace penstock::actors
