#include "online/coupled.hpp"

#include "catalogue/arrays.hpp"
#include "catalogue/kl.hpp"
#include "online/groups.hpp"
#include "online/mirror.hpp"
#include "online/whole.hpp"

namespace gossamer {

namespace {

template <class R>
std::unique_ptr<Learner> learner_of(R rule, const Setup& setup, Learner::Make again = nullptr) {
  return make_learner(std::make_unique<FeatureByFeature<R>>(std::move(rule)), setup, std::move(again));
}

// How to make a learner over groups that grow again.
template <class F>
Learner::Make again(F make, const FeatureGroups& groups, const Setup& setup) {
  if (!groups.grows) return nullptr;
  if (groups.count() == 0) throw std::invalid_argument("groups that grow must be one at least");
  return [=](std::size_t features, std::size_t outputs, const FeatureGroups* more) {
    Setup other = setup;
    other.features = features, other.outputs = outputs;
    if (more && (!more->grows || more->count() < groups.count()))
      throw std::invalid_argument("there must be as many groups as before, or more");
    return make(more ? *more : groups, other);
  };
}

}  // namespace

std::unique_ptr<Learner> make_group_fobos(const FeatureGroups& groups, const Setup& s) {
  return learner_of(GroupFobosRule(groups, s.features, s.outputs, s.alpha()), s, again(make_group_fobos, groups, s));
}

std::unique_ptr<Learner> make_group_rda(const FeatureGroups& groups, const Setup& s) {
  return learner_of(GroupRdaRule(groups, s.features, s.outputs, s.alpha(), infinity), s,
                    again(make_group_rda, groups, s));
}

std::unique_ptr<Learner> make_l2_ball_fobos(double radius, const Setup& s) {
  return learner_of(ScaledRule(s.features, s.outputs, 0.0, radius), s);
}

std::unique_ptr<Learner> make_l2_ball_rda(double radius, const Setup& s) {
  return learner_of(GroupRdaRule(FeatureGroups::whole(s.features), s.features, s.outputs, 0.0, radius), s);
}

std::unique_ptr<Learner> make_pegasos(bool project, const Setup& s) {
  return learner_of(ScaledRule(s.features, s.outputs, s.alpha(), project ? 1 / std::sqrt(s.alpha()) : infinity), s);
}

std::unique_ptr<Learner> make_l1_ball_fobos(double radius, const Setup& s) {
  return learner_of(L1BallRule(s.features, s.outputs, radius), s);
}

std::unique_ptr<Learner> make_simplex_fobos(double radius, const Setup& s) {
  return learner_of(SimplexRule(s.features, s.outputs, radius), s);
}

std::unique_ptr<Learner> make_eager_fobos(const WholeProx& prox, const Setup& s) {
  return learner_of(EagerRule(prox, s.features, s.outputs, s.alpha()), s);
}

std::unique_ptr<Learner> make_eager_rda(const WholeProx& prox, const Setup& s) {
  return learner_of(EagerDualRule(prox, s.features, s.outputs, s.alpha()), s);
}

std::unique_ptr<Learner> make_kl_rda(std::vector<double> prior, const Setup& s) {
  return learner_of(KlDualRule(std::move(prior), s.features, s.outputs, s.alpha()), s);
}

std::unique_ptr<Learner> make_exponentiated_gradient(double radius, const Setup& s) {
  return learner_of(ExponentiatedGradientRule(s.features, s.outputs, radius), s);
}

WholeProx blockwise_prox(const BlockPenalties::Variant& penalty, FeatureGroups groups, std::size_t features,
                         std::size_t outputs) {
  return [=, groups = std::move(groups)](const double* v, double* out, double s) {
    prox(penalty, v, out, groups.blocks(features, outputs), s, groups.weights);
  };
}

WholeProx set_prox(const Set& set, std::size_t features, std::size_t outputs) {
  return [=](const double* v, double* out, double) { project(set, v, out, Blocks{1, features * outputs, {}, {}}); };
}

WholeProx weighted_l1_ball_prox(double radius, const std::vector<double>& weights, std::size_t outputs) {
  std::vector<double> each;  // a weight an entry
  for (const double a : weights) each.insert(each.end(), outputs, a);
  return [radius, each = std::move(each)](const double* v, double* out, double) {
    project_weighted_l1_ball(std::span(v, each.size()), std::span(out, each.size()), radius, each);
  };
}

WholeProx group_l2_ball_prox(double radius, FeatureGroups groups, std::size_t features, std::size_t outputs) {
  return [=, groups = std::move(groups)](const double* v, double* out, double) {
    project_group_l2_ball(v, out, groups.blocks(features, outputs), radius);
  };
}

WholeProx group_linf_ball_prox(double radius, FeatureGroups groups, std::size_t features, std::size_t outputs) {
  return [=, groups = std::move(groups)](const double* v, double* out, double) {
    project_group_linf_ball(v, out, groups.blocks(features, outputs), radius);
  };
}

WholeProx kl_prox(std::vector<double> prior) {
  return [prior = std::move(prior)](const double* v, double* out, double s) {
    const std::span<double> w(out, prior.size());
    if (s > 0) return prox_kl(std::span(v, prior.size()), w, s, std::span<const double>(prior));
    // the projection onto the simplex, where the prior allows a weight
    std::vector<double> used;
    for (std::size_t i = 0; i < prior.size(); ++i) {
      if (prior[i] > 0) used.push_back(v[i]);
    }
    Scratch scratch;
    project_simplex(std::span<const double>(used), std::span(used), 1.0, scratch);
    for (std::size_t i = 0, from = 0; i < prior.size(); ++i) w[i] = prior[i] > 0 ? used[from++] : 0.0;
  };
}

}  // namespace gossamer
