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
  using Penalty = BlockPenalties::Variant;
  using Numbers = std::span<const std::int64_t>;
  m.def("all_finite", &all_finite<T>, "v"_a.noconvert(), Free());
  auto bind_valid_entries = [&m]<class I>(I) {
    m.def(
        "valid_entries",
        [](std::span<const I> index, std::span<const T> value, std::int64_t columns) {
          return index.size() == value.size() && valid_entries(index, value, columns);
        },
        "index"_a.noconvert(), "value"_a.noconvert(), "columns"_a, Free());
  };
  bind_valid_entries(std::int32_t{}), bind_valid_entries(std::int64_t{});

  m.def(
      "value",
      [](const Penalty& p, In w, std::span<const double> weights, Numbers members, Numbers starts) {
        return value(p, w.data(), blocks_of(w, members, starts), weights);
      },
      "penalty"_a, "w"_a.noconvert(), "weights"_a.none(), "members"_a = nb::none(), "starts"_a = nb::none(), Free());
  m.def(
      "dual",
      [](const Penalty& p, In v, std::span<const double> weights, Numbers members, Numbers starts) {
        return dual(p, v.data(), blocks_of(v, members, starts), weights);
      },
      "penalty"_a, "v"_a.noconvert(), "weights"_a.none(), "members"_a = nb::none(), "starts"_a = nb::none(), Free());
  m.def(
      "prox",
      [](const Penalty& p, In v, Out out, double step, std::span<const double> weights, Numbers members,
         Numbers starts) { prox(p, v.data(), out.data(), blocks_of(v, members, starts), step, weights); },
      "penalty"_a, "v"_a.noconvert(), "out"_a.noconvert(), "step"_a, "weights"_a.none(), "members"_a = nb::none(),
      "starts"_a = nb::none(), Free());

  m.def(
      "project", [](const Set& set, In v, Out out) { project(set, v.data(), out.data(), blocks_of(v)); }, "set"_a,
      "v"_a.noconvert(), "out"_a.noconvert(), Free());
  m.def(
      "project_l1_ball_checked",
      [](std::span<const T> v, std::span<T> out, double radius) {
        Scratch scratch;
        return project_l1_ball_checked(v, out, radius, scratch);
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, Free());
  m.def(
      "project_weighted_l1_ball",
      [](In v, Out out, double radius, std::span<const double> weights) {
        transform_blocks(v.data(), out.data(), blocks_of(v),
                         [&](std::size_t, auto from, auto to) { project_weighted_l1_ball(from, to, radius, weights); });
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, "weights"_a, Free());
  m.def(
      "project_group_l2_ball",
      [](In v, Out out, double radius, Numbers members, Numbers starts) {
        project_group_l2_ball(v.data(), out.data(), blocks_of(v, members, starts), radius);
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, "members"_a.none(), "starts"_a.none(), Free());
  m.def(
      "project_group_linf_ball",
      [](In v, Out out, double radius, Numbers members, Numbers starts) {
        project_group_linf_ball(v.data(), out.data(), blocks_of(v, members, starts), radius);
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, "members"_a.none(), "starts"_a.none(), Free());
  m.def("prox_kl", &prox_kl<T>, "v"_a.noconvert(), "out"_a.noconvert(), "step"_a, "prior"_a, Free());
}

void bind_structs(nb::module_& m) {
  Penalties::each([&]<class P> {
    if constexpr (requires { P{std::vector<double>(), std::vector<double>()}; }) {
      nb::class_<P>(m, P::facts.name)
          .def(
              "__init__",
              [](P* self, std::span<const double> low, std::span<const double> high) {
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
      // with the GIL: threads take turns
      .def("update", &SparseL1Ball::update, "indices"_a, "deltas"_a)
      .def("read", &SparseL1Ball::read, "indices"_a, "out"_a.noconvert());
}

}  // namespace

void bind_penalties(nb::module_& m) {
  nb::enum_<LineOrder>(m, "LineOrder")
      .value("canonical", LineOrder::canonical)
      .value("valid", LineOrder::valid)
      .value("invalid", LineOrder::invalid);
  auto bind_line_order = [&m]<class I>(I) {
    m.def(
        "line_order",
        [](Vector<const I> starts, Vector<const I> index, std::int64_t length) {
          return line_order(span_of(starts), span_of(index), length);
        },
        "starts"_a.noconvert(), "index"_a.noconvert(), "length"_a, Free());
  };
  bind_line_order(std::int32_t{}), bind_line_order(std::int64_t{});
  bind_structs(m);
  bind_arrays<float>(m);
  bind_arrays<double>(m);
  bind_sparse_l1_ball(m);
}

}  // namespace gossamer
