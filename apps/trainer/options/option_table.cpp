#include "apps/trainer/options/option_table.hpp"

#include "apps/networks/networks.hpp"
#include "apps/trainer/options/list_kind.hpp"
#include "apps/trainer/options/rule_options.hpp"
#include "penstock/ipu_order.hpp"
#include "penstock/nearest_name.hpp"

namespace trainer {
namespace {

using penstock::highest_ipu;
using penstock::PhaseLiveness;
using penstock::PipelineSchedule;
using penstock::Reduction;
using penstock::ReductionStrategy;
using penstock::Strategy;

/// An option takes at most this number of threads, stages or replicas. A larger number is probably
/// a typing error, and might use up the machine.
constexpr int most_threads = 1024;
/// Images have at most this many rows and columns.
constexpr int most_pixels = 1 << 14;
constexpr int highest_port = 65535;
/// These limits of the sizes of gpt are far above what a machine computes in a day.
constexpr int most_layers = 1000, most_features = 1 << 16;

constexpr NumberRange positive{.least = smallest_positive};
constexpr NumberRange from_zero{};

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const penstock::networks::Network* network : penstock::networks::all_networks())
    names.emplace_back(network->name);
  names.emplace_back(language_model);
  return names;
}

OptionGroup network_group() {
  return OptionRows("Network", &TrainerOptions::network)
      .add("model", &NetworkOptions::model, one_of(network_names()), "network to train")
      .add("onnx", &NetworkOptions::onnx, path("FILE"),
           "network to train instead, from a file in the ONNX format: a classifier of images, with "
           "the weights that it has in the file")
      .add("onnx-constants", &NetworkOptions::onnx_constants,
           name_list("NAMES", "a tensor, as in pos_embed or *.mask"),
           "tensors of that file that are not trained, such as tables of positions; * stands for "
           "any characters, and ? for one; may be given several times")
      .repeatable()
      .sets("OnnxOptions::constants")
      .add("seed", &NetworkOptions::seed, whole_number<std::uint64_t>(0),
           "seed of the first weights, of the order of the images, and of where the windows of a "
           "text begin")
      .sets("options.seed")
      .add("init-weights", &NetworkOptions::init_weights, path("FILE"),
           "start from these weights (safetensors) instead of random ones")
      .add("layers", &NetworkOptions::layers, whole_number(1, most_layers),
           "transformer blocks of gpt [4]")
      .add("heads", &NetworkOptions::heads, whole_number(1, most_features),
           "heads of its attention [4]")
      .add("width", &NetworkOptions::width, whole_number(1, most_features),
           "features of each of its tokens [128]")
      .add("context", &NetworkOptions::context, whole_number(1, most_features),
           "tokens of each of its samples [64]")
      .add("dropout", &NetworkOptions::dropout, number({.most = 1, .open_most = true}),
           "share of its features that is dropped in training [0]")
      // Two paths may lead to one file, and other networks may come to a path: RunCheckpoints
      // compares what is in the file.
      .all_decide_weights({"init-weights", "onnx"})
      .take();
}

OptionGroup data_group() {
  return OptionRows("Data", &TrainerOptions::data)
      .add(
          "dataset", &DataOptions::dataset,
          one_of<DatasetName>({DatasetName::fashion_mnist, DatasetName::mnist, DatasetName::cifar10,
                               DatasetName::folder, DatasetName::synthetic, DatasetName::text}),
          "images to train and test on, or text, which is for --model gpt; mobilenet-v2, resnet18 "
          "and resnet50 take all images, folder is for every network of images, cifar10 for "
          "cifar-cnn, too, and the others for the rest")
      .add(
          "data-dir", &DataOptions::data_dir, path("DIR"),
          "directory of the data set's files, gzipped or plain; fashion-mnist has one by default, "
          "/usr/share/datasets/fashion-mnist; of --dataset folder, the directory of the folders "
          "train and test, which have a folder of PNG and JPEG images for each class; of --dataset "
          "text, the file itself")
      .for_downloads()
      .add(
          "image-size", &DataOptions::image_size, whole_number(1, most_pixels),
          "rows and columns of the images of --dataset folder, for a network that takes all images "
          "[32]")
      .add("random-crops", &DataOptions::random_crops,
           "train on random windows of the images of --dataset folder, which differ from epoch to "
           "epoch, and not on their middle")
      .add("broken-images", &DataOptions::broken_images, one_of<BrokenImagesName>(),
           "what to do about files of --dataset folder that cannot be decoded: refuse the run, or "
           "skip them, for which all are decoded once ahead, and notes name those that are left "
           "out")
      .add("tokens", &DataOptions::tokens,
           one_of<TokenName>({TokenName::characters, TokenName::bytes}), "what a text consists of")
      .add("no-shuffle", &DataOptions::no_shuffle,
           "train on the images in the files' order, or on windows that stand side by side in the "
           "text")
      .add("num-workers", &DataOptions::num_workers, whole_number(0, most_threads),
           "threads that prepare batches")
      .add("buffered-batches", &DataOptions::buffered_batches, whole_number(1, 1024),
           "batches prepared ahead")
      .all_decide_weights({"data-dir", "broken-images", "num-workers", "buffered-batches"})
      .take();
}

