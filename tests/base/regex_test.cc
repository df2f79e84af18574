#include "narthex/base/regex.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "re2/re2.h"

namespace narthex::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Regex Compile(std::string_view pattern) {
  auto regex = Regex::CompileAnchored(pattern);
  EXPECT_TRUE(regex.ok()) << pattern << ": " << Message(regex.status());
  return regex.value();
}

std::vector<std::string> Literals(std::string_view pattern) { return Compile(pattern).literals(); }
std::string Prefix(std::string_view pattern) { return Compile(pattern).prefix(); }

std::string Expanded(std::string_view pattern, std::string_view text,
                     std::string_view replacement) {
  std::string out;
  return Compile(pattern).Expand(text, replacement, &out) ? out : "no match";
}

std::string ErrorOf(std::string_view pattern) {
  const auto regex = Regex::CompileAnchored(pattern);
  EXPECT_EQ(regex.status().code(), absl::StatusCode::kInvalidArgument) << pattern;
  return std::string(Message(regex.status()));
}

TEST(RegexTest, MatchesTheWholeTextOnly) {
  EXPECT_TRUE(Compile("a+b").Matches("aab"));
  EXPECT_FALSE(Compile("a+b").Matches("xaab"));
  EXPECT_FALSE(Compile("a+b").Matches("aabx"));
  EXPECT_TRUE(Compile("a|ab").Matches("ab"));
  EXPECT_TRUE(Compile("").Matches(""));
  EXPECT_FALSE(Compile("").Matches("a"));
}

TEST(RegexTest, DotMatchesNewlines) {
  EXPECT_TRUE(Compile("a.*b").Matches("a\n\nb"));
  EXPECT_TRUE(Compile("a.b[x]").Matches("a\nbx"));
}

TEST(RegexTest, SetsOfLiteralsAreFound) {
  EXPECT_THAT(Literals("foo"), ElementsAre("foo"));
  EXPECT_THAT(Literals(""), ElementsAre(""));
  EXPECT_THAT(Literals("b|a|b"), ElementsAre("a", "b"));
  EXPECT_THAT(Literals("a|"), ElementsAre("", "a"));
  EXPECT_THAT(Literals("foo(bar|baz)"), ElementsAre("foobar", "foobaz"));
  EXPECT_THAT(Literals("(?:x|y)z?"), ElementsAre("x", "xz", "y", "yz"));
  EXPECT_THAT(Literals("h[13-5]"), ElementsAre("h1", "h3", "h4", "h5"));
  EXPECT_THAT(Literals("a\\.b\\-c"), ElementsAre("a.b-c"));
  EXPECT_THAT(Literals("^(a|b)$"), ElementsAre("a", "b"));
  EXPECT_THAT(Literals("^a|b$"), ElementsAre("a", "b"));
  EXPECT_THAT(Literals("é|ü"), ElementsAre("é", "ü"));
  EXPECT_THAT(Literals("(?P<x>a)(?<y>b)"), ElementsAre("ab"));
}

TEST(RegexTest, OtherExpressionsAreNoSets) {
  for (const char* pattern :
       {"a*", "a+", ".", "a.b", "[^a]", "(?i)a", "a{2}", "\\w", "\\x41", "\\bfoo", "a^b|c",
        "(?:^a)b", "[a-]", "[[:alpha:]]", "\\Qa|b\\E", "[é]"}) {
    EXPECT_THAT(Literals(pattern), IsEmpty()) << pattern;
  }
  EXPECT_THAT(Literals("[0-9][0-9][0-9][0-9]"), IsEmpty()) << "more than is worth listing";
}

TEST(RegexTest, PrefixesAreFound) {
  EXPECT_EQ(Prefix("foo.*"), "foo");
  EXPECT_EQ(Prefix("foo(bar|baz).*"), "fooba");
  EXPECT_EQ(Prefix("foo1.*|foo2.+"), "foo");
  EXPECT_EQ(Prefix("foo+"), "foo");
  EXPECT_EQ(Prefix("foo*"), "fo");
  EXPECT_EQ(Prefix("x(ab){2,3}"), "xab");
  EXPECT_EQ(Prefix("x(ab){0,3}"), "x");
  EXPECT_EQ(Prefix("a[0-9]{3}"), "a");
  EXPECT_EQ(Prefix("ab|ac"), "a");
  EXPECT_EQ(Prefix("é+"), "é");
  EXPECT_EQ(Prefix(".*foo"), "");
  EXPECT_EQ(Prefix("(?i)foo.*"), "");
  EXPECT_EQ(Prefix("foo|.*"), "");
}

