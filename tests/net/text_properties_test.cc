#include "tests/net/text_properties.h"

#include <string>

#include "gtest/gtest.h"

namespace narthex::net {
namespace {

constexpr std::string_view kSeeds[] = {
    "query=up%7Ba%3D%22b%22%7D&time=1&match[]=a&match[]=b+c&e=&f&=g&&;",
    "%",
    "%4",
    "%zz",
    "a=%00%ff%C3%A9",
    "=&=&",
    "+%2B",
    "http://me:secret@host:9090/metrics?x=1#f",
    "https://[::1]:443",
    "HTTP://h",
    "http://[::1",
    "http://[[a]/",
    "http://a]b",
    "http://h:99999/",
    "http://@h",
    "http://a:b@c:d@h/",
    "x://",
    "http://u:@h",
    "{\"access_token\":\"T\",\"token_type\":\"bearer\",\"expires_in\":3600}",
    "{\"access_token\":\"\\u0000\",\"expires_in\":-1e999}",
    "[[[[[[[[",
    "{\"access_token\":1}",
    "br, gzip;q=0.5, deflate",
    "gzip;q=0,,;",
    "gzip;q=nan"};

TEST(TextPropertiesTest, HoldForTheSeedsCutAndFlippedAtEveryByte) {
  for (const std::string_view seed : kSeeds) {
    for (size_t i = 0; i <= seed.size(); ++i) {
      CheckTextProperties(seed.substr(0, i));
      for (int bit = 0; i < seed.size() && bit < 8; ++bit) {
        std::string flipped(seed);
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
        CheckTextProperties(flipped);
      }
    }
  }
}

TEST(TextPropertiesTest, DeepDocumentsDoNotExhaustTheStack) {
  CheckTextProperties(std::string(1 << 20, '['));
}

}  // namespace
}  // namespace narthex::net
