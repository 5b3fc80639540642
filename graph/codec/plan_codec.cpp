#include "graph/codec/plan_codec.hpp"

#include "graph/codec/fields.hpp"

namespace penstock::graph {

std::string encode(const Compiled& compiled) {
  Writer writer;
  writer(compiled.plan, compiled.report, compiled.notes);
  return writer.take();
}

Compiled decode(std::string_view bytes) {
  Compiled compiled;
  Reader reader(bytes);
  reader(compiled.plan, compiled.report, compiled.notes);
  if (!reader.at_end()) Reader::fail("nothing behind the plan");
  return compiled;
}

}  // namespace penstock::graph
