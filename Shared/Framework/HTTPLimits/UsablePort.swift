import struct Foundation.URL

extension URL {
    /// Whether the HTTP client takes its port; at one that there is not it ends the process.
    package var hasUsablePort: Bool { 0...65_535 ~= port ?? 0 }
}