OptionGroup download_group() {
  return OptionRows("Download", &TrainerOptions::download)
      .add("download", &DownloadOptions::dataset,
           one_of<DatasetName>(
               {DatasetName::mnist, DatasetName::fashion_mnist, DatasetName::cifar10}),
           "get the files of this data set over HTTPS, check them, put them into --data-dir, and "
           "run nothing; files that are there stay, and a download that was cut off goes on")
      .add(
          "download-url", &DownloadOptions::url, some_text("URL"),
          "get them from here, where the slash at the end is followed by the name of a file, as in "
          "https://example.org/mnist/; by default from where they were published")
      .add(
          "download-ca", &DownloadOptions::authorities, path("FILE"),
          "let the authorities whose certificates (PEM) are in this file vouch for the server, and "
          "not those that the system knows")
      .all_for_downloads()
      .take();
}

OptionGroup training_group() {
  return OptionRows("Training", &TrainerOptions::training)
      .add("batch-size", &TrainingOptions::batch_size, whole_number(1),
           "images, or windows of a text, per micro-batch")
      .sets("options.batch_size")
      .add("device-iterations", &TrainingOptions::device_iterations, whole_number(1),
           "weight updates per step")
      .sets("options.device_iterations")
      .add("gradient-accumulation", &TrainingOptions::gradient_accumulation, whole_number(1),
           "micro-batches per replica and weight update")
      .sets("options.training.gradient_accumulation")
      .add("epochs", &TrainingOptions::epochs, whole_number(1),
           "times through the images, or through as many windows as the text has side by side")
      .add("max-updates", &TrainingOptions::max_updates, whole_number<std::int64_t>(1),
           "stop after so many weight updates, whether or not the epochs are over")
      .add("test-batch-size", &TrainingOptions::test_batch_size, whole_number(1),
           "images or windows per micro-batch of the test")
      .all_decide_weights({"device-iterations", "epochs", "max-updates", "test-batch-size"})
      .take();
}

OptionGroup optimizer_group() {
  return OptionRows("Optimizer", &TrainerOptions::optimizer)
      .add("optimizer", &OptimizerOptions::rule, one_of(rule_names()),
           "rule that updates the weights")
      .add("learning-rate", &OptimizerOptions::learning_rate, number(positive), "learning rate")
      .add_rows(constant_rows())
      .add("max-grad-norm", &OptimizerOptions::max_grad_norm, number(positive),
           "limit of the whole gradient's L2 norm; without it there is none")
      .add("loss-scaling", &OptimizerOptions::loss_scaling, number(positive),
           "factor of the loss's gradient, taken back before the update")
      .sets("optimizer.loss_scaling")
      .add("init-optimizer-state", &OptimizerOptions::init_state, path("FILE"),
           "go on from this state (safetensors) of the same optimizer, beside --init-weights, with "
           "the epoch that comes after those that it has seen")
      .all_decide_weights({"init-optimizer-state"})
      .take();
}

OptionGroup learning_rate_group() {
  return OptionRows("Learning rate", &TrainerOptions::learning_rate)
      .add("lr-schedule", &LearningRateOptions::schedule,
           one_of<ScheduleName>({ScheduleName::constant, ScheduleName::step,
                                 ScheduleName::exponential, ScheduleName::cosine}),
           "how it changes from weight update to weight update")
      .add("lr-warmup", &LearningRateOptions::warm_up, whole_number<std::int64_t>(1),
           "first grow from 0 in so many updates; the schedule begins after them")
      .add("lr-step", &LearningRateOptions::step, whole_number<std::int64_t>(1),
           "updates after which step decays")
      .add("lr-decay", &LearningRateOptions::decay, number(from_zero),
           "factor of each decay: after each step [0.1], or each update of exponential")
      .add("lr-updates", &LearningRateOptions::updates, whole_number<std::int64_t>(1),
           "updates that the cosine takes; by default those of the run, and before it those that "
           "--init-optimizer-state has seen")
      .add("lr-last", &LearningRateOptions::last, number(from_zero),
           "share of the learning rate that the cosine ends with [0]")
      .all_decide_weights()
      .take();
}

