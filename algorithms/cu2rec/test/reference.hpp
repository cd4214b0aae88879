// The family on the host, one user after another, with the draws of the device: what a device
// without any race would compute, bit for bit.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/core/model.hpp"
#include "algorithms/cu2rec/draw.hpp"
#include "algorithms/cu2rec/rule.hpp"
#include "algorithms/cu2rec/settings.hpp"
#include "datasets/ratings.hpp"

namespace mf::cu2rec {

struct Reference {
  ItemRule rule;
  Settings settings;
  Hyper hyper{};
  std::uint64_t seed = 1;
  std::vector<Xorwow> states;  // a user, for Generator::curand
  Model model;                 // what the next iteration reads
  AlignedVector<float> q_to, item_bias_to;
  std::vector<std::int64_t> claimed_in;

  Reference(ItemRule item_rule, const Settings& s, const Model& initial, double rate)
      : rule(item_rule),
        settings(s),
        model(initial),
        q_to(initial.q),
        item_bias_to(initial.item_bias),
        claimed_in(static_cast<std::size_t>(initial.n_items)) {
    hyper = {static_cast<float>(rate),
             static_cast<float>(initial.mean),
             static_cast<float>(rate * s.reg.p),
             static_cast<float>(rate * s.reg.q),
             static_cast<float>(rate * s.reg.user_bias),
             static_cast<float>(rate * s.reg.item_bias)};
  }

  void iterate(const Ratings& train, std::int64_t number) {
    const std::int32_t offset = stride_offset(settings.stride, number, train.n_users());
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
    return settings.generator == Generator::counter ? draw_counter(seed, user, number)
                                                    : states[static_cast<std::size_t>(user)].next();
  }

  void turn(const Ratings& train, std::int32_t user, std::int64_t number,
            AlignedVector<float>& q_out, AlignedVector<float>& bias_out) {
    const auto u = static_cast<std::size_t>(user);
    const std::int64_t low = train.user_offsets()[u];
    const std::int64_t count = train.user_offsets()[u + 1] - low;
    if (count == 0) return;
    const Rating rating = train[low + pick(bits(user, number), count)];
    const auto i = static_cast<std::size_t>(rating.item);
    bool writes = true;
    if (rule == ItemRule::first_writer) {
      writes = claimed_in[i] != number;
      claimed_in[i] = number;
    }
    const auto f = static_cast<std::size_t>(settings.factors);
    float* p = model.p.data() + u * f;
    const float* q = model.q.data() + i * f;
    const float gain = hyper.rate * rating_error(hyper, rating.value, model.user_bias[u],
                                                 model.item_bias[i], dot(p, q, settings.factors));
    model.user_bias[u] = step(model.user_bias[u], 1.0F, gain, hyper.shrink_user_bias);
    if (writes) write(bias_out[i], model.item_bias[i], 1.0F, gain, hyper.shrink_item_bias);
    for (std::size_t k = 0; k < f; ++k) {
      const float p_old = p[k];
      const float q_old = q[k];
      p[k] = step(p_old, q_old, gain, hyper.shrink_p);
      if (writes) write(q_out[i * f + k], q_old, p_old, gain, hyper.shrink_q);
    }
  }

  void write(float& to, float old, float other, float gain, float shrink) const {
    if (rule == ItemRule::atomic) {
      to += gradient(old, other, gain, shrink);
    } else {
      to = step(old, other, gain, shrink);
    }
  }

  // Sums in the order of the mapping: one chain, or a chain a lane and then a butterfly.
  float dot(const float* p, const float* q, std::int32_t f) const {
    if (settings.mapping == Mapping::thread) return chain(p, q, f, 0, 1);
    const std::int32_t words = (f + 3) / 4;
    const std::int32_t lanes = words <= 8 ? 8 : words <= 16 ? 16 : 32;
    std::vector<float> lane(static_cast<std::size_t>(lanes));
    for (std::int32_t l = 0; l < lanes; ++l) {
      lane[static_cast<std::size_t>(l)] = chain(p, q, f, l, lanes);
    }
    for (std::int32_t step = lanes / 2; step > 0; step /= 2) {
      std::vector<float> next(lane.size());
      for (std::int32_t l = 0; l < lanes; ++l) {
        next[static_cast<std::size_t>(l)] =
            lane[static_cast<std::size_t>(l)] + lane[static_cast<std::size_t>(l ^ step)];
      }
      lane = next;
    }
    return lane[0];
  }

  // Words of four floats: first, first + every, ...
  static float chain(const float* p, const float* q, std::int32_t f, std::int32_t first,
                     std::int32_t every) {
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
