import AsyncHTTPClient

/// Ends an exchange that takes longer. The HTTP client's own timeout ends with the head of an answer; its body may come
/// drop by drop, or never end.
///
/// - Throws: `HTTPClientError.deadlineExceeded`, and what the exchange throws.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ exchange: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await exchange() }
        group.addTask {
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let value = first else { throw HTTPClientError.deadlineExceeded }
        return value
    }
}