TEST(RegexTest, LiteralPiecesWithGapsMatchLikeTheEngine) {
  EXPECT_TRUE(Compile(".*").Matches(""));
  EXPECT_FALSE(Compile(".+").Matches(""));
  EXPECT_TRUE(Compile(".+").Matches("x"));
  EXPECT_TRUE(Compile("a.*b.*c").Matches("abbc"));
  EXPECT_FALSE(Compile("a.+b.+c").Matches("abbc"));
  EXPECT_TRUE(Compile("a.+b.+c").Matches("a_b_c"));
  EXPECT_FALSE(Compile("ab.*ba").Matches("aba"));
  EXPECT_FALSE(Compile("ab.+ba").Matches("abba"));
  EXPECT_TRUE(Compile("^a.*$").Matches("ax"));
  EXPECT_TRUE(Compile(".*\\..*").Matches("x.y"));
}

TEST(RegexTest, InvalidUtf8TextIsNoHarm) {
  const std::string text = "a\xff\xfe";
  EXPECT_TRUE(Compile("a.*").Matches(text));
  EXPECT_FALSE(Compile("a[bc]*").Matches(text));
  EXPECT_FALSE(Compile("a(b|c)*").Matches(text));
  EXPECT_EQ(Expanded("a(.*)", text, "$1"), "no match");
}

TEST(RegexTest, ErrorsReadAsGoWritesThem) {
  EXPECT_EQ(ErrorOf("("), "error parsing regexp: missing closing ): `(`");
  EXPECT_EQ(ErrorOf("[a"), "error parsing regexp: missing closing ]: `[a`");
  EXPECT_EQ(ErrorOf("a**"), "error parsing regexp: invalid nested repetition operator: `**`");
  EXPECT_EQ(ErrorOf("*"), "error parsing regexp: missing argument to repetition operator: `*`");
  EXPECT_EQ(ErrorOf("a)"), "error parsing regexp: unexpected ): `a)`");
  EXPECT_EQ(ErrorOf("[z-a]"), "error parsing regexp: invalid character class range: `z-a`");
  EXPECT_EQ(ErrorOf("a{1001}"), "error parsing regexp: invalid repeat count: `{1001}`");
  EXPECT_EQ(ErrorOf("(?<n>a"), "error parsing regexp: missing closing ): `(?P<n>a`");
  EXPECT_NE(ErrorOf("\xff"), "");
  EXPECT_NE(ErrorOf("a|\\"), "");
}

TEST(RegexTest, AnExpressionThatGrowsTooLargeIsRefused) {
  EXPECT_EQ(ErrorOf("(\\pL{1000}\\pN{1000}){1,1}(\\pL{1000}.{999}\\pN{1000})").substr(0, 41),
            "error parsing regexp: expression too larg");
}

