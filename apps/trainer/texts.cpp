#include "apps/trainer/texts.hpp"

#include <cmath>

#include "penstock/error.hpp"

namespace trainer {
namespace {

constexpr double training_share = 0.9;

penstock::Vocabulary vocabulary_of(const DataOptions& options, const std::string& text) try {
  return options.tokens == TokenName::bytes ? penstock::Vocabulary::bytes()
                                            : penstock::Vocabulary::characters(text);
} catch (const penstock::Error& error) {
  const std::string advice = text.empty() ? "" : "; --tokens bytes takes any file";
  throw penstock::Error(error.code(), *options.data_dir + ": " + error.what() + advice);
}

}  // namespace

Texts open_texts(const DataOptions& options, std::int64_t context, std::uint64_t seed) {
  const std::string& file = *options.data_dir;
  const std::string text = penstock::read_text(file);
  penstock::Vocabulary vocabulary = vocabulary_of(options, text);
  const penstock::Tensor tokens = vocabulary.encode(text);
  const auto trained = static_cast<std::int64_t>(
      std::floor(training_share * static_cast<double>(tokens.elements())));
  // Each part has a window and the token behind it.
  if (trained <= context || tokens.elements() - trained <= context)
    throw penstock::Error(penstock::Errc::invalid_data,
                          file + ": expected a text whose last tenth has more than " +
                              std::to_string(context) + " tokens (--context), got " +
                              std::to_string(tokens.elements()) + " tokens in all");
  using penstock::WindowStart;
  const WindowStart start = options.no_shuffle ? WindowStart::in_order : WindowStart::random;
  return {penstock::token_windows(tokens.rows(0, trained), context, start, seed),
          penstock::token_windows(tokens.rows(trained, tokens.elements()), context,
                                  WindowStart::in_order),
          std::move(vocabulary), file};
}

}  // namespace trainer
