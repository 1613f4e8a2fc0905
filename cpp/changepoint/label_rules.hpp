// Labeled regions as constraints on the changes of a segmentation.
//
// This is labeled optimal partitioning (Hocking & Srivastava) for all kinds of labels. Inside a
// region whose label counts changes, there are two layers of cost functions: without a counted
// change, and with the required number. A counted change leads from the first layer to the second;
// at the end of the region the first one is dropped. Outside regions there is one layer. Finding
// the labels at a position takes amortized O(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rocpath {

enum class LabelKind : std::int32_t {
  no_change,
  one_change,
  at_least_one_change,
  no_peaks,
  peaks,
  peak_start,
  peak_end
};

// A label for the changes at first..last or, for peaks, for the observations first..last.
struct LabelRegion {
  std::int32_t first;
  std::int32_t last;
  LabelKind kind;

  bool is_of_peaks() const { return kind == LabelKind::no_peaks || kind == LabelKind::peaks; }
  bool needs_change() const { return !is_of_peaks() && kind != LabelKind::no_change; }

  bool counts(bool is_up) const {
    if (kind == LabelKind::peak_start) return is_up;
    if (kind == LabelKind::peak_end) return !is_up;
    return !is_of_peaks();
  }

  // The layer after a change in `layer`, or -1 if the label forbids the change.
  int layer_after(int layer, bool is_up) const {
    if (!counts(is_up)) return layer;
    if (kind == LabelKind::no_change) return -1;
    return layer == 0 || kind == LabelKind::at_least_one_change ? 1 : -1;
  }
};

inline std::vector<LabelRegion> label_regions(std::span<const std::int32_t> first,
                                              std::span<const std::int32_t> last,
                                              std::span<const std::int32_t> kind) {
  std::vector<LabelRegion> regions;
  for (std::size_t k = 0; k < kind.size(); ++k)
    regions.push_back({first[k], last[k], static_cast<LabelKind>(kind[k])});
  return regions;
}

// Access to the labels in order of position. Requires: sorted regions.
class LabelRules {
 public:
  explicit LabelRules(std::vector<LabelRegion> regions) : regions_(std::move(regions)) {}

  // The region whose label constrains a change at t, or null. Requires: t does not decrease between
  // calls.
  const LabelRegion* of_change(std::int32_t t) {
    while (next_ < regions_.size() && regions_[next_].last < t) ++next_;
    for (std::size_t k = next_; k < regions_.size() && regions_[k].first <= t; ++k)
      if (!regions_[k].is_of_peaks() && t <= regions_[k].last) return &regions_[k];
    return nullptr;
  }

  // Call `act` for each region of peaks that contains observation t. Requires: the same as
  // `of_change`.
  template <class Act>
  void for_peaks_at(std::int32_t t, Act&& act) const {
    for (std::size_t k = next_; k < regions_.size() && regions_[k].first <= t; ++k)
      if (regions_[k].is_of_peaks() && t <= regions_[k].last) act(regions_[k]);
  }

 private:
  std::vector<LabelRegion> regions_;
  std::size_t next_ = 0;
};

}  // namespace rocpath