TEST(RegexTest, HundredsOfKilobytesOfAlternativesAreFine) {
  std::string pattern = "host-0";
  for (int i = 1; i < 20'000; ++i) pattern += StrCat("|host-", i);
  const Regex regex = Compile(pattern);
  EXPECT_TRUE(regex.Matches("host-19999"));
  EXPECT_FALSE(regex.Matches("host-20000"));
  EXPECT_EQ(regex.prefix(), "host-");
}

TEST(RegexTest, ExpandsReferences) {
  EXPECT_EQ(Expanded("(.*):(\\d+)", "h:80", "$2/${1}x"), "80/hx");
  EXPECT_EQ(Expanded("(.*):(\\d+)", "h:80", "$0"), "h:80");
  EXPECT_EQ(Expanded("(?P<host>.*):(?<port>\\d+)", "h:80", "$host-${port}"), "h-80");
  EXPECT_EQ(Expanded("(a)(b)?", "a", "[$1$2]"), "[a]");
  EXPECT_EQ(Expanded("(.*)", "", "<$1>"), "<>");
  EXPECT_EQ(Expanded("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)", "abcdefghijk", "$11$10"), "kj");
  EXPECT_EQ(Expanded("a|b", "b", "$0$1"), "b");
  EXPECT_EQ(Expanded("a", "b", "x"), "no match");
  EXPECT_EQ(Expanded("a+", "b", "x"), "no match");
}

TEST(RegexTest, ExpandFollowsGoInTheOddCases) {
  EXPECT_EQ(Expanded("(.*)", "v", "$1x"), "") << "the name is 1x";
  EXPECT_EQ(Expanded("(.*)", "v", "$1_x|$1-x"), "|v-x");
  EXPECT_EQ(Expanded("(.*)", "v", "$$1$"), "$1$");
  EXPECT_EQ(Expanded("(.*)", "v", "${1"), "${1");
  EXPECT_EQ(Expanded("(.*)", "v", "${}$-${-}"), "${}$-${-}");
  EXPECT_EQ(Expanded("(.*)", "v", "$9$01$none"), "");
  EXPECT_EQ(Expanded("(.*)", "v", "$99999999999"), "");
  EXPECT_EQ(Expanded("(.*)", "v", "a$é1"), "a");
}

TEST(RegexTest, GroupNamesAreLeftAloneWhereTheyAreText) {
  EXPECT_TRUE(Compile("[(?<a>]+").Matches("(?<a>"));
  EXPECT_TRUE(Compile("[](?<]+x*").Matches("](?<"));
  EXPECT_TRUE(Compile("[^](?<]+x*").Matches("ab"));
  EXPECT_TRUE(Compile("\\(?<a>x*").Matches("(<a>"));
  EXPECT_TRUE(Compile("\\Q(?<a>\\E.").Matches("(?<a>!"));
}

// Random expressions: what the shape says must be what the engine says.
class RandomPattern {
 public:
  explicit RandomPattern(uint64_t seed) : random_(seed) {}
  size_t Below(size_t limit) { return random_() % limit; }

  std::string Alternation(int depth) {
    std::string out = Concat(depth);
    for (size_t i = Below(3); i > 0; --i) out += "|" + Concat(depth);
    return out;
  }
  std::string Text() {
    static constexpr std::string_view kLetters = "aabbc.\n1";
    std::string out;
    for (size_t i = Below(7); i > 0; --i) out.push_back(kLetters[Below(kLetters.size())]);
    return out;
  }

 private:
  std::string Concat(int depth) {
    std::string out = Below(12) == 0 ? "^" : "";
    for (size_t i = Below(4); i > 0; --i) out += Atom(depth) + Repeat();
    return out + (Below(12) == 0 ? "$" : "");
  }
  std::string Repeat() {
    static const char* const kRepeats[] = {"",  "",  "",    "",      "",   "?",
                                           "*", "+", "{2}", "{0,1}", "*?", "{1,}"};
    return kRepeats[Below(std::size(kRepeats))];
  }
  std::string Atom(int depth) {
    static const char* const kAtoms[] = {"a",  "b",   "ab",   "c",    ".",   ".*",
                                         ".+", "\\.", "[ab]", "[^a]", "\\d", "\\w"};
    if (depth > 0 && Below(4) == 0) {
      return (Below(2) == 0 ? "(" : "(?:") + Alternation(depth - 1) + ")";
    }
    return kAtoms[Below(std::size(kAtoms))];
  }
  std::mt19937_64 random_;
};

TEST(RegexTest, AgreesWithTheEngineOnRandomExpressions) {
  RandomPattern random(20260817);
  RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  for (int i = 0; i < 20'000; ++i) {
    const std::string pattern = random.Alternation(3);
    SCOPED_TRACE(pattern);
    const RE2 engine(pattern, options);
    const auto regex = Regex::CompileAnchored(pattern);
    ASSERT_EQ(regex.ok(), engine.ok());
    if (!regex.ok()) continue;
    for (const std::string& literal : regex->literals())
      ASSERT_TRUE(RE2::FullMatch(literal, engine));
    for (int j = 0; j < 20; ++j) {
      const std::string text = random.Text();
      const bool matches = RE2::FullMatch(text, engine);
      ASSERT_EQ(regex->Matches(text), matches) << text;
      if (matches) {
        ASSERT_TRUE(text.starts_with(regex->prefix())) << text;
      }
    }
  }
}

}  // namespace
}  // namespace narthex::base
