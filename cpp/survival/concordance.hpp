// Concordance of scores with censored times.
//
// Rows i and j are comparable if i has an event and j is known to survive longer: time i < time j,
// or the times are equal and j is censored. The pair has the weight v_i q_i v_j. It is concordant
// if score i > score j, and half concordant if the scores are equal. With q = 1, the share of
// concordant pairs is Harrell's C (1982); with q_i = 1 / G(time i)^2, where G is the survival
// function of censoring, it is that of Uno et al. (2011).
//
// Rows are sorted by time and split into runs without comparable pairs: events at the same time,
// and censored rows between two events. The rows of a run are sorted by score, and adjacent runs
// are merged, which counts the pairs between them. O(n log n) time for n rows, O(n) memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "numerics/memory.hpp"
#include "numerics/sorting.hpp"

namespace rocpath {

struct CensoredRows {
  std::span<const double> time;
  std::span<const bool> has_event;
  std::span<const double> weight;         // v; empty if all are one
  std::span<const double> event_weight;   // q, used for events; empty if all are one
  std::span<const std::int64_t> stratum;  // codes from 0; only pairs within one; empty if one

  std::size_t size() const { return time.size(); }
  double weight_of(std::size_t row) const { return weight.empty() ? 1.0 : weight[row]; }
  double event_weight_of(std::size_t row) const {
    if (!has_event[row]) return 0.0;
    return event_weight.empty() ? 1.0 : event_weight[row];
  }
  std::int64_t stratum_of(std::size_t row) const { return stratum.empty() ? 0 : stratum[row]; }
};

// The weights of the pairs of each row: of all of its pairs, which count each pair twice in total,
// and of those in which the row has the earlier time.
struct RowPairs {
  Vector<double> concordant;
  Vector<double> comparable;
  Vector<double> early_concordant;
  Vector<double> early_comparable;

