#include "narthex/model/histogram_view.h"

namespace narthex::model {

const LayoutPtr& WithoutBuckets(const HistogramLayout& layout) {
  static const LayoutPtr& custom = *std::make_unique<LayoutPtr>([] {
                                      auto empty = std::make_shared<HistogramLayout>();
                                      empty->schema = kCustomBucketsSchema;
                                      return empty;
                                    }())
                                        .release();
  return layout.has_custom_buckets() ? custom : EmptyLayout();
}

FloatHistogram Materialize(const HistogramView& view) {
  FloatHistogram histogram;
  MaterializeTo(view, &histogram);
  return histogram;
}

void MaterializeTo(const HistogramView& view, FloatHistogram* out) {
  out->hint = view.hint;
  if (out->layout != *view.layout) out->layout = *view.layout;
  out->count = view.count;
  out->zero_count = view.zero_count;
  out->sum = view.sum;
  out->buckets.assign(view.buckets.begin(), view.buckets.end());
}

}  // namespace narthex::model
