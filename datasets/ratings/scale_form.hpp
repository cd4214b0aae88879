// A rating scale as catalogs, look-alikes and specs write it.
#pragma once

#include "base/json/form.hpp"
#include "datasets/ratings/dataset.hpp"

namespace mf {

const Form<RatingScale>& rating_scale_form();

}  // namespace mf