OptionGroup pipeline_group() {
  return OptionRows("Pipeline", &TrainerOptions::pipeline)
      .add("begin-block", &PipelineOptions::begin_block, block_starts("LAYER[=IPU]", highest_ipu),
           "begin a block at this layer, or at the first one whose name begins with LAYER and a "
           "dot, and put it on this IPU, as in layer4=1; the block is called LAYER and ends where "
           "the next one begins; the layers before the first one are block start, on IPU 0; the "
           "network's own blocks are left out; may be given several times")
      .repeatable()
      .add("split-after", &PipelineOptions::split_after,
           name_list("LAYER", "a layer, as in layer3"),
           "end a stage behind this layer, or behind the last one whose name begins with LAYER and "
           "a "
           "dot; the network's own blocks are left out; may be given several times")
      .repeatable()
      .add(
          "strategy", &PipelineOptions::strategy, one_of<Strategy>(),
          "whether stages work at the same time; if not (sharded), one IPU of each replica is busy "
          "at a time; phased: phases of stages have turns, the first stage of each on IPU 0 "
          "(serial_phased), or on IPU 0 in even phases and on IPU 1 in odd ones (parallel_phased), "
          "unless --ipus places them")
      .sets("options.topology.strategy")
      .add("schedule", &PipelineOptions::schedule, one_of<PipelineSchedule>(),
           "what a pipelined stage does first; sequential: one IPU of each replica is busy at a "
           "time, "
           "as with all strategies but pipelined, for which this does not matter")
      .sets("options.topology.schedule")
      .add("stages", &PipelineOptions::stages, stage_list("STAGES", most_threads),
           "blocks of each stage, as in \"B1,B2|B3,B4\"; by default a stage per block; auto for "
           "the best balanced cut into a stage per IPU of --ipus, auto:4 into four")
      .sets("options.topology.stages")
      .sets("options.topology.automatic_stages", "auto")
      .add("phases", &PipelineOptions::phases, phase_list("PHASES"),
           "stages of each phase, as in \"B1|B2;B3\", of the phased strategies; by default each "
           "stage is one")
      .sets("options.topology.phased.phases")
      .add("phase-liveness", &PipelineOptions::phase_liveness, one_of<PhaseLiveness>(),
           "what leaves the IPUs between phases")
      .sets("options.topology.phased.liveness")
      .add("separate-backward-phase", &PipelineOptions::separate_backward_phase,
           "the last phase ends with forward, and its backward is a phase of its own")
      .sets("options.topology.phased.separate_backward_phase")
      .add("batch-serial", &PipelineOptions::batch_serial,
           "a phase does all micro-batches of a weight update before the next one begins")
      .sets("options.topology.phased.batch_serial")
      .add("weights-on-ipu", &PipelineOptions::weights_on_ipu,
           "keep the weights on the IPUs between phases")
      .sets("options.topology.phased.on_ipu.weights")
      .add("activations-on-ipu", &PipelineOptions::activations_on_ipu,
           "keep the activations on the IPUs between phases")
      .sets("options.topology.phased.on_ipu.activations")
      .add("accumulators-on-ipu", &PipelineOptions::accumulators_on_ipu,
           "keep the sums of gradients on the IPUs between phases")
      .sets("options.topology.phased.on_ipu.accumulators")
      .add("optimizer-on-ipu", &PipelineOptions::optimizer_on_ipu,
           "keep the optimizer's state on the IPUs of phases")
      .sets("options.topology.phased.on_ipu.optimizer_state")
      .also_called("optimiser-on-ipu")
      .add("ipus", &PipelineOptions::ipus, number_list("LIST", highest_ipu),
           "IPU of each stage, as in 0,1,2,3; from 0 to " + std::to_string(highest_ipu) +
               "; stages may share one; by default in order")
      .sets("options.topology.ipus")
      .add("ipu-memory", &PipelineOptions::ipu_memory, byte_size("SIZE"),
           "memory of each IPU, as in 900kB or 1.5GB: a plan that needs more is refused, and auto "
           "stages are cut to fit; by default there is no limit")
      .sets("options.topology.ipu_memory_bytes")
      .add("replication-factor", &PipelineOptions::replication_factor,
           whole_number(1, most_threads), "copies of the pipeline that train together")
      .sets("options.topology.replication_factor")
      .add("reduction", &PipelineOptions::reduction, one_of<Reduction>(),
           "how the micro-batches' gradients become one")
      .sets("options.training.reduction")
      .decides_weights()
      .add("reduction-strategy", &PipelineOptions::reduction_strategy, one_of<ReductionStrategy>(),
           "whether a mean is divided once or kept running")
      .sets("options.training.reduction_strategy")
      .decides_weights()
      .add("offload-optimizer", &PipelineOptions::offload_optimizer,
           "keep the optimizer's state off the IPUs")
      .sets("options.training.offload.optimizer_state")
      .also_called("offload-optimiser")
      .add("offload-accumulators", &PipelineOptions::offload_accumulators,
           "keep the sums of gradients off the IPUs")
      .sets("options.training.offload.accumulators")
      .add("offload-activations", &PipelineOptions::offload_activations,
           "keep off the IPUs what backward needs of each micro-batch")
      .sets("options.training.offload.activations")
      .add("offload-weights", &PipelineOptions::offload_weights,
           "keep weights off the IPUs, but for those of the stage that an IPU works on")
      .sets("options.training.offload.weights")
      .add("offload-minimum", &PipelineOptions::offload_minimum, byte_size("SIZE"),
           "smallest tensor that is kept off the IPUs, as in 4kB; by default 8 bytes")
      .sets("options.training.offload.optimizer_state.minimum_bytes")
      .sets("options.training.offload.accumulators.minimum_bytes")
      .sets("options.training.offload.activations.minimum_bytes")
      .sets("options.training.offload.weights.minimum_bytes")
      .add("shard-optimizer", &PipelineOptions::shard_optimizer,
           "divide the optimizer's state among the replicas")
      .sets("options.training.sharding.optimizer_state")
      .also_called("shard-optimiser")
      .add("shard-minimum", &PipelineOptions::shard_minimum, whole_number<std::int64_t>(2),
           "elements of the smallest tensor whose state is divided; by default 8192")
      .sets("options.training.sharding.optimizer_state.minimum_elements")
      .add("recompute", &PipelineOptions::recompute, stage_numbers("LIST", most_threads),
           "stages that keep only what they receive and send, and compute the rest again before "
           "their backward: all (but the last), or their numbers, as in 0,1; the same weights, "
           "less memory, more time")
      .sets("options.training.recompute")
      .sets("options.training.recompute_stages")
      .add("threads", &PipelineOptions::threads, whole_number(1, most_threads),
           "worker threads of the engine; by default one per core")
      .sets("options.runtime.threads")
      .add("threads-per-ipu", &PipelineOptions::threads_per_ipu, whole_number(1, most_threads),
           "threads that share the work of each IPU; by default the cores divided among the IPUs")
      .sets("options.topology.threads_per_ipu")
      .add(
          "stall-seconds", &PipelineOptions::stall_seconds,
          number({.least = smallest_positive, .most = 1e6}),
          "seconds in which nothing moves after which a step fails, or goes on by itself, and says "
          "what each part of the pipeline waits for; by default 30")
      .sets("options.runtime.stall_seconds")
      .add("recovery-attempts", &PipelineOptions::recovery_attempts, whole_number(0),
           "how often a step goes on by itself after one of the engine's actors has died, or after "
           "nothing has moved; by default 3")
      .sets("options.recovery.attempts")
      .add("recovery-wait", &PipelineOptions::recovery_wait, number({.least = 0, .most = 1e6}),
           "seconds that an IPU has to end what it is in the middle of, before the step fails "
           "instead; by default 10")
      .sets("options.recovery.wait_seconds")
      .add("cache-dir", &PipelineOptions::cache_dir, path("DIR"),
           "directory of compiled plans, read instead of compiling the same again; by default that "
           "of the environment's PENSTOCK_CACHE_DIR, if it names one")
      .sets("options.runtime.cache_directory")
      .add("cache-size", &PipelineOptions::cache_size, byte_size("SIZE"),
           "limit of the size of all plans that are kept there, as in 100MB [268 MB]")
      .sets("options.runtime.cache_bytes")
      .take();
}

