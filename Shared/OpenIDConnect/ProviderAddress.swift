import HTTPLimits

import struct Foundation.CharacterSet
import struct Foundation.URL

/// Which addresses of providers are used.
package enum ProviderAddress {
    /// `https`, or `http` on this machine.
    package static func isSafe(_ text: String) -> Bool {
        guard let url = URL(string: text), let host = url.host, url.user == nil, url.fragment == nil,
            url.hasUsablePort
        else { return false }
        return url.scheme == "https" || (url.scheme == "http" && ["127.0.0.1", "localhost", "::1"].contains(host))
    }
}

/// RFC 3986, 2.3.
let unreserved = CharacterSet(
    charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