  explicit RowPairs(std::size_t n)
      : concordant(n), comparable(n), early_concordant(n), early_comparable(n) {}
};

// Rows by stratum and time, events before censored rows.
inline Vector<std::uint32_t> time_order(const CensoredRows& rows) {
  const std::size_t n = rows.size();
  Vector<std::uint32_t> first(n);
  std::iota(first.begin(), first.end(), 0U);
  std::stable_partition(first.begin(), first.end(),
                        [&](std::uint32_t row) { return rows.has_event[row]; });
  Vector<double> key(n);
  for (std::size_t k = 0; k < n; ++k) key[k] = rows.time[first[k]];
  Vector<std::uint32_t> order = sorted_order(key);
  for (std::uint32_t& place : order) place = first[place];
  if (rows.stratum.empty()) return order;
  const auto largest = *std::max_element(rows.stratum.begin(), rows.stratum.end());
  Vector<std::size_t> next(static_cast<std::size_t>(largest) + 2, 0);
  for (const std::int64_t code : rows.stratum) ++next[static_cast<std::size_t>(code) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  Vector<std::uint32_t> by_stratum(n);
  for (const std::uint32_t row : order)
    by_stratum[next[static_cast<std::size_t>(rows.stratum[row])]++] = row;
  return by_stratum;
}

// What the counts need to know of a row. Without weights it takes 24 bytes instead of 40, because
// merging many rows is limited by memory.
struct CountedRow {
  double lower = 0.0;   // weight of later rows with lower scores, counted so far
  double higher = 0.0;  // weight of earlier events with higher scores, counted so far
  std::uint32_t rank;   // of the score; equal scores have equal ranks
  std::uint32_t row : 31;
  std::uint32_t is_event : 1;

  CountedRow() = default;
  CountedRow(const CensoredRows& rows, std::uint32_t of_row, std::uint32_t of_score)
      : rank(of_score), row(of_row), is_event(rows.has_event[of_row]) {}
  double weight() const { return 1.0; }
  double product() const { return is_event; }
};

struct WeightedRow {
  double lower = 0.0;
  double higher = 0.0;
  double own_weight;    // v
  double event_weight;  // v q; 0 if censored
  std::uint32_t rank;
  std::uint32_t row;

  WeightedRow() = default;
  WeightedRow(const CensoredRows& rows, std::uint32_t of_row, std::uint32_t of_score)
      : own_weight(rows.weight_of(of_row)),
        event_weight(own_weight * rows.event_weight_of(of_row)),
        rank(of_score),
        row(of_row) {}
  double weight() const { return own_weight; }
  double product() const { return event_weight; }
};

template <class Item>
class ConcordanceCount {
 public:
  ConcordanceCount(const CensoredRows& rows, std::span<const double> score) : rows_(rows) {
    const Vector<std::uint32_t> order = time_order(rows);
    find_runs(order);
    place_items(order, score);
    merged_.resize(items_.size());
  }

  RowPairs row_pairs() {
    RowPairs pairs(items_.size());
    for (std::size_t k = 1; k < stratum_start_.size(); ++k) {
      count_comparable(stratum_start_[k - 1], stratum_start_[k], pairs);
      merge_runs(stratum_start_[k - 1], stratum_start_[k], true);
    }
    for (const Item& item : merged_) {
      pairs.early_concordant[item.row] = item.product() * item.lower;
      pairs.concordant[item.row] = item.product() * item.lower + item.weight() * item.higher;
    }
    return pairs;
  }

 private:
  void find_runs(const Vector<std::uint32_t>& order) {
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::uint32_t row = order[k];
      const std::uint32_t last = k > 0 ? order[k - 1] : row;
      const bool is_new_stratum = k == 0 || rows_.stratum_of(row) != rows_.stratum_of(last);
      const bool is_later_event = rows_.has_event[row] && rows_.time[row] != rows_.time[last];
      if (is_new_stratum) stratum_start_.push_back(run_start_.size());
      if (is_new_stratum || is_later_event || rows_.has_event[row] != rows_.has_event[last])
        run_start_.push_back(k);
    }
    stratum_start_.push_back(run_start_.size());
    run_start_.push_back(order.size());
  }

  // Put the rows of each run in ascending order of score.
  void place_items(const Vector<std::uint32_t>& order, std::span<const double> score) {
    Vector<double> ordered(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) ordered[k] = score[order[k]];
    const Vector<std::uint32_t> by_score = sorted_order(ordered);
    Vector<std::uint32_t> rank_of(order.size());
    double last = 0.0;
    std::uint32_t rank = 0;
    for (const std::uint32_t place : by_score) {
      rank += rank == 0 || ordered[place] != last;
      last = ordered[place];
      rank_of[place] = rank;
    }
    items_.reserve(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) items_.emplace_back(rows_, order[k], rank_of[k]);
    const auto precedes = [](const Item& a, const Item& b) { return a.rank < b.rank; };
    for (std::size_t run = 0; run + 1 < run_start_.size(); ++run) {
      const std::size_t size = run_start_[run + 1] - run_start_[run];
      if (size > 1) std::sort(&items_[run_start_[run]], &items_[run_start_[run]] + size, precedes);
    }
  }

  // An event is comparable with all rows of later runs, and any row with the events of earlier
  // runs. A run is censored, or all of its rows are events.
  void count_comparable(std::size_t first, std::size_t last, RowPairs& pairs) const {
    const auto sum = [&](std::size_t run, auto of) {
      double total = 0.0;
      for (std::size_t k = run_start_[run]; k < run_start_[run + 1]; ++k) total += of(items_[k]);
      return total;
    };
    double earlier = 0.0;
    for (std::size_t run = first; run < last; ++run) {
      for (std::size_t k = run_start_[run]; k < run_start_[run + 1]; ++k)
        pairs.comparable[items_[k].row] = items_[k].weight() * earlier;
      earlier += sum(run, [](const Item& item) { return item.product(); });
    }
    double later = 0.0;
    for (std::size_t run = last; run-- > first;) {
      for (std::size_t k = run_start_[run]; k < run_start_[run + 1]; ++k) {
        pairs.early_comparable[items_[k].row] = items_[k].product() * later;
        pairs.comparable[items_[k].row] += items_[k].product() * later;
      }
      later += sum(run, [](const Item& item) { return item.weight(); });
    }
  }

  // Count the pairs of different runs. The rows are sorted by score into `merged_`, or into
  // `items_`, so that each merge reads one of them and writes to the other.
  void merge_runs(std::size_t first, std::size_t last, bool into_merged) {
    const std::size_t begin = run_start_[first];
    const std::size_t end = run_start_[last];
    if (last - first == 1) {
      if (into_merged) std::copy(&items_[begin], &items_[begin] + (end - begin), &merged_[begin]);
      return;
    }
    // Half of the rows, not of the runs: a run may contain most rows.
    const auto start = [&](std::size_t run) { return run_start_.begin() + std::ptrdiff_t(run); };
    const auto near = std::lower_bound(start(first + 1), start(last - 1), (begin + end) / 2);
    const auto middle = static_cast<std::size_t>(near - run_start_.begin());
    merge_runs(first, middle, !into_merged);
    merge_runs(middle, last, !into_merged);
    const Vector<Item>& from = into_merged ? items_ : merged_;
    Vector<Item>& to = into_merged ? merged_ : items_;
    const Item* boundary = &from[begin] + (run_start_[middle] - begin);
    merge(&from[begin], boundary, &from[begin] + (end - begin), &to[begin]);
  }

  // Merge two blocks that are sorted by score; all rows of the first are in earlier runs.
  static void merge(const Item* early, const Item* middle, const Item* end, Item* out) {
    double above = 0.0;  // events of the first block that score higher than the next row
    for (const Item* item = middle; item-- > early;) above += item->product();
    double below = 0.0;  // rows of the second block that score lower
    const Item* late = middle;
    while (early < middle && late < end) {
      const std::uint32_t rank = std::min(early->rank, late->rank);
      double tied_events = 0.0;
      double tied_rows = 0.0;
      for (const Item* item = early; item < middle && item->rank == rank; ++item)
        tied_events += item->product();
      for (const Item* item = late; item < end && item->rank == rank; ++item)
        tied_rows += item->weight();
      above -= tied_events;
      for (; early < middle && early->rank == rank; ++early, ++out) {
        *out = *early;
        out->lower += below + 0.5 * tied_rows;
      }
      for (; late < end && late->rank == rank; ++late, ++out) {
        *out = *late;
        out->higher += above + 0.5 * tied_events;
      }
      below += tied_rows;
    }
    for (; early < middle; ++early, ++out) {
      *out = *early;
      out->lower += below;
    }
    std::copy(late, end, out);  // no event of the first block scores higher
  }

  const CensoredRows& rows_;
  Vector<std::size_t> run_start_;      // positions in `items_`, and their number
  Vector<std::size_t> stratum_start_;  // runs, and their number
  Vector<Item> items_;
  Vector<Item> merged_;
};

// Requires: no NaN, non-negative weights, fewer than 2^31 rows.
inline RowPairs concordance(const CensoredRows& rows, std::span<const double> score) {
  if (rows.weight.empty() && rows.event_weight.empty())
    return ConcordanceCount<CountedRow>(rows, score).row_pairs();
  return ConcordanceCount<WeightedRow>(rows, score).row_pairs();
}

}  // namespace rocpath