OptionGroup continuation_group() {
  return OptionRows("Text of gpt after its training", &TrainerOptions::continuation)
      .add("sample", &ContinuationOptions::sample, whole_number<std::int64_t>(1),
           "go on with the prompt for so many tokens, and print that")
      .add("prompt", &ContinuationOptions::prompt, some_text("TEXT"),
           "what the text begins with; by default the end of a line, if the text has one")
      .add("temperature", &ContinuationOptions::temperature, number(from_zero),
           "divisor of the logits; the smaller, the likelier are the likeliest tokens; 0 takes the "
           "likeliest one")
      .add("top-k", &ContinuationOptions::top_k, whole_number(1),
           "draw one of so many likeliest tokens; by default of all")
      .take();
}

OptionGroup checkpoint_group() {
  return OptionRows("Checkpoints", &TrainerOptions::checkpoints)
      .add("checkpoint-dir", &CheckpointOptions::dir, path("DIR"),
           "save the whole state of the training in this directory, which one run at a time may "
           "use; Ctrl-C and SIGTERM then end the run with a checkpoint")
      .add("checkpoint-every", &CheckpointOptions::every, whole_number<std::int64_t>(1),
           "weight updates from one checkpoint to the next")
      .add("keep", &CheckpointOptions::keep, whole_number(1), "newest checkpoints that are kept")
      .add("resume", &CheckpointOptions::resume,
           "go on from the newest checkpoint that is whole, to the same bits as without the "
           "interruption, or begin if there is none; the same data and the same options, but for "
           "--epochs, --max-updates, --device-iterations, --test-batch-size and those of topology, "
           "threads and output")
      .take();
}

