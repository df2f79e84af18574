#include "narthex/model/symbols.h"

#include <gtest/gtest.h>

namespace narthex::model {
namespace {

class OneText final : public SymbolTable {
 public:
  std::string_view Text(Symbol symbol) const override { return symbol == 7 ? "base" : ""; }
  std::optional<Symbol> Find(std::string_view text) const override {
    if (text == "base") return 7;
    return std::nullopt;
  }
};

TEST(SymbolOverlayTest, KnownTextsKeepTheirSymbols) {
  OneText base;
  SymbolOverlay overlay(&base);
  EXPECT_EQ(overlay.Intern("base"), 7u);
  EXPECT_EQ(overlay.Text(7), "base");
  EXPECT_EQ(overlay.num_bytes(), 0u);
}

TEST(SymbolOverlayTest, NewTextsGetSymbolsOfTheirOwnOnce) {
  OneText base;
  SymbolOverlay overlay(&base);
  EXPECT_EQ(overlay.Find("new"), std::nullopt);
  const Symbol symbol = overlay.Intern("new");
  EXPECT_NE(symbol & kOverlayBit, 0u);
  EXPECT_EQ(overlay.Intern("new"), symbol);
  EXPECT_EQ(overlay.Find("new"), symbol);
  EXPECT_EQ(overlay.Text(symbol), "new");
  EXPECT_NE(overlay.Intern("other"), symbol);
  EXPECT_GE(overlay.num_bytes(), 8u);
}

TEST(SymbolOverlayTest, ViewsStayGoodWhileTheTableGrows) {
  SymbolOverlay overlay(nullptr);
  const Symbol first = overlay.Intern("first");
  const std::string_view text = overlay.Text(first);
  for (int i = 0; i < 1000; ++i) overlay.Intern(std::to_string(i));
  EXPECT_EQ(text, "first");
  EXPECT_EQ(overlay.Text(first).data(), text.data());
}

}  // namespace
}  // namespace narthex::model
