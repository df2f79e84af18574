#include "net/credentials.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "narthex/base/status.h"

namespace narthex::net {
namespace {

constexpr size_t kMaxSecretBytes = 1u << 20;

std::string ErrnoText(int error_number) {
  std::string text = std::strerror(error_number);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

// Without the white space around it. Secret files are small and local, so plain calls do.
absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return base::InvalidArgument("unable to read file ", path, ": open ", path, ": ",
                                 ErrnoText(errno));
  }
  std::string text;
  char buffer[4096];
  ssize_t num_read = 0;
  while (text.size() < kMaxSecretBytes && (num_read = ::read(file, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(num_read));
  }
  const int read_errno = errno;
  ::close(file);
  if (num_read < 0) {
    return base::InvalidArgument("unable to read file ", path, ": read ", path, ": ",
                                 ErrnoText(read_errno));
  }
  const size_t start = text.find_first_not_of(" \t\r\n\v\f");
  if (start == std::string::npos) return std::string();
  return text.substr(start, text.find_last_not_of(" \t\r\n\v\f") - start + 1);
}

// `value`, or what the file holds if there is one.
absl::StatusOr<std::string> ValueOrFile(const std::string& value, const std::string& path,
                                        std::string_view what) {
  if (path.empty()) return value;
  absl::StatusOr<std::string> secret = ReadSecret(path);
  if (!secret.ok()) return base::WithContext(secret.status(), what);
  return secret;
}

}  // namespace

absl::StatusOr<Credentials> ReadCredentials(const HttpClientOptions& options) {
  Credentials credentials;
  if (options.has_basic_auth) {
    credentials.has_basic_auth = true;
    NX_ASSIGN_OR_RETURN(credentials.username, ValueOrFile(options.username, options.username_file,
                                                          "unable to read basic auth username"));
    NX_ASSIGN_OR_RETURN(credentials.password, ValueOrFile(options.password, options.password_file,
                                                          "unable to read basic auth password"));
  }
  if (!options.credentials.empty() || !options.credentials_file.empty()) {
    NX_ASSIGN_OR_RETURN(const std::string secret,
                        ValueOrFile(options.credentials, options.credentials_file,
                                    "unable to read authorization credentials"));
    const std::string& type = options.authorization_type;
    credentials.authorization = base::StrCat(type.empty() ? "Bearer" : type, " ", secret);
  }
  if (options.oauth2.enabled()) {
    NX_ASSIGN_OR_RETURN(credentials.oauth2_client_secret,
                        ValueOrFile(options.oauth2.client_secret, options.oauth2.client_secret_file,
                                    "unable to read oauth2 client secret"));
  }
  return credentials;
}

}  // namespace narthex::net
