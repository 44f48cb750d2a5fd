// Making learners with lanes (lanes.hpp): many strengths and paces side by side. The setup's own strength is not used.
#pragma once

#include <memory>

#include "online/learners.hpp"
#include "path/lanes.hpp"

namespace gossamer {

std::unique_ptr<Lanes> make_fobos_lanes(const RowPenalty& penalty, const Setup& setup, const LaneSettings& lanes);
std::unique_ptr<Lanes> make_adagrad_fobos_lanes(const RowPenalty& penalty, const Setup& setup,
                                                const LaneSettings& lanes);
std::unique_ptr<Lanes> make_rda_lanes(double rho, const RowPenalty& penalty, const Setup& setup,
                                      const LaneSettings& lanes);
std::unique_ptr<Lanes> make_adagrad_rda_lanes(const RowPenalty& penalty, const Setup& setup, const LaneSettings& lanes);
std::unique_ptr<Lanes> make_ftrl_lanes(double beta, const RowPenalty& penalty, const Setup& setup,
                                       const LaneSettings& lanes);

}  // namespace gossamer
