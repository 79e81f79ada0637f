import AsyncHTTPClient

/// The response of an HTTP GET.
package struct HTTPPage: Sendable {
    package let status: Int
    package let text: String

    /// Fetches the URL; at most 16 MiB.
    package init(at url: String, within timeout: Duration = .seconds(2)) async throws {
        let response = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: url), timeout: .nanoseconds(Int64(timeout.seconds * 1e9)))
        status = Int(response.status.code)
        text = String(buffer: try await response.body.collect(upTo: 16 << 20))
    }
}

extension Duration {
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
