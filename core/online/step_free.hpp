// The rule without a step: nothing to choose beforehand, and the units of the features do not matter.
//
//     n_j, q_j    how many examples have feature j, and the root mean square of x_j over them; of a centred feature,
//                 which every example has, the standard deviation around the mean μ_j
//     x̃_j         x_j / q_j, or (x_j − μ_j) / q_j: a number without a unit
//     t, N        examples so far, and Σ (1 + Σ_j x̃_j²) over them:  g = η √(t / N)
//     Z_j, S_j    Σ s x̃_j and Σ (s x̃_j)² over the examples, s the slope of the loss
//     D_j         √(S_j + β s̄²), s̄² the mean of s²: the size of the noise in Z_j
//     û_j         −soft(Z_j, λ D_j + α t) / D_j for the ℓ1 norm; prox(−soft(Z_j, λ D_j) g / D_j, α t g / D_j) / g for Ω
//     z           σ g (b̂ + a Σ_j û_j x̃_j), around the mean of the targets; σ their spread, 1 for labels
//     w_j         a c_n σ g û_j / q_j, in closed form: a feature that is away need not catch up
//
// The threshold λ D_j is the enhanced ℓ1 norm of RDA (Xiao 2009, Eq. 10) in units of the noise of each feature: what is
// no larger than its noise has no weight. A penalty on blocks of outputs keeps or drops them whole, so there soft is on
// the norm of the block, with the noise of the norm. As D_j grows to D_j', Z_j also gains −(D_j' − D_j) û_j, so that
// the weights are the centre of the next step (McMahan 2011). Features of tables and arrays that have a value in every
// example are centred. The penalty is on q_j w_j.
//
// Labels: the slopes are taken at z, with a ≤ 1 that shortens all steps where labels are noisy. The weights that are
// read are also multiplied by c_n, one of four numbers for features seen fewer than 4, 32, 256 times, or more: steps
// that are right for the common features are too short for the rare ones. a and c follow the losses, a row at a time.
//
// Numbers: if slopes are not bounded, the step is implicit, s = ℓ'(z − κ s), with κ what the scores of the example move
// by per unit of slope: no step goes beyond the minimum of the loss of its example.
//
// The numbers of a feature are floats: {q, n, S, Z}, 16 bytes for one output. (As doubles RCV1 takes 1.4 times as
// long.)
#pragma once

#include "online/gauge.hpp"
#include "online/methods.hpp"
