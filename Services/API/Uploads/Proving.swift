import Contracts
import Storage

/// A signed part of a request, to be proven.
struct UnprovenPart: Sendable {
    var jws: [UInt8]
    var kind: SignedPart
    /// JSON pointer into the request.
    var pointer: String
    var origin = Upload.Origin.request
}

extension UploadServices {
    /// Proves parts, each for itself and off the threads of requests, so that parts of other keys come between them.
    func prove(_ parts: [UnprovenPart], for key: ClientKey, into upload: inout Upload) async throws(Problem) {
        let empty = upload.empty
        for part in parts {
            try lane.check(key)
            upload.append(
                await lane.run(for: key.id) {
                    var proven = empty
                    proven.add(part.jws, as: part.kind, at: part.pointer, from: part.origin)
                    return proven
                })
        }
    }
}
