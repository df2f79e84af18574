// What this program is. Constants.
#pragma once

#include <string>
#include <string_view>

namespace narthex::server {

// The Prometheus release whose behaviour this one has: what clients ask the version for.
inline constexpr std::string_view kCompatibleVersion = "3.14.0";
// Narthex's own version.
inline constexpr std::string_view kNarthexVersion = "0.1.0";
inline constexpr std::string_view kBranch = "narthex";

// The commit the build was made from, "unknown" outside a checkout.
std::string_view Revision();
// "g++ 12.2.0"
std::string_view Compiler();
// The lines that --version prints.
std::string VersionText();

}  // namespace narthex::server
