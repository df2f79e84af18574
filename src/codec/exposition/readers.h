// The readers of the three formats and how NewExpositionReader() makes them.
#pragma once

#include <memory>
#include <string_view>

#include "narthex/codec/exposition/reader.h"

namespace narthex::codec {

// A batch ends after so many entries ...
inline constexpr size_t kMaxBatchEntries = 256;
// ... or once its own texts and histograms hold so many bytes, so that a body cannot multiply.
inline constexpr size_t kMaxBatchBytes = 1 << 20;

std::unique_ptr<ExpositionReader> NewTextReader(std::string_view body,
                                                const ReaderOptions& options);
std::unique_ptr<ExpositionReader> NewOpenMetricsReader(std::string_view body,
                                                       const ReaderOptions& options);
std::unique_ptr<ExpositionReader> NewProtobufReader(std::string_view body,
                                                    const ReaderOptions& options);
// Converts the classic histograms that `inner` gives; drops their series unless `keep_classic`.
std::unique_ptr<ExpositionReader> NewCustomBucketReader(std::unique_ptr<ExpositionReader> inner,
                                                        bool keep_classic);

}  // namespace narthex::codec
