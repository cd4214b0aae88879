// The columns of a file as catalogs and specs write them.
#pragma once

#include "base/json/form.hpp"
#include "datasets/readers/columns.hpp"

namespace mf {

const Form<ColumnNames>& columns_form();

}  // namespace mf
