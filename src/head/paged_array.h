// A growing array whose elements never move: pages of a fixed size behind a directory that is
// replaced when it is full. One writer at a time (the caller locks) may append while any number of
// readers use elements they learned of through some synchronisation. Memory is exact: whole pages
// and directories, old directories included.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "narthex/base/check.h"

namespace narthex::head {

template <typename T, size_t kPageItems>
class PagedArray {
  static_assert((kPageItems & (kPageItems - 1)) == 0, "pages hold a power of two items");

 public:
  PagedArray() = default;
  PagedArray(const PagedArray&) = delete;
  PagedArray& operator=(const PagedArray&) = delete;

  // REQUIRES: index < size(), learned from the writer through a lock or an acquire load.
  T& operator[](size_t index) { return Page(index / kPageItems)[index % kPageItems]; }
  const T& operator[](size_t index) const { return Page(index / kPageItems)[index % kPageItems]; }

  // Appends `count` value-initialised items; the index of the first. Writer only.
  size_t Grow(size_t count = 1) {
    const size_t first = size_;
    size_ += count;
    while (pages_.size() * kPageItems < size_) AddPage();
    return first;
  }

  // As the writer sees it.
  size_t size() const { return size_; }
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  T* Page(size_t page) { return directory_.load(std::memory_order_acquire)[page]; }
  const T* Page(size_t page) const { return directory_.load(std::memory_order_acquire)[page]; }

  void AddPage() {
    pages_.push_back(std::make_unique<T[]>(kPageItems));
    num_bytes_ += kPageItems * sizeof(T);
    if (pages_.size() > capacity_) {
      capacity_ = capacity_ == 0 ? 16 : capacity_ * 2;
      auto next = std::make_unique<T*[]>(capacity_);
      for (size_t i = 0; i + 1 < pages_.size(); ++i) next[i] = pages_[i].get();
      num_bytes_ += capacity_ * (sizeof(T*) + sizeof(pages_[0]));
      directories_.push_back(std::move(next));
    }
    T** const directory = directories_.back().get();
    directory[pages_.size() - 1] = pages_.back().get();
    // Release: whoever sees the directory sees its pages.
    directory_.store(directory, std::memory_order_release);
  }

  std::atomic<T**> directory_{nullptr};
  size_t size_ = 0;
  size_t capacity_ = 0;
  uint64_t num_bytes_ = 0;
  std::vector<std::unique_ptr<T[]>> pages_;
  std::vector<std::unique_ptr<T*[]>> directories_;  // Old ones too: readers may still hold them.
};

}  // namespace narthex::head
