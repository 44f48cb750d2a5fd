// The Python module: one file of bindings per room of the core; no other file of the core knows Python.
#include <new>

#include "bind/common.hpp"

namespace gossamer {

void bind_losses(nb::module_& m);
void bind_penalties(nb::module_& m);
void bind_online(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_boosting(nb::module_& m);
void bind_scorer(nb::module_& m);
void bind_text(nb::module_& m);

bool signals_raise() {
  nb::gil_scoped_acquire locked;
  return PyErr_CheckSignals() != 0;
}

// Exceptions of the core that are not those of a wrong argument.
void bind_failures(nb::module_& m) {
  struct Stop {
    StopFlag asked = false;
  };
  nb::class_<Stop>(m, "Stop")
      .def(nb::init<>())
      .def("ask", [](Stop& stop) { stop.asked = true; })
      .def("obey", [](Stop& stop) { listen_to(&stop.asked); });
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Stopped&) {
      if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);  // otherwise the handler of the signal raised
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError,
                      "There is not enough memory for this step. Use fewer rows, features or outputs at once.");
    }
  });
}

}  // namespace gossamer

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of gossamer; the public names are in the modules around it.";
  gossamer::bind_failures(m);
  gossamer::bind_losses(m);
  gossamer::bind_penalties(m);
  gossamer::bind_online(m);
  gossamer::bind_batch(m);
  gossamer::bind_boosting(m);
  gossamer::bind_scorer(m);
  gossamer::bind_text(m);
}
