import AppStore
import AsyncHTTPClient
import Foundation
import HTTPLimits

/// Sends OCSP requests: small, with a timeout, to the address that a verified certificate names and no other.
struct ResponderClient: Sendable {
    private let client: HTTPClient
    private let timeout: Int64
    /// A response holds one answer and at most a certificate or two.
    private static let maximumBytes = 64 << 10

    /// - Parameter seconds: until a responder counts as unreachable.
    init(timeout seconds: Int64 = 5) {
        timeout = seconds
        var configuration = HTTPClient.Configuration()
        // An attacker in the responder's place must not redirect the request, into this network for one.
        configuration.redirectConfiguration = .disallow
        // The schedule retries; within one attempt a retry would only use up the whole timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 2
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func shutdown() async throws { try await client.shutdown() }

    /// The bytes of a response.
    /// - Throws: `Unreachable` for every failure.
    func post(_ request: [UInt8], to addresses: [String]) async throws(Unreachable) -> [UInt8] {
        let usable = addresses.first { text in
            guard let url = URL(string: text), let scheme = url.scheme?.lowercased() else { return false }
            return ["http", "https"].contains(scheme) && url.hasUsablePort
        }
        guard let address = usable else { throw Unreachable("the certificate names no OCSP responder") }
        var post = HTTPClientRequest(url: address)
        post.method = .POST
        post.headers.add(name: "content-type", value: "application/ocsp-request")
        post.headers.add(name: "accept", value: "application/ocsp-response")
        post.body = .bytes(request)
        let message = post
        do {
            return try await withTimeLimit(.seconds(timeout)) { try await answer(to: message, of: address) }
        } catch let failure as Unreachable {
            throw failure
        } catch {
            throw Unreachable("\(address) did not answer: \(error)")
        }
    }

    private func answer(to request: HTTPClientRequest, of address: String) async throws -> [UInt8] {
        let response = try await client.execute(request, timeout: .seconds(timeout))
        guard response.status == .ok else { throw Unreachable("\(address) answered \(response.status.code)") }
        var bytes: [UInt8] = []
        for try await part in response.body {
            bytes += part.readableBytesView
            guard bytes.count <= Self.maximumBytes else {
                throw Unreachable("\(address) sent more than \(Self.maximumBytes) bytes")
            }
        }
        return bytes
    }
}

/// There was no answer, or none that can be an OCSP response.
struct Unreachable: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
