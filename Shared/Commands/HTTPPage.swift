import AsyncHTTPClient

/// The response of an HTTP request.
package struct HTTPPage: Sendable {
    package let status: Int
    package let text: String

    /// Fetches the URL, or posts a JSON body to it; at most 16 MiB.
    /// - Parameter bearer: the token of `Authorization: Bearer`; nil sends none.
    package init(
        at url: String, posting body: [UInt8]? = nil, bearer: String? = nil, within timeout: Duration = .seconds(2)
    ) async throws {
        var request = HTTPClientRequest(url: url)
        if let bearer { request.headers.add(name: "authorization", value: "Bearer \(bearer)") }
        if let body {
            request.method = .POST
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(body)
        }
        let response = try await HTTPClient.shared.execute(
            request, timeout: .nanoseconds(Int64(timeout.seconds * 1e9)))
        status = Int(response.status.code)
        text = String(buffer: try await response.body.collect(upTo: 16 << 20))
    }
}

extension Duration {
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
