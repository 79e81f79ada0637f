import Synchronization

import struct Foundation.UUID

/// The requests of Advanced Commerce that were done, by app, environment and requestReferenceId.
///
/// Apple wants another requestReferenceId for every request, and allows the same for a retry after a timeout. Whether a client gave
/// up waiting is not seen here: the same bytes about the same purchase count as a retry, also while the first request is under way.
///
/// <https://developer.apple.com/documentation/advancedcommerceapi/requestinfo>
final class CommerceReferences: Sendable {
    private struct Key: Hashable {
        var app: App
        var reference: UUID
    }

    private let requests = Mutex<[Key: APICall]>([:])

    /// - Returns: whether it is a retry, which must not be done again.
    /// - Throws: Apple's error where another request had the reference.
    func take(_ reference: UUID, for call: APICall) throws -> Bool {
        try requests.withLock { requests in
            guard let earlier = requests[Key(app: call.app, reference: reference)] else {
                requests[Key(app: call.app, reference: reference)] = call
                return false
            }
            guard earlier.endpoint == call.endpoint, earlier.arguments == call.arguments,
                earlier.request.body == call.request.body
            else { throw APIFault(4_000_097) }
            return true
        }
    }

    /// A request that was refused changed nothing.
    func release(_ reference: UUID, of app: App) {
        requests.withLock { $0[Key(app: app, reference: reference)] = nil }
    }
}
