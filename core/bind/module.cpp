// The Python module: one file of bindings per room of the core; no other file of the core knows Python.
#include <nanobind/nanobind.h>

namespace gossamer {

namespace nb = nanobind;

void bind_losses(nb::module_& m);
void bind_penalties(nb::module_& m);
void bind_online(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_boosting(nb::module_& m);
void bind_scorer(nb::module_& m);
void bind_text(nb::module_& m);

}  // namespace gossamer

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of gossamer; the public names are in the modules around it.";
  gossamer::bind_losses(m);
  gossamer::bind_penalties(m);
  gossamer::bind_online(m);
  gossamer::bind_batch(m);
  gossamer::bind_boosting(m);
  gossamer::bind_scorer(m);
  gossamer::bind_text(m);
}
