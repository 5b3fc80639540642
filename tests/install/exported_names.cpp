// Some of these names match what libpenstock's linker map exports, and others nearly do. They are
// linked with that map, and exported_names_test.py checks which of them are exported. A name that
// has to stay hidden contains the word "hidden".
namespace other {
void hidden() {}
}  // namespace other

namespace penstock {

int a = 1, ac = 1, act = 1, acto = 1, actor = 1, g = 1, gr = 1, gra = 1, grap = 1;
int graph_size = 1, actors_size = 1;
void accuracy() {}
void action() {}
void actor_count() {}
void actors_of(int) {}
void fit() {}
void gradient() {}
void graph_of(int) {}
void graphics() {}

class Graph {
 public:
  virtual ~Graph();
};
Graph::~Graph() = default;

namespace graphs {
void shown() {}
}  // namespace graphs

namespace actorsystem {
void shown() {}
}  // namespace actorsystem

namespace graph {
void hidden() {}
class Hidden {
 public:
  virtual ~Hidden();
};
Hidden::~Hidden() = default;
}  // namespace graph

namespace actors {
int hidden = 1;
namespace loader {
void hidden() {}
}  // namespace loader
}  // namespace actors

}  // namespace penstock
