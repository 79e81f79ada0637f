import AsyncHTTPClient
import Foundation

/// Carries questions to responders: small, short, over the address that a proven certificate names and no other.
struct ResponderClient: Sendable {
    private let client: HTTPClient
    private let timeout: Int64
    /// A response holds one answer and at most a certificate or two.
    private static let maximumBytes = 64 << 10

    /// - Parameter seconds: until a responder counts as unreachable.
    init(timeout seconds: Int64 = 5) {
        timeout = seconds
        var configuration = HTTPClient.Configuration()
        // Whoever answers in the responder's place must not send us elsewhere, into our own network for one.
        configuration.redirectConfiguration = .disallow
        // The schedule tries again; within one attempt it would only take the whole timeout to hear no.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 2
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func shutdown() async throws { try await client.shutdown() }

    /// The bytes of a response.
    /// - Throws: `Unreachable`, whatever the matter is.
    func post(_ request: [UInt8], to addresses: [String]) async throws(Unreachable) -> [UInt8] {
        guard
            let address = addresses.first(where: { ["http", "https"].contains(URL(string: $0)?.scheme?.lowercased()) })
        else { throw Unreachable("the certificate names no responder") }
        var post = HTTPClientRequest(url: address)
        post.method = .POST
        post.headers.add(name: "content-type", value: "application/ocsp-request")
        post.headers.add(name: "accept", value: "application/ocsp-response")
        post.body = .bytes(request)
        do {
            let response = try await client.execute(post, timeout: .seconds(timeout))
            guard response.status == .ok else { throw Unreachable("\(address) answered \(response.status.code)") }
            var bytes: [UInt8] = []
            for try await part in response.body {
                bytes += part.readableBytesView
                guard bytes.count <= Self.maximumBytes else {
                    throw Unreachable("\(address) sent more than \(Self.maximumBytes) bytes")
                }
            }
            return bytes
        } catch let failure as Unreachable {
            throw failure
        } catch {
            throw Unreachable("\(address) gave no answer: \(error)")
        }
    }
}

/// Nobody answered, or nothing that could be an answer.
struct Unreachable: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
