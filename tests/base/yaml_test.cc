#include "narthex/base/yaml.h"

#include "gtest/gtest.h"
#include "narthex/base/status.h"

namespace narthex::base {
namespace {

TEST(YamlTest, KeepsLinesOrderAndQuotes) {
  const auto root = ParseYaml("a: 1\nb:\n  - 'x'\n  - ~\n");
  ASSERT_TRUE(root.ok());
  ASSERT_EQ(root->kind, YamlNode::Kind::kMap);
  EXPECT_EQ(root->pairs[1].first, "b");
  EXPECT_EQ(root->pairs[1].second.line, 2);
  EXPECT_TRUE(root->pairs[1].second.items[0].quoted);
  EXPECT_EQ(root->pairs[1].second.items[0].line, 3);
  EXPECT_EQ(root->pairs[1].second.items[1].kind, YamlNode::Kind::kNull);
  EXPECT_EQ(root->Find("c"), nullptr);
}

TEST(YamlTest, AnEmptyDocumentIsNull) {
  EXPECT_EQ(ParseYaml("")->kind, YamlNode::Kind::kNull);
  EXPECT_EQ(ParseYaml("# only a comment\n")->kind, YamlNode::Kind::kNull);
}

TEST(YamlTest, ItemsLeftEmptyHaveTheirLine) {
  const auto root = ParseYaml("a:\n  -\n  - 1\n  - ~\n  -\n");
  ASSERT_TRUE(root.ok());
  const auto& items = root->Find("a")->items;
  EXPECT_EQ(items[0].line, 2);
  EXPECT_EQ(items[2].line, 4);
  EXPECT_EQ(items[3].line, 5);
}

TEST(YamlTest, AliasesAndMergeKeysResolve) {
  const auto root = ParseYaml("base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\n");
  ASSERT_TRUE(root.ok());
  const YamlNode* use = root->Find("use");
  EXPECT_EQ(use->Find("x")->text, "1");
  EXPECT_EQ(use->Find("y")->text, "3");
}

TEST(YamlTest, DuplicateKeysAreRefusedWithTheirLine) {
  const auto root = ParseYaml("a: 1\nb: 2\na: 3\n");
  ASSERT_FALSE(root.ok());
  EXPECT_EQ(std::string(root.status().message()), "line 3: key \"a\" already set in map");
}

TEST(YamlTest, BadSyntaxNamesItsLine) {
  const auto root = ParseYaml("a: 1\nb: [1, 2\n");
  ASSERT_FALSE(root.ok());
  EXPECT_EQ(std::string(root.status().message()).substr(0, 5), "line ");
}

TEST(YamlTest, AliasBombsAreBounded) {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j == 0 ? "" : ",") + last;
    text += "]\n";
  }
  EXPECT_FALSE(ParseYaml(text).ok());
}

TEST(YamlTest, DeepNestingIsBounded) {
  const auto root = ParseYaml(std::string(5'000, '[') + std::string(5'000, ']'));
  EXPECT_EQ(Message(root.status()), "line 1: nested too deeply");
}

}  // namespace
}  // namespace narthex::base