OptionGroup output_group() {
  return OptionRows("Output", &TrainerOptions::output)
      .add("save-weights", &OutputOptions::save_weights, path("FILE"),
           "write the trained weights (safetensors)")
      .add("save-onnx", &OutputOptions::save_onnx, path("FILE"),
           "write the trained network, as it is in inference, in the ONNX format")
      .add("save-optimizer-state", &OutputOptions::save_optimizer_state, path("FILE"),
           "write what the optimizer keeps (safetensors), beside --save-weights")
      .add("metrics", &OutputOptions::metrics, path("FILE"),
           "write a line of JSON per step, and one of the whole run")
      .add("metrics-port", &OutputOptions::metrics_port, whole_number(0, highest_port),
           "serve the newest numbers to Prometheus, at http://127.0.0.1:PORT/metrics; 0 for any "
           "port that is free, which a note names")
      .add("tensorboard", &OutputOptions::tensorboard, path("DIR"),
           "write the numbers of steps and epochs to a new file in this directory, which "
           "TensorBoard shows")
      .add("profile", &OutputOptions::profile,
           "measure where time and memory go: report.html, profile.json and trace.json (for "
           "Perfetto "
           "and chrome://tracing) of training and inference, and advice on stderr")
      .sets("options.runtime.trace")
      .add("profile-dir", &OutputOptions::profile_dir, path("DIR"), "directory of the profile")
      .add("debug", &OutputOptions::debug,
           "log what the engine does to stderr; without it PENSTOCK_LOG_LEVEL of the environment "
           "says how much: debug, info, warning, error or off")
      .sets("options.runtime.log_level")
      .add("no-progress", &OutputOptions::no_progress, "show no bars and lines of progress")
      .for_downloads()
      .take();
}

}  // namespace

const std::vector<OptionGroup>& option_groups() {
  static const std::vector<OptionGroup> groups{
      network_group(),    data_group(),          download_group(), training_group(),
      optimizer_group(),  learning_rate_group(), pipeline_group(), continuation_group(),
      checkpoint_group(), output_group()};
  return groups;
}

const OptionRow* find_option(std::string_view name) {
  for (const OptionGroup& group : option_groups())
    for (const OptionRow& row : group.rows)
      if (row.name == name || (!row.alias.empty() && row.alias == name)) return &row;
  return nullptr;
}

std::string advice_on_unknown(std::string_view name, std::string_view dashes) {
  std::vector<std::string_view> names;
  for (const OptionGroup& group : option_groups())
    for (const OptionRow& row : group.rows) names.push_back(row.name);
  const std::string_view nearest = penstock::nearest_name(name.substr(0, name.find('=')), names);
  const std::string question =
      nearest.empty() ? "" : "did you mean " + std::string(dashes) + std::string(nearest) + "? ";
  return "; " + question + "--help lists what there is";
}

}  // namespace trainer
