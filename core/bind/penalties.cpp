#include "catalogue/penalties.hpp"

#include "base/checks.hpp"
#include "bind/common.hpp"
#include "catalogue/arrays.hpp"
#include "catalogue/kl.hpp"
#include "catalogue/sparse_l1_ball.hpp"

namespace gossamer {

namespace {

// Binds the calls that exist for float and for double arrays.
template <class T>
void bind_arrays(nb::module_& m) {
  using In = Matrix<const T>;
  using Out = Matrix<T>;
  m.def("all_finite", [](Vector<const T> v) { return all_finite(span_of(v)); }, "v"_a.noconvert(), Free());
  auto bind_valid_entries = [&m]<class I>(I) {
    m.def(
        "valid_entries",
        [](Vector<const I> index, Vector<const T> value, std::int64_t columns) {
          return index.size() == value.size() && valid_entries(span_of(index), span_of(value), columns);
        },
        "index"_a.noconvert(), "value"_a.noconvert(), "columns"_a, Free());
  };
  bind_valid_entries(std::int32_t{}), bind_valid_entries(std::int64_t{});

  m.def(
      "value",
      [](const Elementwise& p, In w, GivenWeights weights) {
        return value(p, w.data(), blocks_of(w), span_of(weights));
      },
      "penalty"_a, "w"_a.noconvert(), "weights"_a.none(), Free());
  m.def(
      "dual",
      [](const Elementwise& p, In v, GivenWeights weights) {
        return dual(p, v.data(), blocks_of(v), span_of(weights));
      },
      "penalty"_a, "v"_a.noconvert(), "weights"_a.none(), Free());
  m.def(
      "prox",
      [](const Elementwise& p, In v, Out out, double step, GivenWeights weights) {
        prox(p, v.data(), out.data(), blocks_of(v), step, span_of(weights));
      },
      "penalty"_a, "v"_a.noconvert(), "out"_a.noconvert(), "step"_a, "weights"_a.none(), Free());

  m.def(
      "value",
      [](const Blockwise& p, In w, GivenWeights weights, Indices members, Indices starts) {
        return value(p, w.data(), blocks_of(w, members, starts), span_of(weights));
      },
      "penalty"_a, "w"_a.noconvert(), "weights"_a.none(), "members"_a.none(), "starts"_a.none(), Free());
  m.def(
      "dual",
      [](const Blockwise& p, In v, GivenWeights weights, Indices members, Indices starts) {
        return dual(p, v.data(), blocks_of(v, members, starts), span_of(weights));
      },
      "penalty"_a, "v"_a.noconvert(), "weights"_a.none(), "members"_a.none(), "starts"_a.none(), Free());
  m.def(
      "prox",
      [](const Blockwise& p, In v, Out out, double step, GivenWeights weights, Indices members, Indices starts) {
        prox(p, v.data(), out.data(), blocks_of(v, members, starts), step, span_of(weights));
      },
      "penalty"_a, "v"_a.noconvert(), "out"_a.noconvert(), "step"_a, "weights"_a.none(), "members"_a.none(),
      "starts"_a.none(), Free());

  m.def(
      "project", [](const Set& set, In v, Out out) { project(set, v.data(), out.data(), blocks_of(v)); }, "set"_a,
      "v"_a.noconvert(), "out"_a.noconvert(), Free());
  m.def(
      "project_l1_ball_checked",
      [](Vector<const T> v, Vector<T> out, double radius) {
        Scratch scratch;
        return project_l1_ball_checked(span_of(v), span_of(out), radius, scratch);
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, Free());
  m.def(
      "project_weighted_l1_ball",
      [](In v, Out out, double radius, Vector<const double> weights) {
        project_weighted_l1_ball(v.data(), out.data(), blocks_of(v), radius, span_of(weights));
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, "weights"_a, Free());
  m.def(
      "project_group_l2_ball",
      [](In v, Out out, double radius, Indices members, Indices starts) {
        project_group_l2_ball(v.data(), out.data(), blocks_of(v, members, starts), radius);
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, "members"_a.none(), "starts"_a.none(), Free());
  m.def(
      "project_group_linf_ball",
      [](In v, Out out, double radius, Indices members, Indices starts) {
        project_group_linf_ball(v.data(), out.data(), blocks_of(v, members, starts), radius);
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, "members"_a.none(), "starts"_a.none(), Free());
  m.def(
      "prox_kl",
      [](Vector<const T> v, Vector<T> out, double step, Vector<const double> prior) {
        prox_kl(span_of(v), span_of(out), step, span_of(prior));
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "step"_a, "prior"_a, Free());
}

void bind_structs(nb::module_& m) {
  Penalties::each([&]<class P> {
    if constexpr (requires { P{std::vector<double>(), std::vector<double>()}; }) {
      nb::class_<P>(m, P::facts.name)
          .def(
              "__init__",
              [](P* self, Vector<const double> low, Vector<const double> high) {
                new (self) P{numbers(low), numbers(high)};
              },
              "low"_a, "high"_a);
    } else {
      bind_part<P>(m);
    }
  });
}

void bind_sparse_l1_ball(nb::module_& m) {
  nb::class_<SparseL1Ball>(m, "SparseL1Ball")
      .def(nb::init<std::size_t, double>(), "n_features"_a, "radius"_a)
      .def_prop_ro("n_features", &SparseL1Ball::size)
      .def_prop_ro("radius", &SparseL1Ball::radius)
      .def_prop_ro("nnz", &SparseL1Ball::nonzeros)
      .def_prop_ro("norm1", &SparseL1Ball::norm1)
      .def(
          "update",
          [](SparseL1Ball& ball, Vector<const std::int64_t> indices, Vector<const double> deltas) {
            ball.update(span_of(indices), span_of(deltas));  // with the GIL: threads take turns
          },
          "indices"_a, "deltas"_a)
      .def(
          "read",
          [](const SparseL1Ball& ball, Vector<const std::int64_t> indices, Vector<double> out) {
            ball.read(span_of(indices), span_of(out));
          },
          "indices"_a, "out"_a.noconvert());
}

}  // namespace

void bind_penalties(nb::module_& m) {
  bind_structs(m);
  bind_arrays<float>(m);
  bind_arrays<double>(m);
  bind_sparse_l1_ball(m);
}

}  // namespace gossamer
