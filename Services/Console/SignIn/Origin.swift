import struct Foundation.URL

/// The address of the console as browsers see it, without a path.
struct Origin: Sendable, Equatable {
    /// `https://console.example.org`.
    let text: String

    @Sendable init?(_ text: String) {
        guard let url = URL(string: text), let host = url.host, url.user == nil, url.query == nil,
            url.path.isEmpty || url.path == "/", url.fragment == nil
        else { return nil }
        // Browsers keep secure cookies of these over http, and of no others.
        let isHere = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
        guard url.scheme == "https" || (url.scheme == "http" && isHere) else { return nil }
        self.text = text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
