// Learners for penalties and sets that couple features (groups.hpp, whole.hpp, mirror.hpp); their weights come with
// them.
#pragma once

#include <memory>
#include <vector>

#include "online/groups.hpp"
#include "online/methods.hpp"
#include "online/whole.hpp"

namespace gossamer {

std::unique_ptr<Learner> make_group_fobos(const FeatureGroups& groups, const Setup& setup);
std::unique_ptr<Learner> make_group_rda(const FeatureGroups& groups, const Setup& setup);
std::unique_ptr<Learner> make_l2_ball_fobos(double radius, const Setup& setup);
std::unique_ptr<Learner> make_l2_ball_rda(double radius, const Setup& setup);
std::unique_ptr<Learner> make_pegasos(bool project, const Setup& setup);
std::unique_ptr<Learner> make_l1_ball_fobos(double radius, const Setup& setup);
std::unique_ptr<Learner> make_simplex_fobos(double radius, const Setup& setup);
std::unique_ptr<Learner> make_eager_fobos(const WholeProx& prox, const Setup& setup);
std::unique_ptr<Learner> make_eager_rda(const WholeProx& prox, const Setup& setup);
std::unique_ptr<Learner> make_kl_rda(std::vector<double> prior, const Setup& setup);
std::unique_ptr<Learner> make_exponentiated_gradient(double radius, const Setup& setup);

// What the eager learners are made with.
WholeProx blockwise_prox(const BlockPenalties::Variant& penalty, FeatureGroups groups, std::size_t features,
                         std::size_t outputs);
WholeProx set_prox(const Set& set, std::size_t features, std::size_t outputs);
WholeProx weighted_l1_ball_prox(double radius, const std::vector<double>& weights, std::size_t outputs);
WholeProx group_l2_ball_prox(double radius, FeatureGroups groups, std::size_t features, std::size_t outputs);
WholeProx group_linf_ball_prox(double radius, FeatureGroups groups, std::size_t features, std::size_t outputs);
WholeProx kl_prox(std::vector<double> prior);

}  // namespace gossamer
