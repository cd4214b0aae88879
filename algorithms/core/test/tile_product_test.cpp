#include "algorithms/core/tile_product.hpp"

#include <gtest/gtest.h>

#include "base/aligned.hpp"
#include "base/rng.hpp"

namespace mf {
namespace {

// Small whole numbers, whose sums are exact; A lies in rows or in columns.
TEST(TileProduct, IsTheSumOverTheDepth) {
  for (const int rows : {1, 4, 7, kTileRows}) {
    for (const std::int64_t depth : {1, 5, 64}) {
      for (const bool in_rows : {true, false}) {
        constexpr int kColumns = 3 * kPanelLanes, kApart = kColumns + 5;
        AlignedVector<float> a(kTileRows * depth), panels(kColumns * depth), c(kTileRows * kApart);
        Rng rng(2);
        for (auto& x : a) x = static_cast<float>(rng.below(9)) - 4;
        for (auto& x : panels) x = static_cast<float>(rng.below(9)) - 4;
        const std::int64_t a_row = in_rows ? depth : 1, a_step = in_rows ? 1 : kTileRows;
        choose_tile_multiply()(
            {a.data(), a_row, a_step, panels.data(), depth, rows, kColumns, c.data(), kApart});
        for (int r = 0; r < rows; ++r) {
          for (int j = 0; j < kColumns; ++j) {
            float sum = 0;
            for (std::int64_t k = 0; k < depth; ++k) {
              const std::int64_t row_of_panel = j / kPanelLanes * depth + k;
              sum +=
                  a[r * a_row + k * a_step] * panels[row_of_panel * kPanelLanes + j % kPanelLanes];
            }
            ASSERT_EQ(c[r * kApart + j], sum) << rows << " " << depth << " " << r << " " << j;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mf
