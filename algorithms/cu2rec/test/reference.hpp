// The family on the host, one user after another, with the draws of the device: the result of a
// device without any race, bit for bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "algorithms/core/model.hpp"
#include "algorithms/core/random.hpp"
#include "algorithms/core/sgd/sgd_rule.hpp"
#include "algorithms/cu2rec/schedule.hpp"
#include "algorithms/cu2rec/settings.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::cu2rec {

// One step of XORWOW (Marsaglia, "Xorshift RNGs", 2003), the generator of cuRAND's default state:
// returns what curand() returns for the same words.
struct Xorwow {
  std::uint32_t d;
  std::uint32_t v[5];

  std::uint32_t next() {
    const std::uint32_t t = v[0] ^ (v[0] >> 2);
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
    d += 362437;
    return v[4] + d;
  }
};

struct Reference {
  Settings settings;
  sgd::Step<float> step;
  std::uint64_t seed = 1;
  std::vector<Xorwow> states;  // a user, for Generator::curand
  Model model;                 // read by the next iteration
  AlignedVector<float> q_to, item_bias_to;
  AlignedVector<std::int64_t> claimed_in;

  Reference(const Settings& s, const Model& initial, double rate)
      : settings(s),
        step(step_at(rate, s.reg, initial.mean)),
        model(initial),
        q_to(initial.q),
        item_bias_to(initial.item_bias),
        claimed_in(initial.n_items, 0) {}

  void iterate(const Ratings& train, std::int64_t number) {
    const std::int32_t offset = iteration_at(number, settings.stride, train.n_users()).offset;
    const bool swap = settings.buffering == Buffering::swap;
    for (std::int32_t t = 0; t < train.n_users(); ++t) {
      turn(train, strided_user(t, offset, train.n_users()), number, swap ? q_to : model.q,
           swap ? item_bias_to : model.item_bias);
    }
    if (swap) {
      std::swap(model.q, q_to);
      std::swap(model.item_bias, item_bias_to);
    }
  }

 private:
  std::uint32_t bits(std::int32_t user, std::int64_t number) {
    return settings.generator == Generator::counter ? random_bits(seed, user, number)
                                                    : states[user].next();
  }

  void turn(const Ratings& train, std::int32_t u, std::int64_t number, AlignedVector<float>& q_out,
            AlignedVector<float>& bias_out) {
    const std::int64_t low = train.user_offsets()[u];
    const std::int64_t count = train.user_offsets()[u + 1] - low;
    if (count == 0) return;
    const Rating rating = train[low + pick(bits(u, number), count)];
    const std::int64_t i = rating.item;
    bool writes = true;
    if (settings.rule == ItemRule::first_writer) {
      writes = claimed_in[i] != number;
      claimed_in[i] = number;
    }
    const std::int64_t f = settings.factors;
    float* p = model.p.data() + u * f;
    const float* q = model.q.data() + i * f;
    float& bias = model.user_bias[u];
    const float gain = step.rate * sgd::rating_error<true>(step, rating.value, bias,
                                                           model.item_bias[i], dot(p, q));
    bias = sgd::stepped(bias, 1.0F, gain, step.shrink_user_bias);
    if (writes) write(bias_out[i], model.item_bias[i], 1.0F, gain, step.shrink_item_bias);
    for (std::int64_t k = 0; k < f; ++k) {
      const float p_old = p[k];
      const float q_old = q[k];
      p[k] = sgd::stepped(p_old, q_old, gain, step.shrink_p);
      if (writes) write(q_out[i * f + k], q_old, p_old, gain, step.shrink_q);
    }
  }

  void write(float& to, float old, float other, float gain, float shrink) const {
    if (settings.rule == ItemRule::atomic) {
      to += sgd::gradient(old, other, gain, shrink);
    } else {
      to = sgd::stepped(old, other, gain, shrink);
    }
  }

  // Sums in the order of the mapping: one chain, or a chain a lane and then a butterfly.
  float dot(const float* p, const float* q) const {
    if (settings.mapping == Mapping::thread) return chain(p, q, 0, 1);
    const std::int32_t words = (settings.factors + 3) / 4;
    const std::int32_t lanes = words <= 8 ? 8 : words <= 16 ? 16 : 32;
    std::vector<float> lane;
    for (std::int32_t l = 0; l < lanes; ++l) lane.push_back(chain(p, q, l, lanes));
    for (std::int32_t distance = lanes / 2; distance > 0; distance /= 2) {
      const std::vector<float> before = lane;
      for (std::int32_t l = 0; l < lanes; ++l) lane[l] += before[l ^ distance];
    }
    return lane[0];
  }

  // Words of four floats: first, first + every, ...
  float chain(const float* p, const float* q, std::int32_t first, std::int32_t every) const {
    const std::int32_t f = settings.factors;
    float sum = 0;
    for (std::int32_t word = first; word * 4 < f; word += every) {
      for (std::int32_t k = word * 4; k < std::min(f, word * 4 + 4); ++k) {
        sum = std::fma(p[k], q[k], sum);
      }
    }
    return sum;
  }
};

}  // namespace mf::cu2rec
