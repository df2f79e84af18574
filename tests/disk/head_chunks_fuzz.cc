// Any bytes as the last of two head chunk files: they are opened up to their damage, and then open
// the same without damage.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "narthex/base/check.h"
#include "narthex/disk/head_chunks.h"
#include "tests/support/fault_fs.h"

namespace narthex::disk {
namespace {

using Found = std::vector<std::pair<HeadChunkRef, std::string>>;

std::unique_ptr<HeadChunkFiles> Open(base::Fs* fs, Found* found) {
  found->clear();
  auto files = HeadChunkFiles::Open({.directory = "chunks"}, fs,
                                    [&](HeadChunkRef ref, const HeadChunk& chunk) {
                                      found->emplace_back(ref, chunk.bytes);
                                      return true;
                                    });
  return files.ok() ? std::move(*files) : nullptr;
}

void FuzzFile(std::string_view bytes) {
  support::FaultFs fs;
  NX_CHECK(fs.CreateDirectories("chunks").ok());
  NX_CHECK(fs.Create("chunks/000001").value()->Append({"\x01\x30\xbc\x91\x01\0\0\0", 8}).ok());
  NX_CHECK(fs.Create("chunks/000002").value()->Append(bytes).ok());
  Found found, again;
  if (Open(&fs, &found) == nullptr) return;
  const auto files = Open(&fs, &again);
  NX_CHECK(files != nullptr);
  NX_CHECK(!files->damage().has_value());
  NX_CHECK(found == again);
  HeadChunkReader reader(files.get());
  for (const auto& [ref, chunk] : found) NX_CHECK(reader.Get(ref).value().bytes == chunk);
}

}  // namespace
}  // namespace narthex::disk

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  narthex::disk::FuzzFile({reinterpret_cast<const char*>(data), size});
  return 0;
}
